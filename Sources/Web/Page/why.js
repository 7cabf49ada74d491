// Why a tag is offline: the chain from the broker to the tag, and a remedy for what is broken.

import {make, setText, isolated, replace, button} from "./elements.js";
import {age, batteryText, clockTime, span, words} from "./model.js";

export function whyPage(root, {model, connection}, id) {
  const chain = make("ol", {class: "chain"});
  const heading = make("h1");
  const last = make("p");
  const doctor = make("ul", {class: "chain"});
  const doctorText = make("p", {class: "quiet"});
  const others = make("p", {class: "quiet"});
  const again = button("Check again", () => ask(asked));
  again.disabled = true;
  root.append(heading, chain, last, make("h2", {}, "What the bridge finds"), doctorText, doctor, others, make("div", {class: "bar"}, again),
    make("p", {}, make("a", {href: `#tag/${encodeURIComponent(id)}`}, `Open tag ${id}`)));
  let asked = null;

  async function ask(bridge) {
    asked = bridge;
    if (!connection.may(`bridge/${bridge}/request/doctor`)) return setText(doctorText, "Your role cannot ask the bridge.");
    again.disabled = true;
    setText(doctorText, "Asking the bridge.");
    const answer = await connection.send(`bridge/${bridge}/request/doctor`, {tag: id}, {timeout: 5000});
    again.disabled = false;
    if (!answer.ok) {
      const isOld = answer.code === "unknown_command" || answer.isTimeout;
      return setText(doctorText, isOld ? "This version of the bridge cannot examine itself. Run this on its host: jacquard2mqtt doctor" : answer.text);
    }
    showFindings(answer.data ?? {});
  }

  // The links from the broker to the tag in order, then everything else that is not ok.
  function showFindings({chain: names = [], broken = null, checks = []}) {
    const links = names.map(name => checks.find(check => check.name === name)).filter(Boolean);
    const rest = checks.filter(check => !links.includes(check));
    const shown = [...links, ...rest.filter(check => check.verdict !== "ok")];
    const fine = rest.filter(check => check.verdict === "ok").map(check => check.title ?? words(check.name));
    const link = checks.find(check => check.name === broken);
    setText(doctorText, link ? `The chain from the broker to the tag breaks here: ${link.title ?? words(link.name)}.` : "No link from the broker to the tag is broken.");
    setText(others, fine.length > 0 ? `Also ok: ${fine.join(", ")}.` : "");
    doctor.replaceChildren(...shown.map(check => item(check.verdict, check.title ?? words(check.name), check.found ?? "", ...(check.remedies ?? []))));
  }

  function update() {
    const tag = model.tags.get(id);
    const name = tag?.info?.bridge;
    const online = tag?.availability === "online";
    setText(heading, online ? `${id} is connected` : `Why is ${id} offline?`);
    const links = steps(tag, name);
    replace(chain, JSON.stringify(links), () => links.map(link => item(...link)));
    const error = tag?.connection?.error;
    const retry = tag?.connection?.retry_in_ms;
    setText(last, error
      ? `Last error at ${clockTime(tag.connection.since)}: ${[error.text ?? words(error.code), error.hint].filter(Boolean).join(". ")}.${typeof retry === "number" ? ` The next attempt is in ${span(retry)}.` : ""}`
      : online ? "" : "No error is known.");
    if (name && model.isBridgeOnline(name) && asked !== name) ask(name);
  }

  function steps(tag, name) {
    const list = [];
    const broker = model.broker;
    list.push(broker.connected ? ["ok", "broker", "connected"] : ["broken", "broker", broker.text, "Start the broker, or correct its address in the configuration."]);
    if (!tag) return [...list, ["broken", "tag", "No bridge knows this tag.", "Pair it, or add its serial to the bridge's configuration."]];
    if (!name) return [...list, ["unknown", "bridge", "The tag does not say which bridge it belongs to."]];
    const bridge = model.bridges.get(name) ?? {};
    if (bridge.state !== "online") return [...list, ["broken", `bridge ${name}`, "offline", "Start it: systemctl start jacquard2mqtt"]];
    list.push(["ok", `bridge ${name}`, `online${bridge.health?.status ? `, ${bridge.health.status}` : ""}`]);
    const adapters = Array.isArray(bridge.adapter) ? bridge.adapter : [];
    const used = adapters.find(adapter => adapter.id === tag.connection?.adapter) ?? adapters.find(adapter => adapter.state === "powered_on") ?? adapters[0];
    if (!used) list.push(["broken", "adapter", "The bridge has no Bluetooth adapter.", "Plug one in; see rfkill and systemctl status bluetooth."]);
    else if (used.state !== "powered_on") list.push(["broken", `adapter ${used.id}`, words(used.state), "Switch it on: bluetoothctl power on, or rfkill unblock bluetooth."]);
    else list.push(["ok", `adapter ${used.id}`, `powered on${used.discovering ? ", discovering" : ""}`]);
    const problems = (bridge.health?.problems ?? []).map(problem => problem.text ?? problem.code);
    for (const problem of problems) list.push(["problem", `bridge ${name}`, problem]);
    return [...list, ...tagSteps(tag)];
  }

  function tagSteps(tag) {
    const connection = tag.connection ?? {};
    if (tag.availability === "online") return [["ok", "tag", "connected"]];
    const paired = tag.info?.paired;
    const bond = connection.error?.code === "peer_removed_pairing_info" ? ["broken", "bond", "The tag has removed the bond.", "Forget the tag and pair it again."]
      : ["unknown", "bond", paired ? "stored; not tried since the tag was last connected" : "none is stored; if the tag asks for one, pair it"];
    if (connection.state === "disconnected") return [["broken", "tag", "disconnected on request, or not recoverable", "Connect it on the tag's page."], bond];
    const seen = connection.last_seen ? `last received ${age(connection.last_seen)}` : "not received since the bridge was started";
    if (connection.state === "preparing_to_connect" || !connection.state) {
      const battery = batteryText(tag.battery);
      return [["broken", "tag", seen, `It sleeps after ten idle minutes: move it, or charge it${battery ? ` (last battery level ${battery})` : ""}.`], bond];
    }
    if (connection.state === "connected") return [["broken", "tag", "connected, but it does not answer", "The bridge reconnects it. If this lasts, charge the tag."], bond];
    return [["problem", "tag", connection.of ? `${words(connection.state)}, ${connection.step} of ${connection.of}, attempt ${connection.attempt ?? 1}` : words(connection.state)], bond];
  }

  return {update, title: `Why is ${id} offline?`};
}

// A line such as "ok  broker  connected".
function item(status, name, text, ...remedies) {
  const word = {ok: "ok", broken: "not ok", failed: "not ok", fail: "not ok", error: "not ok", problem: "problem", warning: "problem", unknown: "unknown", skipped: "not checked"}[status] ?? String(status ?? "");
  return make("li", {}, make("span", {class: word === "not ok" ? "word bad" : word === "problem" ? "word" : "quiet"}, word),
    make("span", {}, isolated(String(name ?? ""))), make("span", {}, isolated(text)),
    ...remedies.filter(Boolean).map(remedy => make("p", {class: "remedy"}, isolated(String(remedy)))));
}
