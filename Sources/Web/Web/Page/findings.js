// The links from the broker to a tag as a list of findings: those of the bridge, or what the retained facts show while
// there is no answer from the bridge. No elements and no clock, so that a test can compare the lists.
//
// A finding has the keys of request/doctor: {name, title, verdict, found, remedies}.

import {adapterName, age, capitalized, connectsOnDemand, isOnline, isWrong, offlineText, sentenceEnd, span, stateText, words} from "./model.js";

const links = [["broker", "broker"], ["bridge", "bridge"], ["adapter", "adapter"], ["received", "tag received"], ["link", "link"]];
const linked = ["connecting", "initializing", "configuring", "connected"];
const missingTagRemedies = ["Touch or move the tag: it stops advertising after 60 seconds.", "Bring it near the adapter.", "Charge it."];

function finding(name, title, verdict, found, ...remedies) {
  return {name, title, verdict, found, remedies: remedies.filter(Boolean)};
}

// Returns {heading, conclusion, remedies, list, others}. The heading has the texts before and after the tag's name. The conclusion is the cause
// in one sentence; its remedies are not repeated in the list. `report` is the data of the bridge's answer to request/doctor, and null
// without one; `silence` is why there is none, if the bridge has been asked; `isUnknown` is whether the bridge does not know the tag.
export function diagnosis(id, {server, broker, tag, bridge, isReady}, {report = null, silence = null, isUnknown = false}, now) {
  const name = tag?.info?.bridge;
  const isReached = server.connected && broker.connected;
  if (isReached && !isReady) return {heading: ["Why is ", " offline?"], conclusion: "", remedies: [], list: [], others: []};
  const isAsked = isReached && tag && isOnline(bridge) && report;
  const works = isReached && isOnline(bridge) && tag?.availability === "online";
  const {list, others} = isAsked ? ofReport(report, works) : {list: ofFacts(id, {server, broker, tag, bridge, name}, silence, isUnknown, now), others: []};
  const broken = isAsked ? list.find(each => each.name === report.broken) : list.find(each => each.verdict === "failed");
  return {
    heading: heading(tag, bridge?.state !== "offline" && !bridge?.silence, isReached && !(name && bridge?.state === undefined)), conclusion: conclusion(tag, broken),
    remedies: broken?.remedies ?? [], list: list.map(each => each === broken ? {...each, remedies: []} : each), others,
  };
}

// A bridge that is asked about itself: {conclusion, remedies, list, others}.
export function bridgeDiagnosis(name, report) {
  const list = titled(report.checks).map(check => (check.name === "last_error" ? {...check, found: check.found.replace(/\b[a-z]+(_[a-z]+)+(?=[,:])/g, words)} : check));
  const bad = list.filter(check => check.verdict === "failed"), notes = list.filter(check => check.verdict === "warning");
  const titles = verdict => list.filter(check => check.verdict === verdict).map(check => check.title);
  return {
    conclusion: bad.length > 0 ? stated(bad[0].title, bad[0].found) : notes.length > 0 ? `The bridge ${name} works.` : `The bridge ${name} works, and nothing is remarkable.`,
    remedies: bad[0]?.remedies ?? [], list: [...bad, ...notes].map(each => each === bad[0] ? {...each, remedies: []} : each),
    others: [["Ok", titles("ok")], ["Not checked", titles("skipped")]].filter(([, titles]) => titles.length > 0),
  };
}

// How to start a bridge that is not online.
export function startRemedies(bridge) {
  return bridge.silence?.remedies ?? ["On its host: sudo systemctl start jacquard2mqtt"];
}

function titled(checks) {
  return (checks ?? []).map(check => ({...check, title: check.title ?? words(check.name), found: String(check.found ?? ""), remedies: check.remedies ?? []}));
}

// The beginning of the sentence about a broken link, by its name.
const causes = {
  broker: "The broker is not reached", adapter: "Bluetooth does not work on the bridge", connection_policy: "The tag is not to be connected",
  received: "The bridge does not receive the tag", bond: "The tag is not paired with this bridge", link: "The connection to the tag fails",
};

function stated(subject, found) {
  const text = `${subject}: ${found.replace(/^not connected: /, "")}`;
  return sentenceEnd(capitalized(text));
}

