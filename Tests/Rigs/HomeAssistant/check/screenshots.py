"""Takes the pictures of the documentation from a running Home Assistant, and with --states those of a failed pairing, a tag that is
away and a problem.

usage: screenshots.py RELEASE CACHE PROGRAMS LOGS PICTURES [--states]
"""

from __future__ import annotations

import asyncio
import pathlib
import shutil
import signal
import sys
import time

import releases
from browser import Browser
from failure import until
from scenarios_blueprints import BLUEPRINTS, sliding, stroke
from world import BRIDGE, NEW_TAG, OTHER_TAG, TAG, World

AUTOMATION = "brush_to_flash"
# The look of the tag's light, so that there is something to see.
AMBER = {"rgb_color": [255, 160, 0], "effect": "breathe"}


async def automate(world: World) -> None:
    """Makes an automation as the editor writes it: a gesture on one tag flashes the other."""
    trigger = next(trigger for trigger in await world.home.triggers(TAG) if trigger["subtype"] == "brush_in")
    other = (await world.home.devices())[OTHER_TAG]["id"]
    await world.home.automate(AUTOMATION, {
        "alias": "Brush the left sleeve to flash the other tag",
        "description": "",
        "triggers": [{key: trigger[key] for key in ("domain", "device_id", "type", "subtype")} | {"trigger": "device"}],
        "actions": [{
            "action": "light.turn_on", "target": {"device_id": other},
            "data": {"flash": "long", "rgb_color": [255, 160, 0]},
        }],
    })


async def log_in(world: World, browser: Browser) -> None:
    """Gives every page what the login would have stored, and takes the sidebar away."""
    url = world.home.url
    await browser.remember({
        "hassTokens": {
            "access_token": world.home.token, "token_type": "Bearer", "expires_in": 86400, "refresh_token": "",
            "hassUrl": url, "clientId": f"{url}/", "expires": int(time.time() + 86400) * 1000,
        },
        "dockedSidebar": "always_hidden",
    })


async def take(world: World, browser: Browser, pictures: pathlib.Path) -> None:
    """Takes all pictures."""
    await world.connected("0001")
    await world.connected("0002")
    await log_in(world, browser)
    device = (await world.home.devices())[TAG]["id"]
    light = (await world.home.entity_ids())[f"{TAG}_led"]
    url = f"{world.home.url}/config/devices/device/{device}"
    await browser.show(url, 900, 1560, "Left sleeve", "Trucker Jacket", "Vibrate short")
    await browser.come_to_rest()
    await world.gesture("brush_in")
    await world.home.call("light.turn_on", light, AMBER)
    await browser.come_to_rest()
    await browser.picture(pictures / "home-assistant-device.png")
    if world.home.release.is_recent:
        await take_automation(world, browser, pictures)
    ids = await world.home.entity_ids()
    bridge = (await world.home.devices())[BRIDGE]["id"]
    await world.home.call("button.press", ids[f"{BRIDGE}_scan"])
    await world.home.wait_state(f"{BRIDGE}_found", "1")
    await world.home.call("select.select_option", ids[f"{BRIDGE}_pair_tag"], {"option": "0003"})
    await world.home.wait_state(f"{BRIDGE}_pair_serial", "0003")
    await browser.show(f"{world.home.url}/config/devices/device/{bridge}", 900, 1000, "Select tag to pair", "Start pairing")
    await browser.come_to_rest()
    await browser.picture(pictures / "home-assistant-pairing.png")


async def take_automation(world: World, browser: Browser, pictures: pathlib.Path) -> None:
    """The editor of an automation, with the list of triggers open."""
    await automate(world)
    await browser.show(f"{world.home.url}/config/automation/edit/{AUTOMATION}", 1200, 660, "brush_in")

    async def is_open() -> bool:
        """The row takes no click for a moment after it is drawn."""
        await browser.click("ha-automation-trigger-row")
        await browser.come_to_rest()
        return await browser.has("ha-device-trigger-picker")

    await until("the trigger is open", is_open)
    await browser.click("ha-device-trigger-picker")
    await browser.come_to_rest()
    await browser.picture(pictures / "home-assistant-automation.png")


