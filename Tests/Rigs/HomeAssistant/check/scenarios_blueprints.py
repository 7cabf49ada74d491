"""The blueprints of config/home-assistant are taken and do what they say."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import shutil
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web
from failure import require, until
from scenarios_chords import CHORD, NAME
from world import GESTURES, OTHER_TAG, TAG, World, fires

BLUEPRINTS = pathlib.Path(__file__).resolve().parents[4] / "config" / "home-assistant"


async def use(world: World, name: str, path: str, inputs: dict[str, Any]) -> None:
    """Makes an automation of a blueprint."""
    blueprint = {"use_blueprint": {"path": f"jacquard2mqtt/{path}", "input": inputs}}
    await world.home.request("POST", f"/api/config/automation/config/{name}", {"alias": name, **blueprint})

    async def is_on() -> bool:
        return any(
            state["attributes"].get("id") == name and state["state"] == "on"
            for state in (await world.home.states()).values())

    await until(f"the automation {name} is on", is_on)


async def wait_done(world: World, name: str) -> None:
    """Waits until an automation has finished: one of mode `single` ignores what triggers it while it runs."""

    async def is_done() -> bool:
        return any(
            state["attributes"].get("id") == name and state["attributes"].get("current") == 0
            for state in (await world.home.states()).values())

    await until(f"the automation {name} has finished", is_done)


@contextlib.asynccontextmanager
async def served(folder: pathlib.Path) -> AsyncIterator[str]:
    """A web server for a folder; gives its address."""
    application = web.Application()
    application.router.add_static("/", folder)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def import_by_address(world: World) -> None:
    """What the button "Import blueprint" does."""
    async with served(BLUEPRINTS) as address:
        for file in sorted(BLUEPRINTS.glob("*.yaml")):
            url = f"{address}/{file.name}"
            found = await world.home.ask("blueprint/import", url=url)
            require(not found["validation_errors"], f"{file.name}: {found['validation_errors']}")
            await world.home.ask(
                "blueprint/save", domain="automation", path=f"jacquard2mqtt/{file.name}", yaml=found["raw_data"],
                source_url=url)


async def blueprints_are_imported(world: World) -> None:
    if world.home.release.is_recent:
        await import_by_address(world)
    else:
        shutil.copytree(BLUEPRINTS, world.home.configuration / "blueprints" / "automation" / "jacquard2mqtt")
    found = await world.home.ask("blueprint/list", domain="automation")
    ours = {path: content for path, content in found.items() if path.startswith("jacquard2mqtt/")}
    require(len(ours) == 5, f"blueprints {sorted(ours)}")
    for path, content in ours.items():
        require("error" not in content, f"{path}: {content.get('error')}")
        source = content["metadata"].get("source_url", "")
        require(source.endswith("/" + pathlib.PurePath(path).name), f"{path} comes from {source}")


async def a_gesture_runs_an_action(world: World) -> None:
    device = (await world.home.devices())[TAG]["id"]
    await use(world, "blueprint_gesture", "gesture.yaml", {
        "tag": device, "gesture": "brush_down", "actions": [fires("blueprint_gesture")],
    })

    async def listens() -> bool:
        before = len(world.bus.heard)
        await world.gesture("brush_down")
        try:
            # As long as a busy Home Assistant may take: an action that comes later would be counted with the next gesture.
            await world.bus.expect("test/fired/blueprint_gesture", 1, before)
        except Exception:  # not subscribed yet
            return False
        return True

    await until("the gesture runs the action", listens)
    before = len(world.bus.heard)
    await world.gesture("brush_down")
    await world.fired("blueprint_gesture", 1, before)
    await world.gesture("brush_up")
    await world.fired("blueprint_gesture", 1, before)
    await world.home.remove_automation("blueprint_gesture")


async def the_controller_runs_an_action_for_each_gesture_and_chord(world: World) -> None:
    """Each once, with the answer of the LED; the chord after its gestures."""
    world.bridge.configure(world.form, settings=CHORD)
    world.bridge.reload()

    async def is_offered() -> bool:
        return any(trigger["subtype"] == NAME for trigger in await world.home.triggers(TAG))

    await until("the trigger of the chord is offered", is_offered)
    light = (await world.home.entity_ids())[f"{TAG}_led"]
    device = (await world.home.devices())[TAG]["id"]
    inputs = {gesture: [fires(f"controller_{gesture}")] for gesture in GESTURES}
    await use(world, "controller", "controller.yaml", {
        "tag": device, "answer": [light], "chord_1": NAME, "chord_1_actions": [fires("controller_chord")], **inputs,
    })
    # Home Assistant collects subscriptions for a moment.
    await asyncio.sleep(2)
    # In this order none is the end of the chord.
    for gesture in reversed(GESTURES):
        before, led = len(world.bus.heard), len(world.tags.told("led"))
        await world.gesture(gesture)
        await world.fired(f"controller_{gesture}", 1, before)
        ran = [message.topic for message in world.bus.on("test/fired/#", before) if "/controller_" in message.topic]
        require(len(ran) == 1, f"{gesture} ran {ran}")
        told = (await world.tags.wait_told("led", led + 1))[-1]
        require(told["color"] == "#00ff00" and told["duration_ms"] == 1000, f"the tag was told {told}")
    before = len(world.bus.heard)
    for gesture in ("double_tap", "brush_in"):
        world.tags.write(f"gesture 0001 {gesture}")
    await world.fired("controller_chord", 1, before)
    await world.home.remove_automation("controller")
    require(
        sorted(trigger["subtype"] for trigger in await world.home.triggers(TAG)) == sorted([*GESTURES, NAME]),
        "a chord without a name is offered")
    world.bridge.configure(world.form)
    world.bridge.reload()
    await world.home.wait_state(f"{TAG}_led", "off")


async def a_low_battery_gives_one_notice(world: World) -> None:
    battery = (await world.home.entity_ids())[f"{TAG}_battery"]
    notice = {
        "service": "mqtt.publish",
        "data": {"topic": "test/fired/notice", "payload": "{{ tag }} {{ percent }}"},
    }
    await use(world, "blueprint_battery", "low-battery.yaml", {"battery": battery, "actions": [notice]})
    before = len(world.bus.heard)
    await world.command_tags("battery 0001 19 not_charging")
    heard = await world.fired("notice", 1, before)
    require(heard[0].payload == "Left sleeve 19", f"the notice says {heard[0].payload}")
    await world.command_tags("out-of-range 0001")
    await world.home.wait_state(f"{TAG}_connection", "off")
    await world.home.wait_state(f"{TAG}_battery", "19")
    await world.command_tags("in-range 0001")
    await world.connected()
    await world.home.wait_state(f"{TAG}_battery", "19")
    await world.fired("notice", 1, before)
    await world.home.remove_automation("blueprint_battery")
    await use(world, "blueprint_notice", "low-battery.yaml", {"battery": battery})
    await world.command_tags("battery 0001 50 not_charging")
    await world.home.wait_state(f"{TAG}_battery", "50")
    await world.command_tags("battery 0001 10 not_charging")

    async def is_shown() -> bool:
        notices = await world.home.ask("persistent_notification/get")
        return any("Left sleeve has 10 % left" in notice["message"] for notice in notices)

    await until("the notice is shown", is_shown)
    await world.home.remove_automation("blueprint_notice")
    await world.command_tags("battery 0001 87 not_charging")
    await world.home.wait_state(f"{TAG}_battery", "87")
    await world.connected()


async def the_doorbell_flashes_the_led(world: World) -> None:
    light = (await world.home.entity_ids())[f"{TAG}_led"]
    await use(world, "blueprint_doorbell", "doorbell.yaml", {
        "doorbell": "input_boolean.doorbell", "light": {"entity_id": light}, "color": [255, 0, 255], "flash": "short",
    })
    before = len(world.tags.told("led"))
    await world.home.call("input_boolean.turn_on", "input_boolean.doorbell")
    told = (await world.tags.wait_told("led", before + 1))[-1]
    require(told["color"] == "#ff00ff" and told["duration_ms"] == 1000, f"the tag was told {told}")
    await world.home.call("input_boolean.turn_off", "input_boolean.doorbell")
    await world.home.wait_state(f"{TAG}_led", "off")
    require(len(world.tags.told("led")) == before + 1, "it flashed twice")
    await world.home.remove_automation("blueprint_doorbell")


async def a_doorbell_may_be_an_event(world: World) -> None:
    """Here it is the other tag's gestures; that the bridge goes and comes back is nobody at the door."""
    entities = await world.home.entities()
    await use(world, "blueprint_event", "doorbell.yaml", {
        "doorbell": entities[f"{OTHER_TAG}_gesture"]["entity_id"],
        "light": {"entity_id": entities[f"{TAG}_led"]["entity_id"]},
    })
    before = len(world.tags.told("led"))
    for rings in (1, 2):
        await world.command_tags("gesture 0002 cover")
        told = (await world.tags.wait_told("led", before + rings))[-1]
        require(told["color"] == "#ffa000" and told["duration_ms"] == 5000, f"the tag was told {told}")
        await wait_done(world, "blueprint_event")
    await world.bridge.stop()
    await world.home.wait_state(f"{OTHER_TAG}_gesture", "unavailable")
    since = len(world.bus.heard)
    world.bridge.start()
    await world.announced(since)
    await world.connected("0001")
    await world.connected("0002")
    await world.home.wait_state(f"{TAG}_led", "off")
    require(len(world.tags.told("led")) == before + 2, "it flashed without a ring")
    await world.home.remove_automation("blueprint_event")


