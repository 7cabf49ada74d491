"""Gestures run automations, and nothing else does."""

from __future__ import annotations

import asyncio
import statistics

from failure import require, until
from world import BRIDGE, GESTURES, TAG, World


async def each_gesture_runs_its_automations_once(world: World) -> None:
    for gesture in GESTURES:
        await world.automate_trigger(f"trigger_{gesture}", gesture)
        await world.automate_event(f"event_{gesture}", gesture)
        if world.home.release.name == "new":
            await world.automate_received(f"received_{gesture}", gesture)
    kinds = ["trigger", "event"] + (["received"] if world.home.release.name == "new" else [])
    for gesture in GESTURES:
        before = len(world.bus.heard)
        await world.gesture(gesture)
        for kind in kinds:
            await world.fired(f"{kind}_{gesture}", 1, before)
        ran = len(world.bus.on("test/fired/#", before))
        require(ran == len(kinds), f"{ran} automations ran with {gesture}")


async def twenty_equal_gestures_run_them_twenty_times(world: World) -> None:
    before = len(world.bus.heard)
    await world.gesture("cover", 20)
    await world.fired("trigger_cover", 20, before)
    await world.fired("event_cover", 20, before)


async def the_event_tells_what_the_gesture_was(world: World) -> None:
    await world.gesture("brush_up")

    async def is_brush() -> bool:
        attributes = (await world.home.state(f"{TAG}_gesture")).get("attributes", {})
        return attributes.get("event_type") == "brush_up" and attributes.get("bridge") == "attic"

    await until("the event is a brush upwards", is_brush)


async def an_unknown_gesture_is_an_event(world: World) -> None:
    await world.gesture("99")

    async def is_unknown() -> bool:
        attributes = (await world.home.state(f"{TAG}_gesture")).get("attributes", {})
        return attributes.get("event_type") == "unknown" and attributes.get("gesture") == 99

    await until("the event is unknown, with its number", is_unknown)


async def a_tag_that_leaves_and_returns_fires_nothing(world: World) -> None:
    before = len(world.bus.heard)
    await world.command_tags("out-of-range 0001")
    await world.home.wait_state(f"{TAG}_connection", "off")
    await world.home.wait_state(f"{TAG}_battery", "unavailable")
    await world.home.wait_state(f"{TAG}_led", "unavailable")
    require((await world.home.state(f"{TAG}_gesture"))["state"] != "unavailable", "the event entity saw it")
    await world.command_tags("in-range 0001")
    await world.connected()
    await world.home.wait_state(f"{TAG}_battery", "87")
    await asyncio.sleep(1)
    world.nothing_fired(before)


async def a_restart_of_the_bridge_fires_nothing(world: World) -> None:
    before = len(world.bus.heard)
    await world.bridge.stop()
    await world.home.wait_state(f"{BRIDGE}_connection", "off")
    for key in ("battery", "gesture", "led", "connection"):
        await world.home.wait_state(f"{TAG}_{key}", "unavailable")
    world.bridge.start()
    await world.home.wait_state(f"{BRIDGE}_connection", "on")
    await world.connected()
    await asyncio.sleep(1)
    world.nothing_fired(before)


async def a_crash_of_the_bridge_makes_all_unavailable(world: World) -> None:
    before = len(world.bus.heard)
    await world.bridge.stop(9)
    await world.home.wait_state(f"{TAG}_battery", "unavailable")
    world.bridge.start()
    await world.home.wait_state(f"{TAG}_connection", "on")
    await world.connected()
    world.nothing_fired(before)


async def a_restart_of_home_assistant_fires_nothing(world: World) -> None:
    before = len(world.bus.heard)
    await world.home.end()
    await world.home.begin()
    await world.home.wait_state(f"{TAG}_battery", "87")
    await world.connected()
    await world.told_again(before)
    world.nothing_fired(before)
    await gestures_still_run_automations(world)


async def a_crash_of_home_assistant_fires_nothing(world: World) -> None:
    before = len(world.bus.heard)
    await world.home.end(kill=True)
    await world.home.begin()
    await world.connected()
    await world.told_again(before)
    world.nothing_fired(before)
    await gestures_still_run_automations(world)


async def a_restart_of_the_broker_fires_nothing(world: World) -> None:
    before = len(world.bus.heard)
    await world.broker.stop()
    await world.broker.begin()
    await world.bus.expect("jacquard/bridge/attic/state", 1, before, within=60)
    await world.told_again(before)
    await world.connected()
    await world.home.wait_state(f"{TAG}_battery", "87")
    world.nothing_fired(before)
    await gestures_still_run_automations(world)
    # What Home Assistant says of a connection that breaks under its hands.
    world.forgive("Connection reset by peer")
    world.forgive("The client is not currently connected")


async def gestures_still_run_automations(world: World) -> None:
    before = len(world.bus.heard)
    await world.gesture("double_tap")
    await world.fired("trigger_double_tap", 1, before)
    await world.fired("event_double_tap", 1, before)


async def no_gesture_was_retained(world: World) -> None:
    require("jacquard/tag/0001/gesture" not in await world.retained(), "one was")


async def two_hundred_gestures_arrive_in_time(world: World) -> None:
    topic, fired = "jacquard/tag/0001/gesture", "test/fired/trigger_brush_in"
    delays: dict[str, list[float]] = {"a gesture": [], "a bare publish": []}
    for _ in range(200):
        for kind, values in delays.items():
            before = len(world.bus.heard)
            if kind == "a gesture":
                world.tags.write("gesture 0001 brush_in")
                begin = (await world.bus.expect(topic, 1, before))[0].at
            else:
                await world.bus.publish(topic, {"event_type": "brush_in"})
                begin = (await world.bus.expect(topic, 1, before))[0].at
            values.append((await world.bus.expect(fired, 1, before))[0].at - begin)
    for kind, values in delays.items():
        ordered = sorted(values)
        p99 = ordered[round(len(ordered) * 0.99) - 1]
        print(f"   {kind} to its automation: p50 {statistics.median(values) * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms")
        require(p99 < 1, f"p99 is {p99:.3f} s")
    # The other automations of the last gesture may still run.
    await asyncio.sleep(1)


ALL = [
    each_gesture_runs_its_automations_once, twenty_equal_gestures_run_them_twenty_times,
    the_event_tells_what_the_gesture_was, an_unknown_gesture_is_an_event,
    two_hundred_gestures_arrive_in_time, a_tag_that_leaves_and_returns_fires_nothing,
    a_restart_of_the_bridge_fires_nothing, a_crash_of_the_bridge_makes_all_unavailable,
    a_restart_of_home_assistant_fires_nothing, a_crash_of_home_assistant_fires_nothing,
    a_restart_of_the_broker_fires_nothing, no_gesture_was_retained,
]
