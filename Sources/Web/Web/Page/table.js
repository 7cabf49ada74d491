// Many tags in one table.

import {make, setText, isolated, replace, place, attempt} from "./elements.js";
import {age, batteryText, isLow, words} from "./model.js";

const columns = [
  {key: "id", title: "Tag"},
  {key: "name", title: "Name"},
  {key: "state", title: "State"},
  {key: "battery", title: "Battery", number: true},
  {key: "signal", title: "Signal", number: true, hint: "Signal strength in dBm"},
  {key: "gear", title: "Gear"},
  {key: "bridge", title: "Bridge"},
  {key: "reconnects", title: "Reconnects", number: true, isMore: true},
  {key: "lost", title: "Lost", number: true, hint: "Lost fragments", label: "Lost fragments", isMore: true},
  {key: "gesture", title: "Last gesture"},
];

// How many rows are made at once; more follow when the end of the table comes into view.
const rowsAtOnce = 100;

const memory = {filter: "", offlineOnly: false, hasMore: false, sort: "id", descending: false};

export function tagTable(root, {model}) {
  const filter = make("input", {type: "search", id: "filter", value: memory.filter, size: "26", placeholder: "id, name, bridge or gear", autocomplete: "off"});
  const offline = make("input", {type: "checkbox", checked: memory.offlineOnly});
  const more = make("input", {type: "checkbox", checked: memory.hasMore, onchange: () => { memory.hasMore = more.checked; showColumns(); }});
  const count = make("span", {class: "quiet"});
  const body = make("tbody");
  const heads = columns.map(column => {
    const control = make("button", {type: "button", title: column.hint, onclick: () => sortBy(column.key)}, column.title);
    return make("th", {scope: "col", class: `${column.number ? "number" : ""} ${column.isMore ? "more" : ""}`}, control);
  });
  const table = make("table", {class: "stack", id: "tags"}, make("thead", {}, make("tr", {}, ...heads)), body);
  const empty = make("p", {class: "quiet"});
  const end = make("div");
  root.append(
    make("div", {class: "bar", role: "search"}, make("label", {}, "Filter", filter), make("label", {}, offline, "offline only"),
      make("label", {}, more, "reconnects and lost fragments"), count),
    table, empty, end);
  const showColumns = () => table.classList.toggle("brief", !memory.hasMore);
  showColumns();

  // What each tag is sorted and filtered by.
  const facts = new Map();
  // The rows that have been made, by id.
  const rows = new Map();
  let sorted = [], visible = [], limit = rowsAtOnce, isSorted = false;
  filter.addEventListener("input", () => { memory.filter = filter.value; limit = rowsAtOnce; showRows(); });
  offline.addEventListener("change", () => { memory.offlineOnly = offline.checked; limit = rowsAtOnce; showRows(); });
  const nearEnd = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting || visible.length < limit) return;
    limit += rowsAtOnce;
    showRows();
  }, {rootMargin: "800px"});
  nearEnd.observe(end);

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
      id, name: name.toLowerCase(), state: online ? "" : model.stateText(id, 0), battery: tag.battery?.level ?? -1, signal: tag.rssi ?? -999,
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
      const result = compare(one.values[sort], other.values[sort]) || compare(one.values.id, other.values.id);
      return descending ? -result : result;
    });
    sorted = list.map(fact => fact.values.id);
    heads.forEach((head, index) => {
      if (columns[index].key === sort) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }

  function makeRow(id) {
    const cells = {};
    const link = make("a", {href: `#tag/${encodeURIComponent(id)}`}, id);
    const element = make("tr", {}, make("th", {scope: "row", class: "mono"}, link));
    for (const column of columns.slice(1)) {
      const cell = make("td", {class: `${column.number ? "number" : ""} ${column.isMore ? "more" : ""} ${column.key === "name" ? "name" : ""}`, "data-name": ["battery", "signal", "bridge", "reconnects", "lost", "gear"].includes(column.key) ? column.label ?? column.title : null});
      cells[column.key] = cell;
      element.append(cell);
    }
    return {id, element, cells};
  }

  function draw({cells, id}, now) {
    const tag = model.tags.get(id);
    const name = tag.info?.name ?? "";
    replace(cells.name, name, () => [isolated(name)]);
    cells.name.title = name;
    const {online, values} = facts.get(id);
    const state = model.stateText(id, now);
    replace(cells.state, `${state} ${online}`, () => online
      ? [state]
      : [make("span", {class: "word"}, state), " ", make("a", {href: `#why/${encodeURIComponent(id)}`, "aria-label": `Why is ${id} offline?`}, "Why?")]);
    // What was reported before the tag went offline may be old.
    const level = batteryText(tag.battery);
    setText(cells.battery, level && !online && tag.battery.time ? `${level}, ${age(tag.battery.time, now)}` : level);
    cells.battery.classList.toggle("word", isLow(tag.battery));
    setText(cells.signal, online && typeof tag.rssi === "number" ? String(tag.rssi) : "");
    setText(cells.gear, values.gear);
    setText(cells.bridge, values.bridge);
    setText(cells.reconnects, typeof tag.stats?.reconnects === "number" ? String(tag.stats.reconnects) : "");
    setText(cells.lost, typeof tag.stats?.lost_fragments === "number" ? String(tag.stats.lost_fragments) : "");
    const gesture = model.gestures.get(id)?.[0];
    setText(cells.gesture, gesture ? `${words(gesture.event_type)}, ${age(gesture.at, now)}` : "");
  }

  // Shows the first rows that match.
  function showRows() {
    const text = memory.filter.trim().toLowerCase();
    const matching = sorted.filter(id => {
      const fact = facts.get(id);
      return (!text || fact.text.includes(text)) && (!memory.offlineOnly || !fact.online);
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
    if (elements.length !== visible.length) { nearEnd.unobserve(end); nearEnd.observe(end); }
    visible = next;
    setText(count, matching.length === facts.size ? "" : `${matching.length} of ${facts.size} shown`);
    setText(empty, matching.length === 0 ? "No tag matches." : "");
  }

  return {update, close: () => nearEnd.disconnect()};
}

function compare(one, other) {
  return typeof one === "number" && typeof other === "number" ? one - other : String(one) < String(other) ? -1 : String(one) > String(other) ? 1 : 0;
}
