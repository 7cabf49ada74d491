"""What Home Assistant shows."""

from __future__ import annotations

import asyncio
import datetime
import json
import pathlib

from failure import require, until
from world import BRIDGE, GESTURES, NEW_TAG, OTHER_TAG, TAG, World

# The announcements of the bridge's unit tests, with every entity of a tag.
RECORDED = pathlib.Path(__file__).parents[3] / "Unit/BridgeTests/HomeAssistant"
# Unique id behind the device's, with the state while the tag is connected and at rest; None: disabled until enabled. An entity that is
# not listed need only be there.
TAG_ENTITIES = {
    "connection": "on", "battery": "87", "battery_forecast": "unknown", "charging": "off", "attached": "on", "gear": "Trucker Jacket",
    "gesture": "unknown", "led": "off", "touch_mode": "Gestures", "connect": "on", "find": "off", "firmware": None,
    "rssi": None, "why_disconnected": None, "battery_low": "off", "forget": None, "status": "Connected",
    "last_gesture": "unknown", "signal": "unknown",
    "haptic_short": "unknown", "haptic_long": "unknown", "haptic_stop": "unknown", "haptic_sine_increase": None,
    "haptic_sine_decrease": None, "haptic_linear_increase": None, "haptic_linear_decrease": None,
    "haptic_parabolic_increase": None, "haptic_parabolic_decrease": None,
}
EFFECTS = ["solid", "breathe", "pulse", "blink", "double_blink", "triple_blink"]
BRIDGE_ENTITIES = {
    "connection": "on", "scan": "unknown", "found": "unknown", "pair_serial": "", "pair": "unknown", "pairing": "Idle",
    "connected_tags": "2", "problem": "off", "pair_tag": "unknown", "pairing_hint": "", "problem_text": "",
}
# The options of the touch mode, with the words of the bridge and the tag.
TOUCH_MODES = {"Touch data (gestures pause)": "continuous", "Gestures": "gesture"}


def recorded_entities(form: str, device: str) -> set[str]:
    """The keys of a device's entities, without triggers, which are none."""
    found: set[str] = set()
    for line in (RECORDED / f"recorded-{form}-form.txt").read_text().splitlines():
        topic, _, payload = line.partition(" ")
        levels = topic.split("/")
        if payload and levels[2] == device:
            found |= set(json.loads(payload)["components"]) if form == "device" else {levels[3]}
    return {key for key in found if not key.startswith("trigger_")}


async def devices_are_linked_to_the_bridge(world: World) -> None:
    await world.connected("0001")
    await world.connected("0002")
    devices = await world.home.devices()
    require(set(devices) == {TAG, OTHER_TAG, BRIDGE}, f"devices {sorted(devices)}")
    for tag in (TAG, OTHER_TAG):
        require(devices[tag]["via_device_id"] == devices[BRIDGE]["id"], f"{tag} has no link")
    require(devices[TAG]["name"] == "Left sleeve", f"the tag is called {devices[TAG]['name']}")

    async def has_firmware() -> bool:
        return (await world.home.devices())[TAG]["sw_version"] == "1.96.0"

    await until("the device shows its firmware", has_firmware)


async def entities_have_their_values(world: World) -> None:
    # The notify entity is announced in the device form only: older releases log its platform as an error.
    tag = TAG_ENTITIES | ({"notify": "unknown"} if world.form == "device" else {})
    for device, recorded, expected in ((TAG, "tag_003R", tag), (BRIDGE, "bridge_attic", BRIDGE_ENTITIES)):
        entities = await world.home.entities()
        found = {name.removeprefix(device + "_") for name in entities if name.startswith(device + "_")}
        announced = recorded_entities(world.form, f"jacquard_{recorded}")
        require(found == announced, f"{device} has {sorted(found ^ announced)} too much or too little")
        for key, value in expected.items():
            unique_id = f"{device}_{key}"
            if key == "why_disconnected" and world.is_updated:
                await world.home.wait_state(unique_id, "")  # it was enabled once, and stays so
            elif value is None:
                require(entities[unique_id]["disabled_by"] == "integration", f"{unique_id} is not disabled")
            else:
                await world.home.wait_state(unique_id, value)
    await world.write_inventory()


