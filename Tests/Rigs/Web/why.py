"""Why is a tag offline? One list of findings, right in each case: with the bridge's answer and without it."""

from __future__ import annotations

import json
import os
import signal

from programs import wait_for
from stage import Failure, require

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "findings.json")
# The lists of the page: verdict, title, text and remedies of each line.
LIST = """return [...document.querySelectorAll('.chain > li')].map(line => [...line.children].map(part => part.innerText))"""
DIAGNOSE = """const [rows, done] = arguments;
import("./findings.js").then(({diagnosis}) => done(rows.map(({id, facts, answer, now}) => {
  const {heading, conclusion, remedies, list, others} = diagnosis(id, facts, answer ?? {}, Date.parse(now));
  return {heading: heading.join(id), conclusion, remedies, list: list.map(({title, verdict, found, remedies}) => [verdict, title, found, ...remedies]), others};
})), failure => done(String(failure)));"""


def lines(page):
    return {line[1]: line for line in page.run(LIST)}


def shows(page, title, verdict, text="", seconds=15):
    """Waits until the list has a line, and returns the list by title."""
    def look():
        line = lines(page).get(title)
        return line and line[0] == verdict and text in " ".join(line[2:])
    try:
        wait_for("the line %s: %s, %s" % (title, verdict, text), look, seconds)
    except TimeoutError as failure:
        raise Failure("%s; the page shows:\n%s" % (failure, page.text()))
    return lines(page)


def broken(page, title):
    """The page names the first broken link, no other list exists, and each link has one line."""
    def first():
        bad = [line[1] for line in page.run(LIST) if line[0] == "not ok"]
        return bad[:1] == [title] and page.run("return document.querySelector('.cause').innerText")
    try:
        wait_for("the first broken link is " + title, first, 15)
    except TimeoutError as failure:
        raise Failure("%s; the page shows:\n%s" % (failure, page.text()))
    require(page.run("return document.querySelectorAll('main ol').length") == 1, "there is not one list")
    titles = [line[1] for line in page.run(LIST)]
    require(len(titles) == len(set(titles)), "a link is shown twice: %s" % titles)


def configure(stage, *serials):
    """Changes the tags of the bridge."""
    with open(stage.config, encoding="utf-8") as file:
        text = file.read()
    stage.write("bridge.yaml", text.split("tags:\n")[0] + "tags:\n" + "".join("  - serial: '%s'\n" % serial for serial in serials))
    stage.bridge.process.send_signal(signal.SIGHUP)


def lost(run):
    """A lost tag is shown within a second, with the way to the reason."""
    page, stage = run.page, run.stage
    run.login()
    stage.simulator.type("battery 0002 14")
    page.wait_for("14 %, low")
    stage.simulator.type("out-of-range 0002")
    wait_for("the bridge notices", lambda: stage.retained("jacquard/tag/0002/availability") == "offline")
    took = page.wait_for("1 offline", 2)
    require(took < 1, "the page needed %.1f s" % took)
    page.click_text("Why?")
    page.wait_for("0002 offline?")
    page.wait_for("The bridge checked this")
    broken(page, "link")
    shown = shows(page, "link", "not ok", "the link was lost")
    require(shown["tag received"][0] == "ok", "the tag was received a moment ago: %s" % shown)


def why(run):
    """Tag connected, never received, unknown; broker lost; tag asleep; adapter off; bridge offline."""
    page, stage = run.page, run.stage
    run.login()
    stage.simulator.type("out-of-range 0002")
    wait_for("the bridge notices", lambda: stage.retained("jacquard/tag/0002/availability") == "offline")

    run.show("why/0001")
    page.wait_for("0001 is connected")
    page.wait_for("Nothing from the broker to the tag is broken.")
    shown = shows(page, "link", "ok", "connected since")
    require(not [line for line in shown.values() if line[0] == "not ok"], "not ok although connected: %s" % shown)
    require("T" not in shown["link"][2], "a time in UTC: %s" % shown["link"])

    configure(stage, "0001", "0002", "0009")
    run.show("why/0009")
    page.wait_for("0009 offline?")
    broken(page, "tag received")
    shows(page, "tag received", "not ok", "not received since the bridge started")
    shows(page, "link", "not checked", "waits until it receives the tag")

    configure(stage, "0001", "0002")
    run.show("why/9999")
    page.wait_for("There is no tag 9999")
    broken(page, "tag")
    shows(page, "tag", "not ok", "no bridge has this tag")
    page.wait_for("Pair it")
    page.click_text("Show all tags")
    page.wait_for_script("return document.querySelector('h1').innerText === 'Tags'", "the list of tags")
    page.run("location.hash = 'why/'")
    page.wait_for_script("return document.querySelector('h1').innerText === 'Tags'", "the list of tags")

    run.show("why/0001")
    page.wait_for("The bridge checked this")
    stage.broker.kill()
    broken(page, "broker")
    shown = shows(page, "broker", "not ok", seconds=2)
    require({line[0] for title, line in shown.items() if title != "broker"} == {"not checked"}, "known without the broker: %s" % shown)
    stage.broker.start()
    page.wait_for("Nothing from the broker to the tag is broken.", 30)

    # The bridge is asked again and again: what was a lost link becomes a tag that is not received.
    run.show("why/0002")
    broken(page, "link")
    shows(page, "tag received", "not ok", "last received", 90)
    broken(page, "tag received")
    page.wait_for("it stops advertising after 60 seconds")
    stage.simulator.type("in-range 0002")
    page.wait_for("0002 is connected", 40)
    page.wait_for("Nothing from the broker to the tag is broken.")

    stage.simulator.type("adapter off")
    page.wait_for("0002 offline?")
    broken(page, "adapter")
    page.wait_for("bluetoothctl power on")
    page.wait_for("has its Bluetooth off")
    stage.simulator.type("adapter on")
    page.wait_for("0002 is connected", 60)

    stage.bridge.kill()
    broken(page, "bridge")
    shown = shows(page, "bridge", "not ok", "attic is offline", 2)
    require(shown["link"][0] == "not checked" and shown["adapter"][0] == "not checked", "known without the bridge: %s" % shown)
    page.wait_for_script("return /^Why is .*0002 offline\\?$/.test(document.querySelector('h1').innerText)", "the heading")
    stage.bridge.start()
    page.wait_for("0002 is connected", 60)
    page.wait_for("Nothing from the broker to the tag is broken.")


def findings(run):
    """The list of each row of the table findings.json, computed by the page's own module."""
    run.login()
    with open(TABLE, encoding="utf-8") as file:
        rows = json.load(file)
    run.page.call("POST", "/timeouts", {"script": 20000})
    results = run.page.call("POST", "/execute/async", {"script": DIAGNOSE, "args": [rows]})
    require(isinstance(results, list), "findings.js: %s" % results)
    if run.options.record:
        with open(TABLE, "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(
                json.dumps({**row, "shows": result}, ensure_ascii=False) for row, result in zip(rows, results)) + "\n]\n")
        return
    for row, result in zip(rows, results):
        require(result == row["shows"], "%s:\n-%s\n+%s" % (row["case"], json.dumps(row["shows"]), json.dumps(result)))
    print("  %d cases of facts and answers have the findings of the table" % len(rows))


CASES = [findings, lost, why]
