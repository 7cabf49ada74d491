"""The page as an attacker uses it: raw requests, and the answers that the article PageSecurity lists."""

from __future__ import annotations

import base64
import contextlib
import http.client
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import time

import hostile
from ingress import SUPERVISOR, Ingress
from ports import take_port
from programs import Stopwatch, wait_for
from stage import PROJECT, Client, Stream, require

ARTICLE = PROJECT / "Sources" / "Web" / "Web" / "Documentation.docc" / "PageSecurity.md"
HEAD = "| request | answer |\n|---|---|\n"
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
          "form-action 'self'; frame-ancestors 'none'")
ROLES = ("viewer", "automation", "admin")
LED = {"topic": "jacquard/tag/0001/led/set", "payload": {"color": "#ff0000", "duration_ms": 100}}


def basic(user, password):
    """The header of basic authentication."""
    return {"Authorization": "Basic " + base64.b64encode(("%s:%s" % (user, password)).encode()).decode()}


def command(name, payload=None):
    return {"topic": "jacquard/" + name, "payload": payload or {}}


def users_page(stage, settings=""):
    """A page with a user of each role, whose password is "right". Returns its port, and clients with sessions."""
    port = take_port()
    start_users_page(stage, port, settings)
    clients = {role: Client(port) for role in ROLES}
    for role, client in clients.items():
        require(client.login({"user": role, "password": "right"}) == 200, "%s cannot log in" % role)
    return port, clients


def users():
    """The lines of web.yaml with a user of each role."""
    # Checked in milliseconds, unlike the hashes of "jacquard2mqtt-web password".
    value = subprocess.run(
        ["openssl", "passwd", "-6", "-stdin"], input="right\n", check=True, capture_output=True, text=True).stdout.strip()
    return "users:\n" + "".join("  - {name: %s, role: %s, password: '%s'}\n" % (role, role, value) for role in ROLES)


def start_users_page(stage, port, settings=""):
    return stage.start_web(users() + settings, port)


