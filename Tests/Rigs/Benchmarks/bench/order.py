#!/usr/bin/env python3
"""Lists the functions of the daemon that run in everyday life, as the linker takes it: first those of events and commands,
then those of the start."""
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
    """What has run: until the tags were connected, and from then on."""
    with tempfile.TemporaryDirectory(prefix="order.") as work:
        wrapper = f"valgrind --tool=callgrind --demangle=no --callgrind-out-file={work}/profile"
        command = f"{wrapper} {options.daemon} run --config {{config}} --state {{state}}"
        run = Run(SimpleNamespace(rig=options.rig, mode=mode), "jacquard2mqtt", command, tags, work)
        try:
            run.start()
            time.sleep(2)  # what follows a connection
            start = dump(run.p.pid, work, 1)
            if tags == MANY:
                return functions(start, options.daemon), set()
            run.warm_up()
            run.gestures(200, 400)
            run.commands(50, 100)
            run.gestures(0, 2000)  # more than the broker takes at once
            return functions(start, options.daemon), functions(dump(run.p.pid, work, 2), options.daemon)
        finally:
            run.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rig", required=True, help="folder of the built rig")
    parser.add_argument("--daemon", required=True, help="the program jacquard2mqtt, a release build", type=os.path.realpath)
    options = parser.parse_args()
    start, events = set(), set()
    for arguments in (("acquire",), ("signal",), ("acquire", MANY)):
        for names, more in zip((start, events), profile(options, *arguments)):
            names |= more
    print("# Functions that run in daily use, written by Tests/Rigs/Benchmarks/order. Unknown names do no harm.")
    print(*sorted(events), *sorted(start - events), sep="\n")


if __name__ == "__main__":
    main()
