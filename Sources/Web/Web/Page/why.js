// Why a tag is offline: the cause and its remedy in one sentence, then the links from the broker to the tag. The same of a bridge.

import {make, setText, isolated, named, replace, button, copyable} from "./elements.js";
import {bridgeDiagnosis, diagnosis, startRemedies} from "./findings.js";
import {age, capitalized, localTimes, offlineText, sentenceEnd} from "./model.js";
import {resultLine, sendShown} from "./result.js";

// How long an answer of the bridge is shown before it is asked again, in milliseconds.
const validity = 10000;

export function whyPage(root, {model, connection}, id) {
  const heading = make("h1");
  const conclusion = make("p", {class: "cause", "aria-live": "polite"});
  const remedies = make("ul", {class: "remedies"});
  const result = resultLine();
  const list = make("ol", {class: "chain"});
  const others = make("div");
  const checked = make("p", {class: "quiet"});
  const way = make("p");
  const again = button("Check again", () => { answer = null; update(); });
  root.append(heading, conclusion, remedies, result, list, others, checked, make("div", {class: "bar"}, again), way);
  // The bridge's answer, the facts that it belongs to, and its time: {key, at, report, silence, isUnknown}.
  let answer = null;
  let isAsking = false, isClosed = false;
  let title = "Why offline?";

  // The facts that make an older answer worthless.
  function key() {
    const tag = model.tags.get(id), bridge = model.bridges.get(model.bridgeOf(id));
    return JSON.stringify([model.isServerHeard(), model.broker.connected, model.bridgeOf(id), bridge?.state, bridge?.silence, bridge?.adapter?.map?.(adapter => adapter.state),
      tag?.availability, tag?.connection?.state, tag?.connection?.error?.code]);
  }

  function mayAsk() {
    const name = model.bridgeOf(id);
    return name !== null && model.isCurrent() && model.isBridgeOnline(name) && connection.may(`bridge/${name}/request/doctor`);
  }

  async function ask() {
    if (isAsking || isClosed || !mayAsk()) return;
    isAsking = true;
    const asked = key();
    const result = await connection.send(`bridge/${model.bridgeOf(id)}/request/doctor`, {tag: id}, {timeout: 5000});
    isAsking = false;
    answer = {key: asked, at: model.now(), ...meaning(result)};
    update();
  }

  function update() {
    if (isClosed) return;
    const now = model.now(), current = key();
    const isValid = answer?.key === current;
    const tag = model.tags.get(id);
    const facts = {server: {connected: model.isServerHeard()}, broker: model.broker, isReady: model.isReady, tag, bridge: model.bridges.get(model.bridgeOf(id))};
    const shown = diagnosis(id, facts, isValid ? answer : {}, now);
    const name = model.tagName(id), [before, after] = shown.heading;
    title = `${before}${name || id}${after}`;
    replace(heading, JSON.stringify([name, ...shown.heading]), () => [before, ...named(id, name), after]);
    setText(conclusion, localTimes(shown.conclusion, now));
    replace(remedies, `${JSON.stringify(shown.remedies)} ${connection.session?.role}`, () => shown.remedies.map(text => make("li", {}, ...advice(text, true))));
    replace(list, `${JSON.stringify(shown.list)} ${connection.session?.role}`, () => shown.list.map(each => item(each, now, advice)));
    replace(others, JSON.stringify(shown.others), () => shown.others.map(([word, titles]) => make("p", {class: "quiet"}, `${word}: ${titles.join(", ")}.`)));
    if (!isValid || (now - answer.at > validity && !document.hidden)) ask();
    again.disabled = isAsking || !mayAsk();
    setText(checked, state(isValid, now));
    replace(way, String(Boolean(tag)), () => [tag
      ? make("a", {href: `#tag/${encodeURIComponent(id)}`}, "Open its page") : make("a", {href: "#tags"}, "Show all tags")]);
  }

  const connect = () => sendShown(connection, `tag/${id}/connection/set`, "connect", result);

  function advice(text, isMain) {
    // What the page can do itself is a button.
    if (isMain && /^jacquard2mqtt connection \S+ connect$/.test(text) && connection.may(`tag/${id}/connection/set`)) {
      return [button("Connect", connect, {class: "main"})];
    }
    return adviceOf(text, isMain, connection, model.tags.get(id)?.info?.serial ?? id);
  }

  function state(isValid, now) {
    const name = model.bridgeOf(id);
    if (name && !connection.may(`bridge/${name}/request/doctor`)) return "Your role cannot ask the bridge.";
    if (!isValid) return isAsking ? "Asking the bridge." : "";
    return answer.silence ? "" : `The bridge checked this ${age(answer.at, now)}.`;
  }

  return {update, close: () => { isClosed = true; }, get title() { return title; }};
}

