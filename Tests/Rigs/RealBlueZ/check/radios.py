"""Scenarios of a bridge with two adapters; they run in this order, with a tag that demands pairing."""

from __future__ import annotations

import time

from guest import STRANGER, Guest
from watch import Failure

# A slow host must not make the tag offline between two links.
SETTINGS = """
defaults: {offline_after_s: 30}
bluetooth:
  radios:
    - {adapter: hci0, name: hall}
    - {adapter: hci1, name: loft}
"""


def pairs_a_tag_with_each_of_two_radios(guest: Guest) -> None:
    """The command pairs with one adapter after the other; each keeps a key, and the link is encrypted with it."""
    guest.bridge.stop()
    guest.tags.do(STRANGER, "demand-pairing")
    guest.bluez.plug()
    mark = len(guest.watch)
    guest.bridge.start([], SETTINGS)
    wait_ready(guest, mark)
    result = guest.bridge.command("pair", STRANGER, "--all-radios")
    if result.get("bonds") != ["hall", "loft"]:
        raise Failure(f"pair has printed {result}")
    if [(row["radio"], row["works"]) for row in result["results"]] != [("hall", True), ("loft", True)]:
        raise Failure(f"the checks of the bonds: {result}")
    if len(keys := guest.bluez.keys(STRANGER)) != 2:
        raise Failure(f"BlueZ has kept {keys}")
    # The last one that was checked.
    works_by(guest, mark, "hall")
    wait_rows(guest, mark, {"hall": True, "loft": True})


def connects_a_tag_by_the_radio_that_receives_it(guest: Guest) -> None:
    """A tag walks from one adapter to the other and back: each link uses the key of its adapter."""
    for adapter, radio in (("hci1", "loft"), ("hci0", "hall"), ("hci1", "loft")):
        mark = len(guest.watch)
        began = time.monotonic()
        guest.tags.do(STRANGER, f"in-range {adapter}")
        guest.wait_lost(mark, STRANGER)
        guest.wait_radio(mark, STRANGER, radio)
        print(f"connected by the {radio}: {time.monotonic() - began:.1f} s after the tag has left the other", flush=True)
        works_by(guest, mark, radio)


def connects_a_tag_whose_radio_is_unplugged(guest: Guest) -> None:
    """The adapter with the link disappears: the other one makes the next link. When it is back, the link stays."""
    try:
        guest.tags.do(STRANGER, "in-range")
        mark = len(guest.watch)
        began = time.monotonic()
        guest.tags.do("hci1", "unplug")
        guest.bluez.unplug()
        guest.wait_radio(mark, STRANGER, "hall")
        print(f"recovered: adapter unplugged: {time.monotonic() - began:.1f} s", flush=True)
        works_by(guest, mark, "hall")
        guest.wait_problems(mark, ["radio_lost"])
        # bluetoothd reports the link before the adapter.
        errors = [row["error"]["bluez"] for row in guest.published(mark, f"tag/{STRANGER}/connection") if row["error"]]
        if "radio_lost" not in errors:
            raise Failure(f"the causes of the lost link: {errors}")
        if "offline" in guest.watch.since(mark, f"jacquard/tag/{STRANGER}/availability"):
            raise Failure("the tag was offline")
        mark = len(guest.watch)
        guest.bluez.plug()
        guest.wait_problems(mark, [])
        guest.expect_gestures(STRANGER)
        if set(states := guest.states(mark, STRANGER)) - {"connected"}:
            raise Failure(f"the radio that is back has changed the connection: {states}")
        guest.request("forget", STRANGER)
        if keys := guest.bluez.keys(STRANGER):
            raise Failure(f"BlueZ still has {keys}")
        guest.bridge.stop()
    finally:
        guest.bluez.unplug()


def wait_ready(guest: Guest, mark: int) -> None:
    """Waits until the bridge has published since a mark that both radios are on."""

    def states() -> list[dict[str, str]]:
        lists = guest.published(mark, "bridge/guest/adapter")[-1:]
        return [{adapter["radio"]: adapter["state"] for adapter in adapters} for adapters in lists]

    on = "powered_on"
    guest.watch.wait("both radios", lambda: states() == [{"hall": on, "loft": on}])


def wait_rows(guest: Guest, mark: int, bonds: dict[str, bool]) -> None:
    """Waits until the last list of radios of the tag since a mark has these bonds."""

    def last() -> list[dict[str, bool]]:
        lists = guest.published(mark, f"tag/{STRANGER}/radios")[-1:]
        return [{row["radio"]: row["bonded"] for row in rows} for rows in lists]

    guest.watch.wait(f"bonds {bonds}", lambda: last() == [bonds])


def works_by(guest: Guest, mark: int, radio: str) -> None:
    """The tag is connected by this radio, and works in both directions."""
    guest.wait_radio(mark, STRANGER, radio)
    guest.expect_gestures(STRANGER)
    guest.expect_flash(STRANGER)


ALL = [
    pairs_a_tag_with_each_of_two_radios,
    connects_a_tag_by_the_radio_that_receives_it,
    connects_a_tag_whose_radio_is_unplugged,
]