async def every_gesture_has_its_trigger(world: World) -> None:
    found = [(trigger["type"], trigger["subtype"]) for trigger in await world.home.triggers(TAG)]
    require(sorted(found) == sorted(("gesture", name) for name in GESTURES), f"triggers {found}")


async def the_light_offers_the_patterns_of_the_tag(world: World) -> None:
    offered = (await world.home.state(f"{TAG}_led"))["attributes"]
    require(offered["effect_list"] == EFFECTS, f"effects {offered['effect_list']}")
    require(offered["supported_color_modes"] == ["rgb"], f"modes {offered['supported_color_modes']}")


async def battery_and_charging_follow_the_tag(world: World) -> None:
    await world.command_tags("battery 0001 42 charging")
    await world.home.wait_state(f"{TAG}_battery", "42")
    await world.home.wait_state(f"{TAG}_charging", "on")
    for level, low in ((20, "off"), (19, "on"), (24, "on"), (25, "off"), (24, "off"), (87, "off")):
        await world.command_tags(f"battery 0001 {level} not_charging")
        await world.home.wait_state(f"{TAG}_battery", str(level))
        await world.home.wait_state(f"{TAG}_battery_low", low)
    await world.home.wait_state(f"{TAG}_charging", "off")


async def without_gear_its_entities_are_unavailable_and_triggers_stay(world: World) -> None:
    await world.command_tags("detach 0001")
    await world.home.wait_state(f"{TAG}_attached", "off")
    await world.home.wait_state(f"{TAG}_gear", "none")
    for key in ("haptic_short", "touch_mode"):
        await world.home.wait_state(f"{TAG}_{key}", "unavailable")
    require(len(await world.home.triggers(TAG)) == len(GESTURES), "a trigger has gone")
    await world.command_tags("attach 0001 jacket")
    await world.home.wait_state(f"{TAG}_gear", "Trucker Jacket")
    await world.home.wait_state(f"{TAG}_touch_mode", "Gestures")


async def buttons_vibrate(world: World) -> None:
    entities = await world.home.entities()
    before = len(world.tags.told("haptic"))
    for number, (key, milliseconds) in enumerate((("haptic_short", 200), ("haptic_long", 1000)), before + 1):
        await world.home.call("button.press", entities[f"{TAG}_{key}"]["entity_id"])
        told = (await world.tags.wait_told("haptic", number))[-1]
        require(told["on_ms"] == milliseconds, f"{key}: {told}")


async def touch_mode_is_selected(world: World) -> None:
    entity = (await world.home.entity_ids())[f"{TAG}_touch_mode"]
    offered = (await world.home.state(f"{TAG}_touch_mode"))["attributes"]["options"]
    require(sorted(offered) == sorted(TOUCH_MODES), f"options {offered}")
    for option, mode in TOUCH_MODES.items():
        await world.home.call("select.select_option", entity, {"option": option})
        await world.home.wait_state(f"{TAG}_touch_mode", option)
        await world.bus.shows("jacquard/tag/0001/touch_mode", mode)
        await world.tags.wait_last("touch_mode", "mode", mode)


async def a_signal_is_played_again_and_again(world: World) -> None:
    entity = (await world.home.entity_ids())[f"{TAG}_signal"]
    offered = (await world.home.state(f"{TAG}_signal"))["attributes"]["options"]
    require("doorbell" in offered and "default" in offered, f"signals {offered}")
    before = len(world.tags.told("led"))
    for count in (1, 2):
        await world.home.call("select.select_option", entity, {"option": "doorbell"})
        await world.tags.wait_told("led", before + count)
        await world.home.wait_state(f"{TAG}_signal", "unknown")
    light = (await world.home.entity_ids())[f"{TAG}_led"]
    # A light that is only switched on goes on with what it has shown.
    await world.home.call("light.turn_on", light, {"effect": "solid"})
    await world.home.call("light.turn_off", light)
    await world.home.wait_state(f"{TAG}_led", "off")


async def the_last_gesture_is_in_words(world: World) -> None:
    for gesture, words in (("brush_in", "Brush in"), ("double_tap", "Double tap")):
        await world.gesture(gesture)
        await world.home.wait_state(f"{TAG}_last_gesture", words)
    state = await world.home.state(f"{TAG}_last_gesture")
    require(state["attributes"]["device_class"] == "enum", f"attributes {state['attributes']}")
    require("Unknown gesture" in state["attributes"]["options"], f"attributes {state['attributes']}")


