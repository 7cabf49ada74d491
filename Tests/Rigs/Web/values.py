"""Values of another type than the contract has: the page leaves them out, and shows everything else."""

from __future__ import annotations

import json
import time

from stage import require

TIME = "2026-11-20T10:15:02.114Z"
# The messages that the page reads, complete and correct. The tag "x" and its bridge "b" get the wrong values.
MESSAGES = [
    ("tag/x/availability", True, "online"),
    ("tag/x/touch_mode", True, "gesture"),
    ("tag/x/rssi", True, -61),
    ("tag/x/led", True, {"state": "ON"}),
    ("tag/x/connection", True, {
        "state": "preparing_to_connect", "status": "out_of_range", "step": 6, "of": 14, "attempt": 2, "adapter": "hci0", "since": TIME, "last_seen": TIME,
        "retry_at": TIME, "error": {"code": "connection_timeout", "text": "No link", "hint": "Move it"}}),
    ("tag/x/battery", True, {"level": 87, "charging": False, "time": TIME}),
    ("tag/x/gear", True, {"attached": True, "vendor": "Levi's", "product": "Jacket"}),
    ("tag/x/info", True, {"name": "Cuff", "bridge": "b", "serial": "x", "firmware": "1.2.3", "address": "F0:00:00:00:00:02", "chords": ["tap"]}),
    ("tag/x/stats", True, {"reconnects": 1, "lost_fragments": 2, "expired": 3}),
    ("tag/x/gesture", False, {"event_type": "cover", "seq": 5, "boot": "9f3c", "time": TIME, "of": [3, 4]}),
    ("tag/x/touch", False, {"lines": [0, 7], "proximity": 3}),
    ("tag/x/led/result", False, {"id": "1", "status": "error", "took_ms": 5, "time": TIME, "error": {"code": "busy", "text": "Busy"}}),
    ("bridge/b/state", True, "online"),
    ("bridge/b/info", True, {"version": "1", "bluez": "5.66", "mqtt": 5, "started": TIME, "groups": {"hall": ["x"]}}),
    ("bridge/b/health", True, {
        "status": "degraded", "problems": [{"code": "adapter_not_ready", "text": "Off"}], "rss_kb": 9000, "broker_reconnects": 0, "dropped": 0}),
    ("bridge/b/adapter", True, [{"id": "hci0", "state": "powered_on", "connected": 1, "discovering": True}]),
    ("bridge/b/scan", True, {"scanning": True}),
    ("bridge/b/advertisement", False, {"serial": "0009", "address": "F0:00:00:00:00:03", "name": "Jacquard", "rssi": -70, "known": False}),
    ("bridge/b/event", False, {"type": "connected", "id": "x", "serial": "x", "adapter": "hci0", "text": "t", "time": TIME}),
    ("bridge/b/log", False, {"time": TIME, "level": "info", "label": "tag", "message": "connected", "omitted": 0, "past": False, "fields": {"tag": "x"}}),
    ("bridge/b/response/log", False, {"id": "1", "status": "ok", "data": {"since": TIME, "until": TIME, "level": "info", "tag": "x"}}),
    ("bridge/b/response/doctor", False, {"id": "1", "status": "ok", "data": {
        "chain": ["broker"], "broken": "broker",
        "checks": [{"name": "broker", "title": "broker", "verdict": "ok", "found": "f", "remedies": ["r"]}]}}),
]
# An object of JSON can have any key, also those with which a browser makes a text of it.
WRONG = [5, -1.5, "x", True, None, [], {}, [None], [5], [[]], [{}], {"toString": 1, "valueOf": 1}, [{"toString": 1, "valueOf": 1}],
         {"__proto__": {"x": 1}, "constructor": 5}]

