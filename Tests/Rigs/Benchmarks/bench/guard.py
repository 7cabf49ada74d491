#!/usr/bin/env python3
"""Counts what a gesture, an LED command and a quiet second cost: system calls, messages on the bus, instructions, allocations.
For a release build also memory: the code that runs, and the memory that the process has for itself.

Counts do not depend on the machine's speed. Each is the difference between N and 2 N gestures or commands, which leaves out what
does not grow with them. A bound is not a target: it says where somebody has made the path longer without noticing."""
import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

from callgrind import dump, functions
from scenario import Run

RIGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

COUNT = 200  # gestures, and then twice as many
RATE = 100  # a second: each has a wake-up of its own
# The same for LED commands. A debug build under callgrind takes about 20 ms for one, and more on a busy machine: at a time there are fewer
# than a tag's queue holds, which is 32.
COMMANDS, COMMAND_RATE, COMMANDS_AT_ONCE = 100, 20, 25

# What is allowed, and why it is not less.
CALLS = 12  # two wake-ups (gesture, acknowledgement): 2 epoll_wait, 2 recvfrom, 2 write, 3 read; statistics once a second
COMMAND_CALLS = 16  # three wake-ups (command, response, acknowledgement): 3 epoll_wait, 6 read, 2 recvfrom, 1 sendto, 2 write
CODE = 11_000_000  # bytes of a release build: one search of a text in a text brings regular expressions, 800,000 more
BLOCKS = 64  # blocks of 64 kB with a function that runs, counted with one tag: the kernel maps such a block at once. More means
# that Tests/Rigs/Benchmarks/order is to be run again
FEW, MANY = 20, 120  # tags
OWN = 2_400  # kB with 20 tags: heap, stacks, and data that was relocated or written; it is not shared and not read from a file
OWN_PER_TAG = 19  # kB for each further tag
IDLE = 10  # in five seconds with twenty tags: a timer or two, no message to anybody
BOUNDS = {  # by the kind of build, as an optimized one does a part of the work; a third above what was counted
    "release": {"instructions": 31_000, "allocations": 20},
    "debug": {"instructions": 200_000, "allocations": 33},
}
COMMAND_BOUNDS = {  # the same for an LED command with its result
    "release": {"instructions": 92_000, "allocations": 42},
    # On a busy machine, commands wait for the one before: 150 allocations instead of 137.
    "debug": {"instructions": 900_000, "allocations": 180},
}
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"}


