"""The cells of the tables: results, and the documented exceptions among them."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import subprocess
import time
from collections.abc import Callable

from machine import Failed
from programs import TREE
from roots import Skipped

WORKS = "works"


@dataclasses.dataclass(frozen=True)
class Exemption:
    """A result that is not ours: which one, and the words that say so in a document."""

    #: Expressions for the row, the column and the result.
    row: str
    column: str
    result: str
    #: The file with the words, and the words.
    document: str
    words: str

    def fits(self, row: str, column: str, result: str) -> bool:
        return bool(re.search(self.row, row) and re.search(self.column, column) and re.search(self.result, result))

    @property
    def link(self) -> str:
        """The document, as a link from the page with the tables."""
        if self.document == PAGE:
            return "above"
        return f"[{pathlib.Path(self.document).stem}]({os.path.relpath(self.document, pathlib.Path(PAGE).parent)})"

    def is_documented(self) -> bool:
        text = (TREE / self.document).read_text(encoding="utf-8")
        return " ".join(self.words.split()) in " ".join(text.split())


FLEET = "Sources/Programs/Daemon/Documentation.docc/Fleet.md"
PAGE = "Tests/Rigs/Ground/README.md"
AMQTT_WILL = "amqtt ignores the retain flag of the last will when a client continues its session"
LIBRARIES = "The libraries of sid take 2 MB more than those of Debian 12 and 13"
SWIFTLANG = "swiftlang 6.2.3 of sid has the module _Testing_Foundation and not its library"
EXEMPTIONS = [
    Exemption("^sources on sid$", "^tests built$", "cannot find -l_Testing_Foundation", PAGE, SWIFTLANG),
    Exemption("^memory of the", "^apart by$", "^[12][0-9]%$", PAGE, LIBRARIES),
    Exemption("^libraries in the memory of the", "^apart by$", "^[1-4][0-9]%$", PAGE, LIBRARIES),
    Exemption(
        "^processor time of the page", "^apart by$", "^[12][0-9]%$", PAGE,
        "Two lives of Debian 13 took 61 and 72 ms of processor time for the page"),
    Exemption("^amqtt", "^will$", "^delivered .*, not retained: a later reader gets online", PAGE, AMQTT_WILL),
    Exemption(
        "^amqtt", "^doctor$", "^ends with 1: .*(the broker ended the connection|The connection was lost)", PAGE,
        "amqtt closes the connection of a client that connects while another one subscribes"),
    Exemption(
        r"^NATS 2\.15", "^stopped and cleared$", r"^1 of \d+ are left: \['jacquard/client/[^']*/response/retained'\]$", FLEET,
        "With NATS 2.15.1 a deleted retained message returns after a power cut"),
    Exemption(
        "^(RabbitMQ|ejabberd)", "^retained by wildcard$", "^none$", FLEET,
        "Retained messages stay at the node of their publisher, and subscriptions with wildcards get none"),
]


@dataclasses.dataclass
class Row:
    """One row of a table: its cells by column, in order."""

    name: str
    cells: dict[str, str] = dataclasses.field(default_factory=dict)
    problems: list[str] = dataclasses.field(default_factory=list)
    #: Sentences for below the table.
    notes: list[str] = dataclasses.field(default_factory=list)
    seconds: float = 0

    def judge(self, column: str, result: str, is_good: bool = True) -> None:
        """Sets a cell. A result that is not good needs an exemption."""
        if not is_good:
            exemption = next((item for item in EXEMPTIONS if item.fits(self.name, column, result)), None)
            if exemption is None:
                self.problems.append(f"{self.name}: {column}: {result}")
                result = f"FAILS: {result}"
            elif not exemption.is_documented():
                self.problems.append(f"{exemption.document} does not say: {exemption.words}")
                result = f"UNDOCUMENTED: {result}"
            else:
                result = f"{result} ({exemption.link}: “{exemption.words}”)"
        self.cells[column] = result
        print(f"  {self.name}: {column}: {result}", flush=True)

    def attempt(self, column: str, body: Callable[[], str | None]) -> bool:
        """Sets a cell to what a function returns, by default `works`, or to why it fails. Returns whether it has ended without a failure."""
        began = time.monotonic()
        try:
            self.judge(column, body() or WORKS)
            return True
        except (Failed, TimeoutError, AssertionError) as problem:
            self.judge(column, first_line(problem), False)
        except Skipped as reason:
            self.judge(column, f"skipped: {first_line(reason)}")
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as problem:
            self.judge(column, f"{type(problem).__name__}: {first_line(problem)}", False)
        finally:
            self.seconds += time.monotonic() - began
        return False


def first_line(text: object, length: int = 300) -> str:
    """A text that fits into a cell."""
    line = " ".join(str(text).split()).replace("|", "/")
    return line if len(line) <= length else f"{line[:length]}…"


def markdown(first: str, rows: list[Row]) -> str:
    """A table with the names of the rows in its first column."""
    columns = list(dict.fromkeys(column for row in rows for column in row.cells))
    lines = [f"| {first} | " + " | ".join(columns) + " |", "|" + "---|" * (len(columns) + 1)]
    lines += [f"| {row.name} | " + " | ".join(row.cells.get(column, "—") for column in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"