// The command or the sentence of a remedy. The pages that it advises are links; other commands can be copied. `serial` is that of the tag, if it
// is about one.
function adviceOf(text, isMain, connection, serial = "") {
  const mayPair = connection.may("bridge/x/request/pair");
  const pairLink = (serial, word, attributes = {}) => make("a", {href: serial ? `#pair/${encodeURIComponent(serial)}` : "#pair", ...attributes}, word);
  const [, wanted, rest] = /^jacquard2mqtt pair ([^\s,]+)(?:, (.*))?$/.exec(text) ?? [];
  if (wanted && mayPair) {
    return [pairLink(wanted === "SERIAL" ? "" : wanted, "Pair", isMain ? {class: "button"} : {}), rest ? ` ${sentenceEnd(rest)}` : isMain ? "" : " it."];
  }
  const [, id] = /^jacquard2mqtt why (\S+)$/.exec(text) ?? [];
  if (id) return [id === "ID" ? make("a", {href: "#tags"}, "Show all tags") : make("a", {href: `#why/${encodeURIComponent(id)}`}, `Why is ${id} offline?`)];
  const [, place, command] = /^(On [^:]*: |[^:]*: (?=[^,;]*$))?((?:sudo|bluetoothctl|systemctl|jacquard2mqtt|rfkill|journalctl) .*)$/.exec(text) ?? [];
  if (!command) {
    const sentence = sentenceEnd(capitalized(text));
    const parts = mayPair ? /^(.*?)\b(pair)\b(.*)$/i.exec(sentence) : null;
    return [make("bdi", {}, ...(parts ? [parts[1], pairLink(serial, parts[2]), parts[3]] : [sentence]))];
  }
  const [code, copy] = copyable(command);
  return isMain ? [place ? capitalized(place) : "On the bridge's host: ", code, " ", copy] : [isolated(place ? capitalized(text) : text)];
}

// A bridge examines itself.
export function examinePage(root, {model, connection}, name) {
  const heading = make("h1", {}, `Bridge ${name}`);
  const conclusion = make("p", {class: "cause", "aria-live": "polite"});
  const remedies = make("ul", {class: "remedies"});
  const list = make("ol", {class: "chain"});
  const others = make("div");
  const checked = make("p", {class: "quiet"});
  const again = button("Check again", () => ask());
  root.append(heading, conclusion, remedies, list, others, checked, make("div", {class: "bar"}, again), make("p", {}, make("a", {href: "#fleet"}, "Show all bridges")));
  let shown = null, at = null, isAsking = false, isClosed = false, wasOnline = null;

  async function ask() {
    if (isAsking) return;
    isAsking = true;
    update();
    const {ok, data, text} = await connection.send(`bridge/${name}/request/doctor`, {}, {timeout: 5000});
    isAsking = false;
    at = model.now();
    shown = ok ? bridgeDiagnosis(name, data ?? {}) : {conclusion: `The bridge ${name} cannot be examined: ${sentenceEnd(text)}`, remedies: ["On the bridge's host: jacquard2mqtt doctor"], list: [], others: []};
    if (!isClosed) update();
  }

  function update() {
    const now = model.now(), isOnline = model.isBridgeOnline(name);
    const may = connection.may(`bridge/${name}/request/doctor`);
    if (isOnline && isOnline !== wasOnline && may && model.isCurrent()) { wasOnline = true; ask(); }
    if (!isOnline && model.isReady) {
      wasOnline = false;
      const bridge = model.bridges.get(name);
      shown = {conclusion: bridge ? `The bridge ${name} is ${offlineText(bridge)}.` : `There is no bridge ${name}.`, remedies: bridge ? startRemedies(bridge) : [], list: [], others: []};
    }
    again.hidden = !may || !isOnline;
    again.disabled = isAsking;
    setText(checked, !may ? "Your role cannot ask the bridge." : isAsking ? "Asking the bridge." : at && isOnline ? `The bridge checked this ${age(at, now)}.` : "");
    if (!shown) return;
    setText(conclusion, shown.conclusion);
    const advice = (text, isMain) => adviceOf(text, isMain, connection);
    replace(remedies, JSON.stringify(shown.remedies), () => shown.remedies.map(text => make("li", {}, ...advice(text, true))));
    replace(list, JSON.stringify(shown.list), () => shown.list.map(each => item(each, now, advice)));
    replace(others, JSON.stringify(shown.others), () => shown.others.map(([word, titles]) => make("p", {class: "quiet"}, `${word}: ${titles.join(", ")}.`)));
  }

  return {update, title: name, close: () => { isClosed = true; }};
}

// What the result of request/doctor says about the tag.
function meaning({ok, data, code, isTimeout, text}) {
  if (ok) return {report: data ?? {}};
  if (code === "unknown_tag") return {isUnknown: true};
  return {silence: code === "unknown_command" ? "this version cannot examine itself" : isTimeout ? "it does not answer" : text};
}

// A line such as "ok  broker  connected".
function item({title, verdict, found, remedies}, now, advice) {
  const word = {ok: "ok", failed: "not ok", warning: "note", skipped: "not checked"}[verdict] ?? String(verdict ?? "");
  return make("li", {}, make("span", {class: word === "not ok" ? "word bad" : word === "note" ? "word" : "quiet"}, word),
    make("span", {}, isolated(title)), make("span", {}, isolated(localTimes(found, now))),
    ...remedies.map(remedy => make("p", {class: "remedy"}, ...advice(remedy, false))));
}
