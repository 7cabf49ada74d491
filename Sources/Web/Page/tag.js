// One tag: its commands, live touch, charts and gestures.

import {make, makeSVG, setText, isolated, button, confirmed, resultLine, replace} from "./elements.js";
import {age, batteryText, clockTime, words} from "./model.js";
import {lineChart, columnChart} from "./chart.js";

const patterns = [["solid", "solid"], ["breathing", "breathing"], ["pulsing", "pulsing"], ["single_blink", "one blink"], ["double_blink", "two blinks"], ["triple_blink", "three blinks"]];

// The patterns besides short and long.
const haptics = ["constant_on", "sine_increase", "sine_decrease", "linear_increase", "linear_decrease", "parabolic_increase", "parabolic_decrease"];

export function tagPage(root, {model, connection, go}, id) {
  const topic = name => `tag/${id}/${name}`;
  const heading = make("h1");
  const state = make("p");
  const results = {};

  async function send(name, payload, result, after) {
    result.show({ok: true, text: "sent, waiting for the tag"});
    const answer = await connection.send(topic(name), payload, {accepted: () => result.show({ok: true, text: "accepted, waiting for the tag"})});
    result.show(answer);
    after?.(answer);
  }

  function control(title, name, ...children) {
    const result = resultLine();
    results[name] = result;
    const can = connection.may(topic(name));
    const set = make("fieldset", {disabled: !can}, make("legend", {class: "skip"}, title), make("div", {class: "bar"}, ...children));
    if (!can) result.show({ok: true, text: "Your role cannot send this command."});
    return make("section", {class: "control", "aria-label": title}, make("h2", {}, title), make("div", {}, set, result));
  }

  const color = make("input", {type: "color", value: "#ff8000"});
  const pattern = make("select", {}, ...patterns.map(([value, text]) => make("option", {value}, text)));
  const seconds = make("input", {type: "number", min: "0.1", max: "600", step: "0.1", value: "2"});
  const component = make("select", {}, make("option", {value: "tag"}, "tag"), make("option", {value: "gear"}, "gear"));
  const led = control("LED", "led/set",
    make("label", {}, "Colour", color), make("label", {}, "Pattern", pattern), make("label", {}, "On", component),
    make("label", {}, "For", seconds, "s"),
    button("Play", () => send("led/set", {
      color: color.value, pattern: pattern.value, component: component.value,
      duration_ms: Math.round(Math.min(600, Math.max(0.1, Number(seconds.value) || 2)) * 1000),
    }, results["led/set"]), {class: "main"}),
    button("Stop", () => send("led/set", {halt_all: true}, results["led/set"])));

  const hapticPattern = make("select", {}, ...haptics.map(value => make("option", {value}, words(value))));
  const playHaptic = pattern => send("haptic/set", {pattern}, results["haptic/set"]);
  const haptic = control("Haptic", "haptic/set",
    button("Short", () => playHaptic("short")), button("Long", () => playHaptic("long")),
    make("label", {}, "More", hapticPattern), button("Play pattern", () => playHaptic(hapticPattern.value)),
    button("Stop", () => playHaptic("stop")));

  const modes = ["gesture", "continuous"].map(value =>
    make("input", {type: "radio", name: "mode", value, onchange: () => send("touch_mode/set", {touch_mode: value}, results["touch_mode/set"])}));
  const lines = touchLines();
  const touch = control("Touch", "touch_mode/set",
    make("label", {}, modes[0], "gestures"), make("label", {}, modes[1], "continuous"), lines.element);

  const newName = make("input", {maxlength: "21", size: "18", autocomplete: "off", "aria-label": "New name"});
  const rename = control("Name", "name/set", newName,
    button("Rename", () => send("name/set", {name: newName.value}, results["name/set"])));

  const connect = button("", () => send("connection/set", {connection: connect.dataset.word}, results["connection/set"]));
  const forget = button("Forget\u2026", async () => {
    const text = "The bond is removed, and the tag's topics are deleted. To use it again, pair it again.";
    if (!await confirmed(`Forget tag ${id}?`, text, "Forget")) return;
    const bridge = model.bridgeOf(id);
    const answer = await connection.send(`bridge/${bridge}/request/forget`, {tag: id});
    if (answer.ok) go("tags"); else results["connection/set"].show(answer);
  });
  forget.disabled = !connection.may("bridge/x/request/forget");
  const link = control("Connection", "connection/set", connect, forget);

  const facts = make("dl");
  const battery = make("figure"), signal = make("figure"), perHour = make("figure");
  const gestureBody = make("tbody");
  const gap = make("p", {class: "quiet"});
  const content = make("div", {hidden: true},
    led, haptic, touch, link, rename,
    make("h2", {}, "Last 24 hours"), make("div", {class: "columns"}, battery, signal, perHour),
    make("div", {class: "columns"},
      make("section", {}, make("h2", {}, "Gestures"), gap,
        make("table", {id: "gestures"}, make("thead", {}, make("tr", {}, ...["Time", "Gesture", "Number"].map(text => make("th", {scope: "col", class: text === "Number" ? "number" : null}, text)))), gestureBody)),
      make("section", {}, make("h2", {}, "Facts"), facts)));
  root.append(heading, state, content);

  loadCharts();
  const chartTimer = setInterval(loadCharts, 60000);

  async function loadCharts() {
    try {
      const response = await fetch(`history?tag=${encodeURIComponent(id)}`, {cache: "no-store"});
      if (!response.ok) return;
      const data = await response.json();
      const slot = data.slot_s * 1000, end = data.time_s * 1000;
      battery.replaceChildren(...lineChart("Battery", data.battery, {unit: "%", low: 0, high: 100, slot, end}));
      signal.replaceChildren(...lineChart("Signal", data.signal, {unit: "dBm", low: -100, high: -30, slot, end}));
      perHour.replaceChildren(...columnChart("Gestures per hour", data.gestures, {slot: data.hour_s * 1000, end}));
    } catch { /* the header says that the server is away */ }
  }

  let wasContinuous = false;
  function update() {
    const tag = model.tags.get(id);
    const name = tag?.info?.name ?? "";
    replace(heading, name, () => [make("span", {class: "mono"}, id), " ", isolated(name)]);
    content.hidden = !tag;
    if (!tag) {
      setText(state, model.isReady ? "No bridge knows this tag." : "");
      return;
    }
    const online = model.isOnline(id);
    const now = Date.now();
    replace(state, `${model.stateText(id, now)} ${online}`, () => [
      make("span", {class: "word"}, model.stateText(id, now)),
      ...(online ? [] : [" ", make("a", {href: `#why/${encodeURIComponent(id)}`}, "Why?")])]);
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
    drawFacts(tag, now);
    drawGestures(tag);
  }

  function drawFacts(tag, now) {
    const info = tag.info ?? {}, gear = tag.gear ?? {}, stats = tag.stats ?? {};
    const rows = [
      ["Serial", info.serial], ["Bridge", info.bridge], ["Battery", batteryText(tag.battery) + (tag.battery?.time ? ` (${age(tag.battery.time, now)})` : "")],
      ["Signal", typeof tag.rssi === "number" ? `${tag.rssi} dBm` : ""],
      ["Gear", gear.attached ? [gear.vendor, gear.product].filter(Boolean).join(" ") : "none attached"],
      ["Firmware", info.firmware], ["Address", info.address],
      ["Reconnects", stats.reconnects], ["Lost fragments", stats.lost_fragments], ["Expired gestures", stats.expired],
    ].filter(([, value]) => value !== undefined && value !== null && value !== "");
    replace(facts, JSON.stringify(rows), () => rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, isolated(String(value)))]));
  }

  function drawGestures(tag) {
    const list = (model.gestures.get(id) ?? []).slice(0, 12);
    replace(gestureBody, list.map(gesture => `${gesture.boot}${gesture.seq}`).join(), () => list.map(gesture =>
      make("tr", {}, make("td", {class: "time"}, clockTime(gesture.time)), make("td", {}, words(gesture.event_type)), make("td", {class: "number"}, String(gesture.seq ?? "")))));
    setText(gap, list.length === 0 ? "No gesture since this page's server was started." : gapText(list));
    gestureBody.parentElement.hidden = list.length === 0;
  }

  function message(change) {
    if (change.kind === "tag" && change.id === id && change.name === "touch") lines.show(change.value);
  }

  lines.element.hidden = true;
  return {
    update, message, title: id,
    close() { clearInterval(chartTimer); connection.watchTouch(null); },
  };
}

// Whether a number is missing in the list, newest first.
function gapText(list) {
  for (let index = 0; index + 1 < list.length; index += 1) {
    const [newer, older] = [list[index], list[index + 1]];
    // An exclusive chord replaces its gestures.
    const missing = newer.seq - older.seq - 1 - (newer.of ?? []).filter(number => number > older.seq).length;
    if (newer.boot === older.boot && missing > 0) return `${missing} missing before number ${newer.seq}.`;
  }
  return `No number is missing since ${clockTime(list[list.length - 1].time)}.`;
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
