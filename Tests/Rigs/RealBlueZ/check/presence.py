"""The scenario of presence: each way in which a link ends."""

from __future__ import annotations

import json

from guest import FEW, Guest
from watch import Failure

SETTINGS = """
presence:
  away_after_s: 10
"""


def publishes_which_tags_are_near(guest: Guest) -> None:
    """Presence is switched on. A tag sleeps by command, one by itself, one leaves; the bridge is restarted, they return, the adapter is off for a moment.

    A bluetoothd that gives no reasons cannot tell a tag that ends its link from one that leaves: both are gone, inferred."""
    has_reasons = guest.bluez.gives_reasons()
    ordered, idle, leaving = FEW
    mark = len(guest.watch)
    guest.bridge.reload(FEW, SETTINGS)
    for serial in FEW:
        guest.wait_presence(mark, serial, "here", False)
    mark = len(guest.watch)
    guest.tags.do(leaving, "out-of-range")
    guest.tags.do(idle, "sleep")
    guest.broker.publish(f"jacquard/tag/{ordered}/sleep/set", '{"wake_on_motion":true}')
    guest.wait_presence(mark, ordered, "asleep", False)
    guest.wait_presence(mark, leaving, "gone", not has_reasons)
    guest.wait_presence(mark, idle, *(("asleep", False) if has_reasons else ("gone", True)))
    expected = {ordered: "remote", idle: "remote", leaving: "timeout"} if has_reasons else dict.fromkeys(FEW)
    if (ends := {serial: ended(guest, mark, serial) for serial in FEW}) != expected:
        raise Failure(f"the links have ended with {ends}")

    guest.bridge.stop()
    mark = len(guest.watch)
    guest.bridge.start(FEW, SETTINGS)
    guest.wait_ready(mark)
    guest.wait_presence(mark, leaving, "gone", True)
    guest.tags.do(leaving, "in-range")
    for serial in (ordered, idle):
        guest.tags.do(serial, "move")
    wait_all_here(guest, mark)
    if states := {state for state, _ in guest.presences(mark, ordered)} - {"asleep", "here"}:
        raise Failure(f"the restart has published {states}")

    mark = len(guest.watch)
    guest.bluez.power(False)
    for serial in FEW:
        guest.wait_presence(mark, serial, "here", True)
    guest.bluez.power(True)
    wait_all_here(guest, mark)
    for serial in FEW:
        guest.expect_gestures(serial)
    tracker = json.loads(guest.broker.latest(f"homeassistant/device/jacquard_tag_{leaving}/config"))
    platforms = [part["platform"] for part in tracker["components"].values()]
    if platforms.count("device_tracker") != 1:
        raise Failure(f"Home Assistant gets the platforms {platforms}")


def wait_all_here(guest: Guest, mark: int) -> None:
    """Waits until all tags are connected, and published as here."""
    guest.wait_connected(mark, FEW)
    for serial in FEW:
        guest.wait_presence(mark, serial, "here", False)


def ended(guest: Guest, mark: int, serial: str) -> str | None:
    """How the last link of a tag has ended, by its last connection since a mark."""
    connection = guest.published(mark, f"tag/{serial}/connection")[-1]
    end: str | None = connection["ended"]
    return end


ALL = [publishes_which_tags_are_near]
