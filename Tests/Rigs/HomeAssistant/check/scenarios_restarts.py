"""Nothing but a gesture runs an automation: not a tag that comes and goes, not a restart of anything.

Every scenario ends with a gesture, so that silence is not that of automations which are dead.
"""

from __future__ import annotations

from failure import require
from world import BRIDGE, TAG, World


async def a_tag_that_leaves_and_returns_fires_nothing(world: World) -> None:
    async with world.nothing_fires():
        await world.command_tags("out-of-range 0001")
        await world.home.wait_state(f"{TAG}_connection", "off")
        await world.home.wait_state(f"{TAG}_led", "unavailable")
        await world.home.wait_state(f"{TAG}_battery", "87")
        require((await world.home.state(f"{TAG}_gesture"))["state"] != "unavailable", "the event entity saw it")
        await world.command_tags("in-range 0001")
        await world.connected()
        await world.home.wait_state(f"{TAG}_battery", "87")
    await gestures_still_run_automations(world)


async def reconnections_of_the_tag_fire_nothing(world: World) -> None:
    """Lost links and asked for disconnections in turn.

    Alone, links that are lost again and again would wait longer and longer for the next.
    """
    switch = (await world.home.entity_ids())[f"{TAG}_connect"]
    async with world.nothing_fires():
        for number in world.rounds(50, short=4):
            is_loss = number % 2 == 0
            await (world.command_tags("sleep 0001") if is_loss else world.home.call("switch.turn_off", switch))
            await world.home.wait_state(f"{TAG}_connection", "off")
            await (world.command_tags("button 0001") if is_loss else world.home.call("switch.turn_on", switch))
            await world.home.wait_state(f"{TAG}_connection", "on")
        await world.connected()
    await gestures_still_run_automations(world)


async def restarts_of_the_bridge_fire_nothing(world: World) -> None:
    async with world.nothing_fires():
        for _ in world.rounds(10):
            await world.bridge.stop()
            await world.home.wait_state(f"{BRIDGE}_connection", "off")
            for key in ("battery", "gesture", "led", "connection"):
                await world.home.wait_state(f"{TAG}_{key}", "unavailable")
            world.bridge.start()
            await world.home.wait_state(f"{BRIDGE}_connection", "on")
            await world.connected()
    await gestures_still_run_automations(world)


async def a_crash_of_the_bridge_makes_all_unavailable(world: World) -> None:
    async with world.nothing_fires():
        await world.bridge.stop(9)
        await world.home.wait_state(f"{TAG}_battery", "unavailable")
        world.bridge.start()
        await world.home.wait_state(f"{TAG}_connection", "on")
        await world.connected()


async def restarts_of_home_assistant_fire_nothing(world: World) -> None:
    async with world.nothing_fires():
        for _ in world.rounds(10):
            since = len(world.bus.heard)
            await world.home.end()
            await world.home.begin()
            await world.home.wait_state(f"{TAG}_battery", "87")
            await world.connected()
            await world.told_again(since)
    await gestures_still_run_automations(world)


async def a_crash_of_home_assistant_fires_nothing(world: World) -> None:
    async with world.nothing_fires(home_forgets=True) as since:
        await world.home.end(kill=True)
        await world.home.begin()
        await world.connected()
        await world.told_again(since)
    await gestures_still_run_automations(world)


async def restarts_of_the_broker_fire_nothing(world: World) -> None:
    # What Home Assistant says of a connection that breaks under its hands.
    world.forgive("Connection reset by peer")
    world.forgive("The client is not currently connected")
    async with world.nothing_fires():
        for _ in world.rounds(10):
            since = len(world.bus.heard)
            await world.broker.stop()
            await world.broker.begin()
            await world.bus.expect("jacquard/bridge/attic/state", 1, since, within=60)
            await world.told_again(since)
            await world.connected()
            await world.home.wait_state(f"{TAG}_battery", "87")
    await gestures_still_run_automations(world)


async def gestures_still_run_automations(world: World) -> None:
    """A gesture runs its automations, once."""
    before = len(world.bus.heard)
    await world.gesture("double_tap")
    await world.fired("triggers_double_tap", 1, before)
    await world.fired("events_double_tap", 1, before)


ALL = [
    a_tag_that_leaves_and_returns_fires_nothing, reconnections_of_the_tag_fire_nothing,
    restarts_of_the_bridge_fire_nothing, a_crash_of_the_bridge_makes_all_unavailable,
    restarts_of_home_assistant_fire_nothing, a_crash_of_home_assistant_fires_nothing,
    restarts_of_the_broker_fire_nothing,
]
