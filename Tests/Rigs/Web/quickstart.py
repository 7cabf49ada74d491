"""From deploy/quickstart to a paired tag, a gesture and a flashed LED, as on a user's first day."""

from __future__ import annotations

import os
import re

from programs import Program, Stopwatch, wait_for
from stage import PROJECT, prints, require


def first_day(run):
    """Only the serial is typed."""
    watch = Stopwatch()
    programs = os.path.abspath(run.options.programs)
    script = Program(run.stage.folder, "quickstart", [str(PROJECT / "deploy" / "quickstart"), "--simulated", "--programs", programs])
    browser = run.driver.browser()
    try:
        link = prints(script, r"^ +(http://127\.0\.0\.1:\d+/#key=\w+)$", 60).group(1)
        require(script.printed().lstrip().startswith("http"), "the link is not the first thing printed: %s" % script.printed()[:300])
        browser.open(link)
        # The tags of the configuration are there; one more is not paired yet.
        serial = prints(script, r"^\* .*the tag (\w+) is not paired", 60).group(1)
        browser.wait_for("0001", 30)
        browser.click_text("Pair")
        # One bridge is online: it is chosen.
        browser.wait_for_script("return document.querySelector('form button.main')?.disabled === false", "the bridge", 30)
        browser.type("#serial", serial)
        browser.click_text("Start")
        browser.wait_for("Paired.", 90)
        # The links come with the answer, after the event.
        browser.wait_for("Open its page")
        browser.click_text("Open its page")
        browser.wait_for("Charts")
        browser.wait_for_script("return document.querySelectorAll('#gestures tbody tr').length > 0", "a gesture", 30)
        browser.click_text("Play")
        browser.wait_for_result("ok, answered in")
        log = os.path.dirname(prints(script, r"its log is (\S+)").group(1)) + "/simulator.log"
        wait_for("the LED of the tag", lambda: led(log, serial))
        took = watch.seconds()
        print("  quickstart, link, paired, gesture, LED: %.1f s" % took)
        require(took < 120, "it took %.0f s" % took)
    finally:
        browser.close()
        script.stop()


def led(log, serial):
    with open(log, encoding="utf-8") as file:
        return re.search(r"(?m)^%s LED of the tag: .*#ff8000" % serial, file.read())


CASES = [first_day]
