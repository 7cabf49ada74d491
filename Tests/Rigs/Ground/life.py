"""The life of the packages on one suite: installed, paired, used, examined, upgraded and purged, as an administrator does it."""

from __future__ import annotations

import json
import os
import pathlib
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable

from cells import Row
from listener import Listener
from machine import Machine, require
from programs import Program, wait_for
from roots import NAMES, Layer, base, sources

SERVICE, PAGE = "jacquard2mqtt.service", "jacquard2mqtt-web.service"
TAGS = ["0001", "0002", "0003"]
SYSTEM_BUS = "unix:path=/run/dbus/system_bus_socket"
#: Files of the packages, and of users that are gone.
LEFT_BEHIND = (
    "find / -xdev '(' -path /proc -o -path /sys -o -path /run -o -path /packages -o -path /archives ')' -prune -o "
    "'(' -name '*jacquard*' -o -nouser -o -nogroup ')' -print")


class Packages:
    """The Debian packages of a folder, and later ones for an upgrade."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def paths(self, is_next: bool = False) -> list[str]:
        """The paths in a container of both packages, or of the later ones."""
        found = sorted(path.name for path in self.folder.glob("*.deb") if ("+next" in path.name) == is_next)
        require(len(found) == 2, f"{self.folder}: not two packages: {found}")
        return [f"/packages/{name}" for name in found]


class Tags:
    """The simulated tags, and the bus name of BlueZ that belongs to them."""

    def __init__(self, machine: Machine, *options: str) -> None:
        machine.do("systemctl", "mask", "--quiet", "--runtime", "bluetooth.service")
        self.program: Program = machine.add("tags", "jacquard-simulator", "--bus", SYSTEM_BUS, *options)
        wait_for("the simulator is ready", lambda: "\nready\n" in self.program.printed(), 20)

    def type(self, line: str) -> None:
        self.program.type(line)

    def has_printed(self, expression: str) -> bool:
        return bool(re.search(expression, self.program.printed(), re.M))

    def stop(self) -> None:
        """Ends the simulator, which a signal to `nsenter` would not reach."""
        if self.program.process.poll() is None:
            self.type("quit")
            self.program.process.wait(10)


class Page:
    """A browser's requests to the web page, from the network of the machine."""

    ADDRESS = "http://127.0.0.1:8377"

    def __init__(self, machine: Machine) -> None:
        link = machine.do("jacquard2mqtt-web", "open")
        found = re.search(r"#key=([0-9a-f]{64})", link)
        require(found, f"another link: {link}")
        assert found
        self.cookie = self.token = ""
        with self.request("POST", "/login", {"key": found[1]}) as answer:
            self.cookie = answer.headers["Set-Cookie"].split(";")[0]
            self.token = json.load(answer)["token"]

    def request(self, method: str, path: str, body: object = None):
        headers = {"Origin": self.ADDRESS, "Content-Type": "application/json", "Cookie": self.cookie, "X-Token": self.token}
        data = None if body is None else json.dumps(body).encode()
        headers = {name: value for name, value in headers.items() if value}
        return urllib.request.urlopen(urllib.request.Request(f"{self.ADDRESS}{path}", data, headers, method=method), timeout=20)

    def publish(self, topic: str, payload: dict[str, object]) -> int:
        with self.request("POST", "/publish", {"topic": topic, "payload": payload}) as answer:
            return answer.status


def one_result(listener: Listener, tag: str, identifier: str) -> None:
    """Sends a command for the LED, and expects one final result. A later command's result shows that no second one follows."""
    topic = f"jacquard/tag/{tag}/led/set"
    for name in identifier, f"{identifier}-later":
        listener.send(topic, {"id": name, "color": "#ff0000", "duration_ms": 100})
        wait_for(f"a result of {name}", lambda name=name: listener.results(tag, "led", name), 20)
    results = listener.results(tag, "led", identifier)
    require(len(results) == 1, f"{len(results)} results")
    require(results[0]["status"] == "ok", f"the result is {results[0]['status']}: {results[0].get('error')}")


def feels(listener: Listener, tags: Tags, tag: str, seconds: float = 30) -> None:
    """Waits until a gesture of the tag arrives. The first ones may come before the tag is connected."""
    began = time.monotonic()
    topic = f"jacquard/tag/{tag}/gesture"

    def arrives() -> bool:
        tags.type(f"gesture {tag} double_tap")
        time.sleep(0.2)
        return bool(listener.seen(topic, began))

    wait_for(f"a gesture of {tag}", arrives, seconds)
    require("double_tap" in listener.seen(topic, began)[0], f"another gesture: {listener.seen(topic, began)[0]}")


def verdicts(machine: Machine, row: Row, *words: str) -> str:
    """What `doctor` or `why` finds: `works`, with the checks that warn; fails if it ends with an error."""
    result = machine.call("jacquard2mqtt", *words, "--json")
    document = json.loads(result.stdout)
    checks = document.get("checks") or document["chain"]
    found = [check for check in checks if check["verdict"] not in ("ok", "skipped")]
    texts = [f"{check['name']}: {check['found']}" for check in found]
    require(result.returncode == 0, f"ends with {result.returncode}: {'; '.join(texts)}")
    row.notes += [f"`{words[0]}` warns of {text}" for text in texts]
    return f"works (warns: {', '.join(check['name'] for check in found)})" if found else "works"


