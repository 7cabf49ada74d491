"""The processes of the web page's tests: a broker, simulated tags, the bridge and the page, on free addresses."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(PROJECT / "Tests" / "Support"))

from ports import take_port  # noqa: E402
from programs import Bridge, Mosquitto, Program, Simulator, wait_for  # noqa: E402

# The bridge of tags that only a test publishes. "attic" clears those of its own that it does not know, a second after each
# connection to the broker.
ELSEWHERE = "elsewhere"


class Failure(Exception):
    """A test that has failed."""


def require(condition, text):
    if not condition:
        raise Failure(text)


def find(program, pattern):
    """The first match in what a program has printed."""
    return re.search(pattern, program.printed(), re.M)


def prints(program, pattern, seconds=20):
    """Waits until a program has printed something, and returns the match."""
    def look():
        found = find(program, pattern)
        if not found and program.process.poll() is not None:
            raise Failure("%s has ended:\n%s" % (program.name, program.printed()[-2000:]))
        return found
    return wait_for("%s prints %s" % (program.name, pattern), look, seconds)


def all_online(browser):
    """Waits until the page in front counts no tag that is offline, and returns how many are online."""
    counts = "return document.getElementById('totals').innerText.match(/^\\d+ tags?, (\\d+) online(?!, \\d+ offline)/)?.[1]"
    return int(browser.wait_for_script(counts, "all tags are online", 60))


class Page(Program):
    """The page's server, which serves when this returns."""

    def __init__(self, stage, settings, port, program, config):
        self.port = port
        self.runtime = os.path.join(stage.folder, "runtime-%d" % port)
        path = stage.write("web-%d.yaml" % port, "port: %d\n%s" % (port, settings))
        super().__init__(stage.folder, "web-%d" % port, [
            program, "run", "--config", config, "--web", path, "--runtime", self.runtime])

    def start(self):
        before = self.printed().count(" serving") if self.log.exists() else 0
        super().start()
        prints(self, r"(?s)(.* serving){%d}" % (before + 1))


class Stage:
    """All processes, in a temporary folder."""

    def __init__(self, programs, tags=3, serials="0001,0002,003R", configured="0001,0002", options=()):
        self.programs = pathlib.Path(programs).resolve()
        self.folder = tempfile.mkdtemp(prefix="jacquard-web-")
        os.chmod(self.folder, 0o755)
        self.started = []
        # The log shows what the page is subscribed to.
        self.broker = self.add(Mosquitto(self.folder, [
            "allow_anonymous true", "log_type error", "log_type warning", "log_type notice", "log_type subscribe",
            "log_type unsubscribe"]))
        self.simulator = self.add(Simulator(
            self.folder, "--tags", str(tags), "--serials", serials, "--json", *options, build=self.programs))
        listed = "".join("  - serial: '%s'\n" % serial for serial in configured.split(",") if serial)
        text = "instance: attic\nmqtt:\n  host: 127.0.0.1\n  port: %d\n%s" % (self.broker.port, "tags:\n" + listed if listed else "")
        self.bridge = self.add(Bridge(self.folder, self.simulator.address, text, build=self.programs))
        self.config = os.path.join(self.folder, "bridge.yaml")
        self.web_port = take_port()

    def add(self, program):
        self.started.append(program)
        return program

    def program(self, name):
        return str(self.programs / name)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def start_web(self, settings="", port=None, program=None, broker=None):
        """Starts the page with lines of web.yaml, and another port of the broker."""
        config = self.config
        if broker:
            config = self.write("broker-%d.yaml" % broker, "instance: attic\nmqtt:\n  host: 127.0.0.1\n  port: %d\n" % broker)
        return self.add(Page(self, settings, port or self.web_port, program or self.program("jacquard2mqtt-web"), config))

    def link(self, page, *options):
        """What `open` prints: a one-time link."""
        return subprocess.run(
            [self.program("jacquard2mqtt-web"), "open", "--runtime", page.runtime, *options], check=True, capture_output=True,
            text=True).stdout.strip()

    def gesture(self, tag, name):
        """A gesture on the cloth of a tag with a link; it has none for a moment after it was renamed, for example."""
        wait_for("the bridge gets gestures of %s" % tag, lambda: self.is_heard(tag))
        self.simulator.type("gesture %s %s" % (tag, name))

    def is_heard(self, tag):
        """Whether the newest news of the tag's link is a subscription to its gestures."""
        news = re.findall(r'"disconnected","tag":"%s"|"channel":"notify","event":"(?:un)?subscribed","tag":"%s"' % (tag, tag), self.simulator.printed())
        return bool(news) and "\"subscribed\"" in news[-1]

    def publish(self, topic, payload, retain=False, port=None):
        subprocess.run(
            ["mosquitto_pub", "-p", str(port or self.broker.port), "-t", topic, "-m", payload] + (["-r"] if retain else []),
            check=True)

    def publish_lines(self, topic, lines):
        """Publishes a message of each line."""
        subprocess.run(["mosquitto_pub", "-p", str(self.broker.port), "-t", topic, "-l"], input=lines, text=True, check=True)

    def retained(self, topic):
        """The retained payload of a topic; waits until there is one."""
        return subprocess.run(
            ["mosquitto_sub", "-p", str(self.broker.port), "-t", topic, "-C", "1", "-W", "10"], capture_output=True, text=True).stdout.strip()

    def stop(self):
        for process in reversed(self.started):
            with contextlib.suppress(OSError):
                process.stop()


