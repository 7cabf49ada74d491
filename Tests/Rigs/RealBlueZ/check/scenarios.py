"""What the bridge must get through with a real BlueZ; each function is one scenario, and they run in this order."""

from __future__ import annotations

import time

import motion
import presence
import radios
from guest import FEW, FLEET, ONE, STRANGER, Guest
from parts import WORK, address
from watch import Failure


def connects_all_tags(guest: Guest) -> None:
    """The bridge starts, finds its tags and connects them."""
    guest.bridge.start(FEW)
    guest.wait_connected(0, FEW)


def publishes_a_gesture(guest: Guest) -> None:
    """The way up."""
    for serial in FEW:
        guest.expect_gestures(serial)


def flashes_an_led(guest: Guest) -> None:
    """The way down, by a descriptor for each tag."""
    for serial in FEW:
        guest.expect_flash(serial)
        if not guest.bluez.has_write_descriptor(serial):
            raise Failure(f"tag {serial} is written to by calls")


def checks_a_tag_and_records_its_traffic(guest: Guest) -> None:
    """The command checkup finds that everything works but the signal strength, which BlueZ has not for a connected tag."""
    report = WORK / "report.txt"
    report.unlink(missing_ok=True)
    document = guest.bridge.command("checkup", ONE, "--no-prompts", "--report", str(report))
    results = {finding["feature"]: finding for finding in document["findings"]}
    wrong = {name: row for name, row in results.items() if row["result"] not in ("works", "skipped")}
    if set(wrong) - {"rssi"}:
        raise Failure(f"these features do not work: {wrong}")
    for name in ("connect", "mtu", "battery", "led", "connection_interval", "packets", "link"):
        if results[name]["result"] != "works":
            raise Failure(f"{name} was not tried: {results[name]}")
    print(f"checkup: MTU {results['mtu']['detail']}, {results['response_time']['detail']}", flush=True)
    text = report.read_text()
    if '"event":"notified"' not in text or address(ONE) in text:
        raise Failure("the report has no traffic, or an address")


def publishes_a_burst_complete_and_in_order(guest: Guest) -> None:
    """Two hundred gestures, fifty a second."""
    guest.expect_gestures(ONE, 200)


def reconnects_a_tag_that_drops_the_link(guest: Guest) -> None:
    """A tag ends the connection and advertises again."""
    mark = len(guest.watch)
    guest.tags.do(ONE, "drop-link")
    returns_to_work(guest, mark, [ONE], "link dropped by the tag")


def reconnects_a_tag_that_was_out_of_range(guest: Guest) -> None:
    """A tag is not heard until the bridge has noticed, and then again; the others stay."""
    mark = len(guest.watch)
    guest.tags.do(ONE, "out-of-range")
    guest.wait_lost(mark, ONE)
    guest.expect_gestures(FEW[1])
    guest.tags.do(ONE, "in-range")
    returns_to_work(guest, mark, [ONE], "tag out of range")


def survives_the_adapter_switched_off_and_on(guest: Guest) -> None:
    """Somebody switches Bluetooth off, which ends all links, and on again."""
    mark = len(guest.watch)
    guest.bluez.power(False)
    for serial in FEW:
        guest.wait_lost(mark, serial)
    guest.bluez.power(True)
    returns_to_work(guest, mark, FEW, "adapter off and on")


def survives_a_crash_of_bluetoothd(guest: Guest) -> None:
    """bluetoothd ends without a word, and another one begins."""
    mark = len(guest.watch)
    guest.bluez.kill()
    returns_to_work(guest, mark, FEW, "bluetoothd killed")


def survives_a_restart_of_the_broker(guest: Guest) -> None:
    """The broker comes back without anything retained, and gets all facts again."""
    guest.broker.stop()
    mark = len(guest.watch)
    guest.broker.start()
    guest.wait_connected(mark, FEW)
    guest.expect_flash(ONE)
    guest.expect_gestures(ONE)


def takes_its_tags_over_after_a_crash(guest: Guest) -> None:
    """BlueZ keeps the links of a bridge that was killed, and a linked tag does not advertise."""
    guest.bridge.kill()
    mark = len(guest.watch)
    guest.bridge.start(FEW)
    # The links may be used before the first facts are published: then no tag is said to have lost its link.
    returns_to_work(guest, mark, FEW, "bridge killed", has_losses=False)


def ignores_a_clock_that_is_set(guest: Guest) -> None:
    """The time of day jumps an hour forward, two back and one forward; nothing ends or begins early for that."""
    mark = len(guest.watch)
    for hours in (1, -2, 1):
        time.clock_settime(time.CLOCK_REALTIME, time.time() + hours * 3600)
        guest.expect_gestures(ONE)
        guest.expect_flash(ONE)
    if set(states := guest.states(mark, ONE)) - {"connected"}:
        raise Failure(f"the clock has changed the connection: {states}")
    if changes := list(guest.watch.since(mark, "jacquard/bridge/guest/state")):
        raise Failure(f"the bridge has changed: {changes}")


def leaves_a_link_to_another_listener(guest: Guest) -> None:
    """Another program has connected a tag and switched its notifications on: the bridge neither drops nor uses that link.

    When that link ends, the bridge connects. bluetoothd keeps the other program's session and refuses AcquireNotify."""
    guest.bridge.kill()
    with guest.bluez.other_listener(ONE):
        mark = len(guest.watch)
        guest.bridge.start(FEW)
        guest.wait_connected(mark, FEW[1:])
        guest.wait_error(mark, ONE, "in_use")
        guest.tags.do(ONE, "drop-link")
        guest.wait_connected(mark, [ONE])
        guest.expect_flash(ONE)
        # How many copies of a value bluetoothd sends then, and when, depends on how busy it is: here it is enough that
        # gestures come, and that the tag obeys.
        guest.expect_some_gesture(ONE)


