"""A chord is an event type and a device trigger like a gesture, and runs its automations once."""

from __future__ import annotations

import asyncio

from failure import require, until
from scenarios_gestures import kinds_of
from world import TAG, World

NAME = "double_tap_then_brush_in"
CHORD = f"chords:\n  - name: {NAME}\n    of: [double_tap, brush_in]\n    within_ms: 5000\n"


async def triggers_named(world: World) -> int:
    """How many triggers of the chord Home Assistant offers."""
    return len([trigger for trigger in await world.home.triggers(TAG) if trigger["subtype"] == NAME])


async def a_chord_runs_its_automations_exactly_once_in_a_hundred(world: World) -> None:
    world.bridge.configure(world.form, settings=CHORD)
    world.bridge.reload()

    async def is_offered() -> bool:
        return await triggers_named(world) == 1

    await until("the trigger of the chord is offered", is_offered)
    types = (await world.home.state(f"{TAG}_gesture"))["attributes"]["event_types"]
    require(NAME in types, f"event types {types}")
    await world.automate_trigger("triggers_chord", NAME)
    await world.automate_event("events_chord", NAME)
    if "received" in kinds_of(world):
        await world.automate_received("received_chord", NAME)
    since = len(world.bus.heard)
    for _ in range(100):
        before = len(world.bus.heard)
        for gesture in ("double_tap", "brush_in"):
            world.tags.write(f"gesture 0001 {gesture}")
        await world.bus.expect("jacquard/tag/0001/gesture", 3, before)
        for kind in kinds_of(world):
            # A chord follows its last gesture, and two events within a millisecond are one change of the state.
            if kind != "events":
                await world.bus.expect(f"test/fired/{kind}_chord", 1, before)
    await asyncio.sleep(1)
    ran = {kind: len(world.bus.on(f"test/fired/{kind}_chord", since)) for kind in kinds_of(world)}
    print(f"   100 chords, runs of their automations: {ran}")
    require(all(ran[kind] == 100 for kind in ran if kind != "events"), "not 100 of each kind")
    require(ran["events"] <= 100, "more than 100 state changes")
    await world.home.wait_state(f"{TAG}_last_gesture", "Chord", event_type=NAME)


async def a_removed_chord_leaves_no_trigger(world: World) -> None:
    """By a reload, and by a restart of the bridge."""
    for kind in kinds_of(world):
        await world.home.remove_automation(f"{kind}_chord")

    async def is_gone() -> bool:
        return await triggers_named(world) == 0

    async def is_back() -> bool:
        return await triggers_named(world) == 1

    world.bridge.configure(world.form)
    world.bridge.reload()
    await until("the trigger is gone after a reload", is_gone)
    world.bridge.configure(world.form, settings=CHORD)
    world.bridge.reload()
    await until("the trigger is back", is_back)
    await world.bridge.stop()
    world.bridge.configure(world.form)
    world.bridge.start()
    await world.connected()
    await until("the trigger is gone after a restart", is_gone)
    topics = [topic for topic in await world.retained() if NAME in topic]
    require(not topics, f"{topics} are left")


ALL = [a_chord_runs_its_automations_exactly_once_in_a_hundred, a_removed_chord_leaves_no_trigger]
