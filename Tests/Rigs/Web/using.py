"""The page as people use it: pages, commands, names, console, accessibility."""

from __future__ import annotations

import json
import os
import re
import signal
import time

from browser import ENTER, SPACE
from programs import Stopwatch, wait_for
from stage import ELSEWHERE, Client, Stream, all_online, find, require

TREES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trees.json")
HOSTILE = ["<img src=x onerror=alert(1)>", "\u202eevil\u202c", "\U0001F9E5 jacket", "a&amp;b\"'`"]
# A text of each page that is drawn last.
PAGES = {
    "tags": "connected", "tag/0001": "Battery:", "pair": "Hold the button", "events": "bridge events", "log": "Clear",
    "fleet": "attic", "why/0001": "The bridge checked this"}


def led_lines(stage, tag):
    return [line for line in stage.simulator.printed().splitlines()
            if '"event":"led"' in line and '"%s"' % tag in line and "#ff8000" in line]


def pair_and_use(run):
    """Pairs a tag, sees a gesture and flashes the LED. Only the serial is typed."""
    begin = time.monotonic()
    page, stage = run.page, run.stage
    run.login()
    page.click_text("Pair")
    page.type("#serial", "003R")
    page.click_text("Start")
    page.wait_for("Paired.", 60)
    # The links come with the answer, after the event.
    page.wait_for("Open its page")
    before = len(led_lines(stage, "003R"))
    page.click_text("Try the LED")
    page.wait_for_result("ok, answered in")
    wait_for("the tag plays", lambda: len(led_lines(stage, "003R")) > before)
    page.type("#name", "Left sleeve")
    page.click_text("Name it")
    # The bridge connects the tag again, so that BlueZ reads the name.
    wait_for("the tag is named and connected", lambda: find(stage.simulator, r'"name":"Left sleeve"[\s\S]*"mode":"gesture","tag":"003R"'))
    page.click_text("Open its page")
    page.wait_for("Charts")
    page.run("""window.seen = null; new MutationObserver(() => {
        if (!window.seen && document.querySelector("#gestures")?.innerText.includes("double tap")) window.seen = Date.now();
    }).observe(document.getElementById("main"), {subtree: true, childList: true, characterData: true})""")
    stage.gesture("003R", "double_tap")
    sent, stalled = time.time(), Stopwatch.stalled()
    seen = page.wait_for_script("return window.seen", "the gesture") / 1000
    print("  paired, LED, gesture: %.1f s; the gesture was on screen %.0f ms after the tag made it" % (
        time.monotonic() - begin, (seen - sent) * 1000))
    require(seen - sent - (Stopwatch.stalled() - stalled) < 0.5, "the gesture took %.0f ms" % ((seen - sent) * 1000))
    for text in ("connected", "Short", "Facts"):
        page.wait_for(text)
    page.run("location.reload()")
    page.wait_for("double tap")


def stopped_pairing(run):
    """A wrong serial: the search is ended at once, and the next one begins."""
    page = run.page
    run.login()
    run.show("pair")
    for _ in range(2):
        page.run("document.getElementById('serial').value = ''")
        page.type("#serial", "ABCD")
        page.click_text("Start")
        page.wait_for("Looking for the tag.")
        page.click_text("Cancel")
        page.wait_for("Stopped.", 10)
        page.wait_for_script("return [...document.querySelectorAll('button')].find(button => button.innerText === 'Start').disabled === false", "another pairing can begin", 10)
        require("error" not in page.text(), "an error is shown: %s" % page.text())
        require(page.run("return document.activeElement.id") == "serial", "the serial does not have the focus")


def keyboard_only(run):
    """Forgets a tag, pairs it again and flashes its LED without a mouse."""
    page, stage = run.page, run.stage
    run.login()
    page.wait_for("Left sleeve")
    page.tab_to("Left sleeve 003R")
    page.keys(ENTER)
    page.wait_for("Charts")
    page.tab_to("Forget\u2026")
    page.keys(ENTER)
    page.wait_for("The bond is removed")
    page.tab_to("Forget")
    page.keys(ENTER)
    page.wait_for_script("return document.querySelector('h1').innerText === 'Tags' && !document.body.innerText.includes('003R')", "003R is forgotten")
    page.tab_to("Pair")
    page.keys(ENTER)
    page.wait_for("Hold the button")
    page.tab_to("Serial")
    page.keys("003R", ENTER)
    page.wait_for("Paired.", 60)
    # The links come with the answer, after the event.
    page.wait_for("Open its page")
    page.tab_to("Open its page")
    page.keys(ENTER)
    page.wait_for("Charts")
    page.tab_to("Play")
    before = len(led_lines(stage, "003R"))
    page.note_results()
    page.keys(SPACE)
    page.wait_for_result("ok, answered in")
    wait_for("the tag plays", lambda: len(led_lines(stage, "003R")) > before)


