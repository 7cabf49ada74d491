// Pairs a tag: one of those in range, or one by its serial.

import {make, setText, isolated, button, replace, showBridges} from "./elements.js";
import {gestureParts, signalBars, tagInRing, tick} from "./drawings.js";
import {age, span} from "./model.js";
import {bridgeHelp, helpLine} from "./tags.js";
import {resultLine, sendShown} from "./result.js";

// How long the bridge looks for the tag, in seconds.
const pairingTime = 60;
// How long a search for tags in range lasts.
const scanTime = 30;
// After how long the page shows what is in range instead, in milliseconds.
const searchPatience = 10000;

// The pairing that this page has begun. It goes on while another page is shown.
let running = null;
// What came of the last one: {answer, id, at}.
let ended = null;

const stages = {
  searching: "Looking for the tag.", found: "Found. Waiting for the button.", pairing: "Bonding.", connecting: "Connecting.",
};
// In steps, so that the list does not change while it is read: from which signal strength on, in dBm.
const distances = [{least: -60, word: "near"}, {least: -80, word: "in range"}, {least: -Infinity, word: "far"}];

export function pairPage(root, {model, connection}, wanted = "") {
  const serial = make("input", {id: "serial", size: "12", autocomplete: "off", autocapitalize: "none", spellcheck: "false", "aria-describedby": "serial-help", value: wanted});
  const bridge = make("select", {id: "bridge"});
  const bridgeLabel = make("label", {}, "Bridge", bridge);
  const start = make("button", {class: "main"}, "Start");
  const form = make("form", {},
    make("div", {class: "bar"}, make("label", {}, "Serial", serial), start),
    make("p", {class: "quiet", id: "serial-help"}, "The last four characters before the dash, printed on the tag. The whole number is fine too."));
  const search = button("Search again", () => scan());
  const heardTitle = make("h2");
  const heardText = make("p", {class: "quiet"});
  const heard = make("ul", {class: "heard"});
  const hint = make("p", {class: "quiet"}, "Hold the button of the tag for three seconds: it then advertises for 60 seconds.");
  const range = make("section", {class: "panel"}, heardTitle, hint, heard, heardText, make("div", {class: "bar"}, bridgeLabel, search));
  const hand = make("section", {class: "panel"}, make("h2", {}, "By its serial"), form);

  const picture = tagInRing(), done = make("span", {class: "done"}, tick());
  const instruction = make("h2");
  const step = make("p", {"aria-live": "polite", role: "status"});
  const time = make("p", {class: "quiet"});
  const result = resultLine();
  const after = make("div", {class: "after"});
  const gesture = make("p", {class: "gesture", "aria-live": "polite"});
  const cancel = button("Cancel", () => { isToRetype = true; stop(); });
  const panel = make("section", {class: "panel pairing", tabindex: "-1", "aria-label": "Pairing"}, picture.element, done,
    make("div", {}, instruction, step, time, result, gesture, after, make("p", {}, cancel)));
  root.append(make("h1", {}, "Pair a tag"), panel, range, hand);

  // The bridge that searches for tags in range, and why the last search was refused.
  let isClosed = false, scanning = null, refusal = "", shownEnd = null;
  // The pairing that another page or program has begun, and that was shown last.
  let other = null;
  // Since when a pairing is shown, and whether the serial gets the focus after it was cancelled.
  let since = null, wasLate = false, isToRetype = false;
  form.addEventListener("submit", event => { event.preventDefault(); begin(); });
  bridge.addEventListener("change", () => { endScan(); scan(); });

  const chosen = () => bridge.value || model.onlineBridges()[0];

  async function begin() {
    const name = chosen(), text = serial.value.trim();
    if (!text) {
      result.show({ok: false, text: "error: enter the serial that is printed on the tag"});
      serial.focus();
      return update();
    }
    const mine = {name, text, until: model.now() + pairingTime * 1000};
    running = mine;
    ended = null;
    update();
    panel.focus({preventScroll: true});
    panel.scrollIntoView({block: "nearest"});
    const answer = await connection.send(`bridge/${name}/request/pair`, {serial: text, timeout_s: pairingTime}, {timeout: (pairingTime + 30) * 1000});
    if (running !== mine) return;
    running = null;
    ended = mine.isStopped && !answer.ok ? null : {answer, id: answer.data?.id ?? text, at: model.now()};
    if (!isClosed) update();
  }

  // Ends the pairing, also one that another page or program has begun.
  async function stop() {
    const pairing = current();
    if (!pairing) return;
    if (running) running.isStopped = true;
    cancel.disabled = true;
    const answer = await connection.send(`bridge/${pairing.name}/request/pair`, {pair: "stop", serial: pairing.text}, {timeout: 10000});
    cancel.disabled = false;
    if (!answer.ok) result.show(answer);
  }

  // Pairs a tag in range, also instead of the one that is looked for.
  async function choose(text) {
    if (current()) await stop();
    serial.value = text;
    begin();
  }

  function again() {
    ended = null;
    serial.value = "";
    setText(step, "");
    update();
    scan();
  }

  function showEnd({answer, id}) {
    result.show(answer.ok ? {ok: true, text: ""} : answer);
    if (!answer.ok) return after.replaceChildren();
    const line = resultLine();
    const send = (name, payload) => sendShown(connection, `tag/${id}/${name}`, payload, line);
    const newName = make("input", {id: "name", maxlength: "21", size: "18", autocomplete: "off"});
    const named = make("form", {class: "bar"}, make("label", {}, "Name", newName), make("button", {}, "Name it"));
    named.addEventListener("submit", event => { event.preventDefault(); send("name/set", {name: newName.value}); });
    after.replaceChildren(named, make("div", {class: "bar"}, button("Try the LED", () => send("led/set", {color: "#ff8000", duration_ms: 2000}), {class: "main"}), line),
      make("div", {class: "bar"}, make("a", {href: `#tag/${encodeURIComponent(id)}`}, "Open its page"), button("Pair another", again)));
  }

  // The step of a connection that is being established; empty for any other state.
  function stepText(tag) {
    const {state, step, of} = tag?.connection ?? {};
    return ["connecting", "initializing", "configuring"].includes(state) && of ? `Connecting, ${step} of ${of}.` : "";
  }

  const tagWith = (...serials) => [...model.tags].find(([id, tag]) => serials.includes(id) || serials.includes(tag.info?.serial))?.[1];

  // The pairing of a bridge, also of one that another page or program has begun: {name, state, serial, until}.
  function current() {
    if (running) {
      const {state, serial} = model.pairingOf(running.name) ?? {};
      return {...running, state: stages[state] ? state : "searching", serial};
    }
    for (const name of model.bridges.keys()) {
      const pairing = model.pairingOf(name);
      if (model.isBridgeOnline(name) && stages[pairing?.state]) return {name, text: pairing.serial, state: pairing.state, serial: pairing.serial};
    }
    return null;
  }

  // What has come of the pairing of another page; null if the bridge does not say.
  function endOf({name}) {
    const {state, serial, error} = model.pairingOf(name) ?? {};
    if (state === "paired") return {at: model.now(), answer: {ok: true}, id: [...model.tags].find(([, tag]) => tag.info?.serial === serial)?.[0] ?? serial};
    return state === "failed" ? {answer: {ok: false, text: `error: ${error?.text ?? "not known"}`}, id: serial} : null;
  }

  // MARK: Tags in range

  async function scan() {
    const name = chosen();
    if (!name || scanning?.name === name) return;
    const own = scanning = {name};
    refusal = "";
    search.disabled = true;
    update();
    const answer = await connection.send(`bridge/${name}/request/scan`, {duration_s: scanTime, duplicates: true}, {timeout: (scanTime + 10) * 1000});
    if (!answer.ok) return ended(own, answer.text);
    setTimeout(() => ended(own), scanTime * 1000);

    function ended(scan, text = "") {
      if (scanning !== scan) return;
      scanning = null;
      refusal = text;
      search.disabled = false;
      if (!isClosed) update();
    }
  }

  function endScan() {
    if (scanning) connection.send(`bridge/${scanning.name}/request/scan`, "stop", {timeout: 2000});
    scanning = null;
    search.disabled = false;
  }

  function drawHeard(pairing) {
    const list = [...model.advertisements.values()].filter(entry => entry.bridge === chosen() && !entry.known && !tagWith(entry.serial) && model.now() - entry.at < 60000)
      .map(entry => ({...entry, distance: distances.findIndex(({least}) => (entry.rssi ?? -Infinity) >= least)}))
      .sort((one, other) => one.distance - other.distance || (String(one.serial ?? "") < String(other.serial ?? "") ? -1 : 1)).slice(0, 20);
    const help = bridgeHelp(model);
    const text = list.length > 0 || !chosen() ? "" : scanning ? "Searching. Unknown tags appear here." : refusal || "No unknown tag was received.";
    setText(heardTitle, pairing ? "In range instead" : "In range");
    replace(heardText, `${help.join()} ${text}`, () => (help.length > 0 ? helpLine(help) : [text]));
    replace(heard, JSON.stringify(list.map(({serial, address, distance, name}) => [serial, address, distance, name])), () => list.map((entry, index) => heardLine(entry, index === 0)));
  }

  function heardLine({serial: text, address, name, rssi, distance}, isFirst) {
    const {least, word} = distances[distance], isAsked = isFirst && distance === 0 && text;
    return make("li", {class: isAsked ? "asked" : null},
      typeof rssi === "number" ? signalBars(Math.max(least, -90)) : null,
      make("span", {class: "what"}, make("span", {class: "mono"}, String(text ?? address ?? "")), typeof rssi === "number" ? `, ${word}` : "", isAsked ? ": this one?" : ""),
      make("span", {class: "quiet name"}, isolated(name ?? "")),
      text ? button("Pair", () => choose(text), {"aria-label": `Pair ${text}`, class: isAsked ? "main" : null}) : null);
  }

  // The first gesture of the tag that was paired, as it happens.
  function drawGesture(now) {
    const last = ended?.answer.ok ? model.gestures.get(ended.id)?.find(({at}) => at >= ended.at) : null;
    replace(gesture, `${ended?.answer.ok} ${last?.event_type} ${last ? age(last.at, now) : ""}`, () => !ended?.answer.ok ? []
      : last ? gestureParts(last, age(last.at, now))
        : [make("span", {class: "quiet"}, "Make a gesture on the cloth: it appears here.")]);
    gesture.classList.toggle("flash", Boolean(last));
  }

  function update() {
    const names = model.onlineBridges(), now = model.now();
    showBridges(bridge, names);
    bridgeLabel.hidden = bridge.options.length < 2;
    search.hidden = !names.includes(chosen());
    const pairing = current();
    if (!pairing && other && !ended) ended = endOf(other);
    other = pairing && !running ? pairing : null;
    start.disabled = !names.includes(chosen());
    if (pairing && serial.value !== pairing.text && document.activeElement !== serial) serial.value = pairing.text ?? "";
    if (pairing && since === null) { result.show({ok: true, text: ""}); after.replaceChildren(); }
    if (ended !== shownEnd && ended) showEnd(ended);
    shownEnd = ended;
    since = pairing ? since ?? now : null;
    const isPaired = !pairing && ended?.answer.ok;
    drawProgress(pairing, now);
    drawGesture(now);
    const isLate = pairing?.state === "searching" && now - since > searchPatience;
    const isNewlyLate = isLate && !wasLate;
    wasLate = isLate;
    if (isNewlyLate) scan();
    range.hidden = isPaired || (pairing !== null && !isLate);
    hint.hidden = pairing !== null;
    hand.hidden = isPaired || pairing !== null;
    if (!range.hidden) drawHeard(pairing);
    else replace(heard, "", () => []);
    if (!pairing && isToRetype) { isToRetype = false; serial.focus(); }
  }

  function drawProgress(pairing, now) {
    const left = pairing?.until ? pairing.until - now : 0;
    if (pairing) setText(step, stepText(tagWith(pairing.text, pairing.serial)) || stages[pairing.state]);
    else if (ended) setText(step, ended.answer.ok ? `Paired. ${stepText(tagWith(ended.id))}`.trim() : "Not paired.");
    else setText(step, step.textContent ? "Stopped." : "");
    setText(instruction, !pairing ? "" : ["searching", "found"].includes(pairing.state) ? "Hold the button of the tag for three seconds" : "Keep the tag near");
    instruction.hidden = !pairing;
    picture.show(pairing?.state === "searching" && pairing.until ? Math.max(0, left) / pairingTime / 1000 : null);
    picture.element.toggleAttribute("hidden", !pairing);
    done.hidden = pairing !== null || !ended?.answer.ok;
    setText(time, left >= 10000 ? `${span(left)} left` : left > 0 ? "a few seconds left" : "");
    cancel.hidden = pairing === null;
    panel.hidden = !pairing && !step.textContent && !result.textContent;
  }

  if (!wanted && model.isReady) scan();
  let hasScanned = model.isReady;
  return {
    update() {
      update();
      if (!hasScanned && model.onlineBridges().length > 0) { hasScanned = true; scan(); }
    },
    close() {
      isClosed = true;
      ended = null;
      if (!running) endScan();
    },
  };
}
