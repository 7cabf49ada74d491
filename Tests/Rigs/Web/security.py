"""The page as an attacker uses it: raw requests, and the answers that the article PageSecurity lists."""

from __future__ import annotations

import base64
import contextlib
import http.client
import os
import re
import socket
import subprocess
import time

from ingress import SUPERVISOR, Ingress
from ports import take_port
from programs import wait_for
from stage import PROJECT, Client, Stream, require

ARTICLE = PROJECT / "Sources" / "Web" / "Documentation.docc" / "PageSecurity.md"
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


def raw(port, data, seconds=5):
    """Sends bytes and returns the status of the answer; "closed" without one, "silent" if nothing happens."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(data)
        try:
            answer = connection.recv(4096)
        except TimeoutError:
            return "silent"
        except ConnectionResetError:
            return "closed"
        return answer.split(b" ")[1].decode() if answer.startswith(b"HTTP/") else "closed"


def users_page(stage, settings=""):
    """A page with a user of each role, whose password is "right". Returns its port, the lines of its users, and clients."""
    port = take_port()
    hashed = subprocess.run(
        [stage.program("jacquard2mqtt-web"), "password"], input="right\n", check=True, capture_output=True, text=True).stdout
    value = re.search(r"'(.*)'", hashed).group(1)
    users = "users:\n" + "".join("  - {name: %s, role: %s, password: '%s'}\n" % (role, role, value) for role in ROLES)
    stage.start_web(users + settings, port)
    clients = {role: Client(port) for role in ROLES}
    for role, client in clients.items():
        require(client.login({"user": role, "password": "right"}) == 200, "%s cannot log in" % role)
    return port, users, clients


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
        ("an invented cookie", nobody, "GET", "/session", None, {"Cookie": "jacquard2mqtt=" + "0" * 64}),
        ("two cookies of the page's name", admin, "GET", "/session", None, {"Cookie": admin.cookie + "; jacquard2mqtt=x"}),
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
    """Logins with passwords that other programs ship, and bytes that are no proper requests: name and answer."""
    yield "no users: `admin` with the password `admin`", Client(link_port).login({"user": "admin", "password": "admin"})
    yield "users: `admin` with the password `admin`", Client(port).login({"user": "admin", "password": "admin"})
    # The right one ends the count of wrong ones.
    require(Client(port).login({"user": "admin", "password": "right"}) == 200, "no login after a wrong password")
    host = b"Host: 127.0.0.1\r\n"
    for name, data in [
        ("a header of 20 KiB", b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * 20000 + b"\r\n\r\n"),
        ("300 headers", b"GET / HTTP/1.1\r\n" + host + b"".join(b"X%d: %s\r\n" % (n, b"a" * 30) for n in range(300)) + b"\r\n"),
        ("a path of 40 KiB", b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\n" + host + b"\r\n"),
        ("no `Host`", b"GET / HTTP/1.1\r\n\r\n"),
        ("a `Content-Length` of 10 GB", b"POST /login HTTP/1.1\r\n" + host + b"Content-Length: 10000000000\r\n\r\n"),
        ("a `Content-Length` of -1", b"POST /login HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n"),
        ("the beginning of TLS on the port of HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
    ]:
        yield name, raw(port, data)


def in_quantity(clients, port):
    """What is limited by number or time: name and answer."""
    viewer, _, admin = (clients[role] for role in ROLES)
    many = [admin.request("POST", "/publish", LED)[0] for _ in range(60)]
    require(many.count(429) >= 20 and set(many) == {202, 429}, "60 commands: %s" % many)
    yield "60 commands at once", "202, then 429"

    attacker = Client(port)
    wrong = [attacker.login({"user": "admin", "password": "wrong"}) for _ in range(5)]
    locked = attacker.login({"user": "admin", "password": "right"})
    require(wrong == [401] * 5, "wrong passwords: %s" % wrong)
    yield "five wrong passwords, then the right one", "401, then %d for 30 s" % locked
    require(viewer.request("GET", "/session")[0] == 200, "a lock ended a session")

    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", port)) as slow:
        slow.settimeout(0.5)
        with contextlib.suppress(OSError):
            while time.monotonic() - begin < 20:
                slow.sendall(b"G")
                with contextlib.suppress(TimeoutError):
                    if slow.recv(10) == b"":
                        break
    took = time.monotonic() - begin
    require(9 <= took < 13, "the slow sender was disconnected after %.1f s" % took)
    yield "a request byte by byte", "disconnected after 10 s"


def connections(run, port):
    """More connections than are allowed: name and answer."""
    if run.network is None:
        require(answers(port, 9, SUPERVISOR) == ["HTTP"] * 8 + ["closed"], "nine connections of one address")
        yield "nine connections of one address", "the ninth is closed"
    require(answers(port, 66) == ["HTTP"] * 64 + ["silent"] * 2, "66 connections")
    yield "66 connections from loopback", "the last two wait until another one has ended"


def answers(port, count, source=""):
    """The beginning of the answers to requests on connections that stay open."""
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(count):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), 5, (source, 0)))
            # Only a connection that waits needs the time.
            connection.settimeout(5 if len(found) < 64 else 0.5)
            connection.sendall(b"GET /icon.svg HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            try:
                found.append(connection.recv(4).decode() or "closed")
            except TimeoutError:
                found.append("silent")
            except ConnectionResetError:
                found.append("closed")
        return found


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


def at_start(stage, users):
    """Configurations that are refused before the address is bound: name and answer."""
    for name, settings, part in (
        ("start: all addresses without users", "address: 0.0.0.0\n", "add users"),
        ("start: all addresses with users, without encryption", "address: 0.0.0.0\n" + users, "without encryption"),
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


def security(run):
    """Each request has the answer in the article's table, in its order."""
    stage = run.stage
    port, users, clients = users_page(stage, "metrics: true\n")
    rows = []
    for part in (
        with_session(clients, port), without_session(port, stage.web_port), in_quantity(clients, port), connections(run, port),
        slow_reader(run, clients, port), local_metrics(run), socket_metrics(run), in_ingress(run), at_start(stage, users),
    ):
        rows += ["| %s | %s |" % row for row in part]
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
    print("  %d requests have the answers of the article" % len(rows))


CASES = [security]