async def event_types_are_words(world: World) -> None:
    """Automations store them."""
    offered = (await world.home.state(f"{TAG}_gesture"))["attributes"]["event_types"]
    require(offered == [*GESTURES, "unknown"], f"event types {offered}")


async def the_forecast_of_the_battery_is_a_time_or_unknown(world: World) -> None:
    """Published in place of the bridge, which needs a discharge of days for a forecast."""
    topic = "jacquard/tag/0001/battery/forecast"
    keys = ("basis", "earliest", "empty", "latest")
    unknown = json.dumps(dict.fromkeys(keys))
    forecast = {
        "basis": "4.2 days, 14 points", "earliest": "2026-12-12T12:00:00.000Z", "empty": "2026-12-18T19:00:00.000Z",
        "latest": "2026-12-26T19:00:00.000Z"}
    state = "2026-12-18T19:00:00+00:00" if world.form == "device" else forecast["empty"]
    for _ in range(2):
        await world.bus.publish(topic, json.dumps(forecast), retain=True)
        await world.home.wait_state(f"{TAG}_battery_forecast", state)
        attributes = (await world.home.state(f"{TAG}_battery_forecast"))["attributes"]
        require({key: attributes.get(key) for key in keys} == forecast, f"attributes {attributes}")
        require(attributes.get("device_class") == ("timestamp" if world.form == "device" else None), "another class")
        await world.bus.publish(topic, unknown, retain=True)
        await world.home.wait_state(f"{TAG}_battery_forecast", "unknown")


async def values_stay_while_the_tag_is_away_and_the_connection_says_why(world: World) -> None:
    """Also over a restart of Home Assistant, which then knows nothing but what is retained.

    The tag is received again, and each attempt to connect is refused at once. So the bridge always has a next attempt, and the pauses
    before it grow. During the attempts to connect a tag that is not received, which take long, there is no next one.
    """
    await world.command_tags("bluez refuse Connect Failed le-connection-abort-by-local")
    await world.command_tags("out-of-range 0001")
    await world.home.wait_state(f"{TAG}_connection", "off")
    await world.command_tags("in-range 0001")
    await world.home.wait_state(f"{TAG}_led", "unavailable")
    for restart in (False, True):
        if restart:
            since = len(world.bus.heard)
            await world.home.end()
            await world.home.begin()
            await world.told_again(since)
        for key in ("battery", "gear", "attached"):
            await world.home.wait_state(f"{TAG}_{key}", TAG_ENTITIES[key] or "")

        async def says_why() -> bool:
            attributes = (await world.home.state(f"{TAG}_connection")).get("attributes", {})
            return bool(attributes.get("error") and attributes.get("hint") and attributes.get("retry"))

        await until("the connection has error, hint and next attempt", says_why)
        status = await world.home.state(f"{TAG}_status")
        error = (await world.home.state(f"{TAG}_connection"))["attributes"]["error"]
        require(status["attributes"]["why"].startswith(f"not connected: {error}. "), f"the cause is {status}")
        require(status["state"] in ("Out of range", "Connecting"), f"the status is {status}")
    attributes = (await world.home.state(f"{TAG}_connection"))["attributes"]
    retry = datetime.datetime.fromisoformat(attributes["retry"].replace("Z", "+00:00"))
    distance = abs((retry - datetime.datetime.now(datetime.timezone.utc)).total_seconds())
    require(distance < 600, f"the next attempt is at {attributes['retry']}")
    await world.command_tags("bluez clear")
    # The pause between attempts has grown; the switch ends it.
    switch = (await world.home.entity_ids())[f"{TAG}_connect"]
    await world.home.call("switch.turn_off", switch)
    await world.home.wait_state(f"{TAG}_connect", "off")
    await world.home.call("switch.turn_on", switch)
    await world.connected()
    await world.home.wait_state(f"{TAG}_connection", "on", error=None, hint=None, retry=None)
    await world.home.wait_state(f"{TAG}_status", "Connected", why=None)


