#!/usr/bin/env -S python3 -B
"""Compares what bridges do in virtual time with what they did when it was recorded.

usage: recorded.py PROGRAM [--first | --record]
  PROGRAM    `simulate`
  --first    ends at the first run that differs
  --record   writes what they do now into recorded.json
The exit status is 1 if a run differs. A recording has a hash of each simulated minute: what is published, and the log.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FILE = Path(__file__).with_name("recorded.json")


def minutes(lines: list[str]) -> list[str]:
    """A hash of the events of each minute. An event begins with its time in seconds."""
    hashes: list[hashlib._Hash] = []
    for line in lines:
        word = line.split(" ", 1)[0]
        if word.replace(".", "", 1).isdigit():
            while len(hashes) <= float(word) // 60:
                hashes.append(hashlib.sha256())
        if hashes:
            hashes[-1].update(line.encode() + b"\n")
    return [each.hexdigest()[:8] for each in hashes]


def play(program: str, options: str) -> list[str]:
    """Plays a run, and returns its hashes."""
    run = subprocess.run([program, *options.split(), "--trace"], stdout=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)
    return minutes(run.stdout.splitlines()) if run.returncode == 0 else ["status %d" % run.returncode]


def difference(options: str, recorded: list[str], seen: list[str]) -> str:
    """What differs, or an empty text."""
    if recorded == seen:
        return ""
    minute = next((at for at, pair in enumerate(zip(recorded, seen)) if pair[0] != pair[1]), min(len(recorded), len(seen)))
    return f"{options}: differs from minute {minute} on; Tests/simulate {options} --trace prints it"


def main() -> int:
    program, *rest = sys.argv[1:]
    recorded = json.loads(FILE.read_text(encoding="utf-8"))
    if rest == ["--record"]:
        with ThreadPoolExecutor() as pool:
            recorded = dict(zip(recorded, pool.map(lambda options: play(program, options), recorded)))
        FILE.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")
        return 0
    is_good = True
    ends_early = rest == ["--first"]
    with ThreadPoolExecutor(1 if ends_early else None) as pool:
        for options, run in {options: pool.submit(play, program, options) for options in recorded}.items():
            if text := difference(options, recorded[options], run.result()):
                print(text, flush=True)
                is_good = False
                if ends_early:
                    pool.shutdown(wait=False, cancel_futures=True)
                    break
    print(f"{len(recorded)} runs are as recorded" if is_good else "If this is wanted: Tests/simulate --record")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
