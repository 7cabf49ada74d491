"""The light: every call that Home Assistant offers reaches the tag, and the state tells the truth."""

from __future__ import annotations

import time
from typing import Any

from failure import quickest, require, until
from world import TAG, World

# The arguments of turn_on, and the resulting command of the tag.
CALLS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"rgb_color": [255, 64, 0]}, {"color": "#ff4000", "pattern": "solid", "duration_ms": 10_000}),
    ({}, {"color": "#ff4000", "pattern": "solid"}),
    ({"hs_color": [120, 100]}, {"color": "#00ff00"}),
    ({"color_name": "blue"}, {"color": "#0000ff"}),
    ({"brightness": 128}, {"color": "#000080"}),
    ({"brightness_pct": 10}, {"color": "#00001a"}),
    ({"rgb_color": [0, 255, 0], "brightness": 51}, {"color": "#003300"}),
    ({"rgb_color": [255, 255, 255], "brightness": 255}, {"color": "#ffffff"}),
    ({"color_temp_kelvin": 3000}, {}),
    ({"effect": "breathe", "rgb_color": [1, 2, 3]}, {"color": "#010203", "pattern": "breathing"}),
    ({"effect": "pulse"}, {"color": "#010203", "pattern": "pulsing"}),
    ({"effect": "blink"}, {"pattern": "single_blink"}),
    ({"effect": "double_blink"}, {"pattern": "double_blink"}),
    ({"effect": "triple_blink"}, {"pattern": "triple_blink"}),
    ({"effect": "solid"}, {"pattern": "solid"}),
    ({"flash": "short"}, {"color": "#ffffff", "pattern": "solid", "duration_ms": 1_000}),
    ({"flash": "long", "rgb_color": [255, 0, 0]}, {"color": "#ff0000", "duration_ms": 5_000}),
    ({"transition": 2, "rgb_color": [0, 0, 255], "brightness": 255}, {"color": "#0000ff", "duration_ms": 10_000}),
]


async def every_call_reaches_the_tag_and_is_confirmed(world: World) -> None:
    light = (await world.home.entity_ids())[f"{TAG}_led"]
    for data, expected in CALLS:
        before = len(world.tags.told("led"))
        await world.home.call("light.turn_on", light, data)
        told = (await world.tags.wait_told("led", before + 1))[-1]
        for key, value in expected.items():
            require(told[key] == value, f"turn_on {data}: {key} is {told[key]} and not {value}")
        effect = {"effect": data["effect"]} if "effect" in data else {}
        await world.home.wait_state(f"{TAG}_led", "on", **effect)
        require(len(world.tags.told("led")) == before + 1, f"turn_on {data} was told twice")


async def the_state_has_colour_and_brightness(world: World) -> None:
    light = (await world.home.entity_ids())[f"{TAG}_led"]
    await world.home.call("light.turn_on", light, {"rgb_color": [10, 20, 30], "brightness": 77, "effect": "blink"})

    async def is_right() -> bool:
        shown = (await world.home.state(f"{TAG}_led"))["attributes"]
        return (
            list(shown.get("rgb_color") or []) == [10, 20, 30] and shown.get("brightness") == 77
            and shown.get("effect") == "blink")

    await until("the light shows what it was told", is_right)


async def off_is_off(world: World) -> None:
    light = (await world.home.entity_ids())[f"{TAG}_led"]
    for data in ({}, {"transition": 3}):
        await world.home.call("light.turn_on", light)
        await world.home.wait_state(f"{TAG}_led", "on")
        await world.home.call("light.turn_off", light, data)
        await world.home.wait_state(f"{TAG}_led", "off")
        await world.tags.wait_last("led", "halt_all", True)
    await world.home.call("light.turn_on", light)
    await world.home.wait_state(f"{TAG}_led", "on")
    await world.home.call("light.turn_on", light, {"brightness": 0})
    await world.home.wait_state(f"{TAG}_led", "off")


async def the_light_goes_dark_when_the_pattern_has_ended(world: World) -> None:
    """A short flash after a second; an effect after the ten seconds of a light that is just on, and not before."""
    light = (await world.home.entity_ids())[f"{TAG}_led"]

    async def lights(data: dict[str, str]) -> float:
        began = time.monotonic()
        await world.home.call("light.turn_on", light, data)
        await world.home.wait_state(f"{TAG}_led", "on")
        await world.home.wait_state(f"{TAG}_led", "off")
        return time.monotonic() - began

    for data, seconds in (({"flash": "short"}, 1), ({"effect": "breathe"}, 10)):
        lasted = await quickest(lambda data=data: lights(data), seconds + 2)
        require(seconds <= lasted < seconds + 2, f"turn_on {data}: dark after {lasted:.1f} s")


async def an_effect_that_does_not_exist_changes_nothing(world: World) -> None:
    light = (await world.home.entity_ids())[f"{TAG}_led"]
    before, told = len(world.bus.heard), len(world.tags.told("led"))
    await world.bus.publish("jacquard/tag/0001/led/set", {"state": "ON", "effect": "nonsense"})
    await world.bus.expect("jacquard/tag/0001/led/result", 1, before)
    require(len(world.tags.told("led")) == told, "the tag was told something")
    require((await world.home.states())[light]["state"] == "off", "the light is on")


ALL = [
    every_call_reaches_the_tag_and_is_confirmed, the_state_has_colour_and_brightness, off_is_off,
    the_light_goes_dark_when_the_pattern_has_ended, an_effect_that_does_not_exist_changes_nothing,
]
