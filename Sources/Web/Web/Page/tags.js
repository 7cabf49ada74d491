// All tags: up to eight as cards, more in a table.

import {make, attempt, replace} from "./elements.js";
import {offlineText} from "./model.js";
import {tagCards} from "./cards.js";
import {tagTable} from "./table.js";

const mostCards = 8;
// After how long the page says that it waits for the broker, in milliseconds.
const quietTime = 1000;

export function tagsPage(root, context) {
  const {model} = context;
  const content = make("div");
  const empty = make("p", {class: "quiet"});
  root.append(make("h1", {}, "Tags"), content, empty);
  let view = null, isTable = null;

  function update() {
    const wanted = model.tags.size > mostCards;
    if (wanted !== isTable) {
      isTable = wanted;
      view?.close();
      content.replaceChildren();
      for (const id of model.tags.keys()) model.changedTags.add(id);
      view = (isTable ? tagTable : tagCards)(content, context);
    }
    view.update();
    const help = bridgeHelp(model), isEmpty = model.tags.size === 0, isWaiting = !model.isReady && model.isCurrent() && Date.now() - model.server.shown > quietTime;
    replace(empty, `${isEmpty} ${isWaiting} ${model.isReady} ${help.join()}`, () => {
      if (!isEmpty) return [];
      if (!model.isReady) return isWaiting ? ["Waiting for the tags of the broker."] : [];
      if (help.length > 0) return helpLine(help);
      return ["No tag is known yet. ", ...(context.connection.may("bridge/x/request/pair") ? [make("a", {href: "#pair"}, "Pair one"), "."] : [])];
    });
  }

  return {update, message: change => attempt(() => view?.message?.(change)), close: () => view?.close()};
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
