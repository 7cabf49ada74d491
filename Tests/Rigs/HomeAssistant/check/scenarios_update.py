"""An owner updates the bridge: what Home Assistant shows and keeps of the version before stays."""

from __future__ import annotations

from typing import Any

from failure import require
from world import BRIDGE, TAG, World

# What an owner may have changed, and what automations and dashboards name.
KEPT = ("entity_id", "name", "area_id", "device_id", "disabled_by")


async def all_are_connected(world: World) -> None:
    await world.home.wait_state(f"{BRIDGE}_connection", "on")
    await world.connected("0001")
    await world.connected("0002")


async def update_entity(world: World, entity_id: str, **values: Any) -> None:
    """Changes the settings of an entity as a person does."""
    await world.home.ask("config/entity_registry/update", entity_id=entity_id, **values)


async def an_update_keeps_names_ids_and_areas(world: World) -> None:
    await all_are_connected(world)
    area = (await world.home.ask("config/area_registry/create", name="Wardrobe"))["area_id"]
    device = (await world.home.devices())[TAG]["id"]
    await world.home.ask("config/device_registry/update", device_id=device, area_id=area, name_by_user="My jacket")
    own = await world.home.entity_ids()
    await update_entity(world, own[f"{TAG}_battery"], new_entity_id="sensor.power_of_my_jacket", name="Power")
    await update_entity(world, own[f"{TAG}_led"], area_id=area)
    before, triggers = await world.home.entities(), await world.home.triggers(TAG)
    devices = await world.home.devices()

    await world.bridge.stop()
    world.update()
    since = len(world.bus.heard)
    world.bridge.start()
    await world.announced(since)
    await all_are_connected(world)

    after = await world.home.entities()
    require(not before.keys() - after.keys(), f"entities are gone: {sorted(before.keys() - after.keys())}")
    for unique_id, entity in before.items():
        changed = {key: (entity[key], after[unique_id][key]) for key in KEPT if entity[key] != after[unique_id][key]}
        require(not changed, f"{unique_id} has changed: {changed}")
    states = await world.home.states()
    orphans = [
        entity["entity_id"] for entity in after.values()
        if entity["disabled_by"] is None and states.get(entity["entity_id"], {"attributes": {"restored": True}})[
            "attributes"].get("restored")]
    require(not orphans, f"no announcement is behind {orphans}")
    require(await world.home.triggers(TAG) == triggers, "the triggers have changed")
    now = await world.home.devices()
    require(
        {name: device["id"] for name, device in now.items()} == {name: device["id"] for name, device in devices.items()},
        "the devices have changed")
    require((now[TAG]["name_by_user"], now[TAG]["area_id"]) == ("My jacket", area), "the owner's names are gone")

    await update_entity(world, "sensor.power_of_my_jacket", new_entity_id=own[f"{TAG}_battery"], name=None)
    await update_entity(world, own[f"{TAG}_led"], area_id=None)
    await world.home.ask("config/device_registry/update", device_id=device, area_id=None, name_by_user=None)


ALL = [an_update_keeps_names_ids_and_areas]