class Guard:
    def __init__(self, options):
        self.options, self.failures = options, 0

    def check(self, what, value, bound):
        self.failures += value > bound
        print(f"{'ok  ' if value <= bound else 'FAIL'} {what}: {value:g}, at most {bound:g}")

    def run(self, wrapper, tags, body):
        """Runs the daemon under a tool that counts."""
        with tempfile.TemporaryDirectory(prefix="guard.") as work:
            command = f"{wrapper.format(work=work)} {self.options.daemon} run --config {{config}} --state {{state}}"
            options = SimpleNamespace(rig=self.options.rig, mode="acquire")
            run = Run(options, "jacquard2mqtt", command, tags, work)
            try:
                run.start()
                time.sleep(1)  # what follows a connection
                run.warm_up()
                with page(self.options.page, run.work):
                    body(run, work)
            except Exception:
                sys.stderr.write(run.p.tail())
                raise
            finally:
                run.close()

    def gestures(self, run, count):
        figures = run.gestures(RATE, count)
        if figures["lost"]:
            raise RuntimeError(f"{figures['lost']} gestures were lost")

    def commands(self, run, count):
        for _ in range(count // COMMANDS_AT_ONCE):
            figures = run.commands(COMMAND_RATE, COMMANDS_AT_ONCE)
            if figures["unanswered"]:
                raise RuntimeError(f"{figures['unanswered']} commands were not answered")

    def system_calls(self):
        def body(run, work):
            traced = lambda: sum(1 for _ in open(os.path.join(work, "calls")))
            marks = [traced()]
            for count in (COUNT, 2 * COUNT):
                self.gestures(run, count)
                marks.append(traced())
            self.check("system calls of a gesture", (marks[2] - 2 * marks[1] + marks[0]) / COUNT, CALLS)
            marks = [traced()]
            for count in (COMMANDS, 2 * COMMANDS):
                self.commands(run, count)
                marks.append(traced())
            self.check("system calls of an LED command", (marks[2] - 2 * marks[1] + marks[0]) / COMMANDS, COMMAND_CALLS)
        # The tracer is no parent of the daemon, which so gets its signals.
        self.run("strace -D -f -qq -o {work}/calls", 1, body)

    def silence(self):
        def body(run, work):
            path = os.path.join(work, "calls")
            begin = quiet_size(path)
            time.sleep(5)
            with open(path) as f:
                f.seek(begin)
                lines = f.readlines()
            self.check("messages on the bus in five idle seconds", sum("sendmsg(" in line for line in lines), 0)
            self.check("system calls in five idle seconds", len(lines), IDLE)
        self.run("strace -D -f -qq -o {work}/calls", 20, body)

    def size(self):
        sections = subprocess.run(["size", "-A", self.options.daemon], check=True, capture_output=True, text=True).stdout
        self.check("bytes of machine code", sum(map(int, re.findall(r"^\.text\S* +(\d+)", sections, re.M))), CODE)

    def memory(self):
        used = {}
        for tags in (FEW, MANY):
            def body(run, work):
                time.sleep(2)  # what the start has used is given back
                with open(f"/proc/{run.p.pid}/smaps_rollup") as f:
                    used[tags] = int(re.search(r"^Anonymous: +(\d+)", f.read(), re.M)[1])
            self.run("", tags, body)
        self.check(f"kB of memory of its own, {FEW} tags", used[FEW], OWN)
        self.check("kB for each further tag", (used[MANY] - used[FEW]) / (MANY - FEW), OWN_PER_TAG)

    def blocks(self, profiles):
        """The blocks of code with a function that is in one of the profiles."""
        run = set().union(*(functions(path, self.options.daemon) for path in profiles))
        symbols = subprocess.run(["nm", "--defined-only", self.options.daemon], check=True, capture_output=True, text=True).stdout
        blocks = {int(address, 16) >> 16 for address, name in re.findall(r"^(\w+) [tTwW] (.+)$", symbols, re.M) if name in run}
        self.check("blocks of 64 kB with code that runs", len(blocks), BLOCKS)

    def instructions(self):
        def body(run, work):
            counts, profiles = [], []
            steps = [(None, 0), (self.gestures, COUNT), (self.gestures, 2 * COUNT)]
            steps += [(self.commands, COMMANDS), (self.commands, 2 * COMMANDS)]
            for make, count in steps:
                if count:
                    make(run, count)
                profiles.append(dump(run.p.pid, work, len(counts) + 1))
                counts.append(read_profile(profiles[-1]))
            if self.options.build == "release":
                self.blocks(profiles)
            for what, bound in BOUNDS[self.options.build].items():
                self.check(f"{what} of a gesture", (counts[2][what] - counts[1][what]) / COUNT, bound)
            for what, bound in COMMAND_BOUNDS[self.options.build].items():
                self.check(f"{what} of an LED command", (counts[4][what] - counts[3][what]) / COMMANDS, bound)
        self.run("valgrind --tool=callgrind --demangle=no --callgrind-out-file={work}/profile", 1, body)


@contextlib.contextmanager
def page(program, work):
    """The web page's server at the daemon's broker, with two streams of events; nothing without a program."""
    if program is None:
        yield
        return
    sys.path[:0] = [os.path.join(RIGS, "Web"), os.path.join(RIGS, "..", "Support")]
    from programs import Program
    from stage import Client, Stream, prints, take_port
    port, runtime, settings = take_port(), os.path.join(work, "runtime"), os.path.join(work, "web.yaml")
    with open(settings, "w") as file:
        file.write(f"port: {port}\n")
    server = Program(work, "web", [
        program, "run", "--config", os.path.join(work, "config.yaml"), "--web", settings, "--runtime", runtime])
    try:
        prints(server, " serving")
        for _ in range(2):
            client = Client(port)
            link = subprocess.run([program, "open", "--runtime", runtime], check=True, capture_output=True, text=True).stdout
            client.use(link.strip())
            Stream(client).read_until(b"rig/state")
        yield
    finally:
        server.stop()


def quiet_size(path):
    """The size of a file that has not grown for two seconds: statistics, and what follows a connection, are written.

    One that never rests is taken as it is after a while, and will be found too busy."""
    size, since = -1, time.monotonic()
    end = since + 30
    while time.monotonic() < min(since + 2, end):
        if (now := os.path.getsize(path)) != size:
            size, since = now, time.monotonic()
        time.sleep(0.05)
    return size


def read_profile(path):
    """Instructions, and calls of the allocator, of a profile: names are spelled once and then numbered."""
    names, callee, allocations, instructions = {}, None, 0, 0
    with open(path) as f:
        for line in f:
            if named := re.match(r"c?fn=\((\d+)\)(?: (\S+))?", line):
                if named[2]:
                    names[named[1]] = named[2]
                callee = names.get(named[1]) if line.startswith("c") else None
            elif line.startswith("calls=") and callee in ALLOCATORS:
                allocations += int(line[6:].split()[0])
            elif line.startswith("totals: "):
                instructions = int(line.split()[1])
    return {"instructions": instructions, "allocations": allocations}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rig", required=True, help="folder of the built rig")
    parser.add_argument("--daemon", required=True, help="the program jacquard2mqtt", type=os.path.realpath)
    parser.add_argument("--build", choices=BOUNDS, default="debug", help="how it was built")
    parser.add_argument("--page", help="the program jacquard2mqtt-web, which runs meanwhile; default: none")
    guard = Guard(parser.parse_args())
    if guard.options.build == "release":
        guard.size()
        guard.memory()
    guard.system_calls()
    guard.silence()
    guard.instructions()
    sys.exit(guard.failures > 0)


if __name__ == "__main__":
    main()
