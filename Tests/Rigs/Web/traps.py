"""Small traps for users: long names, text that moves, forms that forget, remedies that are somewhere else."""

from __future__ import annotations

import json
import signal
import subprocess
import time

from browser import ENTER
from ports import take_port
from programs import wait_for
from stage import ELSEWHERE, require
from using import PAGES

# Words of at most 20 letters that are broken between two lines.
BROKEN = """const broken = [];
const walker = document.createTreeWalker(document.getElementById("main"), NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());) {
  if (!node.parentElement.getClientRects().length || node.parentElement.closest(".skip, option")) continue;
  for (const match of node.data.matchAll(/[A-Za-z]{2,20}/g)) {
    const range = document.createRange();
    range.setStart(node, match.index);
    range.setEnd(node, match.index + match[0].length);
    if (new Set([...range.getClientRects()].map(rect => Math.round(rect.top))).size > 1 && !/x{20}/.test(node.data)) broken.push(match[0]);
  }
}
return broken;"""
# Of the tags that are shown, those whose names are broken between two lines.
LINES = """const [tags] = arguments, broken = [];
for (const tag of tags.filter(tag => document.querySelector("main table").innerText.includes(tag))) {
  const walker = document.createTreeWalker(document.getElementById("main"), NodeFilter.SHOW_TEXT);
  let isWhole = false;
  for (let node; (node = walker.nextNode());) {
    const index = node.data.indexOf(`Jacquard-${tag}`);
    if (index < 0) continue;
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + `Jacquard-${tag}`.length);
    isWhole = new Set([...range.getClientRects()].map(rect => Math.round(rect.top))).size === 1;
  }
  if (!isWhole) broken.push(tag);
}
return broken;"""
# A tag's page with a gesture that is missing, and a bridge that knows why.
MISSING = """const [trace, done] = arguments;
Promise.all([import("./model.js"), import("./tag.js")]).then(([{Model}, {tagPage}]) => {
  const model = new Model(), root = document.createElement("div");
  const send = topic => Promise.resolve(topic === "bridge/b/request/trace" ? {ok: true, data: trace} : {ok: false});
  model.apply({topic: "jacquard/tag/x/info", retained: true, payload: '{"bridge":"b"}'});
  for (const seq of [17, 19]) model.apply({topic: "jacquard/tag/x/gesture", retained: false, payload: JSON.stringify({event_type: "cover", boot: "b", seq, time: `2026-11-20T10:15:${seq}.000Z`})});
  const page = tagPage(root, {model, connection: {session: {controls: [], touch_modes: []}, may: () => true, watchTouch() {}, send}, go() {}}, "x");
  page.update();
  setTimeout(() => { page.update(); page.close(); done(root.querySelector("#gestures").previousElementSibling.textContent); });
}, failure => done(String(failure)));"""


