"""A person who wears the jacket is home while it is near or asleep, and away when it is gone."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from failure import require, until
from world import TAG, World, fires

PERSON = "person.ada"
# Its state is the number of persons who are there.
HOME = "zone.home"


@contextlib.asynccontextmanager
async def wearer(world: World) -> AsyncIterator[None]:
    """Presence is on, and a person has the tag's tracker."""
    world.bridge.configure(world.form, settings="presence:\n  away_after_s: 10\n")
    world.bridge.reload()
    await world.home.wait_state(f"{TAG}_tracker", "home")
    tracker = (await world.home.entity_ids())[f"{TAG}_tracker"]
    person = await world.home.ask("person/create", name="Ada", user_id=None, device_trackers=[tracker])
    try:
        await shows(world, PERSON, "home")
        yield
    finally:
        await world.home.ask("person/delete", person_id=person["id"])
        world.bridge.configure(world.form)
        world.bridge.reload()

    async def is_gone() -> bool:
        return f"{TAG}_tracker" not in await world.home.entities()

    await until("the tracker is gone", is_gone)
    await world.connected()


async def shows(world: World, entity: str, state: str) -> None:
    """Waits until an entity that is not MQTT's has a state."""

    async def look() -> bool:
        return (await world.home.states()).get(entity, {}).get("state") == state

    await until(f"{entity} is {state}", look)


async def a_person_with_the_tag_is_home_and_away(world: World) -> None:
    async with wearer(world):
        await world.command_tags("out-of-range 0001")
        await shows(world, PERSON, "not_home")
        await world.home.wait_state(f"{TAG}_presence", "Gone")
        await world.command_tags("in-range 0001")
        await shows(world, PERSON, "home")
        await world.connected()


async def the_zone_counts_the_person_and_its_automations_run(world: World) -> None:
    """The tracker has no coordinates: before 2026.11 Home Assistant's automations of zones need them."""
    zone = {"entity_id": PERSON, "zone": HOME}
    names = ["enter", "leave", "condition"] if world.home.release.is_recent else []
    async with wearer(world):
        await shows(world, HOME, "1")
        for event in names[:2]:
            trigger = {"platform": "zone", "event": event, **zone}
            await world.home.automate(event, {"trigger": [trigger], "action": [fires(event)]})
        if names:
            trigger = {"platform": "state", "entity_id": PERSON, "to": ["home", "not_home"]}
            await world.home.automate("condition", {
                "trigger": [trigger], "condition": [{"condition": "zone", **zone}], "action": [fires("condition")],
            })
        since = len(world.bus.heard)
        await world.command_tags("out-of-range 0001")
        await shows(world, HOME, "0")
        for name in names:
            await world.fired(name, 1 if name == "leave" else 0, since)
        since = len(world.bus.heard)
        await world.command_tags("in-range 0001")
        await shows(world, HOME, "1")
        for name in names:
            await world.fired(name, 0 if name == "leave" else 1, since)
        await world.connected()
    for name in names:
        await world.home.remove_automation(name)


async def a_person_stays_home_while_the_tag_sleeps_or_the_bridge_restarts(world: World) -> None:
    async with wearer(world):
        changes = len(world.bus.heard)
        await world.bus.publish("jacquard/tag/0001/sleep/set", {"wake_on_motion": True})
        await world.home.wait_state(f"{TAG}_presence", "Asleep")
        await world.command_tags("move 0001")
        await world.connected()
        since = len(world.bus.heard)
        await world.bridge.stop()
        await world.home.wait_state(f"{TAG}_connection", "unavailable")
        await shows(world, PERSON, "home")
        world.bridge.start()
        await world.announced(since)
        await world.connected()
        await shows(world, PERSON, "home")
        told = [message.payload for message in world.bus.on("jacquard/tag/0001/presence", changes)]
        require(not any('"gone"' in payload for payload in told), f"presence {told}")


ALL = [
    a_person_with_the_tag_is_home_and_away, the_zone_counts_the_person_and_its_automations_run,
    a_person_stays_home_while_the_tag_sleeps_or_the_bridge_restarts,
]
