// A card per tag: its state, battery, last gesture as it happens, and what one does most.

import {make, isolated, tagLink, replace, place, attempt, button, flash} from "./elements.js";
import {gauge, gearDrawing, gestureParts, signalBars} from "./drawings.js";
import {age, batteryText, forecastText, isLow} from "./model.js";
import {todayStrip} from "./strip.js";
import {resultLine, sendShown} from "./result.js";

// `includes` is whether a tag is shown.
export function tagCards(root, {model, connection}, includes) {
  const list = make("ul", {class: "cards"});
  root.append(list);
  const cards = new Map();

  function update() {
    for (const [id, card] of cards) if (!model.tags.has(id) || !includes(id) || card.removals !== model.removalsOf(id)) cards.delete(id);
    const now = model.now();
    for (const id of model.tags.keys()) {
      if (!attempt(() => includes(id))) continue;
      const isNew = !cards.has(id);
      if (isNew) cards.set(id, makeCard(id, {model, connection}));
      if (isNew || model.isNextSecond || model.changedTags.has(id)) attempt(() => cards.get(id).draw(now));
    }
    const ids = [...cards.keys()].sort();
    list.dataset.count = String(ids.length);
    const focus = document.activeElement;
    place(list, ids.map(id => cards.get(id).element));
    if (list.contains(focus)) focus.focus({preventScroll: true});
  }

  function message(change) {
    if (change.kind === "tag" && change.name === "gesture" && !change.isHistory) cards.get(change.id)?.flash();
  }

  return {update, message, close() {}};
}

function makeCard(id, {model, connection}) {
  const title = make("h2");
  const state = make("p", {class: "state"});
  const battery = make("p", {class: "facts"});
  const gesture = make("p", {class: "gesture"});
  const strip = todayStrip();
  const result = resultLine();
  const controls = make("div", {class: "bar"});
  const element = make("li", {class: "card"}, title, state, battery, gesture, strip.element, make("div", {class: "actions"}, controls, result));

  const send = (name, payload) => sendShown(connection, `tag/${id}/${name}`, payload, result);

  // Commands that the role may send and that the tag can receive.
  function buttons(tag, called) {
    const can = name => connection.may(`tag/${id}/${name}`);
    if (isDisconnected(tag)) return can("connection/set") ? [button("Connect", () => send("connection/set", "connect"), {"aria-label": `Connect ${called}`})] : [];
    if (!model.isOnline(id)) return [];
    return [
      can("led/set") && button("LED", () => send("led/set", {color: "#ff8000", duration_ms: 2000}), {"aria-label": `Play the LED of ${called}`}),
      can("haptic/set") && tag.gear?.attached && button("Haptic", () => send("haptic/set", {pattern: "short"}), {"aria-label": `Play a haptic of ${called}`}),
    ].filter(Boolean);
  }

  function draw(now) {
    const tag = model.tags.get(id), online = model.isOnline(id);
    const name = model.tagName(id) || id;
    replace(title, name, () => [tagLink(id, name)]);
    const text = model.stateText(id, now);
    element.classList.toggle("off", !online);
    const strength = online && typeof tag.rssi === "number" ? tag.rssi : null;
    replace(state, `${text} ${online} ${strength}`, () => [
      make("span", {class: online ? "dot on" : "dot", "aria-hidden": "true"}), make("span", {class: "word"}, text),
      ...(online ? [] : [make("a", {href: `#why/${encodeURIComponent(id)}`, "aria-label": `Why is ${name} offline?`}, "Why?")]),
      ...(strength === null ? [] : [make("span", {class: "signal", title: `Signal ${strength} dBm`}, signalBars(strength), make("span", {class: "skip"}, `Signal ${strength} dBm`))]),
    ]);
    const level = batteryText(tag.battery);
    // The last report of a tag that is offline may be old.
    const note = online ? forecastText(tag.forecast, now) : tag.battery?.time && level ? age(tag.battery.time, now) : "";
    const gear = tag.gear?.attached ? tag.gear.product ?? "unknown product" : tag.gear?.attached === false ? "no gear attached" : "gear not known";
    replace(battery, JSON.stringify([level, note, gear, isLow(tag.battery)]), () => [
      ...(level ? [gauge(tag.battery), make("span", {class: isLow(tag.battery) ? "word" : null}, level), make("span", {class: "quiet"}, note)] : []),
      make("span", {class: "gear"}, gearDrawing(tag.gear), isolated(gear))]);
    const last = model.gestures.get(id)?.[0];
    const when = last ? age(last.at, now) : "";
    replace(gesture, `${last?.event_type} ${when}`, () => last
      ? gestureParts(last, when) : [make("span", {class: "quiet"}, "no gesture yet")]);
    strip.draw(model.today(id));
    replace(controls, `${online} ${isDisconnected(tag)} ${tag.gear?.attached} ${connection.session?.role} ${name}`, () => buttons(tag, name));
  }

  connection.remember(id);
  return {element, draw, removals: model.removalsOf(id), flash: () => flash(gesture)};
}

// Whether the user has disconnected the tag.
export function isDisconnected(tag) {
  return tag.availability !== "online" && tag.connection?.state === "disconnected" && !tag.connection.error;
}