def all_commands(run):
    """Commands of the tag's page, and results that are errors."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tag/0001")
    page.wait_for("Charts")
    page.click("input[value=continuous]")
    page.wait_for("waiting for touch data")
    wait_for("the tag's touch mode", lambda: find(stage.simulator, '"mode":"continuous"'))
    touch = r"jacquard/tag/0001/touch"
    # mosquitto logs each filter of a subscription, and each one that is unsubscribed.
    wait_for("the page is subscribed to the touch topic", lambda: len(re.findall(touch, stage.broker.printed())) == 1)
    stage.simulator.type("touch 0001")
    page.wait_for("lines touched")
    run.show("tags")
    wait_for("the page has unsubscribed", lambda: len(re.findall(touch, stage.broker.printed())) == 2)
    run.show("tag/0001")
    wait_for("the page is subscribed again", lambda: len(re.findall(touch, stage.broker.printed())) == 3)
    stage.simulator.type("touch 0001")
    page.wait_for("lines touched")
    page.click("input[value=slide]")
    page.wait_for("The touch mode slide is disabled in the configuration")
    page.wait_for_script("return document.querySelector('input[value=continuous]').checked", "the refused mode is not selected")
    with open(stage.config, encoding="utf-8") as file:
        text = file.read()
    marked = "- serial: '0002'\n    name: Marked\n"
    stage.write("bridge.yaml", text.replace("- serial: '0002'\n", marked) + "slide: {enabled: true}\n")
    stage.bridge.process.send_signal(signal.SIGHUP)
    wait_for("the configuration", lambda: "Marked" in stage.retained("jacquard/tag/0002/info"))
    page.click("input[value=slide]")
    page.wait_for_script("return document.querySelector('input[value=slide]').checked", "the mode is selected")
    wait_for("the mode of the tag", lambda: stage.retained("jacquard/tag/0001/touch_mode") == "slide")
    stage.write("bridge.yaml", text)
    stage.bridge.process.send_signal(signal.SIGHUP)
    wait_for("the mode ends", lambda: stage.retained("jacquard/tag/0001/touch_mode") == "gesture")
    page.wait_for_script("return document.querySelector('input[value=gesture]').checked", "the mode of the tag is selected")
    page.click("input[value=continuous]")
    wait_for("the mode continuous", lambda: stage.retained("jacquard/tag/0001/touch_mode") == "continuous")
    page.click("input[value=gesture]")
    for seconds in ("301", "300"):
        page.run("document.querySelector(\"section[aria-label='Find'] input\").value = ''")
        page.type("section[aria-label='Find'] input", seconds)
        page.click("section[aria-label='Find'] button")
        if seconds == "301":
            page.wait_for("error: enter 5 to 300 s")
    wait_for("the tag blinks", lambda: stage.retained("jacquard/tag/0001/find") == "on")
    page.click("section[aria-label='Find'] button:nth-of-type(2)")
    wait_for("the tag does not blink", lambda: stage.retained("jacquard/tag/0001/find") == "off")
    page.type("input[aria-label='New name']", "Cuff")
    page.click_text("Rename")
    page.wait_for("Cuff 0001")
    page.click_text("Disconnect")
    page.wait_for("Connect\n")
    page.click_text("Connect")
    page.wait_for_script("return document.querySelector('.state .word')?.innerText === 'connected'", "the tag is connected", 60)
    page.run("const select = [...document.querySelectorAll('label')].find(label => label.innerText.startsWith('More')).querySelector('select'); select.value = 'sine_increase'")
    page.click_text("Play pattern")
    wait_for("the pattern", lambda: find(stage.simulator, '"event":"haptic".*"pattern":"sine_increase"'))
    stage.simulator.type("detach 0002")
    run.show("tag/0002")
    page.wait_for("none attached")
    page.click_text("Short")
    page.wait_for("error:")


def log(run):
    """The bridge's log on request, until it is stopped or the page is left."""
    page, stage = run.page, run.stage
    run.login()
    run.show("log")
    page.click_text("Start")
    page.wait_for("sends its log for five minutes")
    stage.simulator.type("out-of-range 0002")
    page.wait_for("connection lost")
    stage.simulator.type("in-range 0002")
    page.wait_for("connected")
    # What a page sends when it is left may arrive after the next one has asked for the log.
    page.click_text("Stop")
    page.wait_for("has stopped sending")
    # With another login, the server sends its newest events again to the same page.
    run.login()
    run.show("log")
    page.wait_for("connection lost")
    times = page.run("return [...document.querySelectorAll('td.time')].map(cell => cell.parentElement.innerText)")
    require(len(times) == len(set(times)), "records are shown twice: %s" % times)
    page.wait_for_script("return !document.querySelector('form button.main').disabled", "the bridge")
    page.click_text("Start")
    page.wait_for("sends its log for five minutes")
    past(run)
    client = Client(stage.web_port)
    client.use(stage.link(run.web))
    stream = Stream(client)
    stream.read_until(b"event: ready")
    page.click_text("Stop")
    page.wait_for("has stopped sending")
    stream.read_until(rb'until\":null')
    page.click_text("Start")
    page.wait_for("sends its log for five minutes")
    run.show("tags")
    stream.read_until(rb'until\":null')
    stream.close()