// The heading before and after the tag's name.
function heading(tag, isCurrent, isReached) {
  if (!isReached) return ["The state of ", " is not known"];
  if (!tag) return ["There is no tag ", ""];
  if (!isCurrent || tag?.availability !== "online") return ["Why is ", " offline?"];
  return ["", tag.connection?.state === "connected" ? " is connected" : ` is ${stateText(tag)}`];
}

function conclusion(tag, broken) {
  if (broken) return stated(causes[broken.name] ?? broken.title, broken.found);
  return tag?.availability === "online" ? "Nothing from the broker to the tag is broken." : "Nothing broken was found.";
}

// The links in order, then the problems outside of them; the titles of everything else. A remedy is listed once, and none for a link of a
// tag that works.
function ofReport({chain, checks}, works) {
  const all = titled(checks);
  const links = (chain ?? []).map(name => all.find(check => check.name === name)).filter(Boolean);
  const rest = all.filter(check => !links.includes(check));
  const isProblem = check => check.verdict === "failed" || check.verdict === "warning";
  const titles = verdict => rest.filter(check => check.verdict === verdict).map(check => check.title);
  const link = all.find(check => check.name === "link");
  const shown = new Set();
  const isNew = remedy => !shown.has(remedy) && shown.add(remedy);
  const list = [...links, ...rest.filter(isProblem).map(check => (check.name === "last_error" ? lastErrorInWords(check, link) : check)).filter(Boolean)]
    .map(check => ({...check, remedies: works && links.includes(check) && check.verdict !== "failed" ? [] : check.remedies.filter(isNew)}));
  return {list, others: [["Also ok", titles("ok")], ["Not checked", titles("skipped")]].filter(([, titles]) => titles.length > 0)};
}

// A last error such as "connection_timeout, 12 min ago: No link within 60 s (org.bluez.Error.Failed); next attempt in 20 s" without its
// codes, and without what the link says already; null if nothing is left.
function lastErrorInWords(check, link) {
  const [, when, text, next] = /^[a-z_]+(?:, ([^:;]*))?: (.*?)(?: \([\w.]+\))?(?:; (next attempt .*))?$/.exec(check.found) ?? [];
  if (text === undefined) return check;
  const found = [[when, link?.found.includes(text) ? "" : text].filter(Boolean).join(": "), next].filter(Boolean).join("; ");
  return found ? {...check, found} : null;
}

// MARK: Without an answer of the bridge

function ofFacts(id, {server, broker, tag, bridge, name}, silence, isUnknown, now) {
  const skipped = (reason, from) => links.slice(from).map(([name, title]) => finding(name, title, "skipped", reason));
  if (!server.connected) {
    return [finding("server", "page's server", "failed", "does not answer", "systemctl status jacquard2mqtt-web"), ...skipped("not known without the page's server", 0)];
  }
  if (!broker.connected) {
    return [finding("broker", "broker", "failed", broker.text || "not connected", "Start the broker, or correct its address in the configuration."), ...skipped("not known without the broker", 1)];
  }
  const list = [finding("broker", "broker", "ok", "connected")];
  if (!tag) return [...list, finding("tag", "tag", "failed", "no bridge has this tag", "Pair it, or add its serial to a bridge's configuration.")];
  if (!name) return [...list, finding("bridge", "bridge", "skipped", "not known: the tag's info is missing"), ...skipped("not known without the bridge", 2)];
  if (bridge?.state === undefined) {
    const remedy = `Start ${name} on its host, or pair the tag with another bridge.`;
    return [...list, finding("bridge", "bridge", "failed", `${name} is not known to the broker`, remedy), ...skipped("not known without the bridge", 2)];
  }
  if (!isOnline(bridge)) {
    const rest = skipped(`not known while the bridge ${bridge.silence ? "does not answer" : "is offline"}`, 2).map(each => each.name === "received" ? received(tag, false, now) : each);
    return [...list, finding("bridge", "bridge", "failed", `${name} is ${offlineText(bridge)}`, ...startRemedies(bridge)), ...rest, ...lastErrorOf(tag, now)];
  }
  const problems = (bridge.health?.problems ?? []).map(problem => problem.text ?? words(problem.code));
  const texts = [`${name} is online`, ...(silence ? [silence] : []), ...problems];
  list.push(finding("bridge", "bridge", silence || problems.length > 0 ? "warning" : "ok", texts.join("; "), silence && "On the bridge's host: jacquard2mqtt doctor"));
  if (isUnknown) return [...list, finding("tag", "tag", "failed", `${name} does not have this tag any more`, "Pair it again.")];
  const used = adapter(bridge, tag);
  return [...list, used, ...ofTag(id, tag, used.verdict !== "failed", now)];
}

