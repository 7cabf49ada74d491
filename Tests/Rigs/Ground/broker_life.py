"""The same life on each broker of a suite: facts, gestures, commands, the last will, and a broker that is killed."""

from __future__ import annotations

import contextlib
import json
import time

from cells import Row
from life import SERVICE, TAGS, Packages, Tags, feels, one_result, verdicts
from listener import Listener, retained
from machine import Failed, Machine, require
from programs import wait_for
from roots import NAMES, Layer, Skipped, base
from served import KINDS, Amqtt, Broker

INSTANCE = "ground"
STATE, INFO = f"jacquard/bridge/{INSTANCE}/state", f"jacquard/bridge/{INSTANCE}/info"
#: Topics that are retained as long as the bridge has its tags.
FACTS = [f"jacquard/bridge/{INSTANCE}/{fact}" for fact in ("state", "info", "health", "adapter")] + [
    f"jacquard/tag/{tag}/{fact}" for tag in TAGS for fact in ("availability", "battery/level", "connection", "info")]
#: Events, which are never retained.
EVENTS = ("/gesture", "/result", "/stats", "/rssi")
PACKAGES = ["bluez", "dbus", "mosquitto", "mosquitto-clients", "rabbitmq-server", "nats-server", "ejabberd"]
UNITS = "mosquitto rabbitmq-server nats-server ejabberd"


def layer_of(suite: str) -> Layer:
    """The files of a host with all brokers, none of which runs."""
    return Layer(f"{suite}-brokers", suite, base(suite), PACKAGES, f"systemctl disable {UNITS}")


def run_all(suite: str, kinds: list[str], packages: Packages) -> list[Row]:
    """One row for each broker. They run one after the other in one machine."""
    rows = []
    machine = None
    try:
        machine = Machine(f"{suite}-brokers", layer_of(suite).prepare(), packages.folder)
        with machine.network():
            machine.install(*packages.paths(), recommends=False)
            # The bridge is dead until it is started, so that its last will can be seen.
            machine.write(f"/run/systemd/system/{SERVICE}.d/ground.conf", "[Service]\nRestart=no\n")
            machine.do("systemctl", "daemon-reload")
            for kind in kinds:
                rows.append(BrokerLife(machine, KINDS[kind](machine)).run())
    except (Skipped, Failed, TimeoutError) as problem:
        row = Row(f"{NAMES[suite]}: brokers")
        is_skipped = isinstance(problem, Skipped)
        row.judge("connects", f"skipped: {problem}" if is_skipped else str(problem), is_skipped)
        rows.append(row)
    finally:
        if machine:
            machine.stop()
    return rows


