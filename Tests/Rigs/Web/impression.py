"""What one sees first: cards for a few tags and a table for many, what is destructive, and a cause with its remedy."""

from __future__ import annotations

import json
import time

from browser import ENTER
from programs import wait_for
from stage import ELSEWHERE, require
from using import led_lines

# A list of visible texts of a card, in order.
CARD = """const card = [...document.querySelectorAll('.card')].find(card => card.innerText.includes(arguments[0]));
return card ? [...card.querySelectorAll('h2 a, .state .word, .facts .word, .facts span:not(.gear), .gesture .what, .bar button')].map(part => part.innerText.trim()).filter(Boolean) : [];"""
# The page Why? of a tag in a model of its own, with the bridge's answer: the parts of the page in order, and its links and buttons.
WHY = """const [checks, broken, rights, done] = arguments;
Promise.all([import("./model.js"), import("./why.js")]).then(([{Model}, {whyPage}]) => {
  const model = new Model(), root = document.createElement("div");
  model.heard({age: 0, now_ms: Date.now(), heard_ms: Date.now(), connected: true, text: ""});
  model.isReady = true;
  model.bridges.set("b", {state: "online"});
  model.tags.set("x", {info: {bridge: "b", serial: "00X1"}, availability: "offline", connection: {state: "preparing_to_connect"}});
  const send = () => Promise.resolve({ok: true, data: {chain: ["received", "bond", "link"], broken, checks}});
  const may = topic => rights || topic.endsWith("request/doctor");
  const page = whyPage(root, {model, connection: {may, send, session: {role: "admin"}}}, "x");
  page.update();
  setTimeout(() => {
    const parts = [...root.children].filter(part => part.textContent.trim()).slice(0, 3).map(part => [part.localName, part.className, part.textContent]);
    const actions = [...root.querySelectorAll(".remedies a, .remedies button, .chain a")].map(each => [each.localName, each.className, each.textContent, each.getAttribute("href")]);
    page.close();
    done({parts, actions, lines: [...root.querySelectorAll(".chain li")].map(line => [...line.children].map(part => part.textContent).join(" | "))});
  });
}, failure => done(String(failure)));"""

# The texts of an age in the course of an hour, and the order of a table that is sorted by gestures before and after a new one.
STEADY = """const [done] = arguments;
Promise.all([import("./model.js"), import("./table.js")]).then(([{Model, age}, {tagTable}]) => {
  const ages = Array.from({length: 3600}, (_, second) => age(0, second * 1000));
  const model = new Model(), root = document.createElement("div");
  const gesture = (id, at) => model.apply({topic: `jacquard/tag/${id}/gesture`, retained: false, received_ms: at, payload: '{"event_type":"cover"}'});
  const table = tagTable(root, {model, connection: {may: () => false}}, () => true);
  const sort = title => [...root.querySelectorAll("th button")].find(each => each.textContent === title).click();
  const order = () => { table.update(); return [...root.querySelectorAll("tbody th")].map(head => head.textContent).join(""); };
  for (const [id, at] of [["a", 2000], ["b", 3000], ["c", 1000]]) {
    model.apply({topic: `jacquard/tag/${id}/info`, retained: true, payload: "{}"});
    gesture(id, at);
  }
  order();
  sort("Last gesture");
  const before = order();
  gesture("c", 4000);
  const after = order();
  sort("Tag");
  table.close();
  done({steps: ages.filter((text, second) => text !== ages[second - 1]).length, before, after});
}, failure => done(String(failure)));"""


