"""Runs all scenarios in the guest, against the program given as the argument.

usage: check.py JACQUARD2MQTT [FIRST_PAIRINGS]
With FIRST_PAIRINGS, so many first pairings of one tag take the place of the scenarios.
Prints a line for each scenario and "N passed, N failed" at the end; exit status 0 or 1.
"""

from __future__ import annotations

import sys
import time

import pairings
import scenarios
from guest import Guest
from parts import LOGS, WORK, BlueZ, Bridge, Broker, Tags
from watch import Failure, Watch


def main(program: str, first_pairings: int = 0) -> int:
    """Runs the scenarios one after the other, or so many first pairings."""
    WORK.mkdir(exist_ok=True)
    watch = Watch((LOGS / "seen").open("w", buffering=1))
    guest = Guest(watch, Broker(watch), Bridge(program), BlueZ(watch), Tags(watch))
    if first_pairings:
        failed = pairings.run(guest, first_pairings)
        guest.bridge.stop()
        return 1 if failed else 0
    failed = 0
    for scenario in scenarios.ALL:
        name = scenario.__name__.replace("_", " ")
        began = time.monotonic()
        log_mark = guest.bridge.log_size()
        try:
            scenario(guest)
            print(f"ok {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Failure as failure:
            failed += 1
            guest.bluez.dump(LOGS / f"objects-{scenario.__name__}")
            print(f"FAILED {name}: {failure}", flush=True)
            print("the bridge's log, the end:", *guest.bridge.log(since=log_mark)[-80:], sep="\n  ", flush=True)
    guest.bridge.stop()
    print(f"{len(scenarios.ALL) - failed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
