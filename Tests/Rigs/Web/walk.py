"""The first walk of an owner through the page: clicks and seconds of each step."""

from __future__ import annotations

import os
import time

from programs import wait_for
from stage import require
from using import led_lines


class Walk:
    """Counts clicks and takes pictures."""

    def __init__(self, page, folder):
        self.page = page
        self.folder = folder
        self.clicks = 0
        self.lines = []

    def click(self, text):
        self.page.wait_for_script(
            "return [...document.querySelectorAll('main button, nav a, main a')].some(each => each.getClientRects().length && !each.disabled && each.innerText === %r)" % text, text)
        self.page.click_text(text)
        self.clicks += 1

    def step(self, name, act, most):
        before, begin = self.clicks, time.monotonic()
        act()
        took, clicks = time.monotonic() - begin, self.clicks - before
        self.lines.append("%s: %d clicks, %.1f s" % (name, clicks, took))
        require(clicks <= most, "%s needed %d clicks" % (name, clicks))
        if self.folder:
            os.makedirs(self.folder, exist_ok=True)
            self.page.screenshot(os.path.join(self.folder, "walk-%d.png" % len(self.lines)))


def first_walk(run):
    """Pairing, the LED, a tag that is out of range and one that was disconnected, with their remedies: few clicks, nothing typed."""
    page, stage = run.page, run.stage
    run.login()
    if "003R" in page.text():
        stage.publish("jacquard/bridge/attic/request/forget", '{"id":"003R"}')
        page.wait_for_script("return !document.body.innerText.includes('003R')", "003R is forgotten")
    run.show("tags")
    walk = Walk(page, run.options.screenshots)

    def pair():
        walk.click("Pair")
        page.wait_for_script("return document.querySelector(\"button[aria-label='Pair 003R']\")", "003R in range", 30)
        page.click("button[aria-label='Pair 003R']")
        walk.clicks += 1
        page.wait_for("Paired.", 60)

    def light():
        before = len(led_lines(stage, "003R"))
        walk.click("Try the LED")
        page.wait_for_result("ok, answered in")
        wait_for("the LED of the tag", lambda: len(led_lines(stage, "003R")) > before)

    def gesture():
        walk.click("Tags")
        stage.gesture("003R", "brush_in")
        page.wait_for_script("return document.querySelector('.gesture.flash')?.innerText.startsWith('brush in')", "the gesture, as it happens", 5)

    def out_of_range():
        stage.simulator.type("out-of-range 003R")
        walk.click("Why?")
        page.wait_for_script("return document.querySelector('.remedies')?.innerText.startsWith('Bring the tag near the adapter, and touch or move it')", "the remedy", 20)
        cause = page.run("return document.querySelector('h1 + .cause').innerText")
        require(cause.startswith("The connection to the tag fails") or cause.startswith("The bridge does not receive the tag"), "the cause: %s" % cause)

    def disconnected():
        stage.simulator.type("in-range 003R")
        page.wait_for("003R is connected", 60)
        walk.click("Open its page")
        walk.click("Disconnect")
        walk.click("Why?")
        page.wait_for("disconnected by the user")
        require(page.run("return document.querySelector('.cause + .remedies button')?.innerText") == "Connect", "the remedy is no button: %s" % page.text())
        walk.click("Connect")
        page.wait_for("003R is connected", 30)

    walk.step("a tag is paired", pair, 2)
    walk.step("its LED is played", light, 1)
    walk.step("a gesture is seen", gesture, 1)
    walk.step("out of range: the cause and what to do", out_of_range, 1)
    walk.step("disconnected: the cause, and connected again", disconnected, 4)
    print("  " + "\n  ".join(walk.lines))


CASES = [first_walk]
