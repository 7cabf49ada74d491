#!/usr/bin/env python3
"""Lists the functions of the daemon that run in everyday life, as the linker takes it: first those of commands and gestures, then
those of the start. Functions that run one after the other follow one another, so that the processor loads them in advance."""
import argparse
import os
import tempfile
import time
from types import SimpleNamespace

from callgrind import dump, functions
from scenario import Run

TAGS = 20
MANY = 300  # for the start: more than the tables that are bounded at 256 have room for


def profile(options, mode, tags=TAGS):
    """The functions that run until the tags are connected, in a burst of gestures, for gestures and for commands."""
    with tempfile.TemporaryDirectory(prefix="order.") as work:
        wrapper = f"valgrind --tool=callgrind --demangle=no --callgrind-out-file={work}/profile"
        command = f"{wrapper} {options.daemon} run --config {{config}} --state {{state}}"
        run = Run(SimpleNamespace(rig=options.rig, mode=mode), "jacquard2mqtt", command, tags, work)
        ran = {}

        def record(part):
            ran[part] = functions(dump(run.p.pid, work, len(ran) + 1), options.daemon)

        try:
            run.start()
            time.sleep(2)  # what follows a connection
            record("start")
            if tags == MANY:
                return ran
            run.warm_up()
            run.gestures(0, 2000)  # more than the broker takes at once
            record("burst")
            run.gestures(200, 400)
            record("gesture")
            run.commands(50, 100)
            record("command")
            return ran
        finally:
            run.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rig", required=True, help="folder of the built rig")
    parser.add_argument("--daemon", required=True, help="the program jacquard2mqtt, a release build", type=os.path.realpath)
    options = parser.parse_args()
    profiles = [profile(options, *arguments) for arguments in (("acquire",), ("signal",), ("acquire", MANY))]
    names = [name for part in ("command", "gesture", "burst", "start") for ran in profiles for name in ran.get(part, [])]
    print("# Functions that run in daily use, written by Tests/Rigs/Benchmarks/order. Unknown names do no harm.")
    print(*dict.fromkeys(names), sep="\n")


if __name__ == "__main__":
    main()
