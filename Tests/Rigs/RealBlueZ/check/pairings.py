"""First pairings of a tag that takes every access over an encrypted link only, one after the other."""

from __future__ import annotations

import time

from guest import Guest
from watch import Failure

TAG = "0001"
# From the moment that the tag is in range until the bridge says that commands reach it.
LIMIT_SECONDS = 20.0


def run(guest: Guest, count: int) -> int:
    """Pairs a tag again and again that neither side has a key for; returns how often it was not online in time."""
    guest.tags.do(TAG, "demand-encryption")
    took: list[float] = []
    while len(took) < count and not guest.bluez.kernel_has_failed():
        took.append(_pair(guest))
    late = sum(seconds > LIMIT_SECONDS for seconds in took)
    took.sort()
    print(f"{len(took)} first pairings: median {took[len(took) // 2]:.1f} s, longest {took[-1]:.1f} s", flush=True)
    print(f"bluetoothd has crashed {guest.bluez.crashes()} times", flush=True)
    if guest.bluez.kernel_has_failed():
        print("FAILED: the guest's kernel has failed, see the log `kernel`", flush=True)
    print(f"{len(took) - late} passed, {count - len(took) + late} failed", flush=True)
    return count - len(took) + late


def _pair(guest: Guest) -> float:
    """One pairing with a bridge that has just started; how long it took, at most three times the limit."""
    guest.bridge.stop()
    guest.tags.do(TAG, "out-of-range")
    guest.bluez.forget(TAG)
    guest.tags.do(TAG, "forget-bond")
    mark = len(guest.watch)
    guest.bridge.start([TAG])
    guest.wait_ready(mark)
    # What was retained from before is not meant.
    mark = len(guest.watch)
    guest.tags.do(TAG, "in-range")
    began = time.monotonic()
    try:
        guest.watch.wait(
            "a first pairing", lambda: "online" in guest.watch.since(mark, f"jacquard/tag/{TAG}/availability"), 60
        )
    except Failure as failure:
        print(f"FAILED first pairing: {failure}", flush=True)
        return 3 * LIMIT_SECONDS
    seconds = time.monotonic() - began
    has_key = bool(guest.bluez.keys(TAG))
    print(f"{'ok' if seconds <= LIMIT_SECONDS else 'FAILED'} first pairing ({seconds:.1f} s, key: {has_key})", flush=True)
    return seconds