class Client:
    """A client without a browser: raw requests with a session."""

    def __init__(self, port):
        self.port = port
        self.cookie = None
        self.token = None

    def request(self, method, path, body=None, headers=None, raw=None):
        """Returns status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Host": "127.0.0.1:%d" % self.port}
        if method == "POST":
            sent.update({"Origin": "http://127.0.0.1:%d" % self.port, "Content-Type": "application/json"})
        if self.cookie:
            sent["Cookie"] = self.cookie
        if self.token:
            sent["X-Token"] = self.token
        sent.update(headers or {})
        data = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        if data is not None:
            connection.putheader("Content-Length", str(len(data)))
        elif method == "POST":
            connection.putheader("Content-Length", "0")
        connection.endheaders(data)
        response = connection.getresponse()
        answer = response.status, dict(response.getheaders()), response.read()
        connection.close()
        return answer

    def login(self, body, headers=None):
        status, answer_headers, answer = self.request("POST", "/login", body, headers)
        if status == 200:
            self.cookie = answer_headers["Set-Cookie"].split(";")[0]
            self.token = json.loads(answer)["token"]
        return status

    def use(self, link):
        return self.login({"key": link.split("#key=")[1]})


class Stream:
    """A browser's stream of events without a browser: counts bytes, reads all or nothing."""

    def __init__(self, client, path="/events"):
        self.server = client.port
        self.socket = socket.create_connection(("127.0.0.1", self.server))
        self.socket.sendall(("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nCookie: %s\r\n\r\n" % (path, client.port, client.cookie)).encode())
        self.socket.settimeout(60)

    def read_until(self, text):
        """Reads until a text, and returns everything."""
        data = b""
        while text not in data:
            part = self.socket.recv(65536)
            require(part, "the stream has ended after %r" % data[-200:])
            data += part
        return data

    def reads(self, text):
        """Reads until a text, or until the server ends the stream. Returns whether the text has come."""
        try:
            self.read_until(text)
            return True
        except (Failure, ConnectionResetError):
            return False

    def has_ended(self):
        """Whether the server has closed its side; reads nothing."""
        # A port of this host may be used for connections to several others.
        own, server = (":%04X" % port for port in (self.socket.getsockname()[1], self.server))
        with open("/proc/net/tcp", encoding="utf-8") as file:
            states = [line.split()[3] for line in file if line.split()[1].endswith(server) and line.split()[2].endswith(own)]
        # 01: established.
        return states != ["01"]

    def close(self):
        self.socket.close()
