// All tags in one table.

import {make, setText, isolated, replace} from "./elements.js";
import {age, batteryText, isLow, stateText, words} from "./model.js";

const columns = [
  {key: "id", title: "Tag"},
  {key: "name", title: "Name"},
  {key: "state", title: "State"},
  {key: "battery", title: "Battery", number: true},
  {key: "signal", title: "Signal", number: true, hint: "Signal strength in dBm"},
  {key: "gear", title: "Gear"},
  {key: "bridge", title: "Bridge"},
  {key: "reconnects", title: "Reconnects", number: true},
  {key: "lost", title: "Lost", number: true, hint: "Lost fragments"},
  {key: "gesture", title: "Last gesture"},
];

const memory = {filter: "", offlineOnly: false, sort: "id", descending: false};

export function tagsPage(root, {model}) {
  const filter = make("input", {type: "search", id: "filter", value: memory.filter, placeholder: "id, name, bridge or gear", autocomplete: "off"});
  const offline = make("input", {type: "checkbox", checked: memory.offlineOnly});
  const count = make("span", {class: "quiet"});
  const body = make("tbody");
  const heads = columns.map(column => {
    const control = make("button", {type: "button", title: column.hint, onclick: () => sortBy(column.key)}, column.title);
    return make("th", {scope: "col", class: column.number ? "number" : null}, control);
  });
  const table = make("table", {class: "stack", id: "tags"}, make("thead", {}, make("tr", {}, ...heads)), body);
  const empty = make("p", {class: "quiet"});
  root.append(make("h1", {}, "Tags"),
    make("div", {class: "bar", role: "search"}, make("label", {}, "Filter", filter), make("label", {}, offline, "offline only"), count),
    table, empty);

  const rows = new Map();
  let orderKey = null;
  filter.addEventListener("input", () => { memory.filter = filter.value; applyFilter(); });
  offline.addEventListener("change", () => { memory.offlineOnly = offline.checked; applyFilter(); });

  function sortBy(key) {
    memory.descending = memory.sort === key ? !memory.descending : false;
    memory.sort = key;
    orderKey = null;
    update();
  }

  function update() {
    const now = Date.now();
    for (const id of model.changedTags) if (rows.has(id)) draw(rows.get(id), now);
    for (const id of model.tags.keys()) {
      if (rows.has(id)) continue;
      const row = makeRow(id);
      rows.set(id, row);
      draw(row, now);
    }
    for (const [id, row] of rows) {
      if (model.tags.has(id)) continue;
      row.element.remove();
      rows.delete(id);
      orderKey = null;
    }
    order();
    applyFilter();
  }

  function makeRow(id) {
    const cells = {};
    const link = make("a", {href: `#tag/${encodeURIComponent(id)}`}, id);
    const element = make("tr", {}, make("th", {scope: "row", class: "mono"}, link));
    for (const column of columns.slice(1)) {
      const cell = make("td", {class: column.number ? "number" : null, "data-name": ["battery", "signal", "bridge", "reconnects", "lost", "gear"].includes(column.key) ? column.title : null});
      cells[column.key] = cell;
      element.append(cell);
    }
    cells.state.classList.add("wide");
    cells.gesture.classList.add("wide");
    return {id, element, cells, values: {}, text: ""};
  }

  function draw(row, now) {
    const {cells, id} = row;
    const tag = model.tags.get(id);
    if (!tag) return;
    const name = tag.info?.name ?? "";
    replace(cells.name, name, () => [isolated(name)]);
    const online = tag.availability === "online";
    const state = stateText(tag, now);
    replace(cells.state, `${state} ${online}`, () => online
      ? [state]
      : [make("span", {class: "word"}, state), " ", make("a", {href: `#why/${encodeURIComponent(id)}`, "aria-label": `Why is ${id} offline?`}, "Why?")]);
    setText(cells.battery, batteryText(tag.battery));
    cells.battery.classList.toggle("word", isLow(tag.battery));
    setText(cells.signal, typeof tag.rssi === "number" ? String(tag.rssi) : "");
    const gear = tag.gear?.attached ? tag.gear.product ?? "unknown product" : "";
    setText(cells.gear, gear);
    const bridge = tag.info?.bridge ?? "";
    setText(cells.bridge, bridge);
    setText(cells.reconnects, typeof tag.stats?.reconnects === "number" ? String(tag.stats.reconnects) : "");
    setText(cells.lost, typeof tag.stats?.lost_fragments === "number" ? String(tag.stats.lost_fragments) : "");
    const gesture = model.gestures.get(id)?.[0];
    setText(cells.gesture, gesture ? `${words(gesture.event_type)}, ${age(gesture.time, now)}` : "");
    row.values = {
      id, name: name.toLowerCase(), state: online ? "" : state, battery: tag.battery?.level ?? -1, signal: tag.rssi ?? -999,
      gear, bridge, reconnects: tag.stats?.reconnects ?? -1, lost: tag.stats?.lost_fragments ?? -1,
      gesture: gesture ? -Date.parse(gesture.time) : 0,
    };
    row.online = online;
    row.text = `${id} ${name} ${bridge} ${gear}`.toLowerCase();
  }

  function order() {
    const {sort, descending} = memory;
    const list = [...rows.values()].sort((one, other) => {
      const result = compare(one.values[sort], other.values[sort]) || compare(one.id, other.id);
      return descending ? -result : result;
    });
    const key = `${sort} ${descending} ${list.map(row => row.id).join()}`;
    // Rows that move while somebody reads them are a nuisance: live columns are sorted only on request.
    if (key === orderKey || (orderKey !== null && ["gesture", "signal"].includes(sort) && list.length === body.children.length)) return;
    orderKey = key;
    const focus = document.activeElement;
    body.replaceChildren(...list.map(row => row.element));
    if (focus && body.contains(focus)) focus.focus();
    heads.forEach((head, index) => {
      if (columns[index].key === sort) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }

  function applyFilter() {
    const text = memory.filter.trim().toLowerCase();
    let visible = 0;
    for (const row of rows.values()) {
      const matches = (!text || row.text.includes(text)) && (!memory.offlineOnly || !row.online);
      if (row.element.hidden === matches) row.element.hidden = !matches;
      if (matches) visible += 1;
    }
    setText(count, visible === rows.size ? "" : `${visible} of ${rows.size} shown`);
    table.hidden = rows.size === 0;
    setText(empty, rows.size === 0 && model.isReady ? "No tag is known yet. Pair one, or add its serial to the bridge's configuration." : visible === 0 && rows.size > 0 ? "No tag matches." : "");
  }

  for (const id of model.tags.keys()) model.changedTags.add(id);
  return {update};
}

function compare(one, other) {
  return typeof one === "number" && typeof other === "number" ? one - other : String(one) < String(other) ? -1 : String(one) > String(other) ? 1 : 0;
}
