"""Runs a program so that nothing it starts outlives it.

usage: enclosure.py PROGRAM [ARGUMENT]...

Ends when the program ends, or when standard input does, which happens when the caller closes it or is killed. Then
kills every process that the program has started, directly or not. A process group is not enough for that: some tests
start programs in groups of their own. Linux makes the enclosure the parent of every orphan below it, so none escapes.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_LONGEST_KILLING = 10.0


def descendants(root: int) -> list[int]:
    """Every process below one, parents first."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in brackets, may hold spaces and brackets itself.
            parent = int(path.read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    found = list(children.get(root, []))
    for process in found:
        found += children.get(process, [])
    return found


def kill_descendants() -> None:
    """Kills until none is left: a process may start another one while it is being killed."""
    end = time.monotonic() + _LONGEST_KILLING
    while time.monotonic() < end:
        for process in descendants(os.getpid()):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def main() -> int:
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")
    program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    ended = os.pidfd_open(program.pid)
    poll = select.poll()
    for descriptor in (ended, sys.stdin.fileno()):
        poll.register(descriptor, select.POLLIN)
    poll.poll()
    status = program.poll()
    kill_descendants()
    # As a shell says it.
    return 128 + signal.SIGKILL if status is None else 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(main())
