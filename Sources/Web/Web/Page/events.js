// The newest 500 gestures, results and events of bridges.

import {make, setText, isolated, tagLink, place} from "./elements.js";
import {rowsByDay} from "./days.js";
import {clockTime, words} from "./model.js";

// Commands whose words are others than those of their topics.
const commands = {led: "LED", name: "new name", notify: "signal"};

export function eventsPage(root, {model}) {
  const filter = make("input", {type: "search", placeholder: "tag, bridge or text", autocomplete: "off"});
  const kind = make("select", {}, ...["all", "gestures", "results", "bridge events"].map(text => make("option", {value: text}, text)));
  let paused = null;
  const pause = make("button", {type: "button", "aria-pressed": "false"}, "Pause");
  const body = make("tbody");
  const empty = make("p", {class: "quiet"});
  const table = make("table", {class: "stack events"}, make("thead", {}, make("tr", {}, ...["Time", "Event", "Details"].map(text => make("th", {scope: "col"}, text)))), body);
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
  const rows = rowsByDay(3, makeRow);

  // Returns {type, tag, bridge, text, details}: a sentence about a tag or a bridge.
  function describe(event) {
    const levels = event.topic.slice(model.base.length + 1).split("/");
    const value = event.value && typeof event.value === "object" ? event.value : {};
    const about = levels[0] === "tag" ? {tag: levels[1]} : {bridge: levels[1]};
    if (levels[2] === "gesture") return {...about, type: "gestures", text: words(value.event_type), details: `number ${value.seq}`};
    if (levels[2] === "event") return {...about, tag: value.id, type: "bridge events", text: words(value.type), details: [value.id ? "" : value.serial, value.adapter, value.text].filter(Boolean).join(", ")};
    const command = levels[0] === "tag" ? levels.slice(2, -1).join("/") : levels[3];
    const error = value.error ? value.error.text ?? value.error.code : "";
    return {...about, type: "results", text: `${commands[command] ?? words(command)}: ${value.status ?? "unknown"}`, details: error || (value.took_ms !== undefined ? `${value.took_ms} ms in the bridge` : "")};
  }

  function makeRow({at, shown: {tag, bridge, text, details}}, name) {
    const subject = [...(bridge ? [isolated(bridge), ": "] : []), ...(tag ? [tagLink(tag, name), bridge ? " " : ": "] : [])];
    return make("tr", {}, make("td", {class: "time"}, clockTime(at)), make("td", {class: "sentence"}, ...subject, make("span", {class: "what"}, isolated(text))), make("td", {class: "details quiet"}, isolated(details)));
  }

  // The page sends these requests itself: their results are on other pages.
  const isOwn = topic => /\/bridge\/[^/]+\/[^/]+\/(doctor|log|scan|trace)(\/|$)/.test(topic);

  function draw() {
    const text = filter.value.trim().toLowerCase();
    const list = (paused ?? model.events).filter(event => {
      if (isOwn(event.topic)) return false;
      event.shown ??= describe(event);
      const {type, tag = "", bridge = "", text: title, details} = event.shown;
      return (kind.value === "all" || kind.value === type) && (!text || `${tag} ${model.tagName(tag)} ${bridge} ${title} ${details}`.toLowerCase().includes(text));
    });
    place(body, rows(list.map(event => ({thing: event, at: event.at, name: model.tagName(event.shown.tag)})), model.now()));
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
