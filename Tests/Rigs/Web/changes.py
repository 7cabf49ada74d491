"""What the page says when something changes beside it: bridges that come and go, other pages, clocks, and controls that are drawn anew."""

from __future__ import annotations

from first_view import at_noon
from scenes import expect, scene

ABSENCE = """(async () => {
  const {model} = scene, minute = 60000, began = model.now();
  const iso = ago => new Date(began - ago * minute).toISOString();
  const state = (word, away) => model.apply({topic: "jacquard/bridge/attic/state", retained: true, payload: word, away});
  const link = (since, received) => model.apply({topic: "jacquard/tag/0001/connection", retained: true, received_ms: received, payload: JSON.stringify({state: "connected", since})});
  const parts = () => model.today("0001").parts.filter(({to}) => to > began - 60 * minute)
    .map(({from, to, isOnline}) => [isOnline, Math.round((to - Math.max(from, began - 60 * minute)) / minute)]).filter(([, minutes]) => minutes > 0);
  const shown = [];
  link(iso(60), began);
  model.today("0001");
  state("offline", {from_ms: began - 30 * minute, to_ms: null});
  model.today("0001");
  // The bridge is back; what it had published before does not say what has happened meanwhile.
  state("online", {from_ms: began - 30 * minute, to_ms: began});
  shown.push(parts());
  // What has not changed is not said again.
  if (ARGUMENT === 60) model.now = () => began + 10000;
  else link(iso(ARGUMENT), began);
  shown.push(parts());
  return shown;
})()"""


@at_noon
def absence(run):
    """A day's strip keeps the time in which a bridge was killed; of a bridge that had only lost its broker it shows the link that went on."""
    run.login()
    expect(scene(run, ABSENCE.replace("ARGUMENT", "0")), [[[True, 30], [None, 30]], [[True, 30], [None, 30]]], "a killed bridge")
    expect(scene(run, ABSENCE.replace("ARGUMENT", "60")), [[[True, 30], [None, 30]], [[True, 60]]], "a bridge without its broker")


COUNTS = """(async () => {
  const [{columnChart}, {remembered}] = await Promise.all([import("./chart.js"), import("./stays.js")]);
  const hour = 3600000, slot = 300000, day = new Date().setHours(0, 0, 0, 0), values = Array(24).fill(0), shown = [];
  values[23] = 3;
  // Until 14:35, and until 15:00, as from 14:55 on.
  for (const end of [day + 14 * hour + 7 * slot, day + 15 * hour]) {
    const connection = Array(288).fill(1), drawn = columnChart(values, {slot: hour, end, days: 1, connection, connectionSlot: slot});
    const band = drawn.children.find(each => each.classList.contains("online"));
    const columns = drawn.children.filter(each => each.classList.contains("column"));
    const right = each => Number(each.getAttribute("x")) + Number(each.getAttribute("width"));
    shown.push([drawn.text.replace(/.*at /, ""), Math.round(right(columns.at(-1)) - right(band)), Number(band.getAttribute("x")) >= 30]);
  }
  // More gestures than have a time, and the row of a server whose clock is behind.
  const {model} = scene, end = Math.ceil(Date.now() / slot) * slot;
  const counts = values.map(() => 0);
  counts[23] = 70;
  model.remember("0001", {connection: Array(288).fill(1), slot, end, gestures: counts, hour});
  scene.gesture("0001", "cover", 0, 5);
  for (let seq = 6; seq < 26; seq += 1) scene.gesture("0001", "cover", 0, seq);
  shown.push(model.today("0001").count);
  const row = remembered({slots: [1, 1], slot, start: 0}, 10 * slot);
  shown.push(row.map(({at, isOnline}) => [at / slot, isOnline]));
  return shown;
})()"""


@at_noon
def counts(run):
    """Gestures are counted in their hour, also in its last minutes; a day's count has those that the page has not heard."""
    run.login()
    text, other, count, row = scene(run, COUNTS)
    for drawn in (text, other):
        expect([drawn[0], drawn[2]], ["14:00 (3)", True], "the busiest hour, and the band")
    expect(count, 91, "the gestures of today")
    expect(row, [[0, True], [2, None]], "a row that has ended")