async def take_slide(world: World, browser: Browser, pictures: pathlib.Path) -> None:
    """A dashboard with a lamp that a slide has dimmed."""
    shutil.copytree(BLUEPRINTS, world.home.configuration / "blueprints" / "automation" / "jacquard2mqtt")
    async with sliding(world) as lamp:
        slide = (await world.home.entity_ids())[f"{TAG}_slide"]
        cards = [{"type": "light", "entity": lamp}, {"type": "entities", "entities": [slide]}]
        path = "jacket-lamp"
        await world.home.ask("lovelace/dashboards/create", url_path=path, title="Jacket", mode="storage")
        await world.home.ask("lovelace/config/save", url_path=path, config={"views": [{"title": "Jacket", "cards": cards}]})
        await stroke(world, 70, 45)
        await browser.show(f"{world.home.url}/{path}/0", 900, 420, "Lamp", "Slide")
        await browser.come_to_rest()
        await browser.picture(pictures / "home-assistant-slide.png")


async def take_states(world: World, browser: Browser, pictures: pathlib.Path) -> None:
    """The pages of the bridge and the tag when something is wrong."""
    devices, ids = await world.home.devices(), await world.home.entity_ids()
    pages = {name: f"{world.home.url}/config/devices/device/{devices[name]['id']}" for name in (BRIDGE, TAG)}
    await world.home.call("text.set_value", ids[f"{BRIDGE}_pair_serial"], {"value": "04px"})
    await world.home.call("button.press", ids[f"{BRIDGE}_pair"])
    await world.home.wait_state(f"{BRIDGE}_pairing", "Searching, hold the tag's button")
    await world.command_tags("out-of-range 0001")
    await world.home.wait_state(f"{TAG}_connection", "off")
    await browser.show(pages[TAG], 900, 1560, "Left sleeve", "Status")
    await browser.come_to_rest()
    await browser.picture(pictures / "tag-away.png")
    await world.command_tags("in-range 0001")
    await world.home.wait_state(f"{BRIDGE}_pairing", "Failed", 80)
    await browser.show(pages[BRIDGE], 900, 1000, "Pairing", "Failed")
    await browser.come_to_rest()
    await browser.picture(pictures / "pairing-failed.png")
    await world.command_tags("adapter off 0")
    await world.home.wait_state(f"{BRIDGE}_problem", "on")
    await browser.show(pages[BRIDGE], 900, 1000, "Problem")
    await browser.come_to_rest()
    await browser.picture(pictures / "problem.png")
    await world.command_tags("adapter on 0")
    await world.home.wait_state(f"{BRIDGE}_problem", "off")
    await world.command_tags("detach 0003")
    await world.bus.publish("jacquard/bridge/attic/request/pair", {"serial": "0003"})
    await world.home.wait_state(f"{NEW_TAG}_connection", "on")
    bare = (await world.home.devices())[NEW_TAG]["id"]
    await browser.show(f"{world.home.url}/config/devices/device/{bare}", 900, 1200, "Battery", "Find")
    await browser.come_to_rest()
    await browser.picture(pictures / "tag-without-gear.png")


async def main(
    name: str, cache: pathlib.Path, programs: pathlib.Path, logs: pathlib.Path, pictures: pathlib.Path, states: bool
) -> None:
    """Starts the world and the browser, and ends them."""
    if task := asyncio.current_task():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    world = World(logs, programs, releases.named(name, cache))
    browser = Browser(logs)
    try:
        await world.begin()
        await browser.begin()
        await take(world, browser, pictures)
        await take_slide(world, browser, pictures)
        if states:
            await take_states(world, browser, pictures)
    finally:
        await browser.end()
        await world.end()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *(pathlib.Path(path).resolve() for path in sys.argv[2:6]), "--states" in sys.argv))