@contextlib.asynccontextmanager
async def sliding(world: World) -> AsyncIterator[str]:
    """Slides are on, the lamp is half bright, and an automation dims it by slides of tag 0001; gives the lamp's entity."""
    world.bridge.configure(world.form, settings="slide:\n  enabled: true\n")
    world.bridge.reload()
    lamp = (await world.home.entity_ids())["lamp"]
    mode = (await world.home.entity_ids())[f"{TAG}_touch_mode"]
    title = "Slide (gestures pause)"

    async def is_offered() -> bool:
        return title in (await world.home.states())[mode]["attributes"]["options"]

    await until("the touch mode is offered", is_offered)
    await world.home.wait_state(f"{TAG}_slide_position", "unknown")
    position = (await world.home.entity_ids())[f"{TAG}_slide_position"]
    await use(world, "blueprint_slide", "slide.yaml", {"position": position, "light": lamp, "reach": 100})
    await world.home.call("light.turn_on", lamp, {"brightness_pct": 50})
    await world.home.call("select.select_option", mode, {"option": title})
    await world.home.wait_state(f"{TAG}_touch_mode", title)
    # Home Assistant collects subscriptions for a moment.
    await asyncio.sleep(2)
    try:
        yield lamp
    finally:
        await world.home.remove_automation("blueprint_slide")
        await world.home.call("select.select_option", mode, {"option": "Gestures"})
        await world.home.wait_state(f"{TAG}_touch_mode", "Gestures")
        await world.home.call("light.turn_off", lamp)
        world.bridge.configure(world.form)
        world.bridge.reload()


