"""The processes of a benchmark, a private bus and broker, and what /proc says about a candidate."""
import json
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "Support"))
from programs import Bus, Mosquitto


class Tool:
    """A rig process: commands on stdin, one JSON object per line on stdout."""

    def __init__(self, argv, env=None):
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=env)
        self.q = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.p.stdout:
            self.q.put(json.loads(line))

    def send(self, line):
        self.p.stdin.write(line + "\n")
        self.p.stdin.flush()

    def wait(self, *events, timeout=20.0):
        end = time.monotonic() + timeout
        while True:
            try:
                m = self.q.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                return None
            if m["event"] in events:
                return m

    def drain(self):
        while not self.q.empty():
            self.q.get_nowait()

    def close(self):
        self.p.terminate()
        self.p.wait()


def cpu_ns(pid):
    """CPU time of the whole process (threads that ended included), in ns."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def status(pid):
    out = {}
    with open(f"/proc/{pid}/status") as f:
        for line in f:
            k, _, v = line.partition(":")
            out[k] = v.strip()
    return out


def memory(pid):
    s = status(pid)
    pss = 0
    try:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            for line in f:
                if line.startswith("Pss:"):
                    pss = int(line.split()[1])
    except OSError:
        pass
    return {"rss_mb": int(s["VmRSS"].split()[0]) / 1024, "pss_mb": pss / 1024, "peak_mb": int(s["VmHWM"].split()[0]) / 1024, "threads": int(s["Threads"])}


def switches(pid):
    n = 0
    for t in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{t}/status") as f:
                n += sum(int(x.split(":")[1]) for x in f if x.startswith("voluntary_ctxt"))
        except OSError:
            pass
    return n


class Daemons:
    """A bus and a broker of our own, in a folder of our own, on loopback only."""

    def __init__(self, work):
        bus = Bus(work)
        self.bus = bus.address
        self.env = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=self.bus)
        options = ["allow_anonymous true", "max_queued_messages 0", "log_type error"]
        broker = Mosquitto(work, options)
        self.port = broker.port
        self.parts = [bus, broker]

    def close(self):
        for part in reversed(self.parts):
            part.stop()


class Candidate:
    """A bridge under test, as a process; its output goes to a log in the work folder."""

    def __init__(self, name, command, env, work):
        self.name = name
        self.log_path = os.path.join(work, name + ".log")
        self.log = open(self.log_path, "ab")
        self.t0_ns = time.monotonic_ns()
        self.p = subprocess.Popen(shlex.split(command), env=env, stdout=self.log, stderr=self.log)
        self.pid = self.p.pid

    def ended(self):
        return self.p.poll()

    def close(self):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGTERM)
            try:
                self.p.wait(3)
            except subprocess.TimeoutExpired:
                self.p.kill()
                self.p.wait()
        self.log.close()

    def tail(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()[-1500:]


def flat(d, pre=""):
    out = {}
    for k, v in d.items():
        if isinstance(v, dict):
            out.update(flat(v, pre + k + "."))
        else:
            out[pre + k] = v
    return out
