// Many tags in one table: a line for each, which begins with what needs the user.

import {make, setText, isolated, tagLink, replace, place, attempt, button, flash} from "./elements.js";
import {gauge, gearDrawing, gestureParts, signalBars} from "./drawings.js";
import {age, batteryText, isLow} from "./model.js";
import {resultLine, sendShown} from "./result.js";

const columns = [
  {key: "tag", title: "Tag"},
  {key: "state", title: "State"},
  {key: "battery", title: "Battery"},
  {key: "signal", title: "Signal", hint: "Signal strength in dBm"},
  {key: "gear", title: "Gear"},
  {key: "bridge", title: "Bridge"},
  {key: "reconnects", title: "Reconnects", number: true, isMore: true},
  {key: "lost", title: "Lost", number: true, hint: "Lost fragments", label: "Lost fragments", isMore: true},
  {key: "gesture", title: "Last gesture"},
  {key: "light", title: "LED", isCommand: true},
];

// How many rows are made at once when the end of the table comes into view.
const rowsAtOnce = 60;
// The height of a row in pixels: the first rows are those that fit into the window.
const rowHeight = 48;
// After how long those that follow them are made, in milliseconds.
const firstRowsAlone = 300;

// Sorted by "need", the first rows are the tags that are offline, then those with a low battery.
const memory = {filter: "", hasMore: false, sort: "need", descending: false};