def with_session(clients, port):
    """Single requests: name and answer."""
    nobody = Client(port)
    viewer, automation, admin = (clients[role] for role in ROLES)
    evil = "http://evil.example"
    admin.request("GET", "/session")
    table = [
        ("no cookie: the document", nobody, "GET", "/", None, {}),
        ("no cookie: events", nobody, "GET", "/events", None, {}),
        ("no cookie: charts", nobody, "GET", "/history?tag=0001", None, {}),
        ("no cookie: a command", nobody, "POST", "/publish", LED, {}),
        ("an invented cookie", nobody, "GET", "/session", None, {"Cookie": "jacquard2mqtt-%d=" % admin.port + "0" * 64}),
        ("two cookies of the page's name", admin, "GET", "/session", None, {"Cookie": admin.cookie + "; jacquard2mqtt-%d=x" % admin.port}),
        ("a command without the token", admin, "POST", "/publish", LED, {"X-Token": None}),
        ("a command with another session's token", admin, "POST", "/publish", LED, {"X-Token": viewer.token}),
        ("a command without an origin", admin, "POST", "/publish", LED, {"Origin": None}),
        ("a command from another origin", admin, "POST", "/publish", LED, {"Origin": evil}),
        ("a command from the origin `null`", admin, "POST", "/publish", LED, {"Origin": "null"}),
        ("another origin with its `X-Forwarded-Host`, without a proxy", admin, "POST", "/publish", LED,
         {"Origin": evil, "X-Forwarded-Host": "evil.example"}),
        ("another `Host` than the origin", admin, "POST", "/publish", LED, {"Host": "evil.example"}),
        ("a command as a form", admin, "POST", "/publish", LED, {"Content-Type": "text/plain"}),
        ("a login from another origin", nobody, "POST", "/login", {"user": "admin", "password": "right"}, {"Origin": evil}),
        ("a logout without the token", admin, "POST", "/logout", {}, {"X-Token": None}),
        ("the end of a session without the token", admin, "POST", "/sessions", {"end": "x"}, {"X-Token": None}),
        ("the list of sessions by `viewer`", viewer, "GET", "/sessions", None, {}),
        ("the end of a session by `automation`", automation, "POST", "/sessions", {"end": "x"}, {}),
        ("no cookie: the list of sessions", nobody, "GET", "/sessions", None, {}),
        ("`X-Ingress-Path` without ingress", nobody, "GET", "/events", None, {"X-Ingress-Path": "/api/hassio_ingress/x"}),
        ("`viewer` plays the LED", viewer, "POST", "/publish", LED, {}),
        ("`automation` plays the LED", automation, "POST", "/publish", LED, {}),
        ("`automation` renames a tag", automation, "POST", "/publish", command("tag/0001/name/set", {"name": "x"}), {}),
        ("`automation` pairs", automation, "POST", "/publish", command("bridge/attic/request/pair"), {}),
        ("`admin` plays the LED", admin, "POST", "/publish", LED, {}),
        ("a retained command", admin, "POST", "/publish", {**LED, "retain": True}, {}),
        ("a command to `tag/+/led/set`", admin, "POST", "/publish", command("tag/+/led/set"), {}),
        ("a command to `tag/#`", admin, "POST", "/publish", command("tag/#"), {}),
        ("a fact instead of a command", admin, "POST", "/publish", command("tag/0001/availability"), {}),
        ("a topic outside of the base topic", admin, "POST", "/publish", {"topic": "homeassistant/x/config", "payload": {}}, {}),
        ("a topic of `$SYS`", admin, "POST", "/publish", {"topic": "$SYS/x", "payload": {}}, {}),
        ("a topic with a line break", admin, "POST", "/publish", command("tag/00\n01/led/set"), {}),
        ("a payload of 5 KiB", admin, "POST", "/publish", command("tag/0001/led/set", {"x": "a" * 5000}), {}),
        ("a body of 9 KiB", admin, "POST", "/publish", command("tag/0001/led/set", {"x": "a" * 9000}), {}),
        ("a body that is not JSON", admin, "POST", "/publish", None, {}),
        ("an unknown key in a body", admin, "POST", "/publish", {**LED, "qos": 2}, {}),
        ("events by `HEAD`", viewer, "HEAD", "/events", None, {}),
        ("a command by `GET`", admin, "GET", "/publish", None, {}),
        ("`DELETE`", admin, "DELETE", "/session", None, {}),
        ("a path with `..`", admin, "GET", "/../../etc/passwd", None, {}),
        ("a path with `%2e%2e`", admin, "GET", "/%2e%2e/%2e%2e/etc/passwd", None, {}),
        ("the touch stream of `+`", admin, "GET", "/events?touch=%2B", None, {}),
        ("the charts of `../x`", admin, "GET", "/history?tag=..%2Fx", None, {}),
        ("metrics without credentials", nobody, "GET", "/metrics", None, {}),
        ("metrics with a wrong password", nobody, "GET", "/metrics", None, basic("viewer", "wrong")),
        ("metrics of `viewer`, with the password", nobody, "GET", "/metrics", None, basic("viewer", "right")),
        ("metrics of `automation`, with the password", nobody, "GET", "/metrics", None, basic("automation", "right")),
        ("metrics of a session of `viewer`", viewer, "GET", "/metrics", None, {}),
        ("metrics of an unknown bridge", viewer, "GET", "/metrics?bridge=x%2F%23", None, {}),
        ("metrics by `POST`", viewer, "POST", "/metrics", {}, {}),
        ("events with the credentials of metrics", nobody, "GET", "/events", None, basic("viewer", "right")),
        ("a command with the credentials of metrics", nobody, "POST", "/publish", LED, basic("admin", "right")),
    ]
    for name, client, method, path, body, headers in table:
        status, answer_headers, _ = client.request(method, path, body, headers)
        # The library answers some requests itself, without a session and without content.
        require(status in (405, 413) or answer_headers.get("Content-Security-Policy") == POLICY, "%s: %s" % (name, answer_headers))
        yield name, status


def without_session(port, link_port):
    """Logins with passwords that other programs ship: name and answer."""
    yield "no users: `admin` with the password `admin`", Client(link_port).login({"user": "admin", "password": "admin"})
    yield "users: `admin` with the password `admin`", Client(port).login({"user": "admin", "password": "admin"})
    # The right one ends the count of wrong ones.
    require(login(port, "admin") == 200, "no login after a wrong password")