def cards(run):
    """Up to eight tags are cards that fill the width, with what one does most; nine are a table without its rare columns."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")
    topics = []

    def add(number):
        topics.append("jacquard/tag/extra%d/info" % number)
        stage.publish(topics[-1], json.dumps({"name": "Extra %d" % number, "bridge": ELSEWHERE}), retain=True)

    count = "return [document.querySelectorAll('.card').length, document.querySelectorAll('#tags tbody tr').length]"
    try:
        stage.simulator.type("attach 0001 jacket")
        stage.simulator.type("battery 0001 63")
        empty = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 5 * 86400))
        stage.publish("jacquard/tag/0001/battery/forecast", json.dumps({"empty": empty}), retain=True)
        stage.gesture("0001", "brush_in")
        page.wait_for("about 5 days left")
        page.wait_for("brush in")
        page.wait_for("63 %")
        parts = page.run(CARD, "0001")
        require(parts[1:] == ["connected", "63 %", "about 5 days left", "brush in", "LED", "Haptic"], "a card: %s" % parts)
        before = len(led_lines(stage, "0001"))
        page.note_results()
        page.run("[...document.querySelectorAll('.card')].find(card => card.innerText.includes('0001')).querySelector('button').click()")
        page.wait_for_result("ok, answered in")
        wait_for("the tag plays", lambda: len(led_lines(stage, "0001")) > before)
        known = page.run(count)[0]
        for number in range(8 - known):
            add(number)
        page.wait_for_script(count + ".join() === '8,0'", "eight cards")
        free = page.run("""const main = document.querySelector('main').getBoundingClientRect();
            return 1 - Math.max(...[...document.querySelectorAll('.card')].map(card => card.getBoundingClientRect().right - main.left)) / main.width""")
        require(free < 0.1, "%d %% of the width are free" % (100 * free))
        add(9)
        page.wait_for_script(count + ".join() === '0,9'", "a table of nine")
        shown = "return [...document.querySelectorAll('#tags thead th')].filter(head => head.getClientRects().length).map(head => head.innerText)"
        wait_for("no rare columns", lambda: {"Reconnects", "Lost", "Last gesture"} & set(page.run(shown)) == {"Last gesture"})
        page.run("[...document.querySelectorAll('label')].find(label => label.innerText.startsWith('reconnects')).querySelector('input').click()")
        wait_for("the rare columns", lambda: {"Reconnects", "Lost"} <= set(page.run(shown)))
        page.run("[...document.querySelectorAll('label')].find(label => label.innerText.startsWith('reconnects')).querySelector('input').click()")
        stage.publish(topics.pop(), "", retain=True)
        page.wait_for_script(count + ".join() === '8,0'", "eight cards again")
    finally:
        for topic in [*topics, "jacquard/tag/0001/battery/forecast"]:
            stage.publish(topic, "", retain=True)
    page.wait_for_script("return !document.body.innerText.includes('Extra')", "the end of the tags")


def destructive(run):
    """Forget looks as nothing else does, is below everything that one does more often, and asks first: Enter cancels."""
    page = run.page
    run.login()
    run.show("tag/0001")
    page.wait_for("Charts")
    colors = page.run("""return Object.fromEntries([...document.querySelectorAll('main button')].filter(button => button.getClientRects().length)
        .map(button => [button.innerText, getComputedStyle(button).color]))""")
    forget = colors.pop("Forget\u2026")
    require(forget not in colors.values(), "Forget looks as other buttons do: %s" % colors)
    tops = page.run("return [...document.querySelectorAll('main button')].map(button => [button.innerText, button.getBoundingClientRect().top])")
    require(max(top for _, top in tops) == dict(tops)["Forget\u2026"], "Forget is above other buttons: %s" % tops)
    page.click_text("Forget\u2026")
    page.wait_for("The bond is removed")
    buttons = page.run("return [...document.querySelectorAll('dialog button')].map(button => [button.innerText, getComputedStyle(button).color])")
    require(dict(buttons)["Forget"] == forget, "the question looks harmless: %s" % buttons)
    require(page.focus() == "Cancel", "the focus is on %s" % page.focus())
    page.keys(ENTER)
    page.wait_for_script("return !document.querySelector('dialog')", "the end of the question")
    run.show("tags")
    page.wait_for("0001")


def first_sentence(run):
    """Why? begins with one sentence, then its remedy: a button, or a command to copy. Errors are in words, and notes link to Pair."""
    run.login()
    run.page.call("POST", "/timeouts", {"script": 20000})

    def why(checks, broken, rights=True):
        result = run.page.call("POST", "/execute/async", {"script": WHY, "args": [checks, broken, rights]})
        require(isinstance(result, dict), "why.js: %s" % result)
        return result

    pair = "jacquard2mqtt pair 00X1, and hold the tag's button for three seconds"
    bond = {"name": "bond", "verdict": "failed", "found": "the tag has removed its bond with this host", "remedies": [pair]}
    link = {"name": "link", "verdict": "failed", "found": "not connected: No link within 60 s", "remedies": ["Bring the tag near the adapter"]}
    error = {"name": "last_error", "title": "last error", "verdict": "warning", "remedies": [],
             "found": "connection_timeout, 12 min ago: No link within 60 s (org.bluez.Error.Failed); next attempt in 20 s"}
    result = why([bond], "bond")
    require(result["parts"][0][0] == "h1" and result["parts"][1][1:] == ["cause", "The tag is not paired with this bridge: the tag has removed its bond with this host."],
            "the beginning: %s" % result["parts"])
    require(result["parts"][2][1] == "remedies" and result["actions"] == [["a", "button", "Pair", "#pair/00X1"]], "the remedy: %s" % result)
    result = why([{**bond, "verdict": "warning"}, link, error], "link")
    require(result["parts"][1][2] == "The connection to the tag fails: No link within 60 s.", "the cause: %s" % result["parts"])
    require(result["actions"] == [["a", "", "Pair", "#pair/00X1"]], "the note does not link to Pair: %s" % result["actions"])
    require(result["lines"][-1] == "note | last error | 12 min ago; next attempt in 20 s", "the last error: %s" % result["lines"])
    result = why([{**link, "found": "not connected: The tag is away"}, error], "link")
    require(result["lines"][-1] == "note | last error | 12 min ago: No link within 60 s; next attempt in 20 s", "the last error: %s" % result["lines"])
    result = why([bond], "bond", False)
    require([each[:3] for each in result["actions"]] == [["button", "", "Copy"]], "a link for a role that may not pair: %s" % result["actions"])


def steady(run):
    """Ages change in coarse steps, and the rows of a table stay where they are while gestures arrive."""
    run.login()
    run.page.call("POST", "/timeouts", {"script": 20000})
    result = run.page.call("POST", "/execute/async", {"script": STEADY, "args": []})
    # Just now, five times ten seconds, 59 minutes.
    require(result == {"steps": 65, "before": "bac", "after": "bac"}, "steps and orders: %s" % result)


CASES = [cards, destructive, first_sentence, steady]
