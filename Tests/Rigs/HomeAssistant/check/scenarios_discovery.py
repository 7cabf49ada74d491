"""Announcements come, change and go."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from failure import quickest, require, until
from world import BRIDGE, GESTURES, OTHER_TAG, TAG, World

SINGLE = "homeassistant/sensor/jacquard_tag_0001/battery/config"
DEVICE = "homeassistant/device/jacquard_tag_0001/config"


async def nothing_is_published_twice_that_did_not_change(world: World) -> None:
    """A tag that comes and goes is not announced again, and no fact follows itself."""
    facts = await world.retained()
    before = len(world.bus.heard)
    payloads = {message.topic: message.payload for message in world.bus.heard[:before] if message.topic in facts}
    await world.leave_and_return("0002")
    heard = world.bus.heard[before:]
    require(any(message.topic in facts for message in heard), "nothing was published at all")
    for message in heard:
        require(not message.topic.startswith("homeassistant/"), f"announced again: {message.topic}")
        require(payloads.get(message.topic) != message.payload, f"published again: {message.topic} {message.payload}")
        if message.topic in facts:
            payloads[message.topic] = message.payload


async def a_started_home_assistant_is_told_everything_again(world: World) -> None:
    """All within two seconds, but not at once."""
    before = 0

    async def answers() -> float:
        nonlocal before
        before, began = len(world.bus.heard), time.monotonic()
        await world.bus.publish("homeassistant/status", "online")
        await world.bus.expect("jacquard/bridge/attic/state", 1, before)
        return (await world.bus.expect("jacquard/tag/0002/info", 1, before))[0].at - began

    took = await quickest(answers, 2.5)
    require(1 < took < 2.5, f"it took {took:.1f} s")
    require(world.bus.on(DEVICE if world.form == "device" else SINGLE, before), "the tag was not announced")
    await asyncio.sleep(1)
    require(len(world.bus.on("jacquard/tag/0001/availability", before)) == 1, "not exactly once")
    require(not world.bus.on("jacquard/tag/+/gesture", before), "a gesture was told again")


async def a_device_that_a_person_deletes_stays_away_until_everything_is_told_again(world: World) -> None:
    # Home Assistant empties the topic once for each component of the device, and wonders at its own messages.
    world.forgive("No device components to cleanup")
    if world.home.release.deletes_devices_once:
        since = len(world.bus.heard)
        await world.home.end()
        await world.home.begin()
        await world.told_again(since)
        await world.connected()
    ids = await world.home.entity_ids()
    await world.home.delete_device(OTHER_TAG)

    async def is_gone() -> bool:
        return OTHER_TAG not in await world.home.devices()

    await until("the device is gone", is_gone)
    before = len(world.bus.heard)
    await world.command_tags("battery 0002 66 not_charging")
    await world.bus.expect("jacquard/tag/0002/battery/level", 1, before)
    await world.command_tags("battery 0002 87 not_charging")
    await world.bus.expect("jacquard/tag/0002/battery/level", 2, before)
    require(await is_gone(), "the device came back by itself")
    await world.bus.publish("homeassistant/status", "online")
    await world.home.wait_state(f"{OTHER_TAG}_connection", "on")
    await world.home.wait_state(f"{OTHER_TAG}_battery", "87")
    require(len(await world.home.triggers(OTHER_TAG)) == len(GESTURES), "a trigger is missing")
    now = await world.home.entity_ids()
    require(now == ids, f"ids {set(ids.items()) ^ set(now.items())}")


async def an_entity_that_a_person_deletes_comes_back_when_everything_is_told_again(world: World) -> None:
    # Newer releases say that it will, and how to prevent it.
    world.forgive("it will be added again when a new MQTT discovery config is received")
    unique_id = f"{OTHER_TAG}_haptic_long"
    ids = await world.home.entity_ids()
    await world.home.ask("config/entity_registry/remove", entity_id=ids[unique_id])

    async def is_gone() -> bool:
        return unique_id not in await world.home.entities()

    await until("the entity is gone", is_gone)
    await world.bus.publish("homeassistant/status", "online")
    await world.home.wait_state(unique_id, "unknown")
    now = await world.home.entity_ids()
    require(now == ids, f"ids {set(ids.items()) ^ set(now.items())}")


async def a_new_name_is_shown_and_ids_stay(world: World) -> None:
    before = await world.home.entity_ids()
    await world.bridge.stop()
    world.bridge.configure(world.form, name="Right sleeve")
    world.bridge.start()

    async def is_renamed() -> bool:
        return (await world.home.devices())[TAG]["name"] == "Right sleeve"

    await until("the device has its new name", is_renamed)
    after = await world.home.entity_ids()
    require(after == before, "an entity id has changed")
    await world.bridge.stop()
    world.bridge.configure(world.form)
    world.bridge.start()
    await world.connected()


async def the_form_changes_and_comes_back(world: World) -> None:
    """Entity ids, the device and automations survive both ways."""
    renamed = "sensor.my_own_name"
    battery = (await world.home.entity_ids())[f"{TAG}_battery"]
    await world.home.ask("config/entity_registry/update", entity_id=battery, new_entity_id=renamed)
    await world.automate_trigger("migration", "cover")
    device = (await world.home.devices())[TAG]["id"]
    ids = await world.home.entity_ids()
    for form in ("single", "device"):
        since = len(world.bus.heard)
        await world.bridge.stop()
        world.bridge.configure(form)
        world.bridge.start()
        new, old = (SINGLE, DEVICE) if form == "single" else (DEVICE, SINGLE)
        await world.bus.expect(new, 1, since)

        async def is_emptied(topic: str = old) -> bool:
            return world.bus.latest(topic) == ""

        await until("the old form is emptied", is_emptied)
        await world.home.wait_state(f"{TAG}_battery", "87")
        await world.connected("0001")
        await world.connected("0002")
        now = await world.home.entity_ids()
        # The single form has no notify entities.
        kept = {key: value for key, value in ids.items() if form == "device" or not key.endswith("_notify")}
        require(now == kept, f"{form}: ids {set(kept.items()) ^ set(now.items())}")
        require((await world.home.devices())[TAG]["id"] == device, "it is another device")
        require(len(await world.home.triggers(TAG)) == len(GESTURES), "a trigger is missing")
        await asyncio.sleep(1)
        before = len(world.bus.heard)
        await world.gesture("cover")
        await world.fired("migration", 1, before)
    await world.home.remove_automation("migration")
    # The price of the change: one warning for each item, of these two kinds.
    world.forgive("conflicting MQTT discovery message")
    world.forgive("Ignoring empty MQTT discovery payload for disabled")


async def an_update_from_the_first_version_leaves_nothing_behind(world: World) -> None:
    """Home Assistant knows the documents of version 0.1.0 when the bridge starts; it keeps running meanwhile."""
    ids = await world.home.entity_ids()
    await world.bridge.stop()
    for topic in sorted(topic for topic in await world.retained() if topic.endswith("/config")):
        for document in documents_of_the_first_version(topic, json.loads(world.bus.latest(topic))):
            await world.bus.publish(topic, document, retain=True)

    async def is_old() -> bool:
        options = (await world.home.state(f"{TAG}_touch_mode")).get("attributes", {}).get("options")
        return f"{BRIDGE}_pairing" not in await world.home.entities() and options == ["gesture", "continuous"]

    await until("the entities of later versions are gone", is_old)
    since = len(world.bus.heard)
    world.bridge.start()
    await world.announced(since)
    await world.connected("0001")
    await world.connected("0002")
    await world.home.wait_state(f"{BRIDGE}_pairing", "Idle")
    await world.home.wait_state(f"{TAG}_touch_mode", "Gestures")
    now = await world.home.entity_ids()
    # Home Assistant 2025.2 forgets the ids of entities that were removed, and makes them from the present names.
    again = {f"{BRIDGE}_{key}" for key in LATER_ENTITIES} if world.is_updated else set()
    changed = {(unique, name) for unique, name in set(ids.items()) ^ set(now.items()) if unique not in again}
    require(not changed and now.keys() == ids.keys(), f"ids {changed or now.keys() ^ ids.keys()}")
    require(len(await world.home.triggers(TAG)) == len(GESTURES), "a trigger is missing")
    await world.command_tags("out-of-range 0001")
    await world.home.wait_state(f"{TAG}_led", "unavailable")
    await world.home.wait_state(f"{TAG}_battery", "87")
    await world.command_tags("in-range 0001")
    await world.connected("0001")


def documents_of_the_first_version(topic: str, document: dict[str, Any]) -> list[Any]:
    """A discovery document as version 0.1.0 published it; before it, what removes the entities that it did not have."""
    object_id = topic.split("/")[-2 if "/device/" in topic else -3]
    if "/device/" not in topic:
        key = topic.split("/")[-2]
        return [first_version_of(object_id, key, document)] if key not in LATER_ENTITIES else [""]
    items = document["components"]
    removed = {
        key: {"platform": item["platform"]} if object_id == BRIDGE and key in LATER_ENTITIES
        else first_version_of(object_id, key, item) for key, item in items.items()}
    kept = {key: item for key, item in removed.items() if len(item) > 1}
    return [{**document, "components": removed}, {**document, "components": kept}]


LATER_ENTITIES = ("found", "pair_serial", "pair_tag", "pair", "pairing", "pairing_hint", "problem_text")


def first_version_of(object_id: str, key: str, item: dict[str, Any]) -> dict[str, Any]:
    """One entity or trigger as version 0.1.0 described it."""
    item = dict(item)
    if object_id == BRIDGE:
        return item
    if key in ("battery", "firmware", "gear"):
        tag = object_id.removeprefix("jacquard_tag_")
        item["availability"] = item["availability"] + [{"topic": f"jacquard/tag/{tag}/availability"}]
    removed = {
        "connection": ["json_attributes_topic", "json_attributes_template"], "gesture": ["value_template"],
        "touch_mode": ["value_template", "command_template"],
    }
    for name in removed.get(key, []):
        item.pop(name)
    if key == "touch_mode":
        item["options"] = ["gesture", "continuous"]
    return item


async def another_prefix_takes_the_old_topics_away(world: World) -> None:
    since = len(world.bus.heard)
    await world.bridge.stop()
    world.bridge.configure(world.form, prefix="elsewhere")
    world.bridge.start()
    topic = DEVICE if world.form == "device" else SINGLE
    await world.bus.expect(topic.replace("homeassistant", "elsewhere"), 1, since)

    async def is_gone() -> bool:
        return TAG not in await world.home.devices()

    await until("Home Assistant, which listens to the old prefix, has lost the device", is_gone)
    await world.bridge.stop()
    world.bridge.configure(world.form)
    world.bridge.start()
    await world.connected("0001")
    await world.connected("0002")


async def a_forgotten_tag_is_gone_for_good(world: World) -> None:
    before = len(world.bus.heard)
    await world.bus.publish("jacquard/bridge/attic/request/forget", {"id": "0002"})
    answers = await world.bus.expect("jacquard/bridge/attic/response/forget", 2, before)
    require('"status":"ok"' in answers[-1].payload, f"the answer is {answers[-1].payload}")

    async def is_gone() -> bool:
        return OTHER_TAG not in await world.home.devices()

    await until("the device is gone", is_gone)
    left = {topic for topic in await world.retained() if "0002" in topic}
    require(not left, f"retained topics are left: {sorted(left)}")
    since = len(world.bus.heard)
    await world.home.end()
    await world.home.begin()
    await world.connected("0001")
    await world.told_again(since)
    require(OTHER_TAG not in await world.home.devices(), "the device came back")
    # The configuration still lists the tag: the next start of the bridge knows it again.
    await world.bridge.stop()
    world.bridge.start()
    await world.connected("0002")


ALL = [
    nothing_is_published_twice_that_did_not_change, a_started_home_assistant_is_told_everything_again,
    a_new_name_is_shown_and_ids_stay, an_update_from_the_first_version_leaves_nothing_behind, an_entity_that_a_person_deletes_comes_back_when_everything_is_told_again,
    a_device_that_a_person_deletes_stays_away_until_everything_is_told_again, a_forgotten_tag_is_gone_for_good,
    another_prefix_takes_the_old_topics_away,
]
# For releases that know both forms; the last, since it leaves complaints in Home Assistant's log.
LAST = [the_form_changes_and_comes_back]
