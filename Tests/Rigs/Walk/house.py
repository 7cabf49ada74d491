"""Radios of all kinds in a house, a bridge that uses them, and what happens at the tags and at the broker."""
from __future__ import annotations

import base64
import getpass
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import paho.mqtt.client as mqtt

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Support"))
from ports import take_port  # noqa: E402
from programs import BUILD, Bridge, Bus, Mosquitto, Program, program, wait_for  # noqa: E402

# The range of a radio in metres: -45 dBm at 1 m, 30 dB less for each factor of ten, and -90 dBm is the weakest signal.
RANGE = 10 ** 1.5


class SSHServer(Program):
    """An SSH server on loopback, whose only key runs systemd-stdio-bridge. It listens when this returns."""

    def __init__(self, folder: pathlib.Path, bus: str) -> None:
        self.folder, self.port = folder, take_port()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", folder / name], check=True)
        keys = {name: (folder / f"{name}.pub").read_text(encoding="ascii") for name in ("host", "user")}
        (folder / "authorized_keys").write_text(
            f'restrict,command="systemd-stdio-bridge -p{bus}" {keys["user"]}', encoding="ascii")
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {keys['host']}", encoding="ascii")
        (folder / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized_keys\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nStrictModes no\nUsePAM no\nPidFile none\n",
            encoding="ascii")
        if os.getuid() == 0:  # The server of root needs it, and Debian makes it at startup.
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        super().__init__(folder, "sshd", [program("sshd"), "-D", "-e", "-f", str(folder / "sshd_config")])

    def start(self) -> None:
        before = self.printed().count("listening on") if self.log.exists() else 0
        super().start()
        wait_for("the SSH server listens", lambda: self.printed().count("listening on") > before)

    def sessions(self) -> list[int]:
        """The processes of its sessions."""
        parents = {}
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                parents[int(path.parent.name)] = int(path.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue

        def belongs(process: int) -> bool:
            parent = parents.get(process)
            return parent is not None and (parent == self.process.pid or belongs(parent))

        return [process for process in parents if belongs(process)]

    def kill(self) -> None:
        """Kills it with its sessions."""
        for process in self.sessions():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        super().kill()

    def radio(self, name: str) -> str:
        """Its item of `bluetooth.radios`."""
        return (f"    - {{ssh: '{getpass.getuser()}@127.0.0.1', name: {name}, port: {self.port}, "
                f"identity_file: {self.folder}/user, known_hosts_file: {self.folder}/known_hosts}}\n")


class Tags(Program):
    """Simulated tags. Each line that they print is given to a function, with the time at which it was read."""

    def __init__(self, folder: pathlib.Path, *arguments: str) -> None:
        self.on_line: Callable[[dict, float], None] = lambda _document, _now: None
        self.address, self.ready = "", threading.Event()
        super().__init__(folder, "tags", [str(BUILD / "jacquard-simulator"), "--json", *arguments])
        if not self.ready.wait(20):
            raise TimeoutError(f"the simulator is not ready: {self.printed()}")

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        """Reads its lines until it ends, and adds them to the log."""
        log = self.log.open("ab", buffering=0)
        for line in self.process.stdout:
            now = time.monotonic()
            if b'"command":"move' not in line:
                log.write(f"{now:.3f} ".encode() + line)
            if line.startswith(b"{"):
                self.on_line(json.loads(line), now)
            elif line.startswith(b"DBUS_SYSTEM_BUS_ADDRESS="):
                self.address = line.decode().strip().partition("=")[2]
            elif line == b"ready\n":
                self.ready.set()


class Observer:
    """A client at the broker. Each message is given to a function, with the time at which it was received."""

    def __init__(self, port: int, topics: list[str]) -> None:
        self.on_message: Callable[[str, bytes, float], None] = lambda _topic, _payload, _now: None
        self.states: dict[str, dict] = {}
        self.client = mqtt.Client(protocol=mqtt.MQTTv311)
        granted = threading.Event()
        self.client.on_subscribe = lambda *_: granted.set()
        self.client.on_message = lambda _client, _data, message: self.note(message)
        self.client.connect("127.0.0.1", port)
        # Otherwise a command may wait 40 ms for the acknowledgment of the message before it.
        self.client.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.client.loop_start()
        self.client.subscribe([(topic, 1) for topic in [*topics, "jacquard/tag/+/connection"]])
        if not granted.wait(10):
            raise TimeoutError("the observer cannot subscribe")

    def note(self, message: mqtt.MQTTMessage) -> None:
        """Handles a message."""
        now = time.monotonic()
        if message.topic.endswith("/connection") and message.payload:
            self.states[message.topic.split("/")[2]] = json.loads(message.payload)
        self.on_message(message.topic, message.payload, now)

    def is_connected(self, tag: str, radio: str | None = None) -> bool:
        """Whether a tag is connected, by that radio."""
        state = self.states.get(tag, {})
        return state.get("state") == "connected" and radio in (None, state.get("radio"))

    def send(self, topic: str, payload: str | dict) -> None:
        """Publishes a command."""
        self.client.publish(topic, json.dumps(payload) if isinstance(payload, dict) else payload, 1)


class House:
    """A broker, tags, radios and a bridge."""

    def __init__(self, folder: str, topics: list[str], build: pathlib.Path = BUILD) -> None:
        self.folder, self.topics, self.build = pathlib.Path(folder), topics, build
        self.parts: list[Program] = []
        self.broker = self.add(Mosquitto(folder))
        self.observer: Observer | None = None
        self.ssh: SSHServer | None = None
        self.other_bus: Bus | None = None
        self.key = self.folder / "loft.key"
        self.key.write_text(base64.b64encode(bytes(range(32))).decode() + "\n", encoding="ascii")

    def add(self, part):
        """Stops a program at the end."""
        self.parts.append(part)
        return part

    def another_computer(self) -> None:
        """Adds a bus with an SSH server in front of it."""
        self.other_bus = self.add(Bus(self.folder, "other"))
        self.ssh = self.add(SSHServer(self.folder, self.other_bus.address))

    def proxy_options(self, port: int) -> list[str]:
        """The options of the simulator for a proxy."""
        return ["--esphome", str(port), "--esphome-key", str(self.key)]

    def proxy_radio(self, port: int) -> str:
        """The item of `bluetooth.radios` of a proxy."""
        return f"    - {{esphome: '127.0.0.1:{port}', name: loft, key_file: {self.key}, dedicated: true}}\n"

    def start(self, serials: list[str], simulator: list[str], radios: str, more: str = "") -> None:
        """Starts tags, observer and bridge, and waits until all tags are connected."""
        self.tags = self.add(Tags(self.folder, *simulator))
        self.observer = Observer(self.broker.port, self.topics)
        bluetooth = f"bluetooth:\n  radios:\n{radios}" if radios else ""
        tags = "".join(f"  - serial: '{serial}'\n" for serial in serials)
        self.bridge = self.add(Bridge(
            self.folder, self.tags.address,
            f"instance: walk\nmqtt:\n  port: {self.broker.port}\n{bluetooth}{more}tags:\n{tags}", build=self.build))
        self.wait_connected(serials)

    def wait_connected(self, serials: list[str], seconds: float = 60) -> None:
        """Waits until tags are connected."""
        wait_for("all tags are connected", lambda: all(map(self.observer.is_connected, serials)), seconds)

    def stop(self) -> None:
        """Stops everything."""
        for part in reversed(self.parts):
            part.stop()
        if self.observer:
            self.observer.client.loop_stop()


def percentile(values: list[float], share: float) -> float:
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(share * len(ordered)) // 100) - 1)] if ordered else float("nan")