def at_once(client, count):
    """The statuses of commands that are sent without waiting for answers, on one connection."""
    body = json.dumps(LED).encode()
    request = ("POST /publish HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\nContent-Type: application/json\r\n"
               "Cookie: %s\r\nX-Token: %s\r\nContent-Length: %d\r\n\r\n" % (client.port, client.port, client.cookie, client.token, len(body)))
    with socket.create_connection(("127.0.0.1", client.port), 15) as connection:
        connection.sendall((request.encode() + body) * count)
        answers = b""
        while len(statuses := re.findall(rb"HTTP/1.1 (\d+)", answers)) < count:
            part = connection.recv(65536)
            require(part, "the connection has ended")
            answers += part
    return [int(status) for status in statuses]


def login(port, user, password="right"):
    """The status of a login."""
    return Client(port).login({"user": user, "password": password})


def through_proxy(run, password):
    """The status of a login behind a proxy, after five wrong passwords of the same user behind it at another address."""
    stage, port = run.stage, take_port()
    page = start_users_page(stage, port, "behind_proxy: true\n")
    body = {"user": "admin", "password": "wrong"}
    for _ in range(6):
        locked = Client(port).login(body, {"X-Forwarded-For": "192.0.2.1"})
    require(locked == 429, "not locked behind a proxy: %d" % locked)
    status = Client(port).login({"user": "admin", "password": password}, {"X-Forwarded-For": "192.0.2.2"})
    page.stop()
    return status


def in_quantity(run, clients, port):
    """What is limited by number or time: name and answer."""
    viewer, _, admin = (clients[role] for role in ROLES)
    begin = time.monotonic()
    many = at_once(admin, 200)
    allowed = 20 * (1 + time.monotonic() - begin) + 1
    require(set(many) == {202, 429} and many.count(202) <= allowed, "200 commands, of which %d are allowed: %s" % (allowed, many))
    yield "200 commands at once", "202, then 429"

    wrong = [login(port, "admin", "wrong") for _ in range(5)]
    require(wrong == [401] * 5, "wrong passwords: %s" % wrong)
    yield "five wrong passwords, then the right one", "401, then %d for 30 s" % login(port, "admin")
    yield "then that of another user", login(port, "viewer")
    yield "then the right one at another address", through_proxy(run, "right")
    require(viewer.request("GET", "/session")[0] == 200, "a lock ended a session")
    for _ in range(300):
        require(login(port, "viewer") == 200, "300 logins")
    yield "300 logins of `viewer`, then the session of `admin`", admin.request("GET", "/session")[0]
    yield "300 logins of `viewer`, then its first session", viewer.request("GET", "/session")[0]
    viewer.login({"user": "viewer", "password": "right"})

    watch = Stopwatch()
    with socket.create_connection(("127.0.0.1", port)) as slow:
        slow.settimeout(0.5)
        with contextlib.suppress(OSError):
            while watch.seconds() < 20:
                slow.sendall(b"G")
                with contextlib.suppress(TimeoutError):
                    if slow.recv(10) == b"":
                        break
    took = time.monotonic() - watch.begin
    require(took >= 9 and watch.seconds() < 13, "the slow sender was disconnected after %.1f s" % took)
    yield "a request byte by byte", "disconnected after 10 s"


def slow_body(port):
    """A body that never ends: name and answer."""
    watch = Stopwatch()
    with socket.create_connection(("127.0.0.1", port), timeout=130) as slow:
        slow.sendall(b"POST /login HTTP/1.1\r\n" + hostile.HOST + b"Content-Length: 8000\r\n\r\n{")
        ended = slow.recv(10) == b""
    took = time.monotonic() - watch.begin
    require(ended and took >= 9 and watch.seconds() < 13, "the slow body was disconnected after %.1f s" % took)
    yield "a body without an end", "disconnected after 10 s"


