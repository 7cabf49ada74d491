"""Broker, simulated tags, bridge and Home Assistant, joined."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator
from typing import Any

from bus import Bus, Message
from failure import require, until
from home_assistant import HomeAssistant
from processes import Bridge, Broker, Tags
from releases import Release

GESTURES = ["double_tap", "brush_in", "brush_out", "cover", "brush_up", "brush_down"]
# The names that Home Assistant shows for them.
# The kinds of automations, with a counter for each in Home Assistant.
KINDS = ["triggers", "events", "received"]
# Home Assistant's identifiers of the devices.
TAG, OTHER_TAG, BRIDGE = "jacquard_tag_0001", "jacquard_tag_0002", "jacquard_bridge_attic"
# A tag in reach that is not in the configuration of the bridge.
NEW_TAG = "jacquard_tag_0003"


class World:
    """All of them, and what scenarios do with them."""

    def __init__(
        self, folder: pathlib.Path, programs: pathlib.Path, release: Release, is_long: bool = False,
        before: pathlib.Path | None = None
    ) -> None:
        """`before` is the folder of the version of the bridge to begin with."""
        self._is_long = is_long
        self._before = before
        self.form = "device" if release.knows_device_form else "single"
        self.broker = Broker(folder)
        self.tags = Tags(folder, programs / "jacquard-simulator", 3)
        self.home = HomeAssistant(release, folder, self.broker.port)
        self._folder, self._programs = folder, programs
        self._bus: Bus | None = None
        self._bridge: Bridge | None = None
        self._forgiven: list[str] = []
        self.expected_complaints = 0

    def rounds(self, long: int, short: int = 1) -> range:
        """How often something is done: more often in the long test."""
        return range(long if self._is_long else short)

    @property
    def bus(self) -> Bus:
        """The test's own client of the broker."""
        require(self._bus, "the bus is not there yet")
        return self._bus

    @property
    def bridge(self) -> Bridge:
        """The program under test."""
        require(self._bridge, "the bridge is not there yet")
        return self._bridge

    async def begin(self) -> None:
        """Starts everything, the bridge last."""
        await self.broker.begin()
        self._bus = Bus(self.broker.port)
        await self.tags.begin()
        await self.home.begin()
        self._use(self._before or self._programs)
        self.bridge.configure(self.form)
        self.bridge.start()

    @property
    def is_updated(self) -> bool:
        """Whether Home Assistant has met another version of the bridge before."""
        return self._before is not None

    def _use(self, programs: pathlib.Path) -> None:
        self._bridge = Bridge(self._folder, programs / "jacquard2mqtt", self.broker.port, self.tags.bus_address)

    def update(self) -> None:
        """Replaces the version of the bridge to begin with, which does not run, by that under test."""
        self._use(self._programs)

    async def end(self) -> None:
        """Ends everything."""
        for process in (self._bridge, self.home, self.tags, self.broker):
            if process:
                await (process.end() if isinstance(process, HomeAssistant) else process.stop())
        if self._bus:
            self._bus.stop()

    # -- complaints

    def forgive(self, text: str) -> None:
        """Complaints that hold this text are expected in this scenario."""
        self._forgiven.append(text)

    def take_complaints(self) -> list[str]:
        """What Home Assistant has complained of since the last call, without what is expected."""
        forgiven, self._forgiven = self._forgiven + self.home.release.oddities, []
        all_complaints = self.home.log.take_complaints()
        complaints = [line for line in all_complaints if not any(text in line for text in forgiven)]
        self.expected_complaints += len(all_complaints) - len(complaints)
        return complaints

    async def write_inventory(self) -> None:
        """Writes what Home Assistant shows now beside the logs."""
        (self._folder / "entities.txt").write_text(await self.home.inventory())

    # -- the tags

    async def command_tags(self, line: str) -> None:
        """Gives the simulator a command."""
        self.tags.write(line)

    async def leave_and_return(self, tag: str = "0001") -> None:
        """Takes a tag out of range and back, which gives it a new link."""
        await self.command_tags(f"out-of-range {tag}")
        await self.home.wait_state(f"jacquard_tag_{tag}_connection", "off")
        await self.command_tags(f"in-range {tag}")
        await self.connected(tag)

    async def connected(self, tag: str = "0001") -> None:
        """Waits until a tag is connected and Home Assistant knows its gear."""
        await self.home.wait_state(f"jacquard_tag_{tag}_connection", "on")

        async def has_gear() -> bool:
            state = await self.home.state(f"jacquard_tag_{tag}_gear")
            return state.get("state") not in (None, "unknown", "unavailable", "none")

        await until(f"the gear of {tag} is known", has_gear)

    async def announced(self, since: int) -> None:
        """Waits until a bridge that has started since then has announced its devices and repeated the touch modes.

        It announces them a second after its connection, and repeats the touch modes a second after that.
        """
        announcement = (await self.bus.expect(f"homeassistant/+/{OTHER_TAG}/#", 1, since))[0]
        await self.bus.expect("jacquard/tag/0002/touch_mode", 1, self.bus.heard.index(announcement))

    async def gesture(self, name: str, count: int = 1) -> None:
        """Makes gestures on tag 0001, a hundred a second, and waits until the bridge has told them."""
        before = len(self.bus.heard)
        self.tags.write(f"gesture 0001 {name} {count} 100")
        await self.bus.expect("jacquard/tag/0001/gesture", count, before, within=30)

    # -- the broker

    async def retained(self) -> set[str]:
        """The topics of which the broker keeps a message, as a client sees them that comes now."""
        newcomer = Bus(self.broker.port)
        await newcomer.expect("jacquard/bridge/attic/state")
        # What is retained comes with the subscription, and so before what is said after it.
        await newcomer.publish("test/end")
        await newcomer.expect("test/end")
        newcomer.stop()
        return {message.topic for message in newcomer.heard if message.is_retained}

    # -- Home Assistant

    async def told_again(self, since: int) -> None:
        """Waits until Home Assistant has said that it has started, and the bridge has answered.

        It says so when nothing was announced for five seconds; the answer is spread over two.
        """

        async def said() -> bool:
            return any(message.payload == "online" for message in self.bus.on("homeassistant/status", since))

        await until("Home Assistant says online", said, 90)
        await asyncio.sleep(3)

    # -- automations

    async def automate_trigger(self, name: str, gesture: str) -> None:
        """An automation on a device trigger of tag 0001 that publishes to test/fired/NAME."""
        found = [t for t in await self.home.triggers(TAG) if t["subtype"] == gesture]
        require(len(found) == 1, f"{len(found)} triggers {gesture}")
        trigger = {key: value for key, value in found[0].items() if key not in ("metadata", "discovery_id")}
        await self.home.automate(name, {"trigger": [trigger], "action": [fires(name), counts("triggers")]})

    async def automate_event(self, name: str, gesture: str) -> None:
        """An automation on the event entity of tag 0001, with the guard of the manual."""
        entity = (await self.home.entity_ids())[f"{TAG}_gesture"]
        guard = (
            "{{ trigger.from_state and trigger.from_state.state != 'unavailable' and trigger.to_state and "
            f"trigger.to_state.attributes.event_type == '{gesture}' }}}}")
        await self.home.automate(name, {
            "trigger": [{"platform": "state", "entity_id": entity, "not_to": ["unavailable", "unknown"]}],
            "condition": [{"condition": "template", "value_template": guard}],
            "action": [fires(name), counts("events")],
        })

    async def automate_received(self, name: str, gesture: str) -> None:
        """An automation on the trigger that releases of 2026 have for event entities."""
        entity = (await self.home.entity_ids())[f"{TAG}_gesture"]
        await self.home.automate(name, {
            "triggers": [{
                "trigger": "event.received", "target": {"entity_id": entity}, "options": {"event_type": [gesture]},
            }],
            "actions": [fires(name), counts("received")],
        })

    async def fired(self, name: str, count: int, since: int) -> list[Message]:
        """Waits for so many runs of an automation, and a moment for one too many."""
        if count:
            await self.bus.expect(f"test/fired/{name}", count, since, within=20)
        await asyncio.sleep(0.5)
        found = self.bus.on(f"test/fired/{name}", since)
        require(len(found) == count, f"{name} ran {len(found)} times instead of {count}")
        return found

    async def counted(self) -> dict[str, int]:
        """How often automations of each kind ran so far, as Home Assistant itself has counted."""
        states = await self.home.states()
        return {kind: int(states[f"counter.{kind}"]["state"]) for kind in KINDS}

    @contextlib.asynccontextmanager
    async def nothing_fires(self, home_forgets: bool = False) -> AsyncIterator[int]:
        """Ends the scenario if any automation runs meanwhile; gives the present place in what the bus has heard.

        While the broker is away only Home Assistant's own count would show it; Home Assistant forgets its count
        when it is killed.
        """
        since, before = len(self.bus.heard), await self.counted()
        yield since
        await asyncio.sleep(1)
        topics = [message.topic for message in self.bus.on("test/fired/#", since)]
        require(not topics, f"automations ran: {topics}")
        after = await self.counted()
        require(home_forgets or after == before, f"automations ran: {before} became {after}")


def fires(name: str) -> dict[str, Any]:
    """An action that shows that an automation ran; in words that every release knows."""
    data = {"topic": f"test/fired/{name}", "payload": "{{ now().timestamp() }}"}
    return {"service": "mqtt.publish", "data": data, "continue_on_error": True}


def counts(kind: str) -> dict[str, Any]:
    """An action that counts in Home Assistant, which needs no broker."""
    return {"service": "counter.increment", "target": {"entity_id": f"counter.{kind}"}}
