// All tags: up to eight as cards, more in a table.

import {make, attempt} from "./elements.js";
import {tagCards} from "./cards.js";
import {tagTable} from "./table.js";

const mostCards = 8;

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
    empty.replaceChildren(...(model.tags.size === 0 && model.isReady
      ? ["No tag is known yet. ", ...(context.connection.may("bridge/x/request/pair") ? [make("a", {href: "#pair"}, "Pair one"), "."] : [])] : []));
  }

  return {update, message: change => attempt(() => view?.message?.(change)), close: () => view?.close()};
}