// `includes` is whether a tag is shown.
export function tagTable(root, {model, connection}, includes) {
  const filter = make("input", {type: "search", id: "filter", value: memory.filter, size: "26", placeholder: "id, name, bridge or gear", autocomplete: "off"});
  const more = make("input", {type: "checkbox", checked: memory.hasMore, onchange: () => { memory.hasMore = more.checked; showColumns(); }});
  const count = make("span", {class: "quiet"});
  const body = make("tbody");
  const heads = columns.map(column => {
    if (column.isCommand) return make("th", {scope: "col"}, make("span", {class: "skip"}, column.title));
    const control = make("button", {type: "button", title: column.hint, onclick: () => sortBy(column.key)}, column.title);
    return make("th", {scope: "col", class: `${column.number ? "number" : ""} ${column.isMore ? "more" : ""}`}, control);
  });
  const table = make("table", {id: "tags"}, make("thead", {}, make("tr", {}, ...heads)), body);
  const empty = make("p", {class: "quiet"});
  const end = make("div");
  root.append(
    make("div", {class: "bar", role: "search"}, make("label", {}, "Filter", filter),
      make("label", {class: "wide-only"}, more, "reconnects and lost fragments"), count),
    table, empty, end);
  const showColumns = () => table.classList.toggle("brief", !memory.hasMore);
  showColumns();

  // What each tag is sorted and filtered by.
  const facts = new Map();
  // The rows that have been made, by id.
  const rows = new Map();
  let sorted = [], visible = [], limit = Math.ceil(window.innerHeight / rowHeight), isSorted = false;
  filter.addEventListener("input", () => { memory.filter = filter.value; limit = rowsAtOnce; showRows(); });
  const nearEnd = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting || visible.length < limit) return;
    limit += rowsAtOnce;
    showRows();
  }, {rootMargin: "800px"});
  let isWatched = false;
  const watching = setTimeout(() => { isWatched = true; nearEnd.observe(end); }, firstRowsAlone);

  function sortBy(key) {
    memory.descending = memory.sort === key ? !memory.descending : false;
    memory.sort = key;
    isSorted = false;
    sortRows();
    showRows();
  }

  function update() {
    for (const id of model.changedTags) if (model.tags.has(id)) attempt(() => setFacts(id));
    for (const id of facts.keys()) {
      if (model.tags.has(id)) continue;
      facts.delete(id);
      rows.delete(id);
      isSorted = false;
    }
    sortRows();
    const now = model.now();
    for (const id of model.isNextSecond ? visible : model.changedTags) if (rows.has(id)) attempt(() => draw(rows.get(id), now));
    showRows();
  }

  function setFacts(id) {
    const tag = model.tags.get(id), known = facts.get(id);
    const name = tag.info?.name ?? "", bridge = tag.info?.bridge ?? "";
    const gear = tag.gear?.attached ? tag.gear.product ?? "unknown product" : "";
    const online = model.isOnline(id);
    const gesture = model.gestures.get(id)?.[0];
    const values = {
      id, tag: (name || id).toLowerCase(), need: !online ? 0 : isLow(tag.battery) ? 1 : 2, state: online ? "" : model.stateText(id, 0), battery: tag.battery?.level ?? -1, signal: tag.rssi ?? -999,
      gear, bridge, reconnects: tag.stats?.reconnects ?? -1, lost: tag.stats?.lost_fragments ?? -1,
      gesture: gesture ? -new Date(gesture.at).getTime() : 0,
    };
    facts.set(id, {values, online, text: `${id} ${name} ${bridge} ${gear}`.toLowerCase()});
    // Rows that move while somebody reads them are a nuisance: live columns are sorted only on request.
    const isLive = ["gesture", "signal"].includes(memory.sort);
    if (!known || (!isLive && known.values[memory.sort] !== values[memory.sort])) isSorted = false;
  }

  function sortRows() {
    if (isSorted) return;
    isSorted = true;
    const {sort, descending} = memory;
    const list = [...facts.values()].sort((one, other) => {
      const result = compare(one.values[sort], other.values[sort]) || compare(one.values.tag, other.values.tag) || compare(one.values.id, other.values.id);
      return descending ? -result : result;
    });
    sorted = list.map(fact => fact.values.id);
    heads.forEach((head, index) => {
      if (columns[index].key === sort) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }

  function makeRow(id) {
    const cells = {tag: make("th", {scope: "row"})};
    const element = make("tr", {}, cells.tag);
    for (const column of columns.slice(1)) {
      const cell = make("td", {class: `of-${column.key} ${column.number ? "number" : ""} ${column.isMore ? "more" : ""}`});
      cells[column.key] = cell;
      element.append(cell);
    }
    const result = resultLine();
    // Shown below the pointer and with the focus.
    const light = button("LED", () => sendShown(connection, `tag/${id}/led/set`, {color: "#ff8000", duration_ms: 2000}, result));
    cells.light.append(light, result);
    return {id, element, cells, light};
  }

  function draw({cells, id, light}, now) {
    const tag = model.tags.get(id);
    const name = model.tagName(id);
    const {online, values} = facts.get(id);
    replace(cells.tag, `${name} ${online}`, () => [make("span", {class: online ? "dot on" : "dot", "aria-hidden": "true"}), tagLink(id, name)]);
    const state = model.stateText(id, now);
    cells.state.classList.toggle("offline", !online);
    replace(cells.state, `${state} ${online} ${name}`, () => online
      ? [state]
      : [make("span", {class: "word"}, state), " ", make("a", {href: `#why/${encodeURIComponent(id)}`, "aria-label": `Why is ${name || id} offline?`}, "Why?")]);
    // What was reported before the tag went offline may be old.
    const level = batteryText(tag.battery), old = level && !online && tag.battery.time ? age(tag.battery.time, now) : "";
    replace(cells.battery, `${level} ${old}`, () => level ? [gauge(tag.battery), ...batteryWords(tag.battery, level), ...(old ? [make("span", {class: "old-value quiet"}, old)] : [])] : []);
    const strength = online && typeof tag.rssi === "number" ? tag.rssi : null;
    replace(cells.signal, String(strength), () => strength === null ? [] : [signalBars(strength), String(strength)]);
    replace(cells.gear, JSON.stringify(values.gear), () => values.gear ? [gearDrawing(tag.gear), isolated(values.gear)] : []);
    setText(cells.bridge, values.bridge);
    setText(cells.reconnects, typeof tag.stats?.reconnects === "number" ? String(tag.stats.reconnects) : "");
    setText(cells.lost, typeof tag.stats?.lost_fragments === "number" ? String(tag.stats.lost_fragments) : "");
    const gesture = model.gestures.get(id)?.[0], when = gesture ? age(gesture.at, now) : "";
    replace(cells.gesture, `${gesture?.event_type} ${when}`, () => gesture ? gestureParts(gesture, when) : []);
    light.hidden = !online || !connection.may(`tag/${id}/led/set`);
    light.setAttribute("aria-label", `Play the LED of ${name || id}`);
  }

  function message(change) {
    if (change.kind !== "tag" || change.name !== "gesture" || change.isHistory) return;
    const cell = rows.get(change.id)?.cells.gesture;
    if (cell) flash(cell);
  }

  // Shows the first rows that match.
  function showRows() {
    const text = memory.filter.trim().toLowerCase();
    const matching = sorted.filter(id => {
      const fact = facts.get(id);
      return (!text || fact.text.includes(text)) && includes(id);
    });
    const next = matching.slice(0, limit);
    const before = new Set(visible), now = model.now();
    const elements = next.map(id => {
      if (!rows.has(id)) rows.set(id, makeRow(id));
      if (!before.has(id)) attempt(() => draw(rows.get(id), now));
      return rows.get(id).element;
    });
    const focus = document.activeElement;
    place(body, elements);
    if (body.contains(focus)) focus.focus({preventScroll: true});
    // Reports again whether the end is in view.
    if (isWatched && elements.length !== visible.length) { nearEnd.unobserve(end); nearEnd.observe(end); }
    visible = next;
    setText(count, matching.length === facts.size ? "" : `${matching.length} of ${facts.size} shown`);
    setText(empty, matching.length === 0 ? "No tag matches." : "");
  }

  function close() {
    clearTimeout(watching);
    nearEnd.disconnect();
  }

  return {update, message, close};
}

// A narrow line has no place for "low", whose gauge is red and nearly empty.
function batteryWords(battery, level) {
  const [number, ...rest] = level.split(",");
  return [make("span", {class: isLow(battery) ? "word" : null}, number), ...(rest.length > 0 ? [make("span", {class: "rest"}, `,${rest.join(",")}`)] : [])];
}

function compare(one, other) {
  return typeof one === "number" && typeof other === "number" ? one - other : String(one) < String(other) ? -1 : String(one) > String(other) ? 1 : 0;
}