def pairs_with_a_tag_that_demands_it(guest: Guest) -> None:
    """A tag that no configuration names is paired by command, and BlueZ keeps its key."""
    guest.bridge.stop()
    guest.tags.do(STRANGER, "demand-pairing")
    mark = len(guest.watch)
    guest.bridge.start([])
    guest.wait_ready(mark)
    guest.request("pair", f'{{"serial":"{STRANGER}","timeout_s":90}}')
    guest.wait_connected(mark, [STRANGER])
    events = [event["type"] for event in guest.published(mark, "bridge/guest/event")]
    stages = [event for event in events if event != "adapter_back"]
    if stages != ["pair_started", "pair_found", "pair_pairing", "pair_connecting", "paired"]:
        raise Failure(f"the stages of pairing were {stages}")
    if not guest.bluez.keys(STRANGER):
        raise Failure("BlueZ has not kept the key")
    guest.expect_gestures(STRANGER)
    guest.expect_flash(STRANGER)


def uses_the_key_of_a_bond_after_a_restart(guest: Guest) -> None:
    """The link is encrypted with the stored key; nobody pairs again."""
    guest.bridge.stop()
    mark = len(guest.watch)
    guest.bridge.start([])
    guest.wait_connected(mark, [STRANGER])
    guest.expect_gestures(STRANGER)
    guest.expect_flash(STRANGER)
    if any("pair" in event["type"] for event in guest.published(mark, "bridge/guest/event")):
        raise Failure("it was paired once more")


def forgets_a_tag_without_a_trace(guest: Guest) -> None:
    """Nothing of it is left on the broker, in BlueZ or in the state file, and the bridge does not come back to it."""
    guest.request("forget", STRANGER)
    if traces := [topic for topic in guest.broker.retained() if STRANGER in topic]:
        raise Failure(f"still retained: {traces}")
    if traces := guest.bluez.keys(STRANGER):
        raise Failure(f"BlueZ still has {traces}")
    if STRANGER in (state := guest.bridge.state()):
        raise Failure(f"the state file still has it: {state}")
    guest.bridge.stop()
    mark = len(guest.watch)
    guest.bridge.start([ONE])
    guest.wait_connected(mark, [ONE])
    if "connected" in guest.states(mark, STRANGER):
        raise Failure("it was connected again")


def connects_fifteen_tags(guest: Guest) -> None:
    """A small fleet, from nothing."""
    guest.bridge.stop()
    mark = len(guest.watch)
    guest.bridge.start(FLEET)
    guest.wait_connected(mark, FLEET)
    for serial in FLEET:
        guest.expect_gestures(serial)


def takes_a_fleet_over_after_a_crash(guest: Guest) -> None:
    """The links of a killed bridge are used as they are, all at once: no tag gets a new one."""
    guest.bridge.kill()
    mark = len(guest.watch)
    began = time.monotonic()
    guest.bridge.start(FLEET)
    guest.wait_connected(mark, FLEET)
    print(f"recovered: bridge with {len(FLEET)} tags killed: {time.monotonic() - began:.1f} s", flush=True)
    for serial in FLEET:
        if guest.tags.told(mark, serial, "connected"):
            raise Failure(f"tag {serial} got a new link")
    for serial in FEW:
        guest.expect_gestures(serial)
        guest.expect_flash(serial)
        for topic in ("battery", "gear"):
            if guest.broker.latest(f"jacquard/tag/{serial}/{topic}") == "":
                raise Failure(f"{topic} of tag {serial} is unknown")


def returns_to_work(guest: Guest, mark: int, serials: list[str], fault: str, has_losses: bool = True) -> None:
    """Waits until tags are connected again, tells how long that took after a fault, and tries both ways."""
    began = time.monotonic()
    for serial in serials if has_losses else []:
        guest.wait_lost(mark, serial)
    guest.wait_connected(mark, serials)
    print(f"recovered: {fault}: {time.monotonic() - began:.1f} s", flush=True)
    for serial in serials:
        guest.expect_gestures(serial)
        guest.expect_flash(serial)
        if not guest.bluez.has_write_descriptor(serial):
            raise Failure(f"tag {serial} is written to by calls")


ALL = [
    connects_all_tags,
    publishes_a_gesture,
    flashes_an_led,
    checks_a_tag_and_records_its_traffic,
    publishes_a_burst_complete_and_in_order,
    reconnects_a_tag_that_drops_the_link,
    reconnects_a_tag_that_was_out_of_range,
    survives_the_adapter_switched_off_and_on,
    survives_a_crash_of_bluetoothd,
    survives_a_restart_of_the_broker,
    takes_its_tags_over_after_a_crash,
    ignores_a_clock_that_is_set,
    leaves_a_link_to_another_listener,
    *presence.ALL,
    *motion.ALL,
    pairs_with_a_tag_that_demands_it,
    uses_the_key_of_a_bond_after_a_restart,
    forgets_a_tag_without_a_trace,
    *radios.ALL,
    connects_fifteen_tags,
    takes_a_fleet_over_after_a_crash,
]
