"""The charts of a tag: values by keys and under the pointer, a week, the forecast, and what they remember after a restart of the server."""

from __future__ import annotations

import datetime
import json
import os
import re
import time

from pictures import light_and_dark
from ports import take_port
from programs import wait_for
from stage import Client, require

CAPTION = "return [...document.querySelectorAll('.columns figcaption')].find(each => each.innerText.startsWith(%s))?.innerText ?? ''"


def caption(browser, title, pattern):
    """Waits for the text below a chart."""
    script = "return new RegExp(%s).test((() => {%s})())" % (json.dumps(pattern), CAPTION % json.dumps(title))
    browser.wait_for_script(script, "%s: %s" % (title, pattern))


def count_of_gestures(client):
    status, _, body = client.request("GET", "/history?tag=0001&days=7")
    require(status == 200, "charts: %d" % status)
    return sum(value or 0 for value in json.loads(body)["gestures"])


def remember(folder, tag, day, **others):
    """The state of a server that ends now: the connection of a tag in the 288 slots of a day, and other rows."""
    now = int(time.time())
    connection = {"day": "%d %s" % (now // 300, day), "week": "%d -*288 1*48" % (now // 1800)}
    os.mkdir(folder, 0o700)
    with open(os.path.join(folder, "history.json"), "w", encoding="utf-8") as file:
        json.dump({"version": 1, "tags": {tag: {"changed_s": now, "connection": connection, **others}}}, file)


def charts(run):
    stage, browser, port = run.stage, run.driver.browser(), take_port()
    remember(os.path.join(stage.folder, "runtime-%d" % port), "0001", "1*288")
    page = stage.start_web("", port)
    client = Client(port)
    try:
        require(client.use(stage.link(page)) == 200, "no login")
        browser.open(stage.link(page))
        browser.wait_for("attic ok")
        browser.wait_for_script(
            "return /^Today: connected for/.test([...document.querySelectorAll('.card')].find(card => card.innerText.includes('0001'))"
            + "?.querySelector('.strip svg').getAttribute('aria-label'))", "the strip begins with what the server remembers")
        stage.gesture("0001", "double_tap")
        wait_for("the gesture is counted", lambda: count_of_gestures(client) == 1)
        stage.simulator.type("battery 0001 64")
        browser.run("location.hash = 'tag/0001'")
        browser.wait_for("Charts")
        # The charts are read once a minute, and with another span.
        wait_for("the level is known", lambda: 64 in json.loads(client.request("GET", "/history?tag=0001")[2])["battery"])
        browser.click_text("7 days")
        caption(browser, "Battery", "^Battery: 64 %")
        caption(browser, "Gestures", "1 in the last 7 days, most at ")
        browser.click_text("24 hours")
        caption(browser, "Gestures", "1 in the last 24 hours, most at ")

        # By keys; the text is that of the slider, too.
        browser.run("document.querySelector('[role=slider][aria-label=Battery]').focus()")
        browser.keys("\ue012")
        caption(browser, "Battery", r"64 % at \d\d:\d\d, connected$")
        text = browser.run("return document.activeElement.getAttribute('aria-valuetext')")
        require(re.fullmatch(r"64 % at \d\d:\d\d, connected", text), text)
        browser.keys("\ue00c")
        caption(browser, "Battery", "^Battery: 64 %[^\u2013]*$")
        # Under the pointer.
        browser.run("""const chart = document.querySelector("[role=slider][aria-label=Signal]"), box = chart.getBoundingClientRect();
            chart.dispatchEvent(new PointerEvent("pointermove", {clientX: box.right, clientY: box.top, bubbles: true}))""")
        caption(browser, "Signal", r"dBm at \d\d:\d\d, connected$")

        # The forecast is dashed, in the week only. The bridge has none of a tag that it has known for seconds.
        empty = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=3)
        stage.publish("jacquard/tag/0001/battery/forecast", json.dumps({"empty": empty.strftime("%Y-%m-%dT%H:%M:%S.000Z")}), True)
        browser.wait_for("about 3 days left")
        require(not browser.run("return document.querySelector('.forecast')"), "a forecast in the chart of a day")
        browser.click_text("7 days")
        browser.wait_for_script("return document.querySelector('[aria-label=Battery] .forecast')", "the forecast")
        stage.publish("jacquard/bridge/attic/request/refresh", "{}")
        browser.wait_for_script("return !document.body.innerText.includes('days left')", "the bridge's forecast")

        # The strip and the charts go on after a restart of the server.
        page.stop()
        browser.wait_for("does not answer")
        page.start()
        require(client.use(stage.link(page)) == 200, "no login after the start")
        require(count_of_gestures(client) == 1, "the gestures are forgotten")
        browser.open(stage.link(page))
        browser.wait_for("attic ok")
        browser.run("location.hash = 'tag/0001'")
        caption(browser, "Gestures", "1 in the last 24 hours, most at ")
        for days in "2", "x", "":
            require(client.request("GET", "/history?tag=0001&days=" + days)[0] == 400, "days=%s" % days)
    finally:
        browser.close()
        page.stop()


def photograph(browser, folder, name):
    """Takes pictures of the page at two widths, light and dark."""
    os.makedirs(folder, exist_ok=True)
    for width in (1280, 360):
        browser.width(width, 800)
        light_and_dark(browser, folder, "%s-%d" % (name, width))
    browser.width(1280)


def discharge(run):
    """The battery since its last charge, which only the bridge knows: twelve days, and the time before the server ran."""
    stage, browser, port = run.stage, run.driver.browser(), take_port()
    stage.simulator.type("battery 0002 50")
    wait_for("the level", lambda: json.loads(stage.retained("jacquard/tag/0002/battery"))["level"] == 50)
    stage.bridge.stop()
    file, day = os.path.join(stage.folder, "bridge-state", "batteries.json"), 24 * 3600
    with open(file, encoding="utf-8") as stored:
        document = json.load(stored)
    battery = next(each for each in document["batteries"] if each["id"] == "0002")
    now = int(time.time())
    battery["points"] = [now - 12 * day, 95, 0, now - 5 * day, 72, 0]
    with open(file, "w", encoding="utf-8") as stored:
        json.dump(document, stored)
    stage.bridge.start()
    wait_for("the tag", lambda: stage.retained("jacquard/tag/0002/availability") == "online", 60)
    # A night without the server's values of the battery: connected but for an hour.
    signals = " ".join(str(-60 - (slot * 7) % 11) for slot in range(288))
    remember(
        os.path.join(stage.folder, "runtime-%d" % port), "0002", "1*180 0*12 1*96",
        signal={"day": "%d %s" % (now // 300, signals), "week": "%d -*336" % (now // 1800)},
        gestures="%d -*151 3 5 0*9 1 2 4 2 1 0" % (now // 3600))
    page = stage.start_web("", port)
    try:
        browser.open(stage.link(page))
        browser.wait_for("attic ok")
        browser.run("location.hash = 'tag/0002'")
        caption(browser, "Battery", "^Battery: 50 %, lowest 50, highest 72, falling")
        if run.options.screenshots:
            photograph(browser, run.options.screenshots, "night")
        browser.click_text("7 days")
        caption(browser, "Battery", "^Battery: 50 %, lowest 50, highest 95, falling")
        if run.options.screenshots:
            photograph(browser, run.options.screenshots, "discharge")
        browser.run("document.querySelector('[role=slider][aria-label=Battery]').focus()")
        browser.keys("\ue011")
        first = time.strftime("%-d", time.localtime(now - 12 * day))
        caption(browser, "Battery", r"95 %% at .*\b%s\b.* \d\d:\d\d$" % first)
        # The others show a week.
        caption(browser, "Gestures", "^Gestures: 18 in the last 7 days")
        browser.run("location.hash = 'events'")
        # Nor is the page's own question one.
        browser.wait_for("No event yet.")
    finally:
        browser.close()
        page.stop()


CASES = [charts, discharge]
