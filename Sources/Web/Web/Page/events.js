// The newest 500 gestures, results and events of bridges.

import {make, setText, isolated, place} from "./elements.js";
import {clockTime, words} from "./model.js";

export function eventsPage(root, {model}) {
  const filter = make("input", {type: "search", placeholder: "tag, bridge or text", autocomplete: "off"});
  const kind = make("select", {}, ...["all", "gestures", "results", "bridge events"].map(text => make("option", {value: text}, text)));
  let paused = null;
  const pause = make("button", {type: "button", "aria-pressed": "false"}, "Pause");
  const body = make("tbody");
  const empty = make("p", {class: "quiet"});
  const table = make("table", {class: "stack"}, make("thead", {}, make("tr", {}, ...["Time", "From", "Event", "Details"].map(text => make("th", {scope: "col"}, text)))), body);
  root.append(make("h1", {}, "Events"),
    make("div", {class: "bar"}, make("label", {}, "Filter", filter), make("label", {}, "Show", kind), pause), table, empty);
  pause.addEventListener("click", () => {
    paused = paused ? null : [...model.events];
    pause.setAttribute("aria-pressed", String(paused !== null));
    setText(pause, paused ? "Go on" : "Pause");
    draw();
  });
  filter.addEventListener("input", draw);
  kind.addEventListener("change", draw);
  const rows = new WeakMap();

  function describe(event) {
    const levels = event.topic.slice(model.base.length + 1).split("/");
    const value = event.value && typeof event.value === "object" ? event.value : {};
    const from = levels[0] === "tag" ? `tag ${levels[1]}` : levels[1];
    if (levels[2] === "gesture") return {type: "gestures", from, event: words(value.event_type), details: `number ${value.seq}`};
    if (levels[2] === "event") return {type: "bridge events", from, event: words(value.type), details: [value.id ?? value.serial, value.adapter, value.text].filter(Boolean).join(", ")};
    const command = levels[0] === "tag" ? levels.slice(2, -1).join("/") : levels[3];
    const error = value.error ? value.error.text ?? value.error.code : "";
    return {type: "results", from, event: `${words(command)}: ${value.status ?? "unknown"}`, details: error || (value.took_ms !== undefined ? `${value.took_ms} ms in the bridge` : "")};
  }

  // The page sends these requests itself: their results are on other pages.
  const isOwn = topic => /\/bridge\/[^/]+\/[^/]+\/(doctor|log|scan|trace)(\/|$)/.test(topic);

  function draw() {
    const text = filter.value.trim().toLowerCase();
    const list = (paused ?? model.events).filter(event => {
      if (isOwn(event.topic)) return false;
      event.shown ??= describe(event);
      const {type, from, event: title, details} = event.shown;
      return (kind.value === "all" || kind.value === type) && (!text || `${from} ${title} ${details}`.toLowerCase().includes(text));
    });
    place(body, list.map(event => {
      if (!rows.has(event)) {
        const {from, event: title, details} = event.shown;
        rows.set(event, make("tr", {}, make("td", {class: "time"}, clockTime(event.at)), make("td", {}, from), make("td", {}, isolated(title)), make("td", {class: "details"}, isolated(details))));
      }
      return rows.get(event);
    }));
    table.hidden = list.length === 0;
    setText(empty, list.length === 0 && model.isReady ? "No event yet." : "");
  }

  let last;
  return {
    update() {
      if (paused || (last === model.events[0] && last !== undefined)) return;
      last = model.events[0];
      draw();
    },
  };
}
