"""The page for people who read it in another way: with a screen reader, with wide spacing, or in the dark."""

from __future__ import annotations

import json

from stage import ELSEWHERE, all_online, require

# Texts that are in no landmark and in no live region, and headers of tables without a text.
OUTSIDE = """const texts = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());) {
  if (node.data.trim() && !node.parentElement.closest("header, main, section[aria-label], [role=status], a.skip, script, noscript, dialog")) texts.push(node.data.trim());
}
return [texts, [...document.querySelectorAll("th")].filter(head => !head.textContent.trim()).map(head => head.outerHTML)];"""
COLOURS = """return Object.fromEntries(["ground", "card", "raised", "mark", "notice", "text", "quiet", "accent", "bad"].map(name =>
  [name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()]));"""
# The spacing of WCAG 2.2, criterion 1.4.12, on every element.
SPACING = """* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; } p { margin-bottom: 2em !important; }"""
# Elements whose text is cut off.
CUT = """return [...document.querySelectorAll("header *, main *")].filter(each => each.getClientRects().length && !each.closest(".skip, svg, select, input")
  && getComputedStyle(each).overflowX !== "visible" && getComputedStyle(each).overflowX !== "auto" && each.scrollWidth > each.clientWidth + 1)
  .map(each => each.outerHTML.slice(0, 120));"""
NAME = "The jacket of the upstairs wardrobe, left sleeve"


def landmarks(run):
    """Every text is in a landmark or a live region, and every column of a table has a header."""
    page, stage = run.page, run.stage
    run.login()
    for address in ("tags", "pair", "tag/0001", "events", "fleet"):
        run.show(address)
        if address == "pair":
            stage.publish("jacquard/bridge/attic/advertisement", json.dumps({"serial": "0009", "name": NAME, "rssi": -50}))
            page.wait_for("0009")
        page.run("""document.getElementById("age").textContent = "What you see is old."; document.getElementById("alert").hidden = false""")
        texts, heads = page.run(OUTSIDE)
        require(not texts and not heads, "%s: outside of landmarks: %s; empty headers: %s" % (address, texts, heads))


def contrast(run):
    """Texts have a contrast of at least 4.5 to 1 on each ground, also on that of a gesture that flashes."""
    def luminance(colour):
        parts = [int(colour[place:place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    run.login()
    try:
        for scheme in ("light", "dark"):
            run.page.scheme(scheme)
            colours = run.page.run(COLOURS)
            for ground in ("ground", "card", "raised", "mark", "notice"):
                for text in ("text", "quiet", "accent", "bad"):
                    dark, light = sorted((luminance(colours[ground]), luminance(colours[text])))
                    ratio = (light + 0.05) / (dark + 0.05)
                    require(ratio >= 4.5, "%s: %s on %s has %.2f to 1" % (scheme, text, ground, ratio))
    finally:
        run.page.scheme("light")


def spacing(run):
    """With wide spacing and 320 or 360 pixels, no text is cut off and no page is wider than the window."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")
    topics = ["jacquard/tag/%s/info" % tag for tag in ["wide", *("wide%d" % number for number in range(9))]]
    state = "jacquard/bridge/%s/state" % ELSEWHERE
    try:
        # The fleet shows a tag below its bridge.
        stage.publish(state, "online", retain=True)
        for topics_now in (topics[:1], topics):
            for topic in topics_now:
                stage.publish(topic, json.dumps({"name": NAME, "bridge": ELSEWHERE}), retain=True)
            selector = ".card" if len(topics_now) == 1 else "#tags tbody tr"
            page.wait_for_script("return document.querySelectorAll('%s').length > %d" % (selector, len(topics_now)), "the tags")
            for address in ("tags", "tag/wide", "pair", "fleet"):
                run.show(address)
                if address == "pair":
                    stage.publish("jacquard/bridge/attic/advertisement", json.dumps({"serial": "0009", "name": NAME, "rssi": -50}))
                page.wait_for(NAME if address != "fleet" else "wide")
                page.run("""const sheet = new CSSStyleSheet();
                    sheet.replaceSync(arguments[0]); document.adoptedStyleSheets = [sheet];""", SPACING)
                for width in (320, 360, 1280):
                    page.width(width)
                    cut = page.run(CUT)
                    require(not cut, "%s at %d: cut off: %s" % (address, width, cut))
                    scroll = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                    require(scroll <= 0, "%s is %d pixels too wide at %d" % (address, scroll, width))
            run.show("tags")
    finally:
        page.run("document.adoptedStyleSheets = []")
        page.width(1280)
        for topic in [*topics, state]:
            stage.publish(topic, "", retain=True)
    page.wait_for_script("return !document.body.innerText.includes('wide')", "the end of the tags")


def news(run):
    """A screen reader hears that a tag goes offline and that it comes back."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")
    all_online(page)
    spoken = "return document.getElementById('news').textContent"
    stage.simulator.type("out-of-range 0002")
    page.wait_for_script(spoken + ".includes('0002 is offline.')", "the news", 20)
    require(page.run("return document.getElementById('news').getAttribute('role')") == "status", "no live region")
    stage.simulator.type("in-range 0002")
    page.wait_for_script(spoken + ".includes('0002 is online.')", "the news", 30)


CASES = [landmarks, contrast, spacing, news]