def connections(run, clients, port):
    """More connections and streams than are allowed: name and answer."""
    if run.network is None:
        found = answers(port, 9, SUPERVISOR)
        require(found == [False] + [True] * 8, "nine unused connections of one address: %s" % found)
        yield "nine unused connections of one address", "the first is closed"
    open_ones = answers(port, 100).count(True)
    require(open_ones == 60, "100 connections: %d are open" % open_ones)
    yield "100 unused connections from loopback", "answered; the newest 60 stay open"

    with contextlib.ExitStack() as stack:
        for _ in range(1000):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 5))
        status = clients["admin"].request("GET", "/session")[0]
    yield "1,000 connections that send nothing, then a request", status

    wait_for("the end of the connections", lambda: connections_of(port) == 0)
    streams = []
    for _ in range(66):
        streams.append(Stream(clients["viewer"]))
        streams[-1].read_until(b"event: ready")
    streams.append(Stream(clients["admin"]))
    streams[-1].read_until(b"event: ready")
    for _ in range(60):
        status, headers, body = clients["viewer"].request("HEAD", "/events")
        require((status, body) == (200, b"") and headers["Content-Type"] == "text/event-stream", "HEAD: %d %s" % (status, headers))
        require("Content-Length" not in headers, "a stream with a length: %s" % headers)
    # Streams that go on receive this.
    run.stage.publish("jacquard/bridge/attic/event", '{"type":"after the streams"}')
    ended = [not stream.reads(b"after the streams") for stream in streams]
    require(ended == [True] * 19 + [False] * 48, "66 streams and one of admin: %s" % ended)
    for stream in streams:
        stream.close()
    yield "66 streams of `viewer`, then one of `admin`, then 60 by `HEAD`", "the oldest 19 of `viewer` end"


def connections_of(port):
    """The number of connections to a port that neither side has closed."""
    with open("/proc/net/tcp", encoding="utf-8") as file:
        return sum(line.split()[1].endswith(":%04X" % port) and line.split()[3] == "01" for line in file)


def answers(port, count, source=""):
    """Whether each of many connections is open after all of them had an answer."""
    with contextlib.ExitStack() as stack:
        opened = []
        for _ in range(count):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), 15, (source, 0)))
            connection.sendall(hostile.SECOND)
            answer = b""
            while b"</svg>" not in answer:
                part = connection.recv(65536)
                require(part, "a connection ended without an answer")
                answer += part
            connection.setblocking(False)
            opened.append(connection)

        def is_open(connection):
            try:
                return connection.recv(1) != b""
            except BlockingIOError:
                return True
            except ConnectionResetError:
                return False

        # The last ones to be ended are ended when the last one begins.
        time.sleep(0.5)
        return [is_open(connection) for connection in opened]


def waiting_readers(run, clients, port):
    """More readers of metrics than may wait: name and answer."""
    bridge = run.stage.bridge.process
    wait_for("metrics of the bridge", lambda: clients["admin"].request("GET", "/metrics")[0] == 200)
    time.sleep(1.1)
    os.kill(bridge.pid, signal.SIGSTOP)
    try:
        with contextlib.ExitStack() as stack:
            readers = []
            for _ in range(20):
                reader = stack.enter_context(socket.create_connection(("127.0.0.1", port), 15))
                reader.sendall(("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nCookie: %s\r\n\r\n" % (clients["viewer"].port, clients["viewer"].cookie)).encode())
                readers.append(reader)
            watch = Stopwatch()
            statuses = [reader.recv(4096).split(b" ")[1] for reader in readers[:12]]
            took = watch.seconds()
            require(statuses == [b"503"] * 12 and took < 4, "12 readers after %.1f s: %s" % (took, statuses))
    finally:
        os.kill(bridge.pid, signal.SIGCONT)
    yield "20 readers of metrics while the bridge hangs", "the oldest 12 get 503 at once"


def with_link(run):
    """Keys and names of a page with one-time links: name and answer."""
    page = run.web
    for name, host in (("another site", "evil.example"), ("`127.0.0.1.evil.example`", "127.0.0.1.evil.example")):
        evil = {"Host": "%s:%d" % (host, page.port), "Origin": "http://%s:%d" % (host, page.port)}
        yield "link: the document, %s as `Host`" % name, Client(page.port).request("GET", "/", headers=evil)[0]
        statuses = {Client(page.port).login({"key": "0" * 64}, evil) for _ in range(6)}
        yield "six wrong keys", "/".join(map(str, sorted(statuses)))
    yield "link: the document, `localhost`", Client(page.port).request("GET", "/", headers={"Host": "localhost"})[0]
    link = run.stage.link(page)
    statuses = [Client(page.port).login({"key": "0" * 64}) for _ in range(7)]
    require(statuses == [401] * 5 + [429] * 2, "wrong keys: %s" % statuses)
    yield "link: wrong keys", "five 401, then 429"
    yield "then the right one", Client(page.port).use(link)
    yield "and again", Client(page.port).use(link)