def libraries(process: pathlib.Path) -> float:
    """The resident memory of a process that is that of shared libraries, in MB, data included."""
    program, size, is_library = os.readlink(process / "exe"), 0, False
    for line in (process / "smaps").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            is_library = len(words) > 5 and words[5].startswith("/") and not program.endswith(words[5])
        elif words[0] == "Rss:" and is_library:
            size += int(words[1])
    return size / 1024


class Life:
    """One row of the table of suites."""

    def __init__(self, layer: Layer, packages: Packages, is_dbus_broker: bool, upgrades_to: str | None = None) -> None:
        self.layer, self.packages = layer, packages
        self.is_dbus_broker, self.upgrades_to = is_dbus_broker, upgrades_to
        self.suite = layer.suite
        name = NAMES[self.suite]
        name = f"{name} with dbus-broker" if is_dbus_broker else f"{name} upgraded to {NAMES[upgrades_to]}" if upgrades_to else name
        self.row = Row(name)
        self.machine: Machine
        self.tags: Tags
        self.listener: Listener
        self.figures: dict[str, float] = {}

    def run(self) -> Row:
        slug = re.sub(r"[^a-z0-9]+", "-", self.row.name.lower())
        if not self.row.attempt("boots", lambda: self.boot(slug)):
            return self.row
        try:
            with self.machine.network():
                self.live()
        finally:
            self.machine.stop()
        return self.row

    def boot(self, slug: str) -> None:
        self.layer.prepare()
        self.machine = Machine(slug, self.layer, self.packages.folder)

    def live(self) -> None:
        attempt, row = self.row.attempt, self.row
        if not attempt("installed", self.install):
            return
        attempt("bus", self.bus)
        if not attempt("configured", self.configure):
            return
        self.listener = Listener(None)
        try:
            self.listener.wait_ready()
            began = time.monotonic()
            attempt("pair", self.pair)
            self.use()
            row.judge("from pair to why", f"{time.monotonic() - began:.1f} s")
            self.measure()
            if self.upgrades_to:
                attempt("system upgraded", self.upgrade_system)
                self.use(" after it")
            attempt("packages upgraded", self.upgrade)
            attempt("cleared", self.clear)
            attempt("purged", self.purge)
        finally:
            self.listener.stop()
            self.tags.stop()

    def install(self) -> None:
        self.machine.install(*self.packages.paths(), "mosquitto", "mosquitto-clients")
        require(not self.machine.is_active(SERVICE), "the service runs without a configuration")
        wait_for("mosquitto runs", lambda: self.machine.is_active("mosquitto.service"), 20)
        names = {
            "systemd": "systemd", "libmosquitto": "libmosquitto1", "libssl": "libssl3t64", "libmicrohttpd": "libmicrohttpd12t64",
            "libdbus": "libdbus-1-3"}
        old = {"libssl3t64": "libssl3", "libmicrohttpd12t64": "libmicrohttpd12"}
        versions = [
            f"{name} {self.machine.version(package) or self.machine.version(old.get(package, package))}" for name, package in names.items()]
        self.row.notes.append(f"has {', '.join(versions)}")

    def bus(self) -> str:
        """Which program is the system bus."""
        unit, process = self.machine.show("dbus.service", "Id", "MainPID")
        name = self.machine.path(f"proc/{process}/comm").read_text(encoding="ascii").strip()
        expected = "dbus-broker-lau" if self.is_dbus_broker else "dbus-daemon"
        require(name == expected, f"{unit} runs {name}")
        package = "dbus-broker" if self.is_dbus_broker else "dbus"
        return f"works ({package} {self.machine.version(package)})"

    def configure(self) -> None:
        self.tags = Tags(self.machine, "--tags", str(len(TAGS)), "--pairing")
        self.machine.write("/etc/jacquard2mqtt/config.yaml", "mqtt:\n  host: 127.0.0.1\n")
        wait_for("the bridge starts when the configuration is saved", lambda: self.machine.is_active(SERVICE), 20)

    def pair(self) -> None:
        for tag in TAGS:
            self.machine.do("jacquard2mqtt", "pair", tag)
        for tag in TAGS:
            wait_for(f"{tag} is connected", lambda tag=tag: self.is_connected(tag), 30)

    def is_connected(self, tag: str) -> bool:
        states = self.listener.seen(f"jacquard/tag/{tag}/connection")
        return bool(states) and '"state":"connected"' in states[-1]

    def use(self, when: str = "") -> None:
        """What happens on every day."""
        stem = str(time.monotonic_ns())

        def gestures() -> None:
            for tag in TAGS:
                feels(self.listener, self.tags, tag)

        def lights() -> None:
            for tag in TAGS:
                one_result(self.listener, tag, f"{stem}-{tag}")

        steps: list[tuple[str, Callable[[], str | None]]] = [
            ("gesture", gestures), ("LED", lights), ("page", self.page),
            ("doctor", lambda: verdicts(self.machine, self.row, "doctor")), ("why", lambda: verdicts(self.machine, self.row, "why", TAGS[0]))]
        for column, body in steps:
            self.row.attempt(f"{column}{when}", body)

    def page(self) -> None:
        """A browser logs in, reads the page and lights a tag."""
        page = Page(self.machine)
        with page.request("GET", "/") as answer:
            require(b"<html" in answer.read(100_000).lower(), "no document")
        color = f"#00{time.monotonic_ns() % 0xffff:04x}"
        # It connects to the broker after the first request.
        topic = f"jacquard/tag/{TAGS[0]}/led/set"
        payload: dict[str, object] = {"color": color, "duration_ms": 200}

        def accepts() -> bool:
            try:
                return page.publish(topic, payload) == 202
            except urllib.error.HTTPError as error:
                require(error.code in (409, 503), f"a command is answered with {error.code}")
                return False

        wait_for("the page sends a command", accepts, 20)
        wait_for("the tag lights", lambda: self.tags.has_printed(color), 20)

    def measure(self) -> None:
        """The time of both processes on a processor, which a busy machine does not change, and the high water of their memory."""
        for column, unit in ("bridge", SERVICE), ("page", PAGE):
            process = self.machine.path(f"proc/{self.machine.show(unit, 'MainPID')[0]}")
            found = re.search(r"VmHWM:\s+(\d+) kB", (process / "status").read_text(encoding="ascii"))
            assert found
            times = [int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in (process / "task").iterdir()]
            self.figures[f"memory of the {column} (MB)"] = int(found[1]) / 1024
            self.figures[f"libraries in the memory of the {column} (MB)"] = libraries(process)
            self.figures[f"processor time of the {column} (ms)"] = sum(times) / 1e6
            self.row.judge(f"{column}: memory, processor", f"{int(found[1]) / 1024:.1f} MB, {sum(times) / 1e6:.0f} ms")

    def serving(self) -> str:
        active, process = self.machine.show(SERVICE, "ActiveState", "MainPID")
        return process if active == "active" else ""

    def upgrade_system(self) -> str:
        """From one release to the next, with the packages of the old one installed."""
        assert self.upgrades_to
        machine = self.machine
        self.machine.write("/etc/apt/sources.list", sources(self.upgrades_to))
        machine.do("apt-get", "update", network=False)
        machine.do("apt-get", "full-upgrade", "-y", "--download-only", network=False, timeout=1800)
        machine.do("apt-get", "full-upgrade", "-y", timeout=1800)
        # As the article Operations says.
        machine.install("libmicrohttpd12t64")
        machine.do("systemctl", "restart", PAGE)
        wait_for("the bridge runs", self.serving, 30)
        for tag in TAGS:
            feels(self.listener, self.tags, tag)
        return f"works (systemd {machine.version('systemd')}, libmicrohttpd {machine.version('libmicrohttpd12t64')})"

    def upgrade(self) -> None:
        before, configuration = self.serving(), self.machine.path("/etc/jacquard2mqtt/config.yaml").read_bytes()
        self.machine.install(*self.packages.paths(is_next=True))
        wait_for("another process serves", lambda: self.serving() not in ("", before), 30)
        after = self.machine.path("/etc/jacquard2mqtt/config.yaml").read_bytes()
        require(after == configuration, "the configuration has changed")
        for tag in TAGS:
            feels(self.listener, self.tags, tag)
        self.page()

    def clear(self) -> None:
        """Stops the bridge and removes its retained topics."""
        self.machine.do("systemctl", "stop", SERVICE)
        wait_for("the bridge is offline", lambda: self.listener.seen(f"jacquard/bridge/{self.instance()}/state")[-1] == "offline", 20)
        self.machine.do("jacquard2mqtt", "clear")
        left = self.machine.call("mosquitto_sub", "-v", "-W", "2", "--retained-only", "-t", "#").stdout
        require(not left, f"left at the broker: {left}")

    def instance(self) -> str:
        topics = [topic.split("/") for topic in self.listener.topics()]
        return next(words[2] for words in topics if words[:2] == ["jacquard", "bridge"])

    def purge(self) -> None:
        self.machine.do("apt-get", "purge", "-y", "jacquard2mqtt", "jacquard2mqtt-web")
        left = self.machine.do("bash", "-c", LEFT_BEHIND).split()
        require(not left, f"left behind: {' '.join(left)}")
        for kind in "passwd", "group":
            require(self.machine.call("getent", kind, "jacquard2mqtt").returncode, f"the {kind} entry is left")
        for unit in SERVICE, PAGE, "jacquard2mqtt-web.socket", "jacquard2mqtt.path":
            require(self.machine.call("systemctl", "cat", unit).returncode, f"{unit} is left")


def layer_of(suite: str, is_dbus_broker: bool) -> Layer:
    """The files of a clean host, on which nothing of the bridge is installed."""
    if not is_dbus_broker:
        return base(suite)
    return Layer(f"{suite}-dbus-broker", suite, base(suite), ["dbus-broker"], "systemctl enable --force dbus-broker.service")
