"""The firmware of one tag: the project's own simulator as a process, one JSON object a line each way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

Line = dict[str, Any]


class Firmware:
    """Runs `jacquard-simulator --stdio` for one serial."""

    def __init__(self, program: str, serial: str) -> None:
        self.arguments = (program, "--stdio", "--serial", serial)
        self.process: asyncio.subprocess.Process | None = None

    async def run(self, take: Callable[[Line], Awaitable[None]]) -> None:
        """Hands over what the firmware says, line by line, until its end; that is always a fault."""
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(*self.arguments, stdin=pipe, stdout=pipe)
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            await take(json.loads(line))
        raise RuntimeError(f"{' '.join(self.arguments)} ended with status {await self.process.wait()}")

    def tell(self, line: Line) -> None:
        """Says something to the firmware."""
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
