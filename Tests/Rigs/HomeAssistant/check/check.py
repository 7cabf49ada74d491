"""Runs all scenarios with one release of Home Assistant.

usage: check.py [--long] [--before DIR] RELEASE CACHE PROGRAMS LOGS
  --long    ten restarts of each program and fifty reconnections of the tag
  --before  begin with the jacquard2mqtt of that folder, and update it
  PROGRAMS  the folder with jacquard2mqtt and jacquard-simulator
  LOGS      a new folder for everything that the parts write
Prints a line for each scenario and "N passed, N failed" at the end; exit status 0 or 1. After each scenario, a warning
or error in Home Assistant's log is a failure, too.
"""

from __future__ import annotations

import argparse
import asyncio
import pathlib
import signal
import sys
import time
import traceback

import releases
import scenarios_blueprints
import scenarios_chords
import scenarios_discovery
import scenarios_entities
import scenarios_gestures
import scenarios_light
import scenarios_presence
import scenarios_restarts
import scenarios_update
from failure import Failure, require
from world import World


async def run(world: World) -> int:
    """Runs the scenarios one after the other; gives the number of those that failed."""
    scenarios = [
        *(scenarios_update.ALL if world.is_updated else []),
        *scenarios_entities.ALL, *scenarios_light.ALL, *scenarios_gestures.ALL, *scenarios_restarts.ALL,
        *scenarios_blueprints.ALL, *scenarios_discovery.ALL, *scenarios_chords.ALL, *scenarios_presence.ALL,
    ]
    if world.home.release.knows_device_form:
        scenarios += scenarios_discovery.LAST
    failed = unexpected = 0
    for scenario in scenarios:
        name = scenario.__name__.replace("_", " ")
        began = time.monotonic()
        try:
            await scenario(world)
            complaints = world.take_complaints()
            unexpected += len(complaints)
            require(not complaints, "Home Assistant complains: " + "\n  ".join(complaints[:5]))
            print(f"ok {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Failure as failure:
            failed += 1
            print(f"FAILED {name}: {failure}", flush=True)
            unexpected += len(world.take_complaints())
        except Exception:
            failed += 1
            print(f"FAILED {name}:\n{traceback.format_exc()}", flush=True)
            unexpected += len(world.take_complaints())
    print(f"   warnings and errors in Home Assistant's log: {unexpected} about the bridge, "
          f"{world.expected_complaints} that were expected, {world.home.log.noise} about other things")
    print(f"{len(scenarios) - failed} passed, {failed} failed", flush=True)
    return failed


async def main(arguments: argparse.Namespace) -> int:
    """Starts the world, runs the scenarios and ends it."""
    if task := asyncio.current_task():
        # Nothing that was started outlives the test, even when it is ended.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    release = releases.named(arguments.release, arguments.cache)
    print(f"Home Assistant {release.version}", flush=True)
    world = World(
        arguments.logs.resolve(), arguments.programs.resolve(), release, arguments.long,
        arguments.before and arguments.before.resolve())
    try:
        await world.begin()
        return 1 if await run(world) else 0
    except Failure as failure:
        print(f"FAILED the beginning: {failure}\n0 passed, 1 failed", flush=True)
        return 1
    finally:
        await world.end()


def read_arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("release")
    for folder in ("cache", "programs", "logs"):
        parser.add_argument(folder, type=pathlib.Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(read_arguments())))
