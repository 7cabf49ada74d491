"""Tags and bridges that are gone: nothing of them is shown, and nothing comes back with a tag that is added again."""

from __future__ import annotations

import json
import re
import time

from ports import take_port
from programs import wait_for
from stage import ELSEWHERE, Client, Stream, all_online, require
from truth import other_tab, tab

CARD = "return [...document.querySelectorAll('.card')].find(card => card.innerText.includes('gone1'))?.innerText.replace(/\\s+/g, ' ') ?? ''"

GAPS = """const [cases, done] = arguments;
import("./gaps.js").then(({firstGap, lastAbsence}) => done(cases.map(([list, facts]) => {
  const absence = lastAbsence(list, facts), gap = firstGap(absence ? list.slice(0, absence.newer) : list, absence !== null);
  return [absence && [absence.from, absence.to, absence.isExact, absence.newer], gap && [gap.count, gap.first, gap.last]];
})), failure => done(String(failure)));"""


def publish(stage, tag, **facts):
    """Publishes facts of a tag; None clears one."""
    for name, value in facts.items():
        text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
        stage.publish("jacquard/tag/%s/%s" % (tag, name), text, retain=True)


def forgotten_tag(run):
    """A tag that is removed and added again has no gesture, battery, charts or results of before: in each tab, in a new one, after a reload."""
    page, stage = run.page, run.stage
    client = Client(stage.web_port)
    client.use(stage.link(run.web))
    facts = {"battery": {"level": 77}, "connection": {"state": "connected"}, "availability": "online", "rssi": "-50"}
    run.login()
    run.show("tags")
    publish(stage, "gone1", info={"name": "gone1", "bridge": ELSEWHERE, "serial": "gone1"}, **facts)
    stage.publish("jacquard/tag/gone1/gesture", json.dumps({"event_type": "cover", "boot": "b", "seq": 1}))
    page.wait_for_script(CARD + ".includes('cover')", "the gesture")
    run.show("tag/gone1")
    for text in ("77 %", "cover", "1 in the last 24 hours"):
        page.wait_for(text)
    first = page.call("GET", "/window")
    second = other_tab(page, "http://127.0.0.1:%d/" % stage.web_port)
    page.wait_for_script(CARD + ".includes('cover')", "the gesture")
    try:
        stream = Stream(client)
        stream.read_until(b"event: ready")
        publish(stage, "gone1", **{name: None for name in facts}, info=None)
        stream.read_until(b'"payload":"","retained":true,"topic":"jacquard/tag/gone1/info"')
        stream.close()
        page.wait_for_script(CARD + " === ''", "the end of the tag")
        publish(stage, "gone1", info={"name": "gone1", "bridge": ELSEWHERE}, availability="online")
        page.wait_for_script(CARD + ".includes('no gesture yet')", "the tag without a gesture")
        require("77" not in page.run(CARD), "a battery: %s" % page.run(CARD))
        tab(page, first)
        page.wait_for("No gesture is stored.")
        page.wait_for_script("return document.body.innerText.includes('none in the last 24 hours')", "charts without values")
        text = page.run("return document.getElementById('main').innerText")
        require("77 %" not in text and not re.search(r"\bcover\b", text) and "-50" not in text, "of the tag before: %s" % text)
        # From the worker that the tabs share, then from the server.
        other_tab(page, "http://127.0.0.1:%d/" % stage.web_port)
        page.wait_for_script(CARD + ".includes('no gesture yet')", "the tag in a new tab")
        page.call("DELETE", "/window")
        tab(page, second)
        page.call("DELETE", "/window")
        tab(page, first)
        page.run("location.reload()")
        page.wait_for("No gesture is stored.")
        page.wait_for("none in the last 24 hours")
        # What happened stays among the events.
        run.show("events")
        page.wait_for("gone1: ")
        charts = json.loads(client.request("GET", "/history?tag=gone1")[2])
        require({*charts["battery"], *charts["signal"], *charts["gestures"]} <= {None}, "charts: %s" % charts)
    finally:
        publish(stage, "gone1", info=None, **{name: None for name in facts})


