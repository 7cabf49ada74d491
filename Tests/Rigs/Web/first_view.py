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


CASES = [pairing_states, results]