def late_answer(run):
    """The answer to a start of the log that arrives after the stop does not start it."""
    page, stage = run.page, run.stage
    run.login()
    all_online(page)
    run.show("log")
    page.wait_for("sends its log for five minutes")
    client = Client(stage.web_port)
    client.use(stage.link(run.web))
    stream = Stream(client)
    stream.read_until(b"event: ready")
    stage.bridge.process.send_signal(signal.SIGSTOP)
    try:
        page.click_text("Start")
        page.click_text("Stop")
        page.wait_for("has stopped sending")
    finally:
        stage.bridge.process.send_signal(signal.SIGCONT)
    stream.read_until(rb'until\":null')
    stream.close()
    # Messages arrive in order: the page has the answers when it shows a later one.
    stage.simulator.type("out-of-range 0002")
    page.wait_for("1 offline")
    require("has stopped sending" in page.text(), "a late answer is shown: %s" % page.text())
    stage.simulator.type("in-range 0002")
    all_online(page)


def past(run):
    """Opening the log shows what the bridge has logged before, once and in order, and from when on."""
    page, stage = run.page, run.stage
    page.click_text("Stop")
    page.wait_for("has stopped sending")
    stage.simulator.type("out-of-range 0001")
    wait_for("the tag is offline", lambda: stage.retained("jacquard/tag/0001/availability") == "offline")
    stage.simulator.type("in-range 0001")
    wait_for("the tag is online", lambda: stage.retained("jacquard/tag/0001/availability") == "online")
    # A page that is loaded again has nothing of its own.
    page.run("location.reload()")
    page.wait_for("sends its log for five minutes")
    page.wait_for("connection lost")
    page.wait_for("attic: from ")
    rows = page.run("return [...document.querySelectorAll('table.log tbody tr')].map(row => [row.children[0].innerText, row.innerText])")
    require(len(rows) == len({text for _, text in rows}), "records are shown twice: %s" % rows)
    times = [time for time, _ in rows]
    require(times == sorted(times, reverse=True), "records are not in order: %s" % times)
    shown = re.search(r"attic: from (\S+) to now", page.text())
    require(shown, "the page does not say from when to when: %s" % page.text())
    require(min(times) >= shown[1], "a record of %s is shown from %s on" % (min(times), shown[1]))
    page.click_text("Pause")
    page.wait_for_script(r"return /attic: from \S+ to [0-9]/.test(document.body.innerText)", "the end")
    page.click_text("Go on")


