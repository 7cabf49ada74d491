// One tag: today and the last 24 hours, commands to try, what other programs need to use it, gestures and facts.

import {make, makeSVG, setText, isolated, named, button, copyable, confirmed, flash, replace, place} from "./elements.js";
import {isDisconnected} from "./cards.js";
import {gestureParts} from "./drawings.js";
import {age, batteryText, capitalized, clockTime, dayTime, forecastText, presenceText, words} from "./model.js";
import {chart, lineChart, columnChart} from "./chart.js";
import {readHistory} from "./connection.js";
import {levelsOf, withLevels} from "./levels.js";
import {firstGap, lastAbsence} from "./gaps.js";
import {todayStrip} from "./strip.js";
import {resultLine, sendShown} from "./result.js";

const patterns = [["solid", "solid"], ["breathing", "breathing"], ["pulsing", "pulsing"], ["single_blink", "one blink"], ["double_blink", "two blinks"], ["triple_blink", "three blinks"]];

const colors = [["red", "#ff0000"], ["orange", "#ff8000"], ["green", "#00ff00"], ["cyan", "#00ffff"], ["blue", "#0000ff"], ["white", "#ffffff"]];

// The signals that every bridge has.
const signals = ["default", "doorbell", "success", "failure", "warning", "alarm"];

// The patterns besides short and long.
const haptics = ["constant_on", "sine_increase", "sine_decrease", "linear_increase", "linear_decrease", "parabolic_increase", "parabolic_decrease"];

const chartInterval = 60000;
// How long a gesture may come after its count, in milliseconds.
const countPatience = 5000;

