// All tags: up to eight as cards, more in a table, and up to sixty as the user likes.

import {make, setText, attempt, button, replace} from "./elements.js";
import {isLow, offlineText} from "./model.js";
import {tagCards} from "./cards.js";
import {tagDrawing} from "./drawings.js";
import {tagTable} from "./table.js";

const mostCards = 8, mostCardsOnRequest = 60;
// After how long the page says that it waits for the broker, in milliseconds.
const quietTime = 1000;
// Tags that need the user: the links of the header show them only.
const needs = {
  offline: {title: "that are offline", includes: (model, id) => !model.isOnline(id)},
  low: {title: "with a low battery", includes: (model, id) => isLow(model.tags.get(id).battery)},
};
// The view that the user has selected in this browser, "cards" or "table".
let chosen = stored(storage => storage.getItem("view"));

export function tagsPage(root, context, argument = "") {
  const {model} = context, need = Object.hasOwn(needs, argument) ? needs[argument] : null;
  const content = make("div");
  const empty = make("p", {class: "quiet"});
  const views = ["cards", "table"].map(name => button(name === "cards" ? "Cards" : "Table", () => choose(name)));
  const choices = make("div", {class: "choices", role: "group", "aria-label": "View"}, ...views);
  const shown = make("p", {class: "quiet"});
  root.append(make("div", {class: "top"}, make("h1", {}, "Tags"), choices), shown, content, empty);
  if (need) shown.append(make("span"), " ", make("a", {href: "#tags"}, "Show all"));
  let view = null, isTable = null;

  function choose(name) {
    chosen = name;
    stored(storage => storage.setItem("view", name));
    update();
  }

  const includes = id => !need || need.includes(model, id);

  function update() {
    const count = model.tags.size, isFree = count > mostCards && count <= mostCardsOnRequest;
    const wanted = count > mostCards && !(isFree && chosen === "cards");
    choices.hidden = !isFree;
    views.forEach((each, index) => each.setAttribute("aria-pressed", String((index === 1) === wanted)));
    if (wanted !== isTable) {
      isTable = wanted;
      view?.close();
      content.replaceChildren();
      for (const id of model.tags.keys()) model.changedTags.add(id);
      view = (isTable ? tagTable : tagCards)(content, context, includes);
    }
    view.update();
    if (need && model.isReady) setText(shown.firstChild, `${[...model.tags.keys()].filter(includes).length} of ${count} tags: those ${need.title}.`);
    const help = bridgeHelp(model), isEmpty = count === 0, isWaiting = !model.isReady && model.isCurrent() && Date.now() - model.server.shown > quietTime;
    replace(empty, `${isEmpty} ${isWaiting} ${model.isReady} ${help.join()}`, () => {
      if (!isEmpty) return [];
      if (!model.isReady) return isWaiting ? ["Waiting for the tags of the broker."] : [];
      if (help.length > 0) return helpLine(help);
      return [tagDrawing(), "No tag is known yet. ", ...(context.connection.may("bridge/x/request/pair") ? [make("a", {href: "#pair"}, "Pair one"), "."] : [])];
    });
  }

  return {update, message: change => attempt(() => view?.message?.(change)), close: () => view?.close()};
}

// A browser may refuse to store anything.
function stored(use) {
  try { return use(localStorage); } catch { return null; }
}

// How to start a bridge, if all are known and none is online: a text and a command; empty otherwise.
export function bridgeHelp(model) {
  if (!model.isReady || model.onlineBridges().length > 0) return [];
  const names = [...model.bridges].filter(([, bridge]) => bridge.state !== undefined).map(([name]) => name).sort();
  const isSilent = names.some(name => model.bridges.get(name).silence);
  const text = names.length === 0 ? "No bridge has connected to this broker. Start one on a host with Bluetooth:"
    : names.length === 1 ? `The bridge ${names[0]} is ${offlineText(model.bridges.get(names[0]))}. Start it on its host:`
    : `The bridges ${names.join(", ")} ${isSilent ? "do not answer" : "are offline"}. Start one on its host:`;
  // A bridge that does not answer may be running.
  return [text, `sudo systemctl ${isSilent ? "restart" : "start"} jacquard2mqtt`];
}

export function helpLine([text, command]) {
  return text ? [`${text} `, make("code", {}, command)] : [];
}