def long_names(run):
    """A name of 10 kB is shortened; no word is broken at any width, with cards and with a table."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")
    topics = []

    def add(tag, name):
        topics.append("jacquard/tag/%s/info" % tag)
        stage.publish(topics[-1], json.dumps({"name": name, "bridge": ELSEWHERE}), retain=True)

    try:
        add("long", "x" * 10000)
        page.wait_for("long")
        # An earlier case may have left fewer tags.
        known = page.run("return document.querySelectorAll('.card').length")
        for count, selector in ((known, ".card"), (12, "#tags tbody tr")):
            for number in range(count - known):
                add("more%d" % number, "Jacket of the upstairs wardrobe")
            page.wait_for_script("return document.querySelectorAll('%s').length >= %d" % (selector, count), "%d tags" % count)
            for width in (320, 390, 700, 760, 790, 820, 900, 1000, 1060, 1280):
                page.width(width)
                broken = page.run(BROKEN)
                require(not broken, "words are broken at %d: %s" % (width, broken))
                # A busy page may be about to draw its tags.
                highest = page.wait_for_script(
                    "const rows = [...document.querySelectorAll('%s')]; return rows.length > 0"
                    " && Math.max(...rows.map(row => row.getBoundingClientRect().height))" % selector, "tags")
                require(highest < 320, "a tag is %d pixels high at %d" % (highest, width))
                scroll = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                require(scroll <= 0, "%d pixels too wide at %d" % (scroll, width))
    finally:
        page.width(1280)
        for topic in topics:
            stage.publish(topic, "", retain=True)
    page.wait_for_script("return !document.body.innerText.includes('more0')", "the tags are gone")
    for address, text in PAGES.items():
        run.show(address)
        page.wait_for(text)
        for width in (390, 760, 790, 820, 1000):
            page.width(width)
            broken = page.run(BROKEN)
            require(not broken, "words are broken on %s at %d: %s" % (address, width, broken))
    page.width(1280)


def many_links(run):
    """Of a bridge with many tags, the fleet lists those that are offline, then those with the weakest signal."""
    page, stage = run.page, run.stage
    run.login()
    run.show("fleet")
    tags = ["many%02d" % number for number in range(12)]
    topics = ["jacquard/tag/%s/%s" % (tag, name) for tag in tags for name in ("info", "availability", "rssi")]
    try:
        for number, tag in enumerate(tags):
            stage.publish("jacquard/tag/%s/info" % tag, json.dumps({"name": "Jacquard-" + tag, "bridge": "many"}), retain=True)
            stage.publish("jacquard/tag/%s/availability" % tag, "offline" if number == 7 else "online", retain=True)
            stage.publish("jacquard/tag/%s/rssi" % tag, str(-40 - number), retain=True)
        stage.publish("jacquard/bridge/many/state", "online", retain=True)
        page.wait_for("11 of 12 connected")
        require("more" not in page.text(), "a list of 12 is complete")
        topics.append("jacquard/tag/more/info")
        stage.publish(topics[-1], json.dumps({"name": "more", "bridge": "many"}), retain=True)
        page.wait_for("and 1 more")
        links = page.run("return [...document.querySelectorAll('.link a')].map(link => decodeURIComponent(link.hash.slice('#tag/'.length)))")
        links = [tag for tag in links if tag in [*tags, "more"]]
        for width in (320, 390, 1280):
            page.width(width)
            broken = page.run(LINES, tags)
            require(not broken, "names are broken at %d: %s" % (width, broken))
            scroll = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            require(scroll <= 0, "%d pixels too wide at %d" % (scroll, width))
        require(links[:4] == ["many07", "more", "many11", "many10"] and len(links) == 12, "links: %s" % links)
    finally:
        for topic in [*topics, "jacquard/bridge/many/state"]:
            stage.publish(topic, "", retain=True)
        page.width(1280)
    page.wait_for_script("return !document.body.innerText.includes('many')", "the end of the tags")


def selection(run):
    """Selected text on Events stays selected when events arrive."""
    page, stage = run.page, run.stage
    run.login()
    run.show("events")
    stage.gesture("0001", "brush_out")
    page.wait_for("brush out")
    page.run("getSelection().selectAllChildren([...document.querySelectorAll('tbody .what')].find(what => what.innerText === 'brush out'))")
    stage.gesture("0001", "double_tap")
    page.wait_for_script("return document.querySelector('tbody tr').innerText.includes('double tap')", "the next event")
    selected = page.run("return getSelection().toString()")
    require(selected == "brush out", "selected: %r" % selected)


def old_gesture(run):
    """The last gesture of a tag is shown after a reload, however many events have followed it."""
    page, stage = run.page, run.stage
    run.login()
    stage.gesture("0001", "brush_in")
    run.show("tag/0001")
    page.wait_for("brush in")
    stage.publish_lines("jacquard/bridge/attic/event", "".join('{"type":"scan","text":"%d"}\n' % number for number in range(1100)))
    run.show("events")
    page.wait_for("1099")
    page.run("location.reload()")
    page.wait_for("1099")
    run.show("tag/0001")
    page.wait_for("brush in")


def forecast(run):
    """A card shows how long the battery lasts, and a new gesture as it happens."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")
    empty = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 5 * 86400))
    stage.publish("jacquard/tag/0001/battery/forecast", json.dumps({"empty": empty}), retain=True)
    page.wait_for("about 5 days left")
    stage.gesture("0001", "cover")
    page.wait_for_script("return document.querySelector('.gesture.flash')?.innerText.startsWith('cover')", "the gesture", 2)
    stage.publish("jacquard/tag/0001/battery/forecast", "", retain=True)
    page.wait_for_script("return !document.body.innerText.includes('days left')", "no forecast")


def missing(run):
    """A tag's page says why a gesture is missing."""
    run.login()
    run.page.call("POST", "/timeouts", {"script": 20000})
    cases = [
        ({"gestures": [{"seq": 18, "stage": "expired", "waited_for": "broker"}]},
         "Number 18 is missing: expired, because the broker could not be reached in time (it waited for the broker)."),
        ({"incidents": [{"type": "fragment_lost", "time": "2026-11-20T10:15:18.000Z"}]}, "Number 18 is missing: a part of it was lost on the radio."),
        ({"incidents": [{"type": "disconnected", "time": "2026-11-20T10:15:18.000Z"}]}, "Number 18 is missing: the connection to the tag was lost."),
        ({}, "Number 18 is missing: the reason is not known."),
    ]
    for trace, expected in cases:
        text = run.page.call("POST", "/execute/async", {"script": MISSING, "args": [trace]})
        require(text == expected, "%s: %s" % (trace, text))