def hostile_names(run):
    """Names from the radio are shown as text."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")
    for index, name in enumerate(HOSTILE):
        stage.publish("jacquard/tag/evil%d/info" % index, json.dumps({"name": name, "bridge": ELSEWHERE}), retain=True)
    for name in HOSTILE:
        page.wait_for_script("return [...document.querySelectorAll('bdi')].some(e => e.textContent === %s)" % json.dumps(name), name)
    require(page.run("return document.querySelectorAll('main img').length") == 0, "a name became an image")
    for index in range(len(HOSTILE)):
        stage.publish("jacquard/tag/evil%d/info" % index, "", retain=True)
    page.wait_for_script("return !document.body.innerText.includes('evil0')", "the tags are gone")


def quiet_console(run):
    """No error in the console, no request to another host, on any page."""
    run.page.console(), run.page.requests()
    run.login()
    for page, text in PAGES.items():
        run.show(page)
        run.page.wait_for(text)
    messages = run.page.console()
    require(not messages, "the console has messages: %s" % messages)
    others = {address for address in run.page.requests() if not address.startswith(("http://127.0.0.1:%d/" % run.stage.web_port, "data:"))}
    require(not others, "requests to other hosts: %s" % others)


def accessibility(run):
    """The accessibility tree of each page; one h1; every control has a name; nothing is wider than the window."""
    run.login()
    run.show("events")
    run.stage.gesture("0001", "cover")
    run.page.wait_for("cover")
    trees = {}
    for page, text in PAGES.items():
        run.show(page)
        run.page.wait_for(text)
        require(run.page.run("return document.querySelectorAll('h1').length") == 1, "%s does not have one h1" % page)
        lines = [re.sub(r"[0-9:.,-]+( dBm| %)?", "N", line) for line in run.page.tree()]
        controls = [line for line in lines if line in ("button", "textbox", "searchbox", "checkbox", "radio", "combobox", "spinbutton", "link", "ColorWell")]
        require(not controls, "%s has controls without a name: %s" % (page, controls))
        trees[page] = sorted(set(line for line in lines if line.split()[0] in (
            "button", "textbox", "searchbox", "checkbox", "radio", "combobox", "spinbutton", "ColorWell", "columnheader", "navigation", "banner", "main")))
        for width in (1280, 390, 320):
            run.page.width(width)
            scroll = run.page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            require(scroll <= 0, "%s is %d pixels too wide at %d" % (page, scroll, width))
        run.page.width(1280)
    if run.options.record:
        with open(TREES, "w", encoding="utf-8") as file:
            json.dump(trees, file, indent=1, sort_keys=True)
            file.write("\n")
    with open(TREES, encoding="utf-8") as file:
        expected = json.load(file)
    for page, lines in trees.items():
        require(lines == expected[page], "%s has another accessibility tree:\n-%s\n+%s" % (
            page, sorted(set(expected[page]) - set(lines)), sorted(set(lines) - set(expected[page]))))


# The pages in a model of their own, with facts and messages as a bridge publishes them.
PAIRING = """const [done] = arguments;
Promise.all([import("./model.js"), import("./pair.js")]).then(([{Model}, {pairPage}]) => {
  const model = new Model(), root = document.createElement("div"), shown = [];
  model.bridges.set("attic", {state: "online"});
  let answer, isPaired = false;
  const connection = {may: () => true, send: topic => topic.endsWith("/pair") ? new Promise(resolve => { answer = resolve; }) : Promise.resolve({ok: true, text: ""})};
  const page = pairPage(root, {model, connection});
  const show = (state, step) => {
    model.tags.set("left", {info: {serial: "003r"}, connection: {state, step, of: 14}});
    model.bridges.set("attic", {state: "online", pairing: {state: isPaired ? "paired" : "connecting", serial: "003r"}});
    page.update();
    shown.push(root.querySelector("[role=status]").textContent);
  };
  page.update();
  root.querySelector("#serial").value = "0-07-9324FLHBK003r-1903";
  root.querySelector("form").dispatchEvent(new Event("submit", {cancelable: true}));
  for (const state of ["connecting", "initializing", "configuring"]) show(state, 9);
  isPaired = true;
  answer({ok: true, data: {id: "left"}});
  setTimeout(() => {
    show("initializing", 10);
    show("connected", null);
    page.close();
    done({shown, capitals: root.querySelector("#serial").getAttribute("autocapitalize")});
  });
}, failure => done(String(failure)));"""
TOUCH = """const [done] = arguments;
Promise.all([import("./model.js"), import("./tag.js")]).then(([{Model}, {tagPage}]) => {
  const model = new Model(), root = document.createElement("div");
  model.tags.set("0001", {touch_mode: "continuous", connection: {state: "connected"}});
  const page = tagPage(root, {model, connection: {session: {controls: [], touch_modes: []}, may: () => true, watchTouch() {}}, go() {}}, "0001");
  page.message({kind: "tag", id: "0001", name: "touch", value: {proximity: 0, lines: [128, 64, 0, 200]}});
  page.close();
  done([...root.querySelectorAll(".lines rect")].slice(0, 4).map(bar => [Number(bar.getAttribute("height")), Number(bar.getAttribute("y"))]));
}, failure => done(String(failure)));"""


def parts(run):
    """The steps of a connection while a tag is paired; the bars of the touch lines, which are 0 to 128."""
    run.login()
    run.page.call("POST", "/timeouts", {"script": 20000})
    result = run.page.call("POST", "/execute/async", {"script": PAIRING, "args": []})
    steps = ["Connecting, 9 of 14."] * 3 + ["Paired. Connecting, 10 of 14.", "Paired."]
    require(result == {"shown": steps, "capitals": "none"}, "while pairing: %s" % result)
    bars = run.page.call("POST", "/execute/async", {"script": TOUCH, "args": []})
    require(bars == [[100, 0], [50, 50], [0, 100], [100, 0]], "heights and places of the bars: %s" % bars)


CASES = [pair_and_use, stopped_pairing, keyboard_only, all_commands, parts, log, late_answer, hostile_names, quiet_console, accessibility]
