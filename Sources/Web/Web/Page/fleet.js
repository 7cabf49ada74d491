// A column per bridge: its health, adapters, tags and links.

import {make, isolated, tagLink, replace, attempt} from "./elements.js";
import {adapterName, isOnline, isWrong, offlineText, span} from "./model.js";
import {bridgeHelp, helpLine} from "./tags.js";

// The most tags of a bridge that are listed.
const mostLinks = 12;

export function fleetPage(root, {model, connection}) {
  const count = make("p", {class: "quiet"});
  const table = make("table");
  root.append(make("h1", {}, "Fleet"), count, make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Bridges"}, table),
    ...(connection.session?.role === "admin" ? [make("p", {}, make("a", {href: "#sessions"}, "Sessions of this page"))] : []));

  function update() {
    const known = [...model.bridges.keys()].filter(name => model.bridges.get(name).state !== undefined).sort();
    const drawn = known.map(name => [name, attempt(() => column(name))]).filter(([, values]) => values);
    const names = drawn.map(([name]) => name), columns = drawn.map(([, values]) => values);
    const help = bridgeHelp(model), text = names.length === 0 ? "" : names.length === 1 ? "One bridge." : `${names.length} bridges.`;
    replace(count, `${text} ${help.join()}`, () => [...(names.length > 0 ? [`${text} `] : []), ...helpLine(help)]);
    replace(table, JSON.stringify(drawn), () => columns.length === 0 ? [] : [
      make("thead", {}, make("tr", {}, make("th", {scope: "col"}, make("span", {class: "quiet"}, "Bridge")), ...names.map(name => make("th", {scope: "col"}, name, " ", make("a", {href: `#examine/${encodeURIComponent(name)}`, "aria-label": `Examine ${name}`}, "Examine"))))),
      make("tbody", {}, ...columns[0].map(([title], index) => make("tr", {}, make("th", {scope: "row"}, title),
        ...columns.map(values => make("td", {}, ...lines(values[index][1])))))),
    ]);
  }

  function column(name) {
    const bridge = model.bridges.get(name), now = model.now();
    const health = bridge.health ?? {}, info = bridge.info ?? {};
    const tags = [...model.tags.entries()].filter(([, tag]) => tag.info?.bridge === name).sort(([one], [other]) => (one < other ? -1 : 1));
    const online = isOnline(bridge);
    return [
      ["State", [online ? health.status ?? "online" : offlineText(bridge)]],
      ["Problems", problems(health)],
      ["Adapters", (bridge.adapter ?? []).map(adapter => `${adapterName(adapter)} ${String(adapter.state).replaceAll("_", " ")}, ${adapter.connected} connected${adapter.discovering ? ", discovering" : ""}`)],
      ["Version", [[info.version, info.bluez ? `BlueZ ${info.bluez}` : "", info.mqtt ? `MQTT ${info.mqtt}` : ""].filter(Boolean).join(", ")]],
      ["Running for", [online && info.started && !isWrong(Date.parse(info.started), now) ? span(now - Date.parse(info.started)) : ""]],
      ["Memory", [typeof health.rss_kb === "number" ? `${(health.rss_kb / 1000).toFixed(1)} MB` : ""]],
      ["Broker reconnects", [health.broker_reconnects]],
      ["Dropped messages", [health.dropped]],
      ["Tags", [`${tags.filter(([id]) => model.isOnline(id)).length} of ${tags.length} connected`]],
      ["Links", links(tags)],
    ];
  }

  // All of a few tags; of many, those that are offline, then those with the weakest signal.
  function links(tags) {
    const strength = ([id, tag]) => (model.isOnline(id) ? tag.rssi ?? 0 : -Infinity);
    const all = tags.length > mostLinks ? [...tags].sort((one, other) => (strength(one) < strength(other) ? -1 : Number(strength(one) > strength(other)))) : tags;
    const state = (id, tag) => (model.isOnline(id) ? `connected${typeof tag.rssi === "number" ? ` ${tag.rssi} dBm` : ""}` : "offline");
    const texts = all.slice(0, mostLinks).map(([id, tag]) => ({id, name: tag.info?.name ?? "", state: state(id, tag)}));
    return all.length > mostLinks ? [...texts, `and ${all.length - mostLinks} more`] : texts;
  }

  function problems(health) {
    const list = (health.problems ?? []).map(problem => problem.text ?? problem.code);
    return list.length === 0 ? ["none"] : list;
  }

  function lines(values) {
    return values.filter(value => value !== undefined && value !== null && value !== "").map(value => (value.id ? linkLine(value) : make("div", {}, isolated(String(value)))));
  }

  // Breaks between name and state.
  function linkLine({id, name, state}) {
    return make("div", {class: "link"}, tagLink(id, name, {class: "named whole"}), " ", make("span", {class: "whole quiet"}, state));
  }

  return {update};
}