export function tagPage(root, {model, connection, go}, id) {
  const topic = name => `tag/${id}/${name}`;
  const heading = make("h1");
  const state = make("p", {class: "state"});
  const latest = make("p", {class: "gesture"});
  const results = {};

  async function send(name, payload, result, after) {
    const answer = await sendShown(connection, topic(name), payload, result);
    after?.(answer);
  }

  function control(title, name, ...children) {
    const result = resultLine();
    results[name] = result;
    // What the role cannot send is not shown.
    if (!connection.may(topic(name))) return null;
    const set = make("fieldset", {}, make("legend", {class: "skip"}, title), make("div", {class: "bar"}, ...children));
    return make("section", {class: "control", "aria-label": title}, make("h2", {}, title), make("div", {}, set, result));
  }

  const color = make("input", {type: "color", value: "#ff8000"});
  const pattern = make("select", {}, ...patterns.map(([value, text]) => make("option", {value}, text)));
  const seconds = make("input", {type: "number", min: "0.1", max: "600", step: "0.1", value: "2"});
  const component = make("select", {}, make("option", {value: "tag"}, "tag"), make("option", {value: "gear"}, "gear"));
  const more = make("details", {class: "more"}, make("summary", {}, "More"), make("div", {class: "bar"},
    make("label", {}, "Colour", color), make("label", {}, "Pattern", pattern), make("label", {}, "On", component), make("label", {}, "For", seconds, "s")));
  const swatches = colors.map(([name, value]) => make("button", {type: "button", class: "swatch", "aria-label": `Play ${name}`, title: name, onclick: () => { color.value = value; playLight(); }},
    makeSVG("svg", {viewBox: "0 0 24 24", "aria-hidden": "true"}, makeSVG("circle", {cx: 12, cy: 12, r: 11, fill: value}))));
  const led = control("LED", "led/set", ...swatches, button("Play", () => playLight(), {class: "main"}), button("Stop", () => send("led/set", {halt_all: true}, results["led/set"])), more);

  function playLight() {
    const duration = Number(seconds.value);
    if (!seconds.value || !(duration >= 0.1 && duration <= 600)) return results["led/set"].show({ok: false, text: "error: enter a duration of 0.1 to 600 s"});
    send("led/set", {color: color.value, pattern: pattern.value, component: component.value, duration_ms: Math.round(duration * 1000)}, results["led/set"]);
  }

  const hapticPattern = make("select", {}, ...haptics.map(value => make("option", {value}, words(value))));
  const playHaptic = pattern => send("haptic/set", {pattern}, results["haptic/set"]);
  const haptic = control("Haptic", "haptic/set",
    button("Short", () => playHaptic("short")), button("Long", () => playHaptic("long")),
    make("label", {}, "More", hapticPattern), button("Play pattern", () => playHaptic(hapticPattern.value)),
    button("Stop", () => playHaptic("stop")));

  // The commands of features, of which this page knows what the server says.
  const commands = connection.session.controls.map(({name, key, words: choices, number}) => {
    const command = `${name}/set`, {low, high, unit} = number;
    const entry = make("input", {type: "number", min: String(low), max: String(high), step: "1"});
    const give = word => {
      const value = Number(entry.value);
      if (!entry.value || !number.words.includes(word)) return send(command, {[key]: word}, results[command]);
      if (!(Number.isInteger(value) && value >= low && value <= high)) return results[command].show({ok: false, text: `error: enter ${low} to ${high} ${unit}`});
      return send(command, {[key]: word, [number.key]: value}, results[command]);
    };
    return control(capitalized(words(name)), command,
      ...choices.map(word => button(capitalized(words(word)), () => give(word))), make("label", {}, "For", entry, unit));
  });

  // A refused mode is not selected: some must be enabled in the configuration.
  const modes = connection.session.touch_modes.map(value =>
    make("input", {type: "radio", name: "mode", value, onchange: () => send("touch_mode/set", {touch_mode: value}, results["touch_mode/set"], ({ok}) => ok || update())}));
  const lines = touchLines();
  const touch = control("Touch", "touch_mode/set",
    ...modes.map(mode => make("label", {}, mode, words(mode.value))), lines.element);

  const newName = make("input", {maxlength: "21", size: "18", autocomplete: "off", "aria-label": "New name"});
  const rename = control("Name", "name/set", newName,
    button("Rename", () => send("name/set", {name: newName.value}, results["name/set"], renamed)));
  const nameNote = make("p", {class: "quiet"});
  rename?.lastChild.append(nameNote);

  // A name in the configuration takes precedence, so that a new name of the tag is not visible.
  function renamed(answer) {
    const info = model.tags.get(id)?.info;
    if (!answer.ok || !hasOtherName(info)) return;
    results["name/set"].show({ok: true, text: `The tag has its new name, but is still shown as "${info.name}": change the name in the configuration of the bridge ${info.bridge}, or remove it there.`});
  }

  const connect = button("", () => send("connection/set", {connection: connect.dataset.word}, results["connection/set"]));
  const forget = button("Forget\u2026", async () => {
    const text = "The bond is removed, and the tag's topics are deleted. To use it again, pair it again.";
    if (!await confirmed(`Forget ${model.tagName(id) || id}?`, text, "Forget")) return;
    const bridge = model.bridgeOf(id);
    const answer = await connection.send(`bridge/${bridge}/request/forget`, {tag: id});
    if (answer.ok) go("tags"); else results["connection/set"].show(answer);
  }, {class: "danger"});
  forget.hidden = !connection.may("bridge/x/request/forget");
  const link = control("Connection", "connection/set", connect, forget);

  const strip = todayStrip(true);
  const facts = make("dl");
  const use = make("dl", {class: "use"});
  const battery = chart("Battery"), signal = chart("Signal"), gestures = chart("Gestures");
  let days = 1;
  const spanButtons = [[1, "24 hours"], [7, "7 days"]].map(([value, text]) => button(text, () => {
    days = value;
    for (const each of spanButtons) each.setAttribute("aria-pressed", String(each.textContent === text));
    loadCharts();
  }, {"aria-pressed": String(value === days)}));
  const spans = make("div", {class: "choices", role: "group", "aria-label": "Time of the charts"}, ...spanButtons);
  const gestureBody = make("tbody");
  const gestureRows = new WeakMap();
  // Why gestures are missing, by gap.
  const causes = new Map();
  const gap = make("p", {class: "quiet"});
  // Folded on a phone, where the other parts would be far below.
  const trial = make("details", {class: "panel", open: !matchMedia("(max-width: 46rem)").matches}, make("summary", {}, make("h2", {}, "Try it")),
    ...[led, haptic, ...commands, touch].filter(Boolean));
  const settings = make("section", {class: "panel"}, ...[rename, link].filter(Boolean));
  const content = make("div", {hidden: true},
    make("section", {class: "panel"}, make("h2", {}, "Today"), strip.element, 
      make("div", {class: "beside"}, make("h2", {}, "Charts"), spans), make("div", {class: "columns"}, battery.element, signal.element, gestures.element)),
    ...[trial].filter(panel => panel.childElementCount > 1),
    make("section", {class: "panel"}, make("h2", {}, "Use it"), use),
    make("div", {class: "columns"},
      make("section", {class: "panel"}, make("h2", {}, "Gestures"), gap,
        make("table", {id: "gestures"}, make("thead", {}, make("tr", {}, ...["Time", "Gesture", "Number"].map(text => make("th", {scope: "col", class: text === "Number" ? "number" : null}, text)))), gestureBody)),
      make("section", {class: "panel"}, make("h2", {}, "Facts"), facts)),
    ...[settings].filter(panel => panel.childElementCount > 0));
  root.append(heading, state, latest, content);

  // The levels that the bridge keeps; null until it has answered. A role that may not ask it sees what the server of the page remembers.
  let levels = null, asked = -Infinity;
  loadCharts();
  const chartTimer = setInterval(loadCharts, chartInterval);

  async function loadCharts() {
    try {
      const shown = days;
      const data = await readHistory(id, shown);
      // Another span was chosen meanwhile.
      if (!data || shown !== days) return;
      const {slot, end, hour, connection: links} = data;
      if (days === 1) model.remember(id, data);
      const empty = Date.parse(model.tags.get(id)?.forecast?.empty ?? "");
      const long = withLevels(data, levels ?? [], days > 1);
      battery.draw(lineChart(long.battery, {unit: "%", low: 0, high: 100, slot, end, connection: long.connection, empty: Number.isNaN(empty) || days === 1 ? null : empty}));
      signal.draw(lineChart(data.signal, {unit: "dBm", low: -100, high: -30, slot, end, connection: links}));
      gestures.draw(columnChart(data.gestures, {slot: hour, end, days, connection: links, connectionSlot: slot}));
    } catch { /* the header says that the server is away */ }
  }

  async function loadLevels() {
    const bridge = model.bridgeOf(id), request = `bridge/${bridge}/request/battery_history`;
    if (levels || !bridge || !connection.may(request) || performance.now() - asked < chartInterval) return;
    asked = performance.now();
    const {ok, data} = await connection.send(request, {tag: id}, {timeout: 5000});
    if (!ok) return;
    levels = levelsOf(data);
    loadCharts();
  }

  function clear() {
    for (const each of [battery, signal, gestures]) each.clear();
    for (const result of Object.values(results)) result.show({ok: true, text: ""});
    wasContinuous = false;
    connection.watchTouch(null);
    lines.element.hidden = true;
    replace(latest, "", () => []);
  }

  let wasContinuous = false, removals = model.removalsOf(id), hadBattery = false;
  function update() {
    const tag = model.tags.get(id);
    // A tag that is added again has nothing of the one that was removed.
    const wasRemoved = model.removalsOf(id) !== removals, hasBattery = Boolean(tag?.battery);
    if (wasRemoved) clear();
    if (wasRemoved || (hadBattery && !hasBattery)) {
      [levels, asked] = [null, -Infinity];
      loadCharts();
    }
    removals = model.removalsOf(id);
    hadBattery = hasBattery;
    const name = tag?.info?.name ?? "";
    replace(heading, name, () => named(id, name));
    content.hidden = !tag;
    if (tag) loadLevels();
    if (!tag) {
      setText(state, model.isReady ? "No bridge knows this tag." : "");
      return;
    }
    const online = model.isOnline(id);
    const now = model.now();
    const forecast = forecastText(tag.forecast, now);
    const isHeld = isDisconnected(tag) && connection.may(topic("connection/set"));
    replace(state, `${model.stateText(id, now)} ${online} ${isHeld}`, () => [
      make("span", {class: online ? "dot on" : "dot", "aria-hidden": "true"}), make("span", {class: "word"}, model.stateText(id, now)),
      make("a", {href: `#why/${encodeURIComponent(id)}`}, online ? "Examine" : "Why?"),
      ...(isHeld ? [button("Connect", () => send("connection/set", "connect", results["connection/set"]), {class: "main"})] : [])]);
    const last = model.gestures.get(id)?.[0], when = last ? age(last.at, now) : "";
    replace(latest, `${last?.event_type} ${when}`, () => last ? gestureParts(last, when) : []);
    strip.draw(model.today(id));
    const wanted = tag.connection?.state === "disconnected" ? "connect" : "disconnect";
    connect.dataset.word = wanted;
    setText(connect, wanted === "connect" ? "Connect" : "Disconnect");
    for (const mode of modes) mode.checked = mode.value === tag.touch_mode;
    const isContinuous = tag.touch_mode === "continuous";
    if (isContinuous !== wasContinuous) {
      wasContinuous = isContinuous;
      connection.watchTouch(isContinuous ? id : null);
      lines.element.hidden = !isContinuous;
    }
    if (!newName.value && document.activeElement !== newName && newName.placeholder !== name) newName.placeholder = name;
    setText(nameNote, hasOtherName(tag.info) ? `Shown by its name in the configuration of the bridge ${tag.info.bridge}. The tag's own name is "${tag.info.tag_name}".` : "");
    drawUse(tag, last);
    drawFacts(tag, now, forecast);
    drawGestures(now);
  }

  // How other programs use the tag.
  function drawUse(tag, last) {
    const base = `${model.base}/tag/${id}`, groups = model.groupsOf(id), chords = tag.info?.chords ?? [], {bridge} = tag.info ?? {};
    // The bridge publishes it only while it announces its tags.
    const isAnnounced = model.bridges.get(bridge)?.pairing !== undefined;
    replace(use, JSON.stringify([base, groups, chords, bridge, isAnnounced, model.tagName(id), last?.payload]), () => [
      ["Topic", copyable(`${base}/gesture`)],
      ["Last message", last?.payload ? [make("code", {}, make("bdi", {}, ...breakable(last.payload)))] : [make("span", {class: "quiet"}, "none yet")]],
      ["Chords", chords.length > 0 ? chords.map(name => make("div", {}, isolated(words(name)))) : [make("span", {class: "quiet"}, "none: set chords in the configuration")]],
      ["Groups", groups.length > 0 ? groups.flatMap(name => copyable(`${model.base}/group/${name}/led/set`)) : [make("span", {class: "quiet"}, "none: set groups in the configuration")]],
      ["Signals", [make("div", {}, `${signals.join(", ")}, and those of the configuration`), ...copyable(`${base}/notify/set`)]],
      ["Home Assistant", isAnnounced ? ["the device ", isolated(model.tagName(id) || id)] : [make("span", {class: "quiet"}, "not announced: set home_assistant.discovery in the configuration")]],
    ].flatMap(([title, parts]) => [make("dt", {}, title), make("dd", {}, ...parts)]));
  }

  function drawFacts(tag, now, forecast) {
    const info = tag.info ?? {}, gear = tag.gear ?? {}, stats = tag.stats ?? {};
    const rows = [
      ["Serial", info.serial], ["Bridge", info.bridge], ["Battery", batteryText(tag.battery) + (tag.battery?.time ? ` (${age(tag.battery.time, now)})` : "")], ["Battery lasts", forecast],
      ["Presence", presenceText(tag.presence, now)],
      ["Signal", model.isOnline(id) && typeof tag.rssi === "number" ? `${tag.rssi} dBm` : ""],
      ["Gear", gear.attached ? [gear.vendor, gear.product].filter(Boolean).join(" ") : gear.attached === false ? "none attached" : "not known"],
      ["Firmware", info.firmware], ["Address", info.address],
      ["Reconnects", stats.reconnects], ["Lost fragments", stats.lost_fragments], ["Expired gestures", stats.expired],
    ].filter(([, value]) => value !== undefined && value !== null && value !== "");
    replace(facts, JSON.stringify(rows), () => rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, isolated(String(value)))]));
  }

  function drawGestures(now) {
    const list = (model.gestures.get(id) ?? []).slice(0, 12);
    place(gestureBody, list.map(gesture => {
      if (!gestureRows.has(gesture)) gestureRows.set(gesture, make("tr", {}, make("td", {class: "time"}, clockTime(gesture.at)), make("td", {}, words(gesture.event_type)), make("td", {class: "number"}, String(gesture.seq ?? ""))));
      return gestureRows.get(gesture);
    }));
    setText(gap, list.length === 0 ? "No gesture is stored." : gapText(list, now));
    gestureBody.parentElement.hidden = list.length === 0;
  }

  // Which gestures are missing since the bridge was last away, and when that was.
  function gapText(list, now) {
    const bridge = model.bridgeOf(id), {boot, started} = model.bridges.get(bridge)?.info ?? {};
    const absence = lastAbsence(list, {isOffline: model.isBridgeOffline(bridge), away: model.absences.get(bridge), boot, started});
    const known = absence ? list.slice(0, absence.newer) : list;
    const missing = firstGap([...uncounted(known[0], boot, now), ...known], absence !== null), texts = [];
    if (missing) {
      explain(missing);
      const numbers = missing.count === 1 ? `Number ${missing.last} is` : `${missing.count} numbers before ${missing.last + 1} are`;
      texts.push(`${numbers} missing: ${causes.get(missing.key) ?? "the reason is not known"}.`);
    } else if (known.length > 0) texts.push(`No number is missing since ${dayTime(absence?.to ?? known.at(-1).at, now)}.`);
    if (absence) {
      const [from, to] = [dayTime(absence.from, now), absence.to === null ? "" : dayTime(absence.to, now)];
      const verb = model.isBridgeOffline(bridge) ? "is" : "was";
      texts.push(!to ? `The bridge ${verb} away: gestures after ${from} are not known.`
        : `The bridge was away ${absence.isExact ? `from ${from} to ${to}` : `between ${from} and ${to}`}: gestures of this time are not known.`);
    }
    return texts.join(" ");
  }

  // The place behind the gestures that the bridge has counted, if it has counted more than were received: [] if it has not. A gesture may follow
  // its count, because it waits for a chord.
  function uncounted(newest, boot, now) {
    const {last_seq: last, boot: counted} = model.tags.get(id)?.stats ?? {};
    const isSame = counted !== undefined && counted === (newest ? newest.boot : boot);
    if (!isSame || !(last > (newest?.seq ?? 0)) || Date.now() - model.statsAt.get(id) < countPatience) return [];
    return [{seq: last + 1, boot: counted, time: new Date(now).toISOString()}];
  }

  // Asks the bridge why gestures are missing.
  async function explain({key, first, last, since, until}) {
    const request = `bridge/${model.bridgeOf(id)}/request/trace`;
    if (causes.has(key)) return;
    causes.set(key, undefined);
    if (!connection.may(request)) return causes.set(key, "your role cannot ask the bridge");
    const {ok, data} = await connection.send(request, {tag: id, count: 100}, {timeout: 5000});
    if (!ok) return causes.set(key, "the bridge does not answer");
    const trace = (data?.gestures ?? []).find(({seq, stage}) => seq >= first && seq <= last && stage !== "acknowledged");
    const incident = (data?.incidents ?? []).find(({type, time}) => type !== "connected" && time >= since && time <= until);
    const received = (data?.gestures ?? []).some(({seq}) => seq >= first && seq <= last);
    if (trace) causes.set(key, `${lostStages[trace.stage] ?? words(trace.stage)}${trace.waited_for ? ` (it waited for the ${trace.waited_for})` : ""}`);
    else if (received) causes.set(key, "the bridge has published it, and the page was not connected to the broker");
    else if (incident) causes.set(key, incident.type === "fragment_lost" ? "a part of it was lost on the radio" : "the connection to the tag was lost");
  }

  function message(change) {
    if (change.kind !== "tag" || change.id !== id) return;
    if (change.name === "touch") lines.show(change.value);
    if (change.name !== "gesture") return;
    flash(latest);
  }

  lines.element.hidden = true;
  return {
    update, message, get title() { return model.tagName(id) || id; },
    close() { clearInterval(chartTimer); connection.watchTouch(null); },
  };
}