TRAILING = """(async () => {
  const {model} = scene, {now} = Date, gap = () => scene.texts("p.quiet").find(text => /missing|stored/.test(text)), shown = [];
  scene.gesture("0003", "cover", 1, 4);
  const stats = (boot, last) => scene.fact("tag/0003/stats", {boot, last_seq: last, reconnects: 0});
  stats("1", 6);
  scene.update();
  // A gesture may come after its count.
  shown.push(gap());
  model.statsAt.set("0003", now() - 6000);
  scene.update();
  shown.push(gap());
  stats("2", 6);
  model.statsAt.set("0003", now() - 6000);
  scene.update();
  shown.push(gap().replace(/ since .*/, ""));
  scene.answers.get("trace")?.({ok: true, data: {gestures: [{seq: 6, stage: "expired"}]}});
  return [...shown, scene.sent.filter(([topic]) => topic.endsWith("/trace")).length];
})()"""


@at_noon
def trailing(run):
    """A gesture that the bridge has counted and that has not come is missing, also while none follows it."""
    run.login()
    shown = scene(run, TRAILING, page="tag", argument="0003")
    expect(shown[0].split(" since ")[0], "No number is missing", "a moment after the count")
    expect(shown[1:], ["2 numbers before 7 are missing: the reason is not known.", "No number is missing", 1], "later")


PAIRING = """(async () => {
  const {main} = scene, shown = [], state = () => scene.texts("h2, .pairing [role=status]").filter(Boolean).slice(0, 2);
  const event = (type, more = {}) => { scene.event("bridge/attic/event", {type, serial: "0042", ...more}); scene.update(); shown.push(state()); };
  event("pair_started");
  event("pair_found");
  event("pair_pairing");
  event("pair_failed", {text: "the tag did not answer"});
  shown.push(scene.texts(".pairing .result, .pairing output, .pairing [role=alert]").join());
  return shown;
})()"""


def events_of_pairing(run):
    """A bridge that does not announce its tags shows the progress of a pairing by its events."""
    run.login()
    shown = scene(run, PAIRING, page="pair")
    expect(shown[:3], [
        ["Hold the button of the tag for three seconds", "Looking for the tag."],
        ["Hold the button of the tag for three seconds", "Found. Waiting for the button."],
        ["Keep the tag near", "Bonding."]], "the stages")
    expect("Not paired." in shown[3], True, "the end: %s" % shown[3:])


SELECTION = """(async () => {
  const {main} = scene, shown = [], select = () => main.querySelector("#bridge");
  const start = () => [...main.querySelectorAll("button")].find(each => each.innerText === "Start").disabled;
  const state = word => { scene.fact("bridge/hall/state", word); scene.update(); shown.push([select().value, select().selectedOptions[0].innerText, start()]); };
  scene.bridge("hall");
  scene.update();
  select().value = "hall";
  select().dispatchEvent(new Event("change"));
  state("offline");
  state("online");
  const scans = scene.sent.filter(([topic]) => topic.endsWith("/scan")).map(([topic, payload]) => [topic.split("/")[1], typeof payload === "string" ? payload : "start"]);
  scene.answers.get("scan")({ok: false, text: "error: Bluetooth is off"});
  await scene.wait(50);
  return {shown, scans, text: scene.texts(".heard + .quiet, p.quiet").filter(text => /Bluetooth is off|No unknown/.test(text))};
})()"""


def selection_of_bridge(run):
    """A selected bridge stays selected while it is away; its search begins when it is selected, and a refused one says why."""
    run.login()
    found = scene(run, SELECTION, page="pair")
    expect(found["shown"], [["hall", "hall (offline)", True], ["hall", "hall", False]], "the selection")
    expect(found["scans"], [["attic", "start"], ["attic", "stop"], ["hall", "start"]], "the searches")
    expect(found["text"], ["error: Bluetooth is off"], "the refusal")


