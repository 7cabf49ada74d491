"""Plays the radio of the guest: two adapters, and tags within their reach.

Listens on three Unix sockets in the folder RUN: `hci0` and `hci1`, where the guest's kernel finds its adapters, and
`control`, where a test in the guest steers the tags. Prints "ready" when all tags advertise. Runs until it is ended.

Control takes {"tag": SERIAL, "do": VERB}, one JSON object a line. The verbs drop-link, out-of-range, in-range (of both
adapters, or with the name of one of this one alone), demand-pairing, demand-encryption and forget-bond are the radio's;
all others go to the firmware. Each is answered with {"tag": SERIAL, "done": VERB} or {"tag": SERIAL, "error": TEXT}. What
tags are told comes between the answers, as {"tag": SERIAL, "told": EVENT}. {"tag": "hci1", "do": "unplug"} is for an adapter.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import logging
import pathlib
from typing import Any

from adapter import Adapter
from air import Air
from firmware import Firmware, Line
from tag import Tag


# In the order in which the guest attaches them.
ADAPTERS = {"hci0": "00:1A:7D:DA:71:13", "hci1": "00:1A:7D:DA:71:14"}


class Control:
    """Steers tags and adapters for one client at a time."""

    VERBS = {
        "drop-link": Tag.drop_link,
        "out-of-range": Tag.go_out_of_range,
        "in-range": Tag.come_back,
        **{f"in-range {name}": functools.partial(Tag.go_to, name=name) for name in ADAPTERS},
        "demand-pairing": Tag.demand_pairing,
        "demand-encryption": Tag.demand_encryption,
        "forget-bond": Tag.forget_bond,
    }

    def __init__(self, air: Air) -> None:
        self.air = air
        self.tags: dict[str, Tag] = {}
        self.writer: asyncio.StreamWriter | None = None

    def say(self, line: Line) -> None:
        """Tells the client something."""
        if self.writer is not None:
            self.writer.write(json.dumps(line).encode() + b"\n")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carries out what comes in, line by line."""
        self.writer = writer
        async for line in reader:
            request = json.loads(line)
            serial, verb = request["tag"], request["do"]
            if serial in self.air.adapters and verb == "unplug":
                self.air.adapters[serial].unplug()
                self.say({"tag": serial, "done": verb})
                continue
            tag = self.tags[serial]
            if verb in self.VERBS:
                self.VERBS[verb](tag)
                self.say({"tag": serial, "done": verb})
            else:
                tag.firmware.tell({"do": verb})


async def simulate(run: pathlib.Path, count: int, firmware: str) -> None:
    """Brings up the tags 0001, 0002, ... and serves the guest until a part fails."""
    asyncio.get_running_loop().set_exception_handler(_fail)
    air = Air()
    control = Control(air)
    for name, address in ADAPTERS.items():
        Adapter(air, name, address, run / "log" / f"{name}.btsnoop")
    for number in range(1, count + 1):
        serial = f"{number:04}"

        def say(line: Line, serial: str = serial) -> None:
            control.say({"tag": serial} | line)

        control.tags[serial] = Tag(air, number, Firmware(firmware, serial), say)
    async with asyncio.TaskGroup() as group:
        for tag in control.tags.values():
            group.create_task(tag.run())
        for tag in control.tags.values():
            await tag.is_advertising.wait()
        for name, adapter in air.adapters.items():
            await asyncio.start_unix_server(adapter.serve, run / name)
        await asyncio.start_unix_server(control.serve, run / "control")
        print("ready", flush=True)


def _fail(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ends the program at the first exception that nothing has handled: a test on a broken radio would only hang."""
    loop.default_exception_handler(context)
    loop.stop()


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--run", type=pathlib.Path, required=True, help="folder for the sockets, with a folder `log`"
    )
    parser.add_argument("--tags", type=int, required=True, help="how many tags: 0001, 0002, ...")
    parser.add_argument("--firmware", required=True, help="the program jacquard-simulator")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    asyncio.run(simulate(arguments.run, arguments.tags, arguments.firmware))


if __name__ == "__main__":
    main()
