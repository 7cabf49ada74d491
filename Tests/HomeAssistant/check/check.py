"""Runs all scenarios with one release of Home Assistant.

usage: check.py RELEASE CACHE PROGRAMS LOGS
  PROGRAMS  the folder with jacquard2mqtt and jacquard-simulator
  LOGS      a new folder for everything that the parts write
Prints a line for each scenario and "N passed, N failed" at the end; exit status 0 or 1. After each scenario, a warning or
error in Home Assistant's log is a failure, too.
"""

from __future__ import annotations

import asyncio
import pathlib
import signal
import sys
import time
import traceback

import releases
import scenarios_blueprints
import scenarios_discovery
import scenarios_entities
import scenarios_gestures
import scenarios_light
from failure import Failure, require
from world import World


async def run(world: World) -> int:
    """Runs the scenarios one after the other; gives the number of those that failed."""
    scenarios = [
        *scenarios_entities.ALL, *scenarios_light.ALL, *scenarios_gestures.ALL, *scenarios_blueprints.ALL,
        *scenarios_discovery.ALL,
    ]
    if world.home.release.knows_device_form:
        scenarios += scenarios_discovery.LAST
    failed = 0
    for scenario in scenarios:
        name = scenario.__name__.replace("_", " ")
        began = time.monotonic()
        try:
            await scenario(world)
            complaints = world.take_complaints()
            require(not complaints, "Home Assistant complains: " + "\n  ".join(complaints[:5]))
            print(f"ok {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Failure as failure:
            failed += 1
            print(f"FAILED {name}: {failure}", flush=True)
            world.take_complaints()
        except Exception:
            failed += 1
            print(f"FAILED {name}:\n{traceback.format_exc()}", flush=True)
            world.take_complaints()
    print(f"{len(scenarios) - failed} passed, {failed} failed", flush=True)
    return failed


async def main(name: str, cache: pathlib.Path, programs: pathlib.Path, logs: pathlib.Path) -> int:
    """Starts the world, runs the scenarios and ends it."""
    if task := asyncio.current_task():
        # Nothing that was started outlives the test, even when it is ended.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    release = releases.named(name, cache)
    print(f"Home Assistant {release.version}", flush=True)
    world = World(logs, programs, release)
    try:
        await world.begin()
        return 1 if await run(world) else 0
    except Failure as failure:
        print(f"FAILED the beginning: {failure}\n0 passed, 1 failed", flush=True)
        return 1
    finally:
        await world.end()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], *(pathlib.Path(path).resolve() for path in sys.argv[2:5]))))
