// Pairs a tag in three steps.

import {make, setText, button, resultLine, replace} from "./elements.js";
import {span} from "./model.js";
import {bridgeHelp, helpLine} from "./tags.js";

// How long the bridge looks for the tag, in seconds.
const pairingTime = 60;
// How long a search for tags in range lasts.
const scanTime = 30;

// The pairing that this page has begun. It goes on while another page is shown.
let running = null;
// What came of the last one: {answer, name}.
let ended = null;

const stages = {
  searching: "Looking for the tag.", found: "Found. Waiting for the button.", pairing: "Bonding.", connecting: "Connecting.",
};

export function pairPage(root, {model, connection}, wanted = "") {
  const serial = make("input", {id: "serial", size: "12", autocomplete: "off", autocapitalize: "none", spellcheck: "false", "aria-describedby": "serial-help", value: wanted});
  const bridge = make("select", {id: "bridge"});
  const bridgeLabel = make("label", {}, "Bridge", bridge);
  const start = make("button", {class: "main"}, "Start");
  const result = resultLine();
  const form = make("form", {},
    make("div", {class: "bar"}, make("label", {}, "Serial", serial), bridgeLabel, start),
    make("p", {class: "quiet", id: "serial-help"}, "The last four characters before the dash, printed on the tag. The whole number is fine too."));
  const heardText = make("p", {class: "quiet"});
  const heard = make("tbody");
  const heardTable = make("table", {class: "heard", hidden: true}, make("thead", {}, make("tr", {}, ...["Serial", "Signal", "Name"].map(text => make("th", {scope: "col"}, text)),
    make("th", {scope: "col"}, make("span", {class: "skip"}, "Pair")))), heard);
  const time = make("p");
  const step = make("p", {"aria-live": "polite", role: "status"});
  const after = make("div", {class: "bar"});
  const two = make("li", {}, make("h2", {}, "Hold the button of the tag for three seconds"), make("p", {class: "quiet"}, "It then advertises for 60 seconds."), time, make("p", {}, cancel));
  const three = make("li", {}, make("h2", {}, "The bridge bonds and connects"), step, result, after);
  const cancel = button("Cancel", () => stop(), {hidden: true});
  const search = button("Search again", () => scan());
  root.append(make("h1", {}, "Pair a tag"), make("ol", {class: "steps"},
    make("li", {}, make("h2", {}, "Serial"), form, make("h3", {}, "Tags in range"), heardText, heardTable, make("p", {}, search)), two, three));

  let isClosed = false, scanning = null, shownEnd = null;
  // The pairing that another page or program has begun, and that was shown last.
  let other = null;
  form.addEventListener("submit", event => { event.preventDefault(); begin(); });

  const chosen = () => bridge.value || model.onlineBridges()[0];

  async function begin() {
    const name = chosen(), text = serial.value.trim();
    if (!text) { result.show({ok: false, text: "error: enter the serial that is printed on the tag"}); serial.focus(); return; }
    const mine = {name, text, until: model.now() + pairingTime * 1000};
    running = mine;
    ended = null;
    update();
    const answer = await connection.send(`bridge/${name}/request/pair`, {serial: text, timeout_s: pairingTime}, {timeout: (pairingTime + 30) * 1000});
    if (running !== mine) return;
    running = null;
    ended = mine.isStopped && !answer.ok ? null : {answer, id: answer.data?.id ?? text};
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
    if (!isClosed) serial.focus();
  }

  function showEnd({answer, id}) {
    result.show(answer.ok ? {ok: true, text: ""} : answer);
    if (!answer.ok) return after.replaceChildren();
    const done = resultLine();
    const send = async (name, payload) => done.show(await connection.send(`tag/${id}/${name}`, payload));
    const newName = make("input", {id: "name", maxlength: "21", size: "18", autocomplete: "off"});
    after.replaceChildren(
      make("a", {href: `#tag/${encodeURIComponent(id)}`}, `Open tag ${id}`),
      button("Try the LED", () => send("led/set", {color: "#ff8000", duration_ms: 2000}), {class: "main"}),
      make("label", {}, "Name", newName), button("Name it", () => send("name/set", {name: newName.value})), done);
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
      const {state, serial} = model.bridges.get(running.name)?.pairing ?? {};
      return {...running, state: stages[state] ? state : "searching", serial};
    }
    for (const [name, {pairing}] of model.bridges) {
      if (model.isBridgeOnline(name) && stages[pairing?.state]) return {name, text: pairing.serial, state: pairing.state, serial: pairing.serial};
    }
    return null;
  }

  // What has come of the pairing of another page; null if the bridge does not say.
  function endOf({name}) {
    const {state, serial, error} = model.bridges.get(name)?.pairing ?? {};
    if (state === "paired") return {answer: {ok: true}, id: [...model.tags].find(([, tag]) => tag.info?.serial === serial)?.[0] ?? serial};
    return state === "failed" ? {answer: {ok: false, text: `error: ${error?.text ?? "not known"}`}, id: serial} : null;
  }

  // MARK: Tags in range

  async function scan() {
    const name = chosen();
    if (!name || scanning === name) return;
    scanning = name;
    search.disabled = true;
    update();
    await connection.send(`bridge/${name}/request/scan`, {duration_s: scanTime, duplicates: true}, {timeout: (scanTime + 10) * 1000});
    setTimeout(() => {
      scanning = null;
      search.disabled = false;
      if (!isClosed) update();
    }, scanTime * 1000);
  }

  function drawHeard(isPairing) {
    const list = [...model.advertisements.values()].filter(entry => entry.bridge === chosen() && !entry.known && !tagWith(entry.serial) && model.now() - entry.at < 60000)
      .sort((one, other) => String(one.serial ?? "") < String(other.serial ?? "") ? -1 : 1).slice(0, 20);
    const help = bridgeHelp(model);
    const text = list.length > 0 || !chosen() ? "" : scanning ? "Searching. Unknown tags appear here." : "No unknown tag was received.";
    replace(heardText, `${help.join()} ${text}`, () => (help.length > 0 ? helpLine(help) : [text]));
    heardTable.hidden = list.length === 0;
    replace(heard, list.map(entry => `${entry.serial} ${near(entry)} ${entry.name} ${isPairing}`).join(), () => list.map(entry => make("tr", {},
      make("td", {class: "mono"}, String(entry.serial ?? entry.address ?? "")), make("td", {}, near(entry)), make("td", {class: "name"}, make("bdi", {}, String(entry.name ?? ""))),
      make("td", {}, entry.serial ? button("Pair", () => { serial.value = entry.serial; begin(); }, {"aria-label": `Pair ${entry.serial}`, disabled: isPairing}) : ""))));
  }

  // In steps, so that the list does not change while it is read.
  function near({rssi}) { return typeof rssi !== "number" ? "" : rssi >= -60 ? "near" : rssi >= -80 ? "in range" : "far"; }

  function update() {
    const names = model.onlineBridges();
    replace(bridge, names.join(), () => names.map(name => make("option", {value: name}, name)));
    bridgeLabel.hidden = names.length < 2;
    search.hidden = names.length === 0;
    const pairing = current();
    if (!pairing && other && !ended) ended = endOf(other);
    other = pairing && !running ? pairing : null;
    start.disabled = pairing !== null || names.length === 0;
    if (pairing && serial.value !== pairing.text && document.activeElement !== serial) serial.value = pairing.text ?? "";
    if (ended !== shownEnd && ended) showEnd(ended);
    if (pairing) { result.show({ok: true, text: ""}); after.replaceChildren(); }
    shownEnd = ended;
    for (const part of [two, three]) if (pairing || ended) part.removeAttribute("aria-disabled"); else part.setAttribute("aria-disabled", "true");
    const left = pairing?.until ? pairing.until - model.now() : 0;
    setText(time, !pairing ? "" : left >= 10000 ? `${span(left)} left` : left > 0 ? "a few seconds left" : "");
    if (pairing) setText(step, stepText(tagWith(pairing.text, pairing.serial)) || stages[pairing.state]);
    else if (ended) setText(step, ended.answer.ok ? `Paired. ${stepText(tagWith(ended.id))}`.trim() : "Not paired.");
    else setText(step, step.textContent ? "Stopped." : "");
    cancel.hidden = pairing === null;
    drawHeard(pairing !== null);
  }

  two.setAttribute("aria-disabled", "true");
  three.setAttribute("aria-disabled", "true");
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
      if (scanning && !running) connection.send(`bridge/${scanning}/request/scan`, "stop", {timeout: 2000});
    },
  };
}
