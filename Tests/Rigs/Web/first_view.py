"""What one sees at once, and need not read: pairing, results, names, the first view and the page of a tag."""

from __future__ import annotations

import time

from programs import wait_for
from scenes import expect, leave, scene
from stage import require

PAIR = """(async () => {
  const {model, main} = scene, shown = [], button = text => [...main.querySelectorAll("button")].find(each => each.getAttribute("aria-label") === text || each.innerText === text);
  const state = () => scene.texts("h2, [role=status], .heard .what, .gesture .what").filter(Boolean);
  const hear = (serial, rssi) => scene.event("bridge/attic/advertisement", {serial, rssi, name: "Jacquard", known: false});
  hear("0009", -75);
  hear("003R", -50);
  scene.update();
  shown.push(state());
  button("Pair 0009").click();
  await scene.wait(50);
  shown.push(state());
  const {now} = model;
  model.now = () => now.call(model) + 11000;
  scene.update();
  hear("003R", -50);
  scene.update();
  shown.push(state());
  button("Pair 003R").click();
  const first = scene.answers.get("pair");
  scene.answers.get("pair")({ok: true});
  await scene.wait(50);
  shown.push(scene.sent.filter(([topic]) => topic.endsWith("/pair")).map(([, {pair = "start", serial}]) => `${pair} ${serial}`));
  model.now = now;
  scene.tag("003R", {name: "Jacquard"});
  scene.answers.get("pair")({ok: true, data: {id: "003R"}});
  await scene.wait(50);
  shown.push(state());
  scene.gesture("003R", "brush_in");
  scene.update();
  shown.push(state());
  const {bottom} = main.querySelector("#name").getBoundingClientRect();
  return {shown, isInView: bottom < innerHeight};
})()"""


def pairing_states(run):
    """What is in range comes first; after ten seconds it is shown instead of the tag that is missing; the first gesture is seen as it happens."""
    run.login()
    result = scene(run, PAIR, page="pair", tags=0)
    require(isinstance(result, dict), "pair.js: %s" % result)
    instruction = "Hold the button of the tag for three seconds"
    expect(result["shown"], [
        ["In range", "003R, near: this one?", "0009, in range", "By its serial"],
        [instruction, "Looking for the tag."],
        [instruction, "Looking for the tag.", "In range instead", "003R, near: this one?", "0009, in range"],
        ["start 0009", "stop 0009", "start 003R"],
        ["Paired."],
        ["Paired.", "brush in"],
    ], "the states")
    require(result["isInView"], "the result is not in view")
    leave(run)


def results(run):
    """A result is a tick for two seconds, which moves nothing; an error is a text. A time has its word."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")
    page.wait_for("connected")
    places = """return [...document.querySelectorAll('.card')].map(card => JSON.stringify(card.getBoundingClientRect())).join()"""
    before = page.run(places)
    page.run("""window.seen = []; new MutationObserver(() => {
        const [line] = document.querySelectorAll('.card .result'), picture = line.querySelector('svg');
        seen.push([picture ? picture.classList[1] : '', line.innerText.trim() !== '' && line.querySelector('.skip') === null,
            [...document.querySelectorAll('.card')].map(card => JSON.stringify(card.getBoundingClientRect())).join()]);
    }).observe(document.querySelector('.card .result'), {childList: true, subtree: true, characterData: true})""")
    begin = time.monotonic()
    page.click(".card button")
    page.wait_for("ok, answered in")
    page.wait_for_script("return !document.querySelector('.card .result').innerText.trim()", "the end of the tick")
    took = time.monotonic() - begin
    seen = page.run("return window.seen")
    require([picture for picture, _, _ in seen if picture][-1] == "tick" and "ring" in {picture for picture, _, _ in seen}, "the pictures: %s" % seen)
    require(not any(text for _, text, _ in seen), "texts on the screen: %s" % seen)
    require({place for _, _, place in seen} == {before}, "the cards have moved")
    require(1.9 < took < 6, "the tick was shown for %.1f s" % took)
    stage.simulator.type("out-of-range 0002")
    try:
        wait_for("the bridge notices", lambda: stage.retained("jacquard/tag/0002/availability") == "offline")
        page.wait_for("offline for ")
    finally:
        stage.simulator.type("in-range 0002")
        wait_for("the bridge notices", lambda: stage.retained("jacquard/tag/0002/availability") == "online")


NAMES = """(async () => {
  const {model} = scene, link = row => [...row.querySelectorAll("a")].map(each => each.getAttribute("href")).join();
  scene.event("bridge/attic/event", {type: "paired", id: "0001", serial: "0001"}, 50 * 36e5);
  scene.event("tag/0002/led/result", {status: "error", error: {code: "busy", text: "Occupied"}}, 26 * 36e5);
  scene.gesture("0001", "brush_in", 0, 7);
  scene.event("bridge/attic/log", {time: new Date().toISOString(), level: "info", label: "tag", message: "connected", fields: {tag: "0001", adapter: "hci0"}});
  scene.event("bridge/attic/log", {time: new Date(Date.now() - 26 * 36e5).toISOString(), level: "info", label: "mqtt", message: "connected", fields: {tag: null}});
  const {events} = model;
  events.sort((one, other) => other.at - one.at);
  model.events = events.filter(event => !event.topic.endsWith("gesture") || event.value.seq === 7);
  scene.open();
  const rows = () => [...scene.main.querySelectorAll("tbody tr")].map(row => [...row.children].map(cell => cell.innerText).slice(row.className === "day" ? 0 : -2).concat(link(row)));
  return rows();
})()"""


def names(run):
    """Events and the log are sentences with the name of the tag, which is a link with its id behind, below the name of their day."""
    run.login()
    rows = scene(run, NAMES, "events")
    require(isinstance(rows, list), "the events: %s" % rows)
    expect([rows[0], rows[2], rows[4]], [
        ["Left sleeve 0001: brush in", "number 7", "#tag/0001"],
        ["Right sleeve 0002: LED: error", "Occupied", "#tag/0002"],
        ["attic: Left sleeve 0001 paired", "", "#tag/0001"]], "the events")
    require(rows[1] == ["Yesterday", ""] and len(rows[3]) == 2 and "Yesterday" not in rows[3][0], "the days: %s" % rows)
    rows = scene(run, NAMES, "log")
    require(isinstance(rows, list), "the log: %s" % rows)
    expect(rows, [["tag", "Left sleeve 0001: connected adapter=hci0", "#tag/0001"], ["Yesterday", ""], ["mqtt", "connected", ""]], "the log")
    leave(run)
    run.show("tags")
    # Beginning with a name, a link says where it leads.
    links = run.page.run("return [...document.querySelectorAll('.card h2 a, #tags tbody th a')].map(link => [link.innerText.split('\\n')[0], link.getAttribute('href')])")
    require(all(href.startswith("#tag/") and name for name, href in links), "the links: %s" % links)


CASES = [pairing_states, results, names]