def many_events(run):
    """A new tab has the last gesture of a tag, however many events the others have received since."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")
    stage.gesture("0001", "brush_out")
    page.wait_for("brush out")
    lines = "".join('{"type":"scan","text":"%d"}\n' % number for number in range(1300))
    stage.publish_lines("jacquard/bridge/attic/event", lines)
    run.show("events")
    page.wait_for("1299")
    first = page.call("GET", "/window")
    other_tab(page, "http://127.0.0.1:%d/" % stage.web_port)
    page.wait_for("brush out")
    page.call("DELETE", "/window")
    tab(page, first)


def removed_bridge(run):
    """Tags of a bridge that was removed are not online, and no page says that they are connected."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")
    stage.publish("jacquard/bridge/gone/state", "online", retain=True)
    publish(stage, "gone1", info={"name": "gone1", "bridge": "gone"}, availability="online", connection={"state": "connected"})
    try:
        page.wait_for_script(CARD + ".includes('connected')", "the tag is connected")
        page.wait_for("gone online")
        online = all_online(page)
        stage.publish("jacquard/bridge/gone/state", "", retain=True)
        page.wait_for_script(CARD + ".includes('bridge not known')", "the bridge is gone")
        page.wait_for("%d online, 1 offline" % (online - 1))
        require("gone online" not in page.text(), "the bridge is in the header")
        run.show("why/gone1")
        page.wait_for("The state of gone1 is not known")
        page.wait_for("Bridge: gone is not known to the broker.")
        run.show("fleet")
        page.wait_for("One bridge.")
        run.show("tags")
        page.run("location.reload()")
        page.wait_for_script(CARD + ".includes('bridge not known')", "the tag after a reload")
    finally:
        stage.publish("jacquard/bridge/gone/state", "", retain=True)
        publish(stage, "gone1", info=None, availability=None, connection=None)
    page.wait_for_script(CARD + " === ''", "the end of the tag")


def silent_bridge(run):
    """A bridge that ended while the broker was away is not online by its stored message: each page says so, until it publishes again."""
    stage, browser, port = run.stage, run.driver.browser(), take_port()
    words = "online by its last message, does not answer"
    stage.publish("jacquard/bridge/gone/state", "online", retain=True)
    publish(stage, "gone1", info={"name": "gone1", "bridge": "gone"}, availability="online", connection={"state": "connected"})
    page = stage.start_web("metrics: true\n", port)
    client = Client(port)

    def shows(address, *texts):
        run.show(address, browser)
        for text in texts:
            browser.wait_for(text)

    try:
        browser.open(stage.link(page))
        browser.wait_for("gone " + words)
        browser.wait_for_script("return document.title.includes('1 offline')", "the tag in the title")
        require("attic ok" in browser.text(), "the other bridge: %s" % browser.text())
        browser.wait_for_script(CARD + ".includes('bridge %s')" % words, "the tag's card")
        browser.wait_for("The bridge gone is %s: its tag cannot be reached." % words)
        browser.click_text("What to do")
        restart, clear = "Start it again: sudo systemctl restart jacquard2mqtt", "If it will not be started again: jacquard2mqtt clear"
        shows("examine/gone", "The bridge gone is %s." % words, restart, clear)
        shows("why/gone1", "Why is gone1 offline?", "Bridge: gone is %s." % words, restart)
        shows("fleet", words, "0 of 1 connected")
        status, _, body = client.request("GET", "/metrics?bridge=gone")
        require(status == 503 and words in body.decode(), "metrics: %s %s" % (status, body))
        # From the server, as another browser gets it.
        browser.run("location.reload()")
        browser.wait_for("gone " + words)
        stage.publish("jacquard/bridge/gone/event", '{"type":"scan","text":"alive"}')
        browser.wait_for("gone online")
        shows("tags", "attic ok")
        browser.wait_for_script(CARD + ".includes('connected')", "the tag is connected")
        require(words not in browser.text(), "still silent: %s" % browser.text())
    finally:
        browser.close()
        page.stop()
        stage.publish("jacquard/bridge/gone/state", "", retain=True)
        publish(stage, "gone1", info=None, availability=None, connection=None)


def bridge_clock(run):
    """Of a bridge whose clock is an hour fast or slow, a gesture is as old as the server knows; what may be old is never fresh."""
    page, stage = run.page, run.stage

    def iso(seconds):
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + seconds))

    def gesture(name, seconds, retain=False):
        stage.publish("jacquard/tag/gone1/gesture", json.dumps({"event_type": name, "boot": "b", "seq": 1, "time": iso(seconds)}), retain)

    run.login()
    run.show("tags")
    names = ("info", "availability", "battery", "connection", "gesture")
    try:
        publish(stage, "gone1", info={"name": "gone1", "bridge": ELSEWHERE}, availability="offline",
                battery={"level": 50, "time": iso(3600)}, connection={"state": "disconnected", "since": iso(3600)})
        page.wait_for_script(CARD + ".includes('50 % at an unknown time')", "a battery of an unknown time")
        shown = page.run(CARD)
        require("few seconds" not in shown and "just now" not in shown, "fresh: %s" % shown)
        for name, seconds in (("cover", -3600), ("brush_in", 3600)):
            gesture(name, seconds)
            page.wait_for_script(CARD + ".includes('%s just now')" % name.replace("_", " "), "a gesture that was made now")
        page.wait_for_script(CARD + ".includes('brush in 10 s ago')", "the age of the gesture", 20)
        page.run("location.reload()")
        page.wait_for_script("return /brush in [1-9]0 s ago/.test((() => { %s })())" % CARD, "the age after a reload")
        # A gesture that the broker has stored is not new, whenever it comes.
        gesture("double_tap", 3600, retain=True)
        page.wait_for_script(CARD + ".includes('double tap at an unknown time')", "a stored gesture")
        client = Client(stage.web_port)
        client.use(stage.link(run.web))
        gestures = json.loads(client.request("GET", "/history?tag=gone1")[2])["gestures"]
        require([count for count in gestures if count] in ([2], [1, 1]), "gestures: %s" % gestures)
    finally:
        for name in names:
            stage.publish("jacquard/tag/gone1/" + name, "", retain=True)
    wait_for("the end of the tag", lambda: page.run(CARD) == "")