async def a_scan_shows_what_it_found(world: World) -> None:
    entity = (await world.home.entity_ids())[f"{BRIDGE}_scan"]
    await world.home.call("button.press", entity)
    await world.home.wait_state(f"{BRIDGE}_found", "1", scanning=True)
    attributes = (await world.home.state(f"{BRIDGE}_found"))["attributes"]
    found = attributes["tags"]
    require([(tag["serial"], tag["known"]) for tag in found] == [("0003", False)], f"found {found}")
    require(isinstance(found[0]["rssi"], int) and attributes["more"] is False, f"attributes {attributes}")
    await world.bus.publish("jacquard/bridge/attic/request/scan", "stop")
    await world.home.wait_state(f"{BRIDGE}_found", "1", scanning=False)


async def a_tag_is_paired_with_the_text_and_the_button(world: World) -> None:
    ids = await world.home.entity_ids()
    text, button = ids[f"{BRIDGE}_pair_serial"], ids[f"{BRIDGE}_pair"]
    before = len(world.bus.heard)
    await world.home.call("button.press", button)
    await world.home.wait_state(f"{BRIDGE}_pairing", "Failed")
    attributes = (await world.home.state(f"{BRIDGE}_pairing"))["attributes"]
    require("serial" in (attributes["error"] or ""), f"without a serial: {attributes}")
    hint = (await world.home.state(f"{BRIDGE}_pairing_hint"))["state"]
    require(hint == f"{attributes['error']}. {attributes['hint']}"[:255], f"the hint is {hint}")
    await world.home.call("text.set_value", text, {"value": "0003 "})
    await world.home.wait_state(f"{BRIDGE}_pair_serial", "0003")
    await world.home.wait_state(f"{BRIDGE}_pairing", "Idle", error=None)
    await world.home.wait_state(f"{BRIDGE}_pairing_hint", "")
    await world.home.call("button.press", button)
    await world.home.wait_state(f"{BRIDGE}_pairing", "Paired", serial="0003", error=None)
    await world.home.wait_state(f"{BRIDGE}_pair_serial", "")
    await world.home.wait_state(f"{NEW_TAG}_connection", "on")
    await world.home.wait_state(f"{NEW_TAG}_battery", "87")
    devices = await world.home.devices()
    require(devices[NEW_TAG]["via_device_id"] == devices[BRIDGE]["id"], "the new tag has no link to the bridge")
    results = world.bus.on("jacquard/bridge/attic/response/pair", before)
    final = [message.payload for message in results if '"final":true' in message.payload]
    require(len(final) == 2, f"not one result for each request: {final}")
    states = [json.loads(message.payload)["state"] for message in world.bus.on("jacquard/bridge/attic/pairing", before)]
    require(["searching", "found"] == [state for state in states if state in ("searching", "found")], f"states {states}")
    for topic in ("request/pair", "request/pair_serial"):
        require(f"jacquard/bridge/attic/{topic}" not in await world.retained(), f"{topic} was retained")
    await forget_new_tag(world)


async def forget_new_tag(world: World) -> None:
    """Removes the tag that was paired."""
    await world.bus.publish("jacquard/bridge/attic/request/forget", {"id": "0003"})

    async def is_gone() -> bool:
        return NEW_TAG not in await world.home.devices()

    await until("the device of the forgotten tag is gone", is_gone)


async def a_found_tag_is_paired_without_typing(world: World) -> None:
    ids = await world.home.entity_ids()
    select = ids[f"{BRIDGE}_pair_tag"]

    async def offered() -> list[str]:
        return (await world.home.state(f"{BRIDGE}_pair_tag"))["attributes"]["options"]

    async def is_found() -> bool:
        return await offered() == ["0003"]

    await world.home.call("button.press", ids[f"{BRIDGE}_scan"])
    await until("the tag is offered", is_found)
    await world.home.call("select.select_option", select, {"option": "0003"})
    await world.home.wait_state(f"{BRIDGE}_pair_tag", "0003")
    await world.home.wait_state(f"{BRIDGE}_pair_serial", "0003")
    await world.home.call("button.press", ids[f"{BRIDGE}_pair"])
    await world.home.wait_state(f"{BRIDGE}_pairing", "Paired", serial="0003", error=None)
    await world.home.wait_state(f"{BRIDGE}_pair_tag", "unknown")
    await world.home.wait_state(f"{NEW_TAG}_connection", "on")
    require(await offered() == ["Scan first"], f"offered are {await offered()}")
    await forget_new_tag(world)


