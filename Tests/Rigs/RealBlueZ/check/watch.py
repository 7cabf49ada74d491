"""What has been seen so far, and waiting for what is to come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple


class Failure(Exception):
    """Something that should have come has not come; a sentence."""


class Seen(NamedTuple):
    """One thing that was seen: an MQTT message (topic, payload) or an event of a tag (serial, object)."""

    source: str
    content: Any


class Watch:
    """Collects what several threads see, in one order. A place in that order is a mark: `len(watch)`."""

    def __init__(self, log: IO[str]) -> None:
        self._log = log
        self._seen: list[Seen] = []
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, source: str, content: Any) -> None:
        """Something was seen."""
        with self._changed:
            print(f"{time.monotonic():.3f} {source} {content}", file=self._log)
            self._seen.append(Seen(source, content))
            self._changed.notify_all()

    def since(self, mark: int, source: str) -> Iterator[Any]:
        """What came from a source after a mark."""
        return (seen.content for seen in self._seen[mark:] if seen.source == source)

    def wait(self, what: str, holds: Callable[[], bool], seconds: float = 240) -> None:
        """Waits until a condition on what has been seen holds; `what` says in the failure what was waited for.

        On a busy host everything in the guest takes up to twelve times as long.
        """
        with self._changed:
            if not self._changed.wait_for(holds, seconds):
                raise Failure(f"no {what} within {seconds:g} s")

    def follow(self, stream: IO[bytes], take: Callable[[str], None]) -> None:
        """Takes the lines of a stream in a thread of its own, until its end."""

        def run() -> None:
            for line in stream:
                take(line.decode().rstrip("\n"))

        threading.Thread(target=run, daemon=True).start()
