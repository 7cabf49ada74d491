"""What ends a scenario, and waiting for what has to come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


class Failure(Exception):
    """Something is not as it should be; the text says what."""


def require(condition: object, text: str) -> None:
    """Ends the scenario unless something is so."""
    if not condition:
        raise Failure(text)


async def until(what: str, look: Callable[[], Awaitable[T]], within: float = 40) -> T:
    """Looks again and again until it sees something true, and gives that.

    It waits so long because a tag that was lost needs up to 20 seconds to come back.
    """
    end = time.monotonic() + within
    while True:
        if seen := await look():
            return seen
        if time.monotonic() > end:
            raise Failure(f"not within {within:.0f} s: {what}")
        await asyncio.sleep(0.05)


async def quickest(measure: Callable[[], Awaitable[float]], limit: float, tries: int = 3) -> float:
    """Measures seconds, and again while that is over a limit: a busy machine adds some now and then, a fault always."""
    best = await measure()
    for _ in range(tries - 1):
        if best < limit:
            break
        best = min(best, await measure())
    return best
