// Why a tag is offline: the links from the broker to the tag in one list, and a remedy for what is broken.

import {make, setText, isolated, replace, button} from "./elements.js";
import {diagnosis} from "./findings.js";
import {age, localTimes} from "./model.js";

// How long an answer of the bridge is shown before it is asked again, in milliseconds.
const validity = 10000;

export function whyPage(root, {model, connection}, id) {
  const heading = make("h1");
  const conclusion = make("p", {"aria-live": "polite"});
  const list = make("ol", {class: "chain"});
  const others = make("div");
  const checked = make("p", {class: "quiet"});
  const way = make("p");
  const again = button("Check again", () => { answer = null; update(); });
  root.append(heading, conclusion, list, others, checked, make("div", {class: "bar"}, again), way);
  // The bridge's answer, the facts that it belongs to, and its time: {key, at, report, silence, isUnknown}.
  let answer = null;
  let isAsking = false, isClosed = false;
  let title = `Why is ${id} offline?`;

  // The facts that make an older answer worthless.
  function key() {
    const tag = model.tags.get(id), bridge = model.bridges.get(model.bridgeOf(id));
    return JSON.stringify([model.server.connected, model.broker.connected, model.bridgeOf(id), bridge?.state, bridge?.adapter?.map?.(adapter => adapter.state),
      tag?.availability, tag?.connection?.state, tag?.connection?.error?.code]);
  }

  function mayAsk() {
    const name = model.bridgeOf(id);
    return name !== null && model.server.connected && model.broker.connected && model.isBridgeOnline(name) && connection.may(`bridge/${name}/request/doctor`);
  }

  async function ask() {
    if (isAsking || isClosed || !mayAsk()) return;
    isAsking = true;
    const asked = key();
    const result = await connection.send(`bridge/${model.bridgeOf(id)}/request/doctor`, {tag: id}, {timeout: 5000});
    isAsking = false;
    answer = {key: asked, at: Date.now(), ...meaning(result)};
    update();
  }

  function update() {
    if (isClosed) return;
    const now = Date.now(), current = key();
    const isValid = answer?.key === current;
    const tag = model.tags.get(id);
    const facts = {server: model.server, broker: model.broker, isReady: model.isReady, tag, bridge: model.bridges.get(model.bridgeOf(id))};
    const shown = diagnosis(id, facts, isValid ? answer : {}, now);
    title = shown.heading;
    setText(heading, shown.heading);
    setText(conclusion, shown.conclusion);
    replace(list, JSON.stringify(shown.list), () => shown.list.map(item));
    replace(others, JSON.stringify(shown.others), () => shown.others.map(([word, titles]) => make("p", {class: "quiet"}, `${word}: ${titles.join(", ")}.`)));
    if (!isValid || (now - answer.at > validity && !document.hidden)) ask();
    again.disabled = isAsking || !mayAsk();
    setText(checked, state(isValid, now));
    replace(way, String(Boolean(tag)), () => [tag
      ? make("a", {href: `#tag/${encodeURIComponent(id)}`}, `Open tag ${id}`) : make("a", {href: "#tags"}, "Show all tags")]);
  }

  function state(isValid, now) {
    const name = model.bridgeOf(id);
    if (name && !connection.may(`bridge/${name}/request/doctor`)) return "Your role cannot ask the bridge.";
    if (!isValid) return isAsking ? "Asking the bridge." : "";
    return answer.silence ? "" : `The bridge checked this ${age(answer.at, now)}.`;
  }

  return {update, close: () => { isClosed = true; }, get title() { return title; }};
}

// What the result of request/doctor says about the tag.
function meaning({ok, data, code, isTimeout, text}) {
  if (ok) return {report: data ?? {}};
  if (code === "unknown_tag") return {isUnknown: true};
  return {silence: code === "unknown_command" ? "this version cannot examine itself" : isTimeout ? "it does not answer" : text};
}

// A line such as "ok  broker  connected".
function item({title, verdict, found, remedies}) {
  const word = {ok: "ok", failed: "not ok", warning: "problem", skipped: "not checked"}[verdict] ?? String(verdict ?? "");
  return make("li", {}, make("span", {class: word === "not ok" ? "word bad" : word === "problem" ? "word" : "quiet"}, word),
    make("span", {}, isolated(title)), make("span", {}, isolated(localTimes(found))),
    ...remedies.map(remedy => make("p", {class: "remedy"}, isolated(String(remedy)))));
}
