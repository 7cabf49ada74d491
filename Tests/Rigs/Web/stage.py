"""The processes of the web page's tests: a broker, simulated tags, the bridge and the page, on free addresses."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

PROJECT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.path.insert(0, os.path.join(PROJECT, "Tests", "Support"))

from ports import listens, take_port  # noqa: E402


class Failure(Exception):
    """A test that has failed."""


def require(condition, text):
    if not condition:
        raise Failure(text)


def wait_until(what, condition, seconds=30):
    """Waits until the condition returns something, and returns that."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure("%s: not within %g s" % (what, seconds))
        time.sleep(0.02)


class Process:
    """A program whose output is collected by line."""

    def __init__(self, command, environment=None):
        self.command = command
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, **(environment or {})}, bufsize=1, errors="replace")
        self.lines = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    @property
    def pid(self):
        return self.process.pid

    def find(self, pattern, start=0):
        """The first line that matches, and what it matches."""
        for line in list(self.lines[start:]):
            match = re.search(pattern, line)
            if match:
                return match
        return None

    def wait_for(self, pattern, start=0, seconds=30):
        def look():
            found = self.find(pattern, start)
            if not found and self.process.poll() is not None:
                raise Failure("%s has ended:\n%s" % (self.command[0], "\n".join(self.lines[-20:])))
            return found
        return wait_until("%s prints %s" % (self.command[0], pattern), look, seconds)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Stage:
    """All processes, in a temporary folder."""

    def __init__(self, programs, tags=3, serials="0001,0002,003R", configured="0001,0002", gestures=None):
        self.programs = programs
        self.folder = tempfile.mkdtemp(prefix="jacquard-web-")
        os.chmod(self.folder, 0o755)
        self.started = []
        self.broker_port = take_port()
        self.web_port = take_port()
        self.start_broker()
        options = ["--tags", str(tags), "--serials", serials, "--quick", "--json"]
        if gestures:
            options += ["--gestures-every", str(gestures)]
        self.simulator = self.start(self.program("jacquard-simulator"), *options)
        self.simulator.wait_for("^ready$|\"ready\"")
        self.bus = self.simulator.wait_for("DBUS_SYSTEM_BUS_ADDRESS=([^\" ]+)").group(1)
        listed = "".join("  - serial: '%s'\n" % serial for serial in configured.split(",") if serial)
        self.config = self.write("config.yaml", "instance: attic\nmqtt:\n  host: 127.0.0.1\n  port: %d\n%s" % (
            self.broker_port, "tags:\n" + listed if listed else ""))
        self.start_bridge()

    def program(self, name):
        return os.path.join(self.programs, name)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def start(self, *command, environment=None):
        process = Process(list(command), environment)
        self.started.append(process)
        return process

    def start_broker(self):
        text = "listener %d 127.0.0.1\nallow_anonymous true\npersistence false\n" % self.broker_port
        path = self.write("mosquitto.conf", text)
        os.chmod(path, 0o644)
        self.broker = self.start("mosquitto", "-c", path)
        wait_until("the broker listens", lambda: listens(self.broker_port))

    def start_bridge(self):
        state = os.path.join(self.folder, "state")
        self.bridge = self.start(
            self.program("jacquard2mqtt"), "run", "--config", self.config, "--state", state,
            environment={"DBUS_SYSTEM_BUS_ADDRESS": self.bus})

    def start_web(self, settings="", port=None, extra=(), program=None):
        """Starts the page with lines of web.yaml and returns the process."""
        port = port or self.web_port
        path = self.write("web-%d.yaml" % port, "port: %d\n%s" % (port, settings))
        web = self.start(
            program or self.program("jacquard2mqtt-web"), "run", "--config", self.config, "--web", path,
            "--runtime", self.runtime(port), *extra)
        web.wait_for("serving")
        return web

    def runtime(self, port):
        return os.path.join(self.folder, "runtime-%d" % port)

    def link(self, port=None):
        """A one-time link."""
        port = port or self.web_port
        return subprocess.run(
            [self.program("jacquard2mqtt-web"), "open", "--runtime", self.runtime(port)], check=True,
            capture_output=True, text=True).stdout.strip()

    def publish(self, topic, payload, retain=False):
        subprocess.run(
            ["mosquitto_pub", "-p", str(self.broker_port), "-t", topic, "-m", payload] + (["-r"] if retain else []),
            check=True)

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
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)
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