async def a_tag_without_gear_shows_nothing_that_needs_it(world: World) -> None:
    await world.command_tags("detach 0003")
    await world.bus.publish("jacquard/bridge/attic/request/pair", {"serial": "0003"})
    await world.home.wait_state(f"{NEW_TAG}_connection", "on")
    await world.home.wait_state(f"{NEW_TAG}_battery_low", "off")
    entities, states = await world.home.entities(), await world.home.states()
    shown = {name.removeprefix(f"{NEW_TAG}_"): entity for name, entity in entities.items() if name.startswith(NEW_TAG)}
    require(not {"attached", "gear", "touch_mode", "haptic_short"} & set(shown), f"it has {sorted(shown)}")
    grey = [key for key, entity in shown.items() if states.get(entity["entity_id"], {}).get("state") == "unavailable"]
    require(not grey, f"unavailable are {grey}")
    await world.command_tags("attach 0003 jacket")
    await world.home.wait_state(f"{NEW_TAG}_gear", "Trucker Jacket")
    await world.home.wait_state(f"{NEW_TAG}_touch_mode", "Gestures")
    await forget_new_tag(world)


async def controls_are_no_targets_of_an_area(world: World) -> None:
    entities = await world.home.entities()
    for key in ("led", "find", "haptic_short", "connect", "touch_mode", "forget"):
        category = entities[f"{TAG}_{key}"]["entity_category"]
        require(category == "config", f"{key} has the category {category}")
    for key in ("scan", "pair", "pair_tag", "pair_serial"):
        category = entities[f"{BRIDGE}_{key}"]["entity_category"]
        require(category == "config", f"{key} has the category {category}")
    device = (await world.home.devices())[TAG]["id"]
    before = len(world.bus.heard)
    for service in ("light.turn_on", "switch.turn_on", "button.press"):
        domain, name = service.split(".")
        await world.home.ask("call_service", domain=domain, service=name, target={"device_id": device})
    sent = [m.topic for m in world.bus.heard[before:] if m.topic.startswith("jacquard/tag/0001/") and m.topic.endswith("/set")]
    require(not sent, f"the tag was sent {sent}")


async def motion_entities_appear_with_the_first_use(world: World) -> None:
    require(f"{TAG}_motion" not in await world.home.entities(), "they are there already")
    before = len(world.bus.heard)
    await world.bus.publish("jacquard/tag/0001/imu/get", "{}")
    await world.bus.expect("jacquard/tag/0001/imu", 1, before)
    await world.home.wait_state(f"{TAG}_motion_recording", "off")
    await world.bus.publish("jacquard/tag/0001/imu/set", {"action": "stream", "seconds": 60})
    await world.home.wait_state(f"{TAG}_motion_streaming", "on")
    await world.home.wait_state(f"{TAG}_motion", "Logging")
    await world.bus.publish("jacquard/tag/0001/imu/set", "stop")
    await world.home.wait_state(f"{TAG}_motion_streaming", "off")
    await world.bus.publish("jacquard/tag/0001/imu/sessions/get", "{}")
    await world.home.wait_state(f"{TAG}_motion_storage", "0", sessions=[])
    entities = await world.home.entities()
    for key in ("record", "stream", "stop", "list"):
        require(entities[f"{TAG}_motion_{key}"]["disabled_by"] == "integration", f"{key} is not disabled")


async def gestures_are_presses_of_a_button_if_it_is_set(world: World) -> None:
    require(f"{TAG}_button" not in await world.home.entities(), "it is there already")
    world.bridge.configure(world.form, announcements="  buttons: true\n  page: http://192.168.1.5:8377/\n")
    since = len(world.bus.heard)
    world.bridge.reload()
    await world.home.wait_state(f"{TAG}_button", "unknown")
    await world.announced(since)
    link = (await world.home.devices())[BRIDGE]["configuration_url"]
    require(link == "http://192.168.1.5:8377/", f"the bridge links to {link}")
    link = (await world.home.devices())[TAG]["configuration_url"]
    require(link == "http://192.168.1.5:8377/#tag/0001", f"the tag links to {link}")
    for gesture, kind in (("double_tap", "multi_press_end"), ("cover", "press_end"), ("brush_in", "press_end")):
        await world.gesture(gesture)

        async def is_kind(kind: str = kind) -> bool:
            return (await world.home.state(f"{TAG}_button"))["attributes"].get("event_type") == kind

        await until(f"{gesture} is {kind}", is_kind)
        count = (await world.home.state(f"{TAG}_button"))["attributes"].get("multi_press_count")
        require(count == (2 if kind == "multi_press_end" else None), f"{gesture} has the count {count}")
    world.bridge.configure(world.form)
    since = len(world.bus.heard)
    world.bridge.reload()
    await world.announced(since)

    async def is_gone() -> bool:
        return f"{TAG}_button" not in await world.home.entities()

    await until("the button is gone", is_gone)
    await world.connected()


