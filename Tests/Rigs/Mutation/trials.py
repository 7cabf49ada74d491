"""Runs tests against one mutant at a time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import schemata
from mutants import Mutant

_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_ISSUE = re.compile(r"^✘ +Test (.+?) (?:recorded an issue|failed after)|^(.+: differs from minute \d+)")
_PASSED = re.compile(r"Test run with (\d+) tests?.* passed after|^(\d+) runs are as recorded")
_MEMORY = 4 << 30
# In place of a filter: what the bridges do in virtual time is compared with a recording.
RECORDED = "recorded runs"
_ENCLOSURE = Path(__file__).with_name("enclosure.py")


@dataclass
class Outcome:
    """What a run of tests ended with."""

    reason: str
    """Why the mutant is killed; empty if it has survived."""
    tests: int
    seconds: float
    is_timeout: bool = False


class TestFailure(Exception):
    """The tests fail without any mutant, so that they cannot judge one."""


class Trials:
    """The tests of some filters, run in turn until one of them fails."""

    def __init__(self, program: Path, tree: Path, filters: list[str], jobs: int):
        self.program, self.tree, self.filters, self.jobs = program, tree, filters, jobs
        self.limits: dict[str, float] = {}

    def measure(self) -> None:
        """Runs each filter's tests without a mutant, for their duration."""
        for name in self.filters:
            outcome = self._run(0, name, 900)
            if outcome.reason or outcome.tests == 0:
                raise TestFailure(f"{name}: {outcome.reason or 'no test'}, without any mutant")
            # Several runs at once take longer than one.
            self.limits[name] = 20 + 5 * outcome.seconds
            print(f"  {name}: {outcome.tests} tests, {outcome.seconds:.1f} s without a mutant", flush=True)

    def judge(self, mutants: list[Mutant], report: Callable[[Mutant, str], None]) -> None:
        """Runs every mutant, several at a time, and reports each reason for a kill, or "" for a survivor.

        A run that does not end in time is repeated alone at the end: the others may have slowed it down.
        """
        lock, slow = threading.Lock(), []

        def trial(mutant: Mutant) -> None:
            outcome = self._outcome(mutant)
            with lock:
                slow.append(mutant) if outcome.is_timeout else report(mutant, outcome.reason)

        with ThreadPoolExecutor(self.jobs) as pool:
            for done in [pool.submit(trial, mutant) for mutant in mutants]:
                done.result()
        for mutant in slow:
            report(mutant, self._outcome(mutant).reason)

    def _outcome(self, mutant: Mutant) -> Outcome:
        """Of the first filter whose tests notice the mutant, or of the last one."""
        for name in self.filters:
            outcome = self._run(mutant.number, name, self.limits[name])
            if outcome.reason:
                break
        return outcome

    def _command(self, name: str) -> list[str | Path]:
        if name == RECORDED:
            return [self.tree / "Tests" / "Rigs" / "Simulation" / "recorded.py", self.program.parent / "simulate", "--first"]
        return [self.program, "--testing-library", "swift-testing", "--filter", name]

    def _run(self, number: int, name: str, limit: float) -> Outcome:
        """Ends the tests at their first failure, or at the limit, with every process that they have started."""
        begin = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, _ENCLOSURE, "prlimit", f"--data={_MEMORY}", *self._command(name)],
            cwd=self.tree, env={**os.environ, schemata.VARIABLE: str(number)}, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", errors="replace",
        )
        # The enclosure kills the tests once its standard input ends.
        too_late = threading.Event()
        timer = threading.Timer(limit, lambda: (too_late.set(), process.stdin.close()))
        timer.start()
        tests, reason = 0, ""
        for line in (_COLOR.sub("", line) for line in process.stdout):
            if match := _ISSUE.match(line):
                reason = match[match.lastindex]
                break
            if match := _PASSED.search(line):
                tests = int(match[match.lastindex])
        timer.cancel()
        process.stdin.close()
        process.stdout.close()
        process.wait()
        if not reason and too_late.is_set():
            return Outcome(f"no end after {limit:.0f} s", tests, time.monotonic() - begin, True)
        if not reason and process.returncode:
            reason = f"exit status {process.returncode}"
        return Outcome(reason, tests, time.monotonic() - begin)
