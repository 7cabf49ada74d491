"""The guest as a whole: what a scenario can say about tags and the bridge."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from parts import BlueZ, Bridge, Broker, Tags
from watch import Failure, Watch

# The tags of most scenarios; most of them happen to the first.
FLEET = [f"{number:04}" for number in range(1, 16)]
FEW = FLEET[:3]
ONE = FEW[0]
# In no configuration; it takes commands over an encrypted link only.
STRANGER = "0016"
# In the order of the firmware's `gesture cycle`.
GESTURES = ["double_tap", "brush_in", "brush_out", "cover", "brush_up", "brush_down"]


@dataclass
class Guest:
    """Everything in the guest."""

    watch: Watch
    broker: Broker
    bridge: Bridge
    bluez: BlueZ
    tags: Tags

    def published(self, mark: int, topic: str) -> list[Any]:
        """What was published as JSON on a topic since a mark."""
        return [json.loads(text) for text in self.watch.since(mark, f"jacquard/{topic}") if text]

    def states(self, mark: int, serial: str) -> list[str]:
        """The connection states of a tag that the bridge has published since a mark."""
        return [connection["state"] for connection in self.published(mark, f"tag/{serial}/connection")]

    def gestures(self, mark: int, serial: str) -> list[str]:
        """The gestures of a tag that the bridge has published since a mark."""
        return [gesture["event_type"] for gesture in self.published(mark, f"tag/{serial}/gesture")]

    def request(self, verb: str, payload: str) -> dict[str, Any]:
        """Asks the bridge for something, and waits for the result; it must be the only one."""
        mark = len(self.watch)
        self.broker.publish(f"jacquard/bridge/guest/request/{verb}", payload)

        def results() -> list[dict[str, Any]]:
            return [result for result in self.published(mark, f"bridge/guest/response/{verb}") if result["final"]]

        self.watch.wait(f"result of {verb}", lambda: bool(results()), 120)
        if [result["status"] for result in results()] != ["ok"]:
            raise Failure(f"{verb} was answered with {results()}")
        return results()[0]

    def wait_connected(self, mark: int, serials: list[str]) -> None:
        """Waits until the last of the states since a mark is connected, for all these tags."""
        self.watch.wait(
            "connection of all tags",
            lambda: all(self.states(mark, serial)[-1:] == ["connected"] for serial in serials),
        )

    def wait_radio(self, mark: int, serial: str, radio: str) -> None:
        """Waits until the last connection of a tag since a mark is one of this radio."""

        def last() -> list[str]:
            connections = self.published(mark, f"tag/{serial}/connection")[-1:]
            return [connection["radio"] for connection in connections if connection["state"] == "connected"]

        self.watch.wait(f"connection of tag {serial} by the {radio}", lambda: last() == [radio])

    def wait_problems(self, mark: int, codes: list[str]) -> None:
        """Waits until the bridge has published since a mark that it has these problems and no others."""

        def last() -> list[list[str]]:
            return [[problem["code"] for problem in health["problems"]] for health in self.healths(mark)[-1:]]

        self.watch.wait(f"health with the problems {codes}", lambda: last() == [codes])

    def healths(self, mark: int) -> list[Any]:
        """The health of the bridge that was published since a mark."""
        return self.published(mark, "bridge/guest/health")

    def presences(self, mark: int, serial: str) -> list[tuple[str, bool]]:
        """The presence of a tag that was published since a mark: its state, and whether it was inferred."""
        documents = self.published(mark, f"tag/{serial}/presence")
        return [(document["state"], document["inferred"]) for document in documents]

    def wait_presence(self, mark: int, serial: str, state: str, is_inferred: bool) -> None:
        """Waits until this is the last presence of a tag since a mark."""
        wanted = [(state, is_inferred)]
        self.watch.wait(f"presence {wanted} of tag {serial}", lambda: self.presences(mark, serial)[-1:] == wanted)

    def wait_error(self, mark: int, serial: str, code: str) -> None:
        """Waits until the bridge has published since a mark why a tag is not connected."""

        def codes() -> list[str]:
            connections = self.published(mark, f"tag/{serial}/connection")
            return [connection["error"]["code"] for connection in connections if connection["error"]]

        self.watch.wait(f"error {code} of tag {serial}", lambda: code in codes())

    def wait_ready(self, mark: int) -> None:
        """Waits until the bridge has said since a mark that its adapter is on: before that it scans and pairs nothing."""
        self.watch.wait(
            "adapter of the bridge",
            lambda: any(
                adapter["state"] == "powered_on"
                for adapters in self.published(mark, "bridge/guest/adapter")
                for adapter in adapters
            ),
        )

    def wait_lost(self, mark: int, serial: str) -> None:
        """Waits until the bridge has said since a mark that a tag is not connected."""
        self.watch.wait(
            f"loss of tag {serial}", lambda: any(state != "connected" for state in self.states(mark, serial))
        )

    def expect_gestures(self, serial: str, count: int = 2) -> None:
        """Makes gestures, all kinds in turn; they must come out complete, in order, none twice.

        The last one is behind everything that the others have caused: two are the fewest that show a doubled one."""
        mark = len(self.watch)
        # Fifty a second: flat out, bluetoothd drops what an emulated machine does not read in time.
        self.tags.do(serial, f"gesture cycle {count} 50")
        self.watch.wait(f"{count} gestures of tag {serial}", lambda: len(self.gestures(mark, serial)) >= count)
        if (got := self.gestures(mark, serial)) != [GESTURES[index % len(GESTURES)] for index in range(count)]:
            raise Failure(f"lost, doubled or out of order: {got}")

    def expect_some_gesture(self, serial: str) -> None:
        """Makes a gesture; it must come out, once or more often."""
        mark = len(self.watch)
        self.tags.do(serial, "gesture cover")
        self.watch.wait(f"a gesture of tag {serial}", lambda: "cover" in self.gestures(mark, serial))

    def expect_flash(self, serial: str) -> None:
        """Sends a flash; it must be answered with ok once, and reach the tag."""
        mark = len(self.watch)
        self.broker.publish(f"jacquard/tag/{serial}/led/set", "flash")

        def results() -> list[dict[str, Any]]:
            return [result for result in self.published(mark, f"tag/{serial}/led/result") if result["final"]]

        self.watch.wait(f"result of a flash of tag {serial}", lambda: bool(results()))
        if [result["status"] for result in results()] != ["ok"]:
            raise Failure(f"a flash was answered with {results()}")
        self.watch.wait(f"flash in tag {serial}", lambda: bool(self.tags.told(mark, serial, "led")))