def with_tls(run):
    """Versions of TLS: name and answer."""
    stage, port = run.stage, take_port()
    folder = stage.folder
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", folder + "/tls.key", "-out", folder + "/tls.crt"], check=True, capture_output=True)
    page = start_users_page(stage, port, "tls: {certificate_file: %s/tls.crt, key_file: %s/tls.key}\n" % (folder, folder))
    yield from hostile.tls(port)
    page.stop()


def slow_reader(run, clients, port):
    """A browser that does not read while bridges publish: disconnected at 1 MiB, and the others go on."""
    stage = run.stage
    stream = Stream(clients["viewer"], "/events")
    stream.read_until(b"event: ready")
    other = Stream(clients["admin"], "/events")
    payload = '{"event_type":"%s"}' % ("x" * 60000)
    lines = "".join("%s\n" % payload for _ in range(120))
    subprocess.run(
        ["mosquitto_pub", "-p", str(stage.broker.port), "-t", "jacquard/bridge/attic/event", "-l", "-q", "1"], input=lines, text=True, check=True)
    stage.publish("jacquard/bridge/attic/event", '{"event_type":"last"}')
    other.read_until(b"last")
    ended = wait_for("the end of the stream", stream.has_ended)
    other.close()
    yield "a browser that does not read its events", "disconnected at 1 MiB" if ended else ""


def in_ingress(run):
    """Requests to a page behind Home Assistant's supervisor: name and answer."""
    stage, port = run.stage, take_port()
    page = stage.start_web("ingress: true\n", port)
    there = {"X-Ingress-Path": "/api/hassio_ingress/x"}
    yield "ingress: from another address", Client(port).request("GET", "/", headers=there)[0]
    if run.network is None:
        proxy = Ingress(port)
        through = Client(proxy.port)
        yield "ingress: from the supervisor", through.request("GET", proxy.path + "/")[0]
        for name, path in (
            ("without `X-Ingress-Path`", None), ("with `X-Ingress-Path: /a/../b`", "/a/../b"),
            ("with `X-Ingress-Path: //evil.example`", "//evil.example"), ("with `X-Ingress-Path` and a quote", "/a\"b"),
        ):
            yield "ingress: from the supervisor, " + name, from_supervisor(port, path)
        status = through.request("POST", proxy.path + "/login", {}, {"Origin": "http://evil.example"})[0]
        yield "ingress: a login from another origin", status
        status = through.request("POST", proxy.path + "/publish", LED)[0]
        yield "ingress: a command without a session", status
        proxy.stop()
    page.stop()


def from_supervisor(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10, source_address=(SUPERVISOR, 0))
    connection.request("GET", "/", headers={} if path is None else {"X-Ingress-Path": path})
    status = connection.getresponse().status
    connection.close()
    return status


def local_metrics(run):
    """Requests for metrics to pages without users: name and answer."""
    stage, port = run.stage, take_port()
    yield "metrics that are not switched on", Client(run.web.port).request("GET", "/metrics")[0]
    page = stage.start_web("metrics: true\n", port)
    client = Client(port)
    wait_for("metrics of the bridge", lambda: client.request("GET", "/metrics")[0] == 200)
    yield "metrics without users, from this host", client.request("GET", "/metrics")[0]
    for name, headers in (
        ("with another `Host`", {"Host": "evil.example"}), ("through a proxy", {"X-Forwarded-For": "192.0.2.1"}),
    ):
        yield "metrics without users, " + name, client.request("GET", "/metrics", headers=headers)[0]
    page.stop()


