// Pairs a tag in three steps.

import {make, setText, button, resultLine, replace} from "./elements.js";

export function pairPage(root, {model, connection}) {
  const serial = make("input", {id: "serial", size: "12", autocomplete: "off", autocapitalize: "none", spellcheck: "false", "aria-describedby": "serial-help"});
  const bridge = make("select", {id: "bridge"});
  const bridgeLabel = make("label", {}, "Bridge", bridge);
  const start = make("button", {class: "main"}, "Start");
  const result = resultLine();
  const form = make("form", {},
    make("div", {class: "bar"}, make("label", {}, "Serial", serial), bridgeLabel, start, button("Stop", () => stop())),
    make("p", {class: "quiet", id: "serial-help"}, "The last four characters before the dash, printed on the tag. The whole number is fine too."));
  const time = make("p");
  const heardText = make("p", {class: "quiet"}, "Nothing received yet.");
  const heard = make("tbody");
  const heardTable = make("table", {}, make("thead", {}, make("tr", {}, ...["Serial", "Signal", "Name", ""].map(text => make("th", {scope: "col"}, text)))), heard);
  const stages = make("p", {"aria-live": "polite", role: "status"});
  const after = make("div", {class: "bar"});
  const two = make("li", {"aria-disabled": "true"}, make("h2", {}, "Hold the button of the tag for three seconds"), time, heardText, heardTable);
  const three = make("li", {"aria-disabled": "true"}, make("h2", {}, "The bridge bonds and connects"), stages, result, after);
  root.append(make("h1", {}, "Pair a tag"), make("ol", {class: "steps"}, make("li", {}, make("h2", {}, "Serial"), form), two, three));

  let running = null;
  // The tag that was paired last.
  let paired = null;
  let scanning = null;
  const stopButton = form.querySelectorAll("button")[1];
  stopButton.disabled = true;
  form.addEventListener("submit", event => { event.preventDefault(); begin(); });

  async function begin() {
    const name = bridge.value || model.onlineBridges()[0];
    const text = serial.value.trim();
    if (!text) { result.show({ok: false, text: "error: enter the serial that is printed on the tag"}); serial.focus(); return; }
    if (!name) { result.show({ok: false, text: "error: no bridge is online"}); return; }
    model.advertisements.clear();
    running = {name, text, until: Date.now() + 60000};
    paired = null;
    start.disabled = true;
    stopButton.disabled = false;
    after.replaceChildren();
    two.removeAttribute("aria-disabled");
    three.removeAttribute("aria-disabled");
    result.show({ok: true, text: ""});
    setText(stages, "Looking for the tag.");
    scan(name, 60);
    const mine = running;
    const answer = await connection.send(`bridge/${name}/request/pair`, {serial: text, timeout_s: 60}, {timeout: 90000});
    if (running !== mine) return;
    end();
    if (!answer.ok) { setText(stages, "Not paired."); result.show(answer); return; }
    const id = answer.data?.id ?? text;
    paired = id;
    update();
    result.show({ok: true, text: ""});
    const done = resultLine();
    const send = async (name, payload) => done.show(await connection.send(`tag/${id}/${name}`, payload));
    const newName = make("input", {id: "name", maxlength: "21", size: "18", autocomplete: "off"});
    const naming = make("fieldset", {disabled: !connection.may(`tag/${id}/name/set`)}, make("legend", {class: "skip"}, "Name"),
      make("div", {class: "bar"}, make("label", {}, "Name", newName), button("Name it", () => send("name/set", {name: newName.value}))));
    after.replaceChildren(
      make("a", {href: `#tag/${encodeURIComponent(id)}`}, `Open tag ${id}`),
      button("Try the LED", () => send("led/set", {color: "#ff8000", duration_ms: 2000}), {class: "main"}), naming, done);
  }

  // The step of a connection that is being established; empty for any other state.
  function stepText(tag) {
    const {state, step, of} = tag?.connection ?? {};
    return ["connecting", "initializing", "configuring"].includes(state) && of ? `Connecting, ${step} of ${of}.` : "";
  }

  // A tag that was known before has its facts while it is paired.
  function tagBeingPaired() {
    const serials = [running.text, running.serial];
    return [...model.tags].find(([id, tag]) => serials.includes(id) || serials.includes(tag.info?.serial))?.[1];
  }

  function scan(name, seconds) {
    scanning = name;
    connection.send(`bridge/${name}/request/scan`, {duration_s: seconds, duplicates: true}, {timeout: 70000});
  }

  function stopScan() {
    if (!scanning) return;
    connection.send(`bridge/${scanning}/request/scan`, "stop", {timeout: 2000});
    scanning = null;
  }

  function end() {
    running = null;
    start.disabled = false;
    stopButton.disabled = true;
    stopScan();
    setText(time, "");
  }

  function stop() {
    if (!running) return;
    end();
    setText(stages, "The page stopped waiting. The bridge may still look for the tag until its time is over.");
  }

  const texts = {
    pair_started: "Looking for the tag.", pair_found: "Found. Waiting for the button.", pair_pairing: "Bonding.",
    pair_connecting: "Connecting.", paired: "Paired.", pair_failed: "Not paired.",
  };

  function message(change) {
    if (!running || change.kind !== "bridge" || change.id !== running.name || change.name !== "event") return;
    const text = texts[change.value?.type];
    if (text) running.serial = change.value.serial ?? running.serial;
    if (text) setText(stages, text);
  }

  function update() {
    const names = model.onlineBridges();
    replace(bridge, names.join(), () => names.map(name => make("option", {value: name}, name)));
    bridgeLabel.hidden = names.length < 2;
    if (paired) setText(stages, `Paired. ${stepText(model.tags.get(paired))}`.trim());
    if (!running) return;
    setText(time, `${Math.max(0, Math.ceil((running.until - Date.now()) / 1000))} s left`);
    const step = stepText(tagBeingPaired());
    if (step) setText(stages, step);
    const list = [...model.advertisements.values()].filter(entry => entry.bridge === running.name)
      .sort((one, other) => (other.rssi ?? -999) - (one.rssi ?? -999)).slice(0, 10);
    setText(heardText, list.length === 0 ? "Nothing received yet." : "Received:");
    heardTable.hidden = list.length === 0;
    replace(heard, list.map(entry => `${entry.serial} ${entry.rssi} ${entry.name}`).join(), () => list.map(entry => make("tr", {},
      make("td", {class: "mono"}, String(entry.serial ?? entry.address ?? "")),
      make("td", {class: "number"}, typeof entry.rssi === "number" ? `${entry.rssi} dBm${entry.rssi >= -60 ? ", near" : ""}` : ""),
      make("td", {}, make("bdi", {}, String(entry.name ?? ""))),
      make("td", {}, entry.known ? "known" : ""))));
  }

  heardTable.hidden = true;
  return {update, message, close() { if (running) stop(); else stopScan(); }};
}
