"""Pictures for the documentation."""

from __future__ import annotations

import json
import os
import time

from using import PAGES


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
    stage.simulator.type("gesture 0001 cover")
    empty = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 9 * 86400))
    stage.publish("jacquard/tag/0001/battery/forecast", json.dumps({"empty": empty}), retain=True)
    run.show("tags")
    page.wait_for("1 offline")
    page.wait_for("days left")
    run.show("tag/0001")
    for name in ("brush_in", "double_tap", "cover"):
        stage.simulator.type("gesture 0001 " + name)
        page.wait_for(name.replace("_", " "))
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        for width in (1280, 390):
            page.width(width, 800)
            for address, text in PAGES.items():
                address = address.replace("why/0001", "why/0002")
                run.show(address)
                page.wait_for(text)
                # Away from all controls, which look different below it.
                page.command("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0)
                page.screenshot(os.path.join(folder, "%s-%d-%s.png" % (address.split("/")[0], width, scheme)))
    page.scheme("light")
    page.width(1280)
    stage.simulator.type("in-range 0002")
    stage.publish("jacquard/tag/0001/battery/forecast", "", retain=True)


CASES = [screenshots]
