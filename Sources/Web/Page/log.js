// Log records of a bridge, on request.

import {make, setText, isolated, button, resultLine, replace} from "./elements.js";
import {clockTime} from "./model.js";

const levels = ["trace", "debug", "info", "notice", "warning", "error"];
const seconds = 300;

export function logPage(root, {model, connection}) {
  const bridge = make("select");
  const level = make("select", {}, ...levels.map(text => make("option", {value: text}, text)));
  level.value = "info";
  const tag = make("input", {size: "8", autocomplete: "off", placeholder: "all"});
  const filter = make("input", {type: "search", placeholder: "text", autocomplete: "off"});
  const result = resultLine();
  const body = make("tbody");
  let paused = null;
  const pause = make("button", {type: "button", "aria-pressed": "false"}, "Pause");
  const begin = make("button", {class: "main"}, "Start");
  const stop = button("Stop", () => end());
  stop.disabled = true;
  // The bridge that sends its log, and until when.
  let running = null;
  const form = make("form", {class: "bar"}, make("label", {}, "Bridge", bridge), make("label", {}, "Level", level), make("label", {}, "Tag", tag), begin, stop);
  const table = make("table", {class: "stack log"}, make("thead", {}, make("tr", {}, ...["Time", "Level", "Part", "Message"].map(text => make("th", {scope: "col"}, text)))), body);
  const empty = make("p", {class: "quiet"}, "Start the log of a bridge. It sends its records for five minutes.");
  root.append(make("h1", {}, "Log"), form, result,
    make("div", {class: "bar"}, make("label", {}, "Filter", filter), pause, button("Clear", () => { model.log = []; if (paused) paused = []; draw(); })), table, empty);
  form.addEventListener("submit", async event => {
    event.preventDefault();
    const name = bridge.value;
    if (running && running.name !== name) end();
    const payload = {level: level.value, duration_s: seconds};
    if (tag.value.trim()) payload.tag = tag.value.trim();
    const answer = await connection.send(`bridge/${name}/request/log`, payload, {timeout: 3000});
    if (answer.ok && isClosed) return request(name, {duration_s: 0});
    if (answer.ok) {
      running = {name, until: Date.now() + seconds * 1000};
      stop.disabled = false;
      result.show({ok: true, text: `The bridge ${name} sends its log for five minutes.`});
    } else if (answer.code === "unknown_command" || answer.isTimeout) result.show({ok: false, text: "This version of the bridge cannot send its log. Use: journalctl -u jacquard2mqtt"});
    else result.show(answer);
  });
  let isClosed = false;

  function request(name, payload) { connection.send(`bridge/${name}/request/log`, payload, {timeout: 3000}); }

  function end(text = "The bridge has stopped sending its log.") {
    if (!running) return;
    if (running.until > Date.now()) request(running.name, {duration_s: 0});
    running = null;
    stop.disabled = true;
    result.show({ok: true, text});
  }

  pause.addEventListener("click", () => {
    paused = paused ? null : [...model.log];
    pause.setAttribute("aria-pressed", String(paused !== null));
    setText(pause, paused ? "Go on" : "Pause");
    draw();
  });
  filter.addEventListener("input", draw);
  const rows = new WeakMap();

  function draw() {
    const text = filter.value.trim().toLowerCase();
    const list = (paused ?? model.log).filter(record => !text || JSON.stringify(record).toLowerCase().includes(text));
    body.replaceChildren(...list.map(record => {
      if (!rows.has(record)) rows.set(record, make("tr", {}, make("td", {class: "time"}, clockTime(record.time)),
        make("td", {class: ["warning", "error", "critical"].includes(record.level) ? "word" : null}, String(record.level ?? "")),
        make("td", {}, String(record.label ?? record.part ?? record.bridge)), make("td", {class: "wide"}, isolated(messageText(record)))));
      return rows.get(record);
    }));
    table.hidden = list.length === 0;
    empty.hidden = list.length > 0;
  }

  draw();
  let last;
  return {
    update() {
      const names = model.onlineBridges();
      replace(bridge, names.join(), () => names.map(name => make("option", {value: name}, name)));
      begin.disabled = names.length === 0;
      if (running && running.until <= Date.now()) end("The five minutes are over. Start the log again to go on.");
      if (!paused && last !== model.log[0]) { last = model.log[0]; draw(); }
    },
    close() { isClosed = true; end(); },
  };
}

function messageText(record) {
  const known = ["time", "level", "label", "part", "message", "bridge", "omitted"];
  const fields = {...record, ...record.fields};
  delete fields.fields;
  const rest = Object.entries(fields).filter(([key, value]) => !known.includes(key) && value !== null).map(([key, value]) => `${key}=${value}`);
  const omitted = record.omitted > 0 ? ` (${record.omitted} records omitted before)` : "";
  return [record.message, ...rest].filter(Boolean).join(" ") + omitted;
}