def remedies(run):
    """A tag that was disconnected is connected by a button; a connected tag has notes and no problems; a bridge can be examined."""
    page = run.page
    run.login()
    run.show("tag/0001")
    page.wait_for("Charts")
    page.click_text("Examine")
    page.wait_for("0001 is connected")
    page.wait_for("Nothing from the broker to the tag is broken.")
    page.wait_for("The bridge checked this")
    words = page.run("return [...document.querySelectorAll('.chain > li > :first-child')].map(word => word.innerText)")
    require(set(words) <= {"ok", "note", "not checked"}, "words of a connected tag: %s" % words)
    require("jacquard2mqtt pair" not in page.text(), "a connected tag is to be paired")
    run.show("tag/0001")
    page.click_text("Disconnect")
    page.wait_for("Why?")
    page.click_text("Why?")
    page.wait_for("The tag is not to be connected: disconnected by the user.")
    require("jacquard2mqtt connection" not in page.text(), "a command instead of a button")
    page.click_text("Connect")
    page.wait_for("0001 is connected", 20)
    run.show("fleet")
    page.click_text("Examine")
    page.wait_for("The bridge attic works")
    page.wait_for("The bridge checked this")
    require("Ok: " in page.text(), "no list of what is ok: %s" % page.text())


def forms(run):
    """A duration of 0 s is an error; a name in the configuration is explained; a pairing is shown after the page was left."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tag/0001")
    page.run("document.querySelector('input[type=number]').value = '0'")
    page.click_text("Play")
    page.wait_for("error: enter a duration of 0.1 to 600 s")

    with open(stage.config, encoding="utf-8") as file:
        text = file.read()
    stage.write("bridge.yaml", text.replace("- serial: '0001'\n", "- serial: '0001'\n    name: Kitchen\n"))
    stage.bridge.process.send_signal(signal.SIGHUP)
    page.wait_for("Kitchen 0001")
    page.type("input[aria-label='New name']", "Bath")
    page.click_text("Rename")
    page.wait_for('still shown as "Kitchen": change the name in the configuration of the bridge attic')
    stage.write("bridge.yaml", text)
    stage.bridge.process.send_signal(signal.SIGHUP)
    page.wait_for("Bath 0001")

    run.show("pair")
    page.type("#serial", "0009")
    page.click_text("Start")
    page.wait_for("Looking for the tag.")
    run.show("tags")
    run.show("pair")
    page.wait_for("Looking for the tag.")
    require(page.run("return document.getElementById('serial').value") == "0009", "the serial is gone")
    page.run("location.reload()")
    page.wait_for("Looking for the tag.")
    require(page.run("return document.getElementById('serial').value") == "0009", "the serial is gone after a reload")


def in_range(run):
    """An unknown tag in range is listed on Pair, with a button that pairs it."""
    page, stage = run.page, run.stage
    run.login()
    stage.publish("jacquard/bridge/attic/request/forget", '{"id":"003R"}')
    page.wait_for_script("return !document.body.innerText.includes('003R')", "003R is forgotten")
    run.show("pair")
    page.wait_for_script("return document.querySelector(\"button[aria-label='Pair 003R']\")", "003R in range", 30)
    try:
        page.width(320)
        scroll = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        require(scroll <= 0, "%d pixels too wide at 320" % scroll)
    finally:
        page.width(1280)
    page.click("button[aria-label='Pair 003R']")
    page.wait_for("Paired.", 60)


def logins(run):
    """A tab works on after another login in the same browser, and a link that was used opens the page of a browser that is logged in."""
    stage = run.stage
    browser = run.driver.browser()
    try:
        link = stage.link(run.web)
        browser.open(link)
        browser.wait_for("attic ok")
        first = browser.call("GET", "/window")
        second = browser.call("POST", "/window/new", {"type": "tab"})["handle"]
        browser.call("POST", "/window", {"handle": second})
        browser.open(stage.link(run.web))
        browser.wait_for("attic ok")
        browser.call("POST", "/window", {"handle": first})
        run.show("tag/0001", browser)
        browser.click_text("Short")
        browser.wait_for_result("ok, answered in")
        browser.open("about:blank")
        browser.open(link)
        browser.wait_for("attic ok")
    finally:
        browser.close()


def roles(run):
    """Controls that a role cannot use are not shown."""
    stage, port = run.stage, take_port()
    hashed = subprocess.run([stage.program("jacquard2mqtt-web"), "password"], input="right\n", check=True, capture_output=True, text=True).stdout
    stage.start_web("users:\n  - name: vera\n    role: viewer\n    %s" % hashed, port)
    browser = run.driver.browser()
    try:
        browser.open("http://127.0.0.1:%d/" % port)
        browser.wait_for("Password")
        browser.type("input[name=user]", "vera")
        browser.type("input[name=password]", "right" + ENTER)
        browser.wait_for("vera (viewer)")
        browser.wait_for("connected")
        for page in ("tags", "tag/0001", "why/0001"):
            run.show(page, browser)
            browser.wait_for("0001")
            controls = browser.run("return [...document.querySelectorAll('main button, main input, main select')].filter(each => each.getClientRects().length).map(each => each.innerText)")
            require(set(controls) <= {"Check again", "Copy", "24 hours", "7 days"}, "%s: %s" % (page, controls))
    finally:
        browser.close()


CASES = [long_names, many_links, selection, old_gesture, forecast, missing, remedies, in_range, logins, roles, forms]