async def the_switch_disconnects_and_connects(world: World) -> None:
    entity = (await world.home.entity_ids())[f"{TAG}_connect"]
    await world.home.call("switch.turn_off", entity)
    await world.home.wait_state(f"{TAG}_connect", "off")
    await world.home.wait_state(f"{TAG}_connection", "off")
    await world.home.wait_state(f"{TAG}_status", "Disconnected by you", why="disconnected by the user")
    await world.home.wait_state(f"{BRIDGE}_connected_tags", "1")
    await world.home.call("switch.turn_on", entity)
    await world.home.wait_state(f"{TAG}_connect", "on")
    await world.connected("0001")
    await world.home.wait_state(f"{BRIDGE}_connected_tags", "2")


async def the_button_scans(world: World) -> None:
    entity = (await world.home.entity_ids())[f"{BRIDGE}_scan"]
    before = len(world.bus.heard)
    await world.home.call("button.press", entity)
    answer = await world.bus.expect("jacquard/bridge/attic/response/scan", 1, before)
    require('"status":"ok"' in answer[-1].payload, f"the answer is {answer[-1].payload}")


async def an_enabled_entity_shows_the_signal_strength(world: World) -> None:
    entity = (await world.home.entity_ids())[f"{TAG}_rssi"]
    await world.home.ask("config/entity_registry/update", entity_id=entity, disabled_by=None)

    # Home Assistant reloads the integration half a minute after an entity was enabled, and loses what happens then.
    await asyncio.sleep(33)

    async def is_number() -> bool:
        state = (await world.home.states()).get(entity, {})
        return state.get("state", "").lstrip("-").isdecimal()

    await until("the signal strength is a number", is_number)
    await world.connected()


async def problems_are_shown(world: World) -> None:
    await world.command_tags("adapter off 0")
    await world.home.wait_state(f"{BRIDGE}_problem", "on")
    problems = (await world.home.state(f"{BRIDGE}_problem"))["attributes"]["problems"]
    require(any("powered off" in text for text in problems), f"problems {problems}")
    await world.home.wait_state(f"{BRIDGE}_problem_text", "; ".join(problems)[:255])
    await world.home.wait_state(f"{BRIDGE}_connected_tags", "0")
    await world.home.wait_state(f"{TAG}_status", "Bluetooth off")
    await world.command_tags("adapter on 0")
    await world.home.wait_state(f"{BRIDGE}_problem", "off")
    await world.home.wait_state(f"{BRIDGE}_problem_text", "")
    await world.connected("0001")
    await world.connected("0002")


ALL = [
    devices_are_linked_to_the_bridge, entities_have_their_values, every_gesture_has_its_trigger,
    the_light_offers_the_patterns_of_the_tag,
    battery_and_charging_follow_the_tag, without_gear_its_entities_are_unavailable_and_triggers_stay,
    buttons_vibrate, touch_mode_is_selected, problems_are_shown,
    event_types_are_words, the_last_gesture_is_in_words, a_signal_is_played_again_and_again, the_forecast_of_the_battery_is_a_time_or_unknown,
    values_stay_while_the_tag_is_away_and_the_connection_says_why,
    the_switch_disconnects_and_connects, the_button_scans, an_enabled_entity_shows_the_signal_strength,
    a_scan_shows_what_it_found,
    # Behind the scenario that makes Home Assistant load the integration again: that warns of triggers of removed devices.
    a_tag_is_paired_with_the_text_and_the_button, a_found_tag_is_paired_without_typing,
    a_tag_without_gear_shows_nothing_that_needs_it, controls_are_no_targets_of_an_area,
    motion_entities_appear_with_the_first_use, gestures_are_presses_of_a_button_if_it_is_set,
]