# Draws all pages with a bridge and a tag of which one value is wrong, beside a bridge and a tag that are right.
DRAW = """const [cases, done] = arguments;
(async () => {
  const names = ["model", "tags", "tag", "why", "fleet", "events", "log", "pair", "findings"];
  const [{Model}, {tagsPage}, {tagPage}, {whyPage, examinePage}, {fleetPage}, {eventsPage}, {logPage}, {pairPage}, {diagnosis}] =
    await Promise.all(names.map(name => import(`./${name}.js`)));
  const failures = [], {fetch} = window, {error} = console;
  let at = "";
  const fail = text => { if (failures.length < 20) failures.push(`${at}: ${text}`); };
  window.fetch = () => Promise.reject(new Error("no charts"));
  console.error = reason => fail(reason?.stack ?? String(reason));
  const connection = {session: {controls: [], touch_modes: ["gesture"]}, may: () => true, send: () => new Promise(() => {}), watchTouch() {}, remember() {}};
  const root = document.createElement("div");
  document.body.append(root);
  for (const {text, messages} of cases) {
    at = text;
    const model = new Model();
    model.isReady = true;
    model.heard({age: 0, now_ms: Date.now(), heard_ms: Date.now(), connected: true, text: ""});
    const open = [[tagsPage, ""], [tagPage, "x"], [whyPage, "x"], [fleetPage, ""], [eventsPage, ""], [logPage, ""], [pairPage, ""], [examinePage, "b"]].map(([open, id]) => {
      const element = document.createElement("div");
      root.append(element);
      return {element, page: open(element, {model, connection, go() {}}, id)};
    });
    try {
      for (const message of messages) {
        const change = model.apply({...message, topic: `jacquard/${message.topic}`});
        for (const {page} of open) page.message?.(change);
        const report = change.rest === "response/doctor" ? change.value?.data : null;
        const facts = {server: {connected: true}, broker: model.broker, isReady: true, tag: model.tags.get("x"), bridge: model.bridges.get("b")};
        if (report) for (const each of diagnosis("x", facts, {report}, Date.now()).list) String(each.title);
      }
      model.totals();
      for (const now of [false, true]) { model.isNextSecond = now; for (const {page} of open) page.update(); }
      const shows = (index, text) => { if (!open[index].element.textContent.includes(text)) fail(`page ${index} does not show ${text}`); };
      shows(0, "Right sleeve");
      if (model.tags.has("x") && !open[0].element.querySelector("a[href='#tag/x']")) fail("the tag is missing");
      shows(1, "Charts");
      shows(3, "right hci7");
      shows(4, "brush in");
      shows(4, "Occupied");
      shows(5, "rightly");
    } catch (reason) { fail(reason?.stack ?? String(reason)); }
    for (const {page} of open) page.close?.();
    root.replaceChildren();
  }
  // A tag whose facts cannot be read at all does not hide the others.
  at = "isolation";
  const model = new Model(), element = document.createElement("div");
  root.append(element);
  for (const message of cases[0].messages) model.apply({...message, topic: `jacquard/${message.topic}`});
  model.tags.set("a", {get info() { throw new Error("unreadable"); }});
  model.changedTags.add("a");
  let reports = 0;
  console.error = () => { reports += 1; };
  tagsPage(element, {model, connection}).update();
  if (reports === 0 || !element.textContent.includes("Right sleeve")) fail(`${reports} reports: ${element.textContent}`);
  root.remove();
  Object.assign(window, {fetch});
  console.error = error;
  return failures;
})().then(done, reason => done([String(reason?.stack ?? reason)]));"""


def changed(value):
    """All values in which one part is wrong, with the way to the part."""
    for wrong in WRONG:
        yield "", wrong
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        for path, other in changed(part):
            copy = value.copy()
            copy[key] = other
            yield "/%s%s" % (key, path), copy


def message(topic, retained, value):
    message = {"topic": topic, "retained": retained, "payload": value if isinstance(value, str) else json.dumps(value)}
    # The page shows only advertisements of the last minute.
    return message if retained else {**message, "received_ms": int(time.time() * 1000)}


def other_types(run):
    """Each value of each message with another type: no page fails, and the other tags and bridges are shown."""
    right = [
        message("tag/good/info", True, {"name": "Right sleeve", "bridge": "right"}),
        message("bridge/right/state", True, "online"),
        message("bridge/right/adapter", True, [{"id": "right hci7", "state": "powered_on", "connected": 1}]),
    ]
    last = [
        message("tag/good/gesture", False, {"event_type": "brush_in", "seq": 1, "time": TIME}),
        message("tag/good/led/result", False, {"id": "2", "status": "error", "error": {"code": "busy", "text": "Occupied"}}),
        message("bridge/right/log", False, {"message": "rightly", "time": TIME}),
    ]
    cases = [{"text": "right", "messages": right + [message(*each) for each in MESSAGES] + last}]
    for index, (topic, retained, value) in enumerate(MESSAGES):
        for path, other in changed(value):
            parts = [message(*each) for each in MESSAGES]
            parts[index] = message(topic, retained, other)
            cases.append({"text": "%s%s = %s" % (topic, path, parts[index]["payload"]), "messages": right + parts + last})
    run.login()
    run.page.call("POST", "/timeouts", {"script": 120000})
    for start in range(0, len(cases), 200):
        failures = run.page.call("POST", "/execute/async", {"script": DRAW, "args": [cases[start:start + 200]]})
        require(failures == [], "\n".join(map(str, failures)))
    print("  all pages are right with %d wrong values" % (len(cases) - 1))


def retained_type(run):
    """Retained values of another type on the broker, also after a reload."""
    page, stage = run.page, run.stage
    wrong = {
        "tag/wrong/info": '{"name":5,"bridge":["attic"]}', "tag/wrong/connection": '"x"', "tag/wrong/gear": '{"attached":true,"product":{}}',
        "bridge/wrong/state": "online", "bridge/wrong/health": '{"status":{},"problems":{"text":1}}', "bridge/wrong/adapter": "[null,5]"}
    run.login()
    page.console()
    for topic, payload in wrong.items():
        stage.publish("jacquard/" + topic, payload, retain=True)
    for _ in range(2):
        run.show("tags")
        page.wait_for("wrong")
        page.wait_for("0001")
        run.show("fleet")
        page.wait_for("2 bridges.")
        page.run("location.reload()")
    messages = page.console()
    require(not messages, "the console has messages: %s" % messages)
    for topic in wrong:
        stage.publish("jacquard/" + topic, "", retain=True)
    page.wait_for("One bridge.")


CASES = [other_types, retained_type]
