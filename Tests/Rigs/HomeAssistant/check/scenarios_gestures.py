"""Each gesture runs its automations, and runs them once."""

from __future__ import annotations

import asyncio
import statistics

from failure import require, until
from world import GESTURES, KINDS, TAG, World


def kinds_of(world: World) -> list[str]:
    """The kinds of automations that a release knows."""
    return KINDS if world.home.release.is_recent else ["triggers", "events"]


async def each_gesture_runs_its_automations_once(world: World) -> None:
    for gesture in GESTURES:
        await world.automate_trigger(f"triggers_{gesture}", gesture)
        await world.automate_event(f"events_{gesture}", gesture)
        if "received" in kinds_of(world):
            await world.automate_received(f"received_{gesture}", gesture)
    for gesture in GESTURES:
        before = len(world.bus.heard)
        await world.gesture(gesture)
        for kind in kinds_of(world):
            await world.fired(f"{kind}_{gesture}", 1, before)
        ran = len(world.bus.on("test/fired/#", before))
        require(ran == len(kinds_of(world)), f"{ran} automations ran with {gesture}")


async def twenty_equal_gestures_in_a_burst_run_the_trigger_twenty_times(world: World) -> None:
    """Not so the state of the event entity: it is a time in milliseconds, and two events in one look like one."""
    before = len(world.bus.heard)
    await world.gesture("cover", 20)
    await world.fired("triggers_cover", 20, before)


async def two_hundred_gestures_are_counted_once_each(world: World) -> None:
    """All six in turn, each twice in a row; Home Assistant itself counts what automations of each kind ran."""
    before = await world.counted()
    for number in range(200):
        since = len(world.bus.heard)
        gesture = GESTURES[number // 2 % len(GESTURES)]
        await world.gesture(gesture)
        for kind in kinds_of(world):
            await world.bus.expect(f"test/fired/{kind}_{gesture}", 1, since)
    await asyncio.sleep(1)
    counted = {kind: now - before[kind] for kind, now in (await world.counted()).items()}
    print(f"   200 gestures, counted in Home Assistant: {counted}")
    require(all(counted[kind] == 200 for kind in kinds_of(world)), "not 200 of each kind")


async def the_event_tells_what_the_gesture_was(world: World) -> None:
    await world.gesture("brush_up")

    async def is_brush() -> bool:
        attributes = (await world.home.state(f"{TAG}_gesture")).get("attributes", {})
        return (
            attributes.get("event_type") == "brush_up" and attributes.get("label") == "Brush up"
            and attributes.get("bridge") == "attic")

    await until("the event is a brush upwards", is_brush)


async def an_unknown_gesture_is_an_event(world: World) -> None:
    await world.gesture("99")

    async def is_unknown() -> bool:
        attributes = (await world.home.state(f"{TAG}_gesture")).get("attributes", {})
        return attributes.get("event_type") == "unknown" and attributes.get("gesture") == 99

    await until("the event is unknown, with its number", is_unknown)


async def no_gesture_was_retained(world: World) -> None:
    require("jacquard/tag/0001/gesture" not in await world.retained(), "one was")


async def two_hundred_gestures_arrive_in_time(world: World) -> None:
    topic, fired = "jacquard/tag/0001/gesture", "test/fired/triggers_brush_in"
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
    p99 = {kind: sorted(values)[round(len(values) * 0.99) - 1] for kind, values in delays.items()}
    for kind, values in delays.items():
        print(f"   {kind} to its automation: p50 {statistics.median(values) * 1000:.1f} ms, p99 {p99[kind] * 1000:.1f} ms")
    # The bare publish shows how long Home Assistant takes on this machine.
    require(p99["a gesture"] < p99["a bare publish"] + 1, f"p99 is {p99['a gesture']:.3f} s")
    # The other automations of the last gesture may still run.
    await asyncio.sleep(1)


ALL = [
    each_gesture_runs_its_automations_once, twenty_equal_gestures_in_a_burst_run_the_trigger_twenty_times,
    the_event_tells_what_the_gesture_was, an_unknown_gesture_is_an_event,
    two_hundred_gestures_are_counted_once_each, two_hundred_gestures_arrive_in_time, no_gesture_was_retained,
]