function adapter(bridge, tag) {
  if (!Array.isArray(bridge.adapter)) return finding("adapter", "adapter", "skipped", "not known");
  // Adapters of two hosts can have the same id.
  const {adapter: id, radio} = tag.connection ?? {};
  const used = bridge.adapter.find(each => (radio ? each.radio === radio : each.id === id)) ?? bridge.adapter.find(each => each.state === "powered_on") ?? bridge.adapter[0];
  if (!used) return finding("adapter", "adapter", "failed", "the bridge has none", "Plug one in, then: systemctl status bluetooth");
  if (used.state === "powered_on") return finding("adapter", "adapter", "ok", `${adapterName(used)} is on`);
  return finding("adapter", "adapter", "failed", `${adapterName(used)}: ${words(used.state)}`, "sudo rfkill unblock bluetooth", "bluetoothctl power on");
}

function ofTag(id, tag, isAdapterReady, now) {
  const {state, step, of, attempt, error, since} = tag.connection ?? {};
  const link = (verdict, found, ...remedies) => finding("link", "link", verdict, found, ...remedies);
  const isHeld = state === "disconnected" && !error && !connectsOnDemand(tag);
  const policy = isHeld ? [finding("connection_policy", "policy", "failed", "disconnected on request or by the configuration", `jacquard2mqtt connection ${id} connect`)] : [];
  const first = [...policy, received(tag, true, now)];
  if (state === "connected") return [...first, tag.availability === "online" ? link("ok", `connected since ${since}`) : link("failed", "the tag does not answer; the bridge connects it again", "If this lasts, charge the tag.")];
  if (linked.includes(state)) return [...first, link("warning", `${state}${of ? ` ${step}/${of}` : ""}, attempt ${attempt ?? 1}`)];
  if (isHeld) return [...first, link("skipped", "not tried")];
  if (!isAdapterReady) return [...first, link("skipped", "not tried without an adapter")];
  if (error) return [...first, link("failed", `not connected: ${errorText(tag, now)}`, error.hint)];
  if (connectsOnDemand(tag)) return [...first, link("ok", "not connected, because no command is waiting")];
  if (first.at(-1).verdict === "failed") return [...first, link("skipped", "not tried: the bridge waits until it receives the tag")];
  return [...first, link("failed", "not connected", ...missingTagRemedies)];
}

// The bridge publishes the time with each change of the state and at most once a minute: a tag may have been received
// since then.
function received(tag, isBridgeOnline, now) {
  const {state, last_seen: seen} = tag.connection ?? {};
  const make = (verdict, found, ...remedies) => finding("received", "tag received", verdict, found, ...remedies);
  if (isBridgeOnline && linked.includes(state)) return make("ok", "linked to the adapter");
  if (seen) return make("skipped", isWrong(Date.parse(seen), now) ? "received at an unknown time" : `received ${age(seen, now)} or later`);
  if (connectsOnDemand(tag)) return make("skipped", "not received since the bridge started");
  if (!isBridgeOnline || seen === undefined) return make("skipped", "not known");
  return make("failed", "not received since the bridge started", ...missingTagRemedies);
}

function lastErrorOf(tag, now) {
  const error = tag.connection?.error;
  return error ? [finding("last_error", "last error", "warning", errorText(tag, now), error.hint)] : [];
}

function errorText({connection: {error, retry_at: retryAt}}, now) {
  const wait = Date.parse(retryAt ?? "") - now;
  return `${error.text ?? words(error.code)}${wait > 0 ? `; next attempt in ${span(wait)}` : ""}`;
}