async def stroke(world: World, start: int, end: int) -> None:
    """A finger slides over the gear of tag 0001 within a second; waits until the bridge has told the end."""
    before = len(world.bus.heard)

    async def is_taken() -> bool:
        """The simulator refuses a stroke until the finger of the one before has left the gear."""
        answers = len(world.tags.answers("stroke"))
        world.tags.write(f"stroke 0001 {start} {end} 1000")

        async def is_answered() -> bool:
            return len(world.tags.answers("stroke")) > answers

        await until("the simulator answers", is_answered)
        return world.tags.answers("stroke")[-1] == "ok"

    await until("the finger touches the gear", is_taken)

    async def has_ended() -> bool:
        return any('"end"' in message.payload for message in world.bus.on("jacquard/tag/0001/slide", before))

    await until("the slide has ended", has_ended)


async def a_slide_dims_a_lamp(world: World) -> None:
    async with sliding(world) as lamp:
        for start, end, wanted in ((80, 50, 20), (20, 80, 80)):
            await stroke(world, start, end)

            async def is_dimmed(wanted: int = wanted) -> bool:
                brightness = (await world.home.states())[lamp]["attributes"].get("brightness") or 0
                return abs(brightness / 2.55 - wanted) <= 8

            await until(f"the lamp is at about {wanted} %", is_dimmed, 10)


ALL = [
    blueprints_are_imported, a_gesture_runs_an_action, the_controller_runs_an_action_for_each_gesture_and_chord, a_low_battery_gives_one_notice,
    the_doorbell_flashes_the_led, a_doorbell_may_be_an_event, a_slide_dims_a_lamp,
]