def restarted_bridge(run):
    """A tag's page says from when to when its bridge was away, and that no number is missing since then."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tag/0001")
    page.wait_for_script("return document.querySelector('.state .word')?.innerText === 'connected'", "the tag is connected", 60)
    stage.gesture("0001", "cover")
    page.wait_for("cover")
    stage.bridge.kill()
    page.wait_for("The bridge is away: gestures after ")
    require("No number is missing" not in page.text(), "nothing is missing without the bridge: %s" % page.text())
    stage.bridge.start()
    page.wait_for("attic ok", 30)
    page.wait_for_script("return document.querySelector('.state .word')?.innerText === 'connected'", "the tag is connected", 60)
    away = r"The bridge was away from (\S+) to (\S+): gestures of this time are not known\."
    page.wait_for_script("return /%s/.test(document.body.innerText)" % away, "the time without the bridge")
    stage.gesture("0001", "double_tap")
    page.wait_for("double tap")
    page.wait_for("No number is missing since ")
    shown = re.search(r"No number is missing since (\S+)\. " + away, page.text())
    require(shown and shown[1] == shown[3] and shown[2] <= shown[3], "the times: %s" % page.text())
    page.run("location.reload()")
    # The server keeps the newest events only: those of the facts that the bridge has published again may have replaced the first gesture.
    page.wait_for("No number is missing since %s." % shown[1])


def gaps(run):
    """What is known of gestures around a start of the bridge, with times that the server has seen and without them."""
    run.login()
    run.page.call("POST", "/timeouts", {"script": 20000})

    def gesture(boot, seq, at, **others):
        return {"boot": boot, "seq": seq, "at": at, "time": iso(at), **others}

    def iso(milliseconds):
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(milliseconds / 1000))

    same = [gesture("b", 3, 30000), gesture("b", 2, 20000)]
    both = [gesture("b", 1, 30000), gesture("a", 9, 10000), gesture("a", 7, 9000)]
    seen = {"from_ms": 12000, "to_ms": 15000}
    cases = [
        ([], {}, None, None),
        (same, {"boot": "b"}, None, None),
        ([same[0], gesture("b", 1, 10000)], {"boot": "b"}, None, [1, 2, 2]),
        # Behind the start of the bridge nothing is missing; before it, it does not matter.
        (both, {"boot": "b", "away": seen}, [12000, 15000, True, 1], None),
        (both, {"boot": "b", "started": iso(14000)}, [10000, 14000, False, 1], None),
        (both, {"boot": "b", "away": {"from_ms": None, "to_ms": 15000}}, [10000, 15000, False, 1], None),
        # A time that the server has seen, but another one; and a clock that is an hour fast.
        (both, {"boot": "b", "away": {"from_ms": 40000, "to_ms": 50000}, "started": iso(3600000)}, [10000, 30000, False, 1], None),
        ([gesture("b", 3, 30000), both[1]], {"boot": "b", "away": seen}, [12000, 15000, True, 1], [2, 1, 2]),
        ([gesture("b", 3, 30000, of=[1, 2]), both[1]], {"boot": "b", "away": seen}, [12000, 15000, True, 1], None),
        # No gesture yet since the bridge is back, and a bridge that is not back.
        (same, {"boot": "c", "away": {"from_ms": 40000, "to_ms": 50000}}, [40000, 50000, True, 0], None),
        (same, {"boot": "c"}, [30000, None, False, 0], None),
        (same, {"boot": "b", "isOffline": True, "away": {"from_ms": 40000, "to_ms": None}}, [40000, None, True, 0], None),
        (same, {"boot": "b", "isOffline": True}, [30000, None, False, 0], None),
    ]
    results = run.page.call("POST", "/execute/async", {"script": GAPS, "args": [[[each[0], each[1]] for each in cases]]})
    for case, result in zip(cases, results, strict=True):
        require(result == [case[2], case[3]], "%s: %s" % (case, result))


CASES = [forgotten_tag, many_events, removed_bridge, silent_bridge, bridge_clock, restarted_bridge, gaps]