class BrokerLife:
    """One row of the table of brokers."""

    def __init__(self, machine: Machine, broker: Broker) -> None:
        self.machine, self.broker = machine, broker
        origin = "PyPI, " if isinstance(broker, Amqtt) else ""
        self.row = Row(f"{broker.name} {broker.version or '(none)'} ({origin}{NAMES[machine.suite]})")
        self.level = 50
        self.tags: Tags
        self.listener: Listener

    def run(self) -> Row:
        attempt = self.row.attempt
        try:
            if not attempt("connects", self.connect):
                return self.row
            self.listener = Listener(self.broker.login("reader"))
            try:
                self.listener.wait_ready()
                attempt("retained by wildcard", self.by_wildcard)
                attempt("retained by name", self.by_name)
                attempt("gesture", lambda: feels(self.listener, self.tags, TAGS[0]))
                attempt("LED: one result", lambda: one_result(self.listener, TAGS[0], "first"))
                attempt("doctor", lambda: verdicts(self.machine, self.row, "doctor"))
                attempt("why", lambda: verdicts(self.machine, self.row, "why", TAGS[0]))
                attempt("will", self.will)
                attempt("broker killed and started again", self.survive)
                attempt("stopped and cleared", self.clear)
            finally:
                self.listener.stop()
        finally:
            self.end()
        return self.row

    def connect(self) -> str:
        self.broker.set_up()
        self.tags = Tags(self.machine, "--tags", str(len(TAGS)))
        user, password = self.broker.login("bridge") or ("", "")
        self.machine.write("/etc/jacquard2mqtt/password", f"{password}\n", 0o600)
        lines = [
            f"instance: {INSTANCE}", "mqtt:", "  host: 127.0.0.1", f"  username: {user}", "  password_file: password",
            *(f"  {line}" for line in self.broker.options), "tags:", *(f"  - serial: '{tag}'" for tag in TAGS)]
        self.machine.write("/etc/jacquard2mqtt/config.yaml", "".join(f"{line}\n" for line in lines))
        self.machine.do("systemctl", "restart", SERVICE)
        info = wait_for("the bridge has published", lambda: retained(self.broker.login("reader"), [INFO]).get(INFO), 60)
        level = json.loads(str(info))["mqtt"]
        wait_for("all facts are right", lambda: not self.wrong(), 60)
        return f"works (MQTT {level if level == 5 else '3.1.1'})"

    def facts(self) -> dict[str, str]:
        return retained(self.broker.login("reader"), FACTS)

    def wrong(self) -> list[str]:
        """The facts that are not retained as they should be."""
        expected = {STATE: "online"}
        for tag in TAGS:
            expected |= {f"jacquard/tag/{tag}/availability": "online", f"jacquard/tag/{tag}/connection": '"state":"connected"'}
        if self.level != 50:
            expected[f"jacquard/tag/{TAGS[0]}/battery/level"] = str(self.level)
        found = self.facts()
        return [topic for topic in FACTS if topic not in found or expected.get(topic, "") not in found[topic]]

    def by_wildcard(self) -> None:
        found = retained(self.broker.login("reader"), ["jacquard/#"])
        missing = [topic for topic in FACTS if topic not in found]
        require(len(missing) < len(FACTS), "none")
        require(not missing, f"{len(missing)} of {len(FACTS)} are missing: {missing}")

    def by_name(self) -> None:
        wrong = self.wrong()
        require(not wrong, f"not right: {wrong}")

    def will(self) -> str:
        """The bridge is killed: a reader that is there receives its will, and one that comes later, too."""
        began = time.monotonic()
        self.machine.do("systemctl", "kill", "--signal=KILL", SERVICE)
        try:
            wait_for("the will arrives", lambda: "offline" in self.listener.seen(STATE, began), 20)
            seconds = time.monotonic() - began
            # A broker may store a moment later what it has delivered already.
            with contextlib.suppress(TimeoutError):
                wait_for("the will is retained", lambda: self.state() == "offline", 5)
            state = self.state()
            require(state == "offline", f"delivered after {seconds:.1f} s, not retained: a later reader gets {state}")
            return f"works ({seconds:.1f} s)"
        finally:
            self.machine.do("systemctl", "reset-failed", SERVICE)
            self.machine.do("systemctl", "start", SERVICE)
            wait_for("all facts are right again", lambda: not self.wrong(), 60)

    def state(self) -> str:
        return retained(self.broker.login("reader"), [STATE]).get(STATE, "nothing")

    def survive(self) -> str:
        """The broker is killed while a fact changes, and started again."""
        self.broker.kill()
        self.level = 41
        self.tags.type(f"battery {TAGS[0]} {self.level}")
        began = time.monotonic()
        self.broker.start()
        listening = time.monotonic() - began
        wait_for("all facts are right", lambda: not self.wrong(), 90)
        right = time.monotonic() - began
        self.listener.wait_ready()
        feels(self.listener, self.tags, TAGS[0])
        one_result(self.listener, TAGS[0], "after-death")
        return f"{time.monotonic() - began:.1f} s (listens after {listening:.1f} s, facts right after {right:.1f} s)"

    def clear(self) -> None:
        topics = [topic for topic in self.listener.topics() if not topic.endswith(EVENTS)]
        self.machine.do("systemctl", "stop", SERVICE)
        require(self.state() == "offline", f"the state is {self.state()}")
        self.machine.do("jacquard2mqtt", "clear")
        found = retained(self.broker.login("reader"), topics, seconds=3)
        require(not found, f"{len(found)} of {len(topics)} are left: {sorted(found)}")

    def end(self) -> None:
        """Leaves nothing for the next row."""
        self.machine.call("systemctl", "stop", SERVICE)
        self.machine.call("systemctl", "reset-failed", SERVICE)
        if hasattr(self, "tags"):
            self.tags.stop()
        self.machine.do("bash", "-c", "rm -rf /var/lib/jacquard2mqtt/*")
        self.broker.stop()
