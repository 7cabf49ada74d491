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
