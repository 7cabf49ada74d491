"""What valgrind counts in a running program."""
import glob
import os
import re
import subprocess
import time


def dump(pid, work, part):
    """Has what was counted since the last time written, to `profile.<part>` in a folder; the path."""
    subprocess.run(["callgrind_control", "-d", str(pid)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    path, end = os.path.join(work, f"profile.{part}"), time.monotonic() + 20
    while not os.path.exists(path) or not re.search(r"^totals: ", open(path).read(), re.M):
        if time.monotonic() > end:
            raise RuntimeError(f"callgrind has written {glob.glob(work + '/profile*')}")
        time.sleep(0.05)
    return path


def functions(path, program):
    """Names of the program's own functions in a profile, as the linker knows them, in the order in which they first ran: callgrind
    numbers a function when it first runs."""
    objects, names, current, found = {}, {}, None, {}
    with open(path) as f:
        for line in f:
            if named := re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line):
                if named[3]:
                    objects[named[2]] = named[3]
                if not named[1]:
                    current = objects[named[2]]
            elif named := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?", line):
                if named[3]:
                    names[named[2]] = re.sub(r"'\d+$", "", named[3])  # a depth of recursion
                if not named[1] and current == program:
                    found.setdefault(names[named[2]], int(named[2]))
    return sorted((name for name in found if not name.startswith(("0x", "("))), key=found.get)
