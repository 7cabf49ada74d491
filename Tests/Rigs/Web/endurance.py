"""The page under everything that the case "security" sends, again and again: it goes on to serve, and its memory does not grow."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time

import hostile
from ports import take_port
from programs import Stopwatch, wait_for
from security import LED, connections_of, login, users_page
from stage import Client, Failure, Stream, require

MOST_GROWTH = 1.0
"""Growth of the private memory that is allowed, in MB."""

MOST_FOR_STREAMS = 7.0
"""What 66 streams may take while they begin, in MB: 0.1 each, a part of the history in the page and in the library."""


def private(page):
    """Memory that belongs to the page's process alone, in MB."""
    with open("/proc/%d/smaps_rollup" % page.process.pid, encoding="utf-8") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_Dirty:")) / 1024


def settled(page):
    """The private memory when it has not changed for 8 s: longer than the page keeps what it does not need."""
    before, since, end = private(page), time.monotonic(), time.monotonic() + 40
    while time.monotonic() < min(since + 8, end):
        time.sleep(0.5)
        if (now := private(page)) != before:
            before, since = now, time.monotonic()
    return before


def malformed(run, port, clients):
    """Requests that are refused."""
    for _, data in hostile.AMBIGUOUS + hostile.CLEAR + hostile.CLOSING:
        hostile.exchange(port, data)


def silent(run, port, clients):
    """Connections that send nothing, or a body that does not end."""
    with contextlib.ExitStack() as stack:
        for number in range(300):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), 15))
            if number % 2:
                connection.sendall(b"POST /publish HTTP/1.1\r\n" + hostile.HOST + b"Content-Length: 8192\r\n\r\n" + b"a" * 8000)


def logins(run, port, clients):
    """Sessions of one user, and wrong passwords of many names."""
    for number in range(40):
        login(port, "viewer")
        login(port, "name-%d" % number, "wrong")


def ready(client):
    """A stream that has read its beginning. The page ends a stream that falls behind, as one may while 2 MB of events arrive: then it
    connects again, as a browser does."""
    watch = Stopwatch()
    while True:
        stream = Stream(client)
        try:
            stream.read_until(b"event: ready")
            return stream
        except Failure:
            stream.close()
            if watch.seconds() > 30:
                raise


def streams(run, port, clients):
    """Streams that read only their beginning."""
    opened = [ready(clients["viewer"]) for _ in range(66)]
    for stream in opened:
        stream.close()


def publish(run):
    """Publishes 2 MB of events: more than the page stores."""
    lines = ("{\"event_type\":\"%s\"}\n" % ("x" * 50000)) * 40
    subprocess.run(
        ["mosquitto_pub", "-p", str(run.stage.broker.port), "-t", "jacquard/bridge/attic/event", "-l", "-q", "1"], input=lines, text=True,
        check=True)


def unread(run, port, clients):
    """Streams that read nothing while a bridge publishes."""
    opened = [Stream(clients["viewer"]) for _ in range(10)]
    publish(run)
    for stream in opened:
        stream.close()


def commands(run, port, clients):
    """More commands than are allowed, and readers of metrics that do not wait."""
    for _ in range(60):
        clients["automation"].request("POST", "/publish", LED)
        with socket.create_connection(("127.0.0.1", port), timeout=15) as reader:
            reader.sendall(("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nCookie: %s\r\n\r\n" % (clients["viewer"].port, clients["viewer"].cookie)).encode())


def endurance(run):
    """Floods for some minutes: each round, the administrator's session answers within 2 s; at the end, the memory is that of before."""
    port, clients = users_page(run.stage, "metrics: true\n")
    page = run.stage.started[-1]
    # A page that has been in use for a while stores the newest events.
    publish(run)
    stream = ready(clients["admin"])
    before = settled(page)
    end, rounds, highest, slowest = time.monotonic() + run.options.minutes * 60, 0, before, 0.0
    while rounds == 0 or time.monotonic() < end:
        for flood in (malformed, silent, logins, streams, unread, commands):
            flood(run, port, clients)
            highest = max(highest, private(page))
            watch = Stopwatch()
            require(clients["admin"].request("GET", "/session")[0] == 200, "after %s: no session of admin" % flood.__name__)
            slowest = max(slowest, watch.seconds())
            # The viewer's own floods may have ended the session.
            if clients["viewer"].request("GET", "/session")[0] == 401:
                clients["viewer"].login({"user": "viewer", "password": "right"})
        rounds += 1
        if rounds == 1:
            first = settled(page)
    stream.close()
    wait_for("the end of all connections", lambda: connections_of(port) == 0)
    after = settled(page)
    print("  %d rounds: private memory %.2f MB before, %.2f after the first, %.2f after all; at most %.2f; slowest answer %.2f s" % (
        rounds, before, first, after, highest, slowest))
    require(slowest < 2, "an answer took %.1f s" % slowest)
    require(run.options.sanitize or after - before <= MOST_GROWTH, "the private memory has grown by %.2f MB" % (after - before))


def resident(page, name):
    """`VmRSS` or `VmHWM`, the highest one since it was reset, in MB."""
    with open("/proc/%d/status" % page.process.pid, encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name + ":")) / 1024


def streams_at_once(run):
    """66 browsers that begin at the same time share the history: the page takes a part of 16 KiB for each, and not all of it."""
    stage, port = run.stage, take_port()
    page, client = stage.start_web("", port), Client(port)
    require(client.use(stage.link(page)) == 200, "no login")
    stage.publish_lines("jacquard/bridge/attic/event", ("{\"text\":\"%s\"}\n" % ("x" * 900)) * 3000)
    wait_for("the history is full", lambda: "x" * 900 in history_of(client))
    before = resident(page, "VmRSS")
    with open("/proc/%d/clear_refs" % page.process.pid, "w", encoding="ascii") as file:
        # Source: proc(5): resets VmHWM.
        file.write("5")
    with contextlib.ExitStack() as stack:
        for stream in [stack.enter_context(contextlib.closing(Stream(client))) for _ in range(66)][-40:]:
            stream.read_until(b"event: ready")
    grown = resident(page, "VmHWM") - before
    page.stop()
    print("  66 streams at once: %.1f MB more than %.1f" % (grown, before))
    require(run.options.sanitize or grown <= MOST_FOR_STREAMS, "the page has grown by %.1f MB" % grown)


def history_of(client):
    """What a stream begins with."""
    with contextlib.closing(Stream(client)) as stream:
        return stream.read_until(b"event: ready").decode(errors="replace")


CASES = [endurance, streams_at_once]