LOG = """(async () => {
  const {main, model} = scene, shown = [], iso = seconds => new Date(model.now() + seconds * 1000).toISOString();
  const said = (level, until, tag = null) => scene.event("bridge/attic/response/log", {status: "ok", data: {level, tag, since: iso(0), until}});
  const text = () => scene.texts("form + p + *, [role=status]").filter(Boolean).at(-1);
  const own = iso(300);
  said("info", own);
  scene.answers.get("log")({ok: true, data: {level: "info", tag: null, since: iso(0), until: own}});
  await scene.wait(50);
  scene.update();
  shown.push(text());
  said("debug", iso(290), "0001");
  scene.update();
  shown.push([text(), main.querySelectorAll("select")[1].value, main.querySelector("input").value]);
  // Another page has asked last: this one does not end its log.
  scene.page.close();
  shown.push(scene.sent.filter(([, payload]) => payload.duration_s === 0).length);
  scene.open("");
  const again = iso(280);
  said("debug", again, "0001");
  scene.answers.get("log")({ok: true, data: {level: "debug", tag: "0001", since: iso(0), until: again}});
  await scene.wait(50);
  scene.event("bridge/attic/response/log", {status: "ok", data: {level: null, tag: null, since: null, until: null}});
  scene.update();
  shown.push(text());
  return shown;
})()"""


def two_logs(run):
    """A bridge sends one log: a page says when another one has changed or ended it, and ends only its own."""
    run.login()
    expect(scene(run, LOG, page="log"), [
        "The bridge attic sends its log for five minutes.",
        ["Another page or program has asked the bridge attic for this log.", "debug", "0001"], 0,
        "Another page or program has stopped this log. Start it again to go on."], "the log")


FOCUS = """(async () => {
  const {main} = scene, shown = [];
  const focused = () => document.activeElement.isConnected && main.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText : "";
  const link = [...main.querySelectorAll("button")].find(each => each.getAttribute("aria-label") === "Copy jacquard/tag/0001/notify/set");
  link.focus();
  scene.gesture("0001", "brush_in", 0, 30);
  scene.update();
  shown.push([focused(), link.isConnected]);
  const why = [...main.querySelectorAll("a")].find(each => each.innerText === "Examine");
  why.focus();
  scene.tag("0001", {offline: 3});
  scene.update();
  shown.push([focused(), why.isConnected]);
  return shown;
})()"""

HEADS = "return [...document.querySelectorAll('#tags thead button')].filter(each => { each.focus(); return document.activeElement === each; }).length"


def focus(run):
    """The focus stays on a control that is drawn anew, and does not go to what is not shown."""
    run.login()
    expect(scene(run, FOCUS, page="tag", argument="0001"), [["Copy jacquard/tag/0001/notify/set", False], ["Why?", False]], "the focus")
    scene(run, "scene.rows(9)", tags=9)
    heads = run.page.run(HEADS)
    run.page.command("Emulation.setDeviceMetricsOverride", width=800, height=900, deviceScaleFactor=1, mobile=False)
    try:
        expect([heads > 3, run.page.run(HEADS)], [True, 0], "the heads of the table")
    finally:
        run.page.command("Emulation.clearDeviceMetricsOverride")


CLOCKS = """(async () => {
  const {model} = scene, {Connection} = await import("./connection.js"), shown = [], hour = 3600000;
  // The clock was an hour ahead until now.
  model.server = {...model.server, shown: Date.now() + hour, heard: Date.now() + hour};
  model.checkClock();
  shown.push(model.server.heard <= Date.now(), model.server.shown <= Date.now());
  // The bridge of a tag is missing when everything has come.
  model.isReady = false;
  scene.fact("tag/0001/info", {bridge: "gone"});
  model.changedTags.clear();
  const connection = new Connection(model);
  connection.session = {};
  connection.receive({name: "ready"});
  shown.push(model.changedTags.has("0001"), model.isOnline("0001"));
  return shown;
})()"""
ANNOUNCED = """(async () => {
  const use = () => scene.texts("dd").find(text => /announced|the device/.test(text)), shown = [use()];
  scene.fact("bridge/attic/pairing", {state: "idle"});
  scene.update();
  return [...shown, use()];
})()"""


def clocks(run):
    """A clock that is set back hides no silence; with the last fact, each tag is looked at again; a tag's page knows whether it is announced."""
    run.login()
    expect(scene(run, CLOCKS), [True, True, True, False], "clocks, and what is missing")
    expect(scene(run, ANNOUNCED, page="tag", argument="0001"),
           ["not announced: set home_assistant.discovery in the configuration", "the device Left sleeve"], "Home Assistant")


CASES = [absence, counts, trailing, events_of_pairing, selection_of_bridge, two_logs, focus, clocks]
