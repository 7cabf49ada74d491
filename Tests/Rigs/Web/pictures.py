"""Pictures for the documentation."""

from __future__ import annotations

import copy
import json
import os
import shutil
import time

from scenes import leave, scene
from stage import Stage
from using import PAGES

# Of a tag that is offline, with the log that has been asked for.
PICTURES = {address.replace("why/0001", "why/0003"): text for address, text in {**PAGES, "log": "sends its log"}.items()}


def screenshots(run):
    """All pages at two widths, light and dark."""
    if not run.options.screenshots:
        return
    folder = run.options.screenshots
    os.makedirs(folder, exist_ok=True)
    page, stage = run.page, run.stage
    run.login()
    run.show("log")
    page.wait_for("sends its log")
    for line in ("attach 0001 jacket", "battery 0002 14", "out-of-range 0002"):
        stage.simulator.type(line)
    page.wait_for("connection lost")
    stage.gesture("0001", "cover")
    empty = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 9 * 86400))
    stage.publish("jacquard/tag/0001/battery/forecast", json.dumps({"empty": empty}), retain=True)
    run.show("tags")
    page.wait_for("1 offline")
    page.wait_for("days left")
    run.show("tag/0001")
    for name in ("brush_in", "double_tap", "cover"):
        stage.gesture("0001", name)
        page.wait_for(name.replace("_", " "))
    # All simulated tags are paired.
    stage.publish("jacquard/bridge/attic/advertisement", json.dumps({"serial": "004T", "name": "Jacquard", "rssi": -58, "known": False}))
    pages = {address.replace("why/0003", "why/0002"): text for address, text in {**PICTURES, "pair": "004T"}.items()}
    photograph(run, pages, folder)
    stage.simulator.type("in-range 0002")
    stage.publish("jacquard/tag/0001/battery/forecast", "", retain=True)


def houses(run):
    """All pages of a house with one tag, with five and with two hundred; nothing is paired."""
    if not run.options.screenshots:
        return
    run.login()
    for count in (1, 5, 200):
        serials = ",".join("%04d" % (number + 1) for number in range(count))
        house = copy.copy(run)
        house.stage = Stage(run.options.programs, count, serials, serials)
        try:
            house.web = house.stage.start_web()
            house.login()
            house.page.wait_for("%d online" % count, 90)
            for number, gesture in enumerate(("cover", "brush_in", "double_tap"), 1):
                if number <= count:
                    house.stage.gesture("%04d" % number, gesture)
                    house.page.wait_for(gesture.replace("_", " "))
            if count > 1:
                house.stage.simulator.type("battery 0002 14")
                house.stage.simulator.type("out-of-range 0003")
                house.page.wait_for("1 offline, 1 battery low")
            pages = {address: "" if address.startswith("pair") else text for address, text in PICTURES.items()}
            if count == 1:
                pages = {address.replace("why/0003", "why/0001"): text for address, text in pages.items()}
            photograph(house, pages, os.path.join(run.options.screenshots, "%d" % count))
        finally:
            house.stage.stop()
            shutil.rmtree(house.stage.folder, ignore_errors=True)
    run.login()


# The page of tags with none, three, nine and sixty; a tag; and a pairing that searches, finds, fails and succeeds.
HEAR = """for (const [serial, rssi] of [["003R", -50], ["004T", -72], ["0010", -88]])
  scene.event("bridge/attic/advertisement", {serial, rssi, name: "Jacquard", known: false});
scene.update();"""
BEGIN = HEAR + """[...scene.main.querySelectorAll("button")].find(each => each.getAttribute("aria-label") === "Pair 003R").click(); await scene.wait(50);
const {now} = scene.model;"""
AWAY = """scene.away("0001", 100, 55); scene.gesture("0001", "brush_in", 12, 9);
scene.gesture("0001", "double_tap", 0, 10); scene.update(); await scene.wait(1800);"""
VIEWS = {
    "none": ("tags", 0, "", ""), "three": ("tags", 3, "", AWAY), "nine": ("tags", 9, "", ""), "sixty": ("tags", 60, "", "await scene.rows(60);"), "one-tag": ("tag", 9, "0001", AWAY),
    "events": ("events", 9, "", ""),
    "pair-range": ("pair", 0, "", HEAR),
    "pair-late": ("pair", 0, "", BEGIN + "scene.model.now = () => now.call(scene.model) + 11000; scene.update(); scene.update();" + HEAR),
    "pair-failed": ("pair", 0, "", BEGIN + """scene.answers.get("pair")({ok: false, text: "error: The tag was not found before the timeout (Hold the tag's button for three seconds near the adapter)"});
        await scene.wait(50);"""),
    "pair-done": ("pair", 0, "", BEGIN + """scene.tag("003R", {name: "Jacquard"}); scene.answers.get("pair")({ok: true, data: {id: "003R"}}); await scene.wait(50);
        scene.gesture("003R", "brush_in"); scene.update();"""),
}


def views(run):
    """The first view with any number of tags, and each state of a pairing; without processes."""
    if not run.options.screenshots:
        return
    folder, page = os.path.join(run.options.screenshots, "views"), run.page
    os.makedirs(folder, exist_ok=True)
    run.login()
    for width in (1280, 360):
        page.width(width, 800)
        for name, (address, tags, argument, script) in VIEWS.items():
            scene(run, "(async () => { %s })()" % script, address, tags, argument)
            light_and_dark(page, folder, "%s-%d" % (name, width))
    page.width(1280)
    leave(run)


def light_and_dark(page, folder, name):
    """Takes a picture of the page in front in both schemes."""
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        page.screenshot(os.path.join(folder, "%s-%s.png" % (name, scheme)))
    page.scheme("light")


def photograph(run, pages, folder):
    """Takes a picture of each page, which contains a text, at two widths, light and dark."""
    os.makedirs(folder, exist_ok=True)
    page = run.page
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        for width in (1280, 390):
            page.width(width, 800)
            for address, text in pages.items():
                run.show(address)
                page.wait_for(text)
                # Away from all controls, which look different below it.
                page.command("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0)
                page.screenshot(os.path.join(folder, "%s-%d-%s.png" % (address.split("/")[0], width, scheme)))
    page.scheme("light")
    page.width(1280)


CASES = [screenshots, houses, views]
