// Log records of a bridge, on request.

import {make, setText, isolated, tagLink, button, replace, place, showBridges} from "./elements.js";
import {rowsByDay} from "./days.js";
import {clockTime, offlineText} from "./model.js";
import {bridgeHelp, helpLine} from "./tags.js";
import {resultLine} from "./result.js";

const levels = ["trace", "debug", "info", "notice", "warning", "error"];
const seconds = 300;
// How much of the past is shown, in seconds.
const past = 600;

export function logPage(root, {model, connection}) {
  const bridge = make("select");
  const level = make("select", {}, ...levels.map(text => make("option", {value: text}, text)));
  level.value = "info";
  const tag = make("input", {size: "8", autocomplete: "off", placeholder: "all"});
  const filter = make("input", {type: "search", placeholder: "text", autocomplete: "off"});
  const result = resultLine();
  const body = make("tbody");
  let paused = null, pausedAt = 0;
  const pause = make("button", {type: "button", "aria-pressed": "false"}, "Pause");
  const begin = make("button", {class: "main"}, "Start");
  const stop = button("Stop", () => { running.isOwn = true; end(); });
  stop.disabled = true;
  // The bridge that sends its log, until when, and whether this page has asked for that last: another page or program may ask the same bridge.
  let running = null;
  // The log that is shown: its bridge, since when its records are complete, and when it ended.
  let shown = null;
  // Whether the page has asked for a log, or has found one that another page has started.
  let hasBegun = false;
  const form = make("form", {class: "bar"}, make("label", {}, "Bridge", bridge), make("label", {}, "Level", level), make("label", {}, "Tag", tag), begin, stop);
  const table = make("table", {class: "stack log"}, make("thead", {}, make("tr", {}, ...["Time", "Level", "Part", "Message"].map(text => make("th", {scope: "col"}, text)))), body);
  const range = make("p", {class: "quiet"});
  const empty = make("p", {class: "quiet"}), without = make("p", {class: "quiet"});
  root.append(make("h1", {}, "Log"), form, without, result,
    make("div", {class: "bar"}, make("label", {}, "Filter", filter), pause, button("Clear", () => { model.log = []; if (paused) paused = []; draw(); })), range, table, empty);
  form.addEventListener("submit", event => { event.preventDefault(); start(); });

  async function start() {
    const name = bridge.value;
    hasBegun = true;
    if (running && running.name !== name) end();
    const own = latest = {name};
    isAsking = true;
    const payload = {level: level.value, duration_s: seconds, past_s: past};
    if (tag.value.trim()) payload.tag = tag.value.trim();
    const answer = await connection.send(`bridge/${name}/request/log`, payload);
    isAsking = latest !== own && isAsking;
    if (own !== latest) {
      if (answer.ok && latest?.name !== name) request(name, {duration_s: 0});
      return;
    }
    if (answer.ok) runs(name, JSON.stringify([name, payload]), answer.data ?? {});
    else if (answer.code === "unknown_command" || answer.isTimeout) result.show({ok: false, text: "This version of the bridge cannot send its log. Use: journalctl -u jacquard2mqtt"});
    else result.show(answer);
  }
  // The latest start; null after a stop. The answer to an earlier start is not shown: it may arrive after the stop.
  let latest = null;
  // Whether an answer is awaited.
  let isAsking = false;

  function runs(name, selection, {since, until}) {
    running = {name, until: model.now() + seconds * 1000, said: until, isOwn: true};
    // Since the end of an earlier log, the bridge may have removed records.
    const isGapless = shown?.selection === selection && since <= shown.end;
    shown = {name, selection, since: isGapless ? shown.since : since};
    stop.disabled = false;
    result.show({ok: true, text: `The bridge ${name} sends its log for five minutes.`});
  }

  // What the bridges have last said of their logs.
  const said = ending => model.events.find(({topic, value}) => topic.endsWith(ending) && value?.status === "ok");

  // Selects the log that was started before the page was loaded again.
  function findRunning() {
    const event = said("/response/log"), data = event?.value?.data;
    if (!(Date.parse(data?.until ?? "") > model.now())) return;
    bridge.value = event.topic.split("/").at(-3);
    select(data);
  }

  function select(data) {
    if (levels.includes(data.level)) level.value = data.level;
    tag.value = data.tag ?? "";
  }

  // A bridge sends one log: another page or program may have ended or changed it.
  function follow() {
    const data = said(`/bridge/${running.name}/response/log`)?.value?.data;
    if (!data || isAsking || (data.until ?? null) === (running.said ?? null)) return;
    if (!(Date.parse(data.until ?? "") > model.now())) {
      running.until = model.now();
      return end("Another page or program has stopped this log. Start it again to go on.");
    }
    Object.assign(running, {said: data.until, until: Date.parse(data.until), isOwn: false});
    select(data);
    result.show({ok: true, text: `Another page or program has asked the bridge ${running.name} for this log.`});
  }

  function request(name, payload) { connection.send(`bridge/${name}/request/log`, payload); }

  function end(text = "The bridge has stopped sending its log.") {
    if (!running) return;
    latest = null;
    if (running.isOwn && running.until > model.now()) request(running.name, {duration_s: 0});
    shown.end = new Date(Math.min(running.until, model.now())).toISOString();
    running = null;
    stop.disabled = true;
    result.show({ok: true, text});
  }

  pause.addEventListener("click", () => {
    paused = paused ? null : [...model.log];
    pausedAt = model.now();
    pause.setAttribute("aria-pressed", String(paused !== null));
    setText(pause, paused ? "Go on" : "Pause");
    draw();
  });
  filter.addEventListener("input", draw);
  const rows = rowsByDay(4, makeRow);

  function draw() {
    const text = filter.value.trim().toLowerCase();
    const list = (paused ?? model.log).filter(record => !text || `${JSON.stringify(record)} ${model.tagName(record.fields?.tag)}`.toLowerCase().includes(text));
    place(body, rows(list.map(record => ({thing: record, at: record.time, name: model.tagName(record.fields?.tag)})), model.now()));
    table.hidden = list.length === 0;
    setText(empty, list.length > 0 ? "" : running ? "Nothing was logged yet." : "Start the log of a bridge. It sends its records for five minutes.");
    const end = shown?.end ?? (paused ? pausedAt : null);
    setText(range, shown?.since ? `${shown.name}: from ${clockTime(shown.since)} to ${end ? clockTime(end) : "now"}` : "");
  }

  draw();
  let last, wasRunning = null;
  return {
    update() {
      const names = model.onlineBridges();
      showBridges(bridge, names);
      begin.disabled = !names.includes(bridge.value);
      const help = bridgeHelp(model);
      replace(without, help.join(), () => helpLine(help));
      empty.hidden = names.length === 0;
      if (!hasBegun && model.isReady && names.length > 0) {
        hasBegun = true;
        findRunning();
        // A person who opens this page wants to see the log.
        start();
      }
      if (running && !model.isBridgeOnline(running.name)) end(`The bridge is ${offlineText(model.bridges.get(running.name))}: it sends no log.`);
      if (running) follow();
      if (running && running.until <= model.now()) end("The five minutes are over. Start the log again to go on.");
      if (!paused && (last !== model.logChanges || wasRunning !== running)) { last = model.logChanges; wasRunning = running; draw(); }
    },
    close() { end(); latest = null; },
  };
}

function makeRow(record, name) {
  const tag = record.fields?.tag;
  return make("tr", {}, make("td", {class: "time"}, clockTime(record.time)),
    make("td", {class: ["warning", "error", "critical"].includes(record.level) ? "word" : null}, String(record.level ?? "")),
    make("td", {class: "quiet"}, String(record.label ?? record.part ?? record.bridge)),
    make("td", {class: "wide sentence"}, ...(typeof tag === "string" ? [tagLink(tag, name), ": "] : []), isolated(String(record.message ?? "")), " ", make("span", {class: "quiet"}, isolated(detailsText(record)))));
}

// Everything but the sentence.
function detailsText(record) {
  const known = ["time", "level", "label", "part", "message", "bridge", "omitted", "past"];
  const fields = {...record, ...record.fields};
  delete fields.fields;
  if (typeof fields.tag === "string") delete fields.tag;
  const rest = Object.entries(fields).filter(([key, value]) => !known.includes(key) && value !== null).map(([key, value]) => `${key}=${value}`);
  return [...rest, record.omitted > 0 ? `(${record.omitted} records omitted before)` : ""].filter(Boolean).join(" ");
}