def socket_metrics(run):
    """Requests on the Unix socket of the metrics: name and answer."""
    stage, port = run.stage, take_port()
    path = os.path.join(stage.folder, "metrics.sock")
    page = stage.start_web("metrics_socket: %s\n" % path, port)
    require(os.stat(path).st_mode & 0o777 == 0o600, "mode %o" % os.stat(path).st_mode)

    def status(line, user=None):
        """The status of the answer, or "closed"; for a user of this host, otherwise for that of the page."""
        return int(subprocess.run(
            ["curl", "--silent", "--max-time", "10", "--output", "/dev/null", "--write-out", "%{http_code}", "--unix-socket", path, *line],
            capture_output=True, text=True, user=user).stdout) or "closed"

    there = "http://localhost"
    wait_for("metrics of the bridge", lambda: status([there + "/metrics"]) == 200)
    yield "Unix socket: metrics without credentials", status([there + "/metrics"])
    yield "Unix socket: metrics, with another user of the host", status([there + "/metrics"], "nobody")
    yield "Unix socket: the document", status([there + "/"])
    yield "Unix socket: events", status([there + "/events"])
    yield "Unix socket: a login", status(["--data", "{}", there + "/login"])
    yield "Unix socket: a command", status(["--data", "{}", there + "/publish"])
    yield "Unix socket: metrics by `POST`", status(["--data", "{}", there + "/metrics"])
    page.stop()


def at_start(stage):
    """Configurations that are refused before the address is bound: name and answer."""
    for name, settings, part in (
        ("start: all addresses without users", "address: 0.0.0.0\n", "add users"),
        ("start: all addresses with users, without encryption", "address: 0.0.0.0\n" + users(), "without encryption"),
        ("start: metrics with ingress", "metrics: true\ningress: true\n", "supervisor"),
        ("start: metrics behind a proxy without users", "metrics: true\nbehind_proxy: true\n", "add users"),
        ("start: a Unix socket in place of a file", "port: 0\nmetrics_socket: %s\n" % stage.config, "is not a socket"),
    ):
        path = stage.write("refused.yaml", settings)
        result = subprocess.run(
            [stage.program("jacquard2mqtt-web"), "run", "--config", stage.config, "--web", path], capture_output=True,
            text=True, timeout=10)
        require(part in result.stderr, "not refused: %s" % result.stderr)
        yield name, "refused, exit code %d" % result.returncode


def grouped(rows):
    """Joins the names of successive rows with the same answer."""
    for answer, group in itertools.groupby(rows, lambda row: row[1]):
        yield "; ".join(name for name, _ in group), answer


def security(run):
    """Each request has the answer in the article's table, in its order."""
    stage = run.stage
    port, clients = users_page(stage, "metrics: true\n")
    rows, count = [], 0
    for part in (
        grouped(with_session(clients, port)), grouped(without_session(port, stage.web_port)), grouped(hostile.raw_requests(port)),
        grouped(with_tls(run)), grouped(with_link(run)), in_quantity(run, clients, port), slow_body(port),
        connections(run, clients, port), waiting_readers(run, clients, port), slow_reader(run, clients, port),
        grouped(local_metrics(run)), grouped(socket_metrics(run)), in_ingress(run), grouped(at_start(stage)),
    ):
        for name, answer in part:
            rows.append("| %s | %s |" % (name, answer))
            count += name.count("; ") + 1
    if run.options.record:
        text = ARTICLE.read_text(encoding="utf-8")
        begin = text.index(HEAD) + len(HEAD)
        end = text.index("\n\n", begin - 1)
        ARTICLE.write_text(text[:begin] + "\n".join(rows) + text[end:], encoding="utf-8")
    table = ARTICLE.read_text(encoding="utf-8").split(HEAD)[1].split("\n\n")[0].splitlines()
    if run.network:
        print("  the rows with a second address are not tried: %s" % run.network)
        table = [row for row in table if not row.startswith(("| ingress:", "| nine ")) or "another address" in row]
    require(rows == table, "other answers than in the article:\n-%s\n+%s" % (
        "\n-".join(row for row in table if row not in rows), "\n+".join(row for row in rows if row not in table)))
    for row in rows:
        print("  " + row.strip("| "))
    print("  %d requests have the answers of the article" % count)


CASES = [security]