const lostStages = {
  expired: "expired, because the broker could not be reached in time", dropped: "dropped, because too many messages waited for the broker",
  refused: "refused by the broker", unsendable: "too large for the broker", closing: "lost when the broker closed the connection",
  queued: "the broker does not read", written: "not acknowledged by the broker", waiting: "still waiting",
};

// JSON that is broken between its parts.
function breakable(text) {
  return text.split(/(?<=[,:[{])/).flatMap(part => [part, make("wbr")]);
}

// Whether the configuration has a name for the tag, which takes precedence over its own.
function hasOtherName(info) {
  return Boolean(info?.tag_name && info.name && info.tag_name !== info.name);
}

// Twelve bars for the lines of the sleeve, whose values are 0 to 128.
function touchLines() {
  const bars = Array.from({length: 12}, (_, index) => makeSVG("rect", {x: String(index * 10 + 1), width: "8", y: "100", height: "0"}));
  const picture = makeSVG("svg", {viewBox: "0 0 120 100", preserveAspectRatio: "none", "aria-hidden": "true"}, ...bars);
  const text = make("span", {class: "quiet"}, "waiting for touch data");
  const element = make("div", {}, make("div", {class: "lines"}, picture), text);
  return {
    element,
    show(value) {
      if (!Array.isArray(value?.lines)) return;
      value.lines.slice(0, 12).forEach((line, index) => {
        const height = Math.max(0, Math.min(100, Number(line) / 128 * 100));
        bars[index].setAttribute("height", String(height));
        bars[index].setAttribute("y", String(100 - height));
      });
      const touched = value.lines.filter(line => line > 0).length;
      setText(text, `proximity ${value.proximity}, ${touched} of 12 lines touched`);
    },
  };
}
