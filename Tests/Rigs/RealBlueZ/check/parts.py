"""The parts of the guest that a scenario touches: broker, bridge, BlueZ, and the simulated tags."""

from __future__ import annotations

import contextlib
import json
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import dbus
import dbus.bus
from watch import Failure, Watch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "Support"))
from programs import mosquitto_command

LOGS = pathlib.Path("/run/rig/log")
WORK = pathlib.Path("/run/check")

# The characteristics response, notify and raw data.
NOTIFYING = [f"d2f2b8d{digit}-d165-445c-b0e1-2d6b642ec57b" for digit in "012"]


def address(serial: str) -> str:
    """The Bluetooth address of a simulated tag, as `air/tag.py` gives it."""
    return f"F0:00:00:00:00:{int(serial):02X}"


class Broker:
    """A mosquitto on the guest's loopback that forgets everything when it ends, and a listener to all topics."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.arguments = mosquitto_command(WORK, 1883, ["allow_anonymous true", "user root"])
        self.start()
        # It connects again by itself after the broker was away. Each line is a topic, a blank, a payload.
        listen = ["mosquitto_sub", "-h", "127.0.0.1", "-q", "1", "-t", "jacquard/#", "-F", "%t %p"]
        listener = subprocess.Popen(listen, stdout=subprocess.PIPE)
        assert listener.stdout is not None
        watch.follow(listener.stdout, lambda line: watch.add(*line.split(" ", 1)))

    def start(self) -> None:
        """Starts the broker, and waits until it listens."""
        mark = len(self.watch)
        self.process = subprocess.Popen(self.arguments, stderr=subprocess.PIPE)
        assert self.process.stderr is not None
        self.watch.follow(self.process.stderr, lambda line: self.watch.add("mosquitto", line))
        self.watch.wait("broker", lambda: any("running" in line for line in self.watch.since(mark, "mosquitto")))

    def stop(self) -> None:
        """Ends the broker."""
        self.process.terminate()
        self.process.wait()

    def publish(self, topic: str, payload: str) -> None:
        """Publishes a command."""
        subprocess.run(["mosquitto_pub", "-h", "127.0.0.1", "-q", "1", "-t", topic, "-m", payload], check=True)

    def latest(self, topic: str) -> str:
        """The retained payload of a topic."""
        listen = ["mosquitto_sub", "-h", "127.0.0.1", "-C", "1", "-W", "10", "-t", topic]
        return subprocess.run(listen, capture_output=True, text=True, check=True).stdout

    def retained(self) -> list[str]:
        """The topics with a retained message; a new subscriber gets all of these before anything that is published."""
        end = "rig/end-of-retained"
        listen = ["mosquitto_sub", "-d", "-h", "127.0.0.1", "-q", "1", "-t", "#", "-F", "%r %t"]
        listener = subprocess.Popen(listen, stdout=subprocess.PIPE, text=True)
        assert listener.stdout is not None
        topics = []
        for line in listener.stdout:
            match line.split():
                case ["Subscribed", *_]:
                    self.publish(end, "")
                case ["1", topic]:
                    topics.append(topic)
                case ["0", topic] if topic == end:
                    break
        listener.terminate()
        listener.wait()
        return topics


class Bridge:
    """The daemon under test."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.process: subprocess.Popen[bytes] | None = None

    def configure(self, serials: list[str], settings: str) -> pathlib.Path:
        """Writes its configuration: these tags, a folder for motion data, and further lines."""
        configuration = WORK / "jacquard2mqtt.yaml"
        lines = ["instance: guest", f"imu: {{folder: {WORK / 'imu'}}}", "tags:"]
        lines += [f'  - serial: "{serial}"' for serial in serials]
        configuration.write_text("\n".join(lines) + f"\n{settings}\n")
        return configuration

    def reload(self, serials: list[str], settings: str) -> None:
        """Changes the configuration while it runs."""
        self.configure(serials, settings)
        if self.process is not None:
            self.process.send_signal(signal.SIGHUP)

    def start(self, serials: list[str], settings: str = "") -> None:
        """Starts it with these tags configured, and with further lines of configuration."""
        configuration = self.configure(serials, settings)
        arguments = [self.program, "run", "--config", str(configuration), "--state", str(WORK), "--log-level", "debug"]
        with (LOGS / "bridge").open("ab") as log:
            self.process = subprocess.Popen(arguments, stdout=log, stderr=log)

    def command(self, *arguments: str) -> dict[str, Any]:
        """Runs a command of the command line with this configuration, and returns the document that it prints."""
        configuration = str(WORK / "jacquard2mqtt.yaml")
        words = [self.program, *arguments, "--config", configuration, "--json"]
        result = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=240)
        lines = result.stdout.splitlines()
        if not lines:
            raise Failure(f"{arguments} has printed nothing: {result.stderr}")
        return json.loads(lines[0])

    def log_size(self) -> int:
        """The size of its log in bytes."""
        log = LOGS / "bridge"
        return log.stat().st_size if log.exists() else 0

    def log(self, since: int) -> list[str]:
        """The lines of its log from there on."""
        with (LOGS / "bridge").open("rb") as log:
            log.seek(since)
            return log.read().decode(errors="replace").splitlines()

    def state(self) -> str:
        """The content of its state file."""
        return (WORK / "tags.json").read_text()

    def stop(self) -> None:
        """Asks it to end, and waits until it has."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)

    def kill(self) -> None:
        """Ends it as a crash does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


class BlueZ:
    """bluetoothd and the adapters, as a test may treat them."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.second: subprocess.Popen[bytes] | None = None

    def crashes(self) -> int:
        """How often bluetoothd has ended since the guest came up."""
        return (LOGS / "bluetoothd").read_text(errors="replace").count("]: Bluetooth daemon ") - 1

    def kernel_has_failed(self) -> bool:
        """Whether the guest's kernel has found a fault of its own; nothing can be said about Bluetooth behind it."""
        oops = 1 << 7
        return bool(int(pathlib.Path("/proc/sys/kernel/tainted").read_text()) & oops)

    def process(self) -> str:
        """The process of bluetoothd; the guest starts another one when it has ended."""
        return subprocess.run(["busybox", "pidof", "bluetoothd"], capture_output=True, text=True).stdout.strip()

    def kill(self) -> None:
        """Ends bluetoothd as a crash does."""
        subprocess.run(["busybox", "killall", "-KILL", "bluetoothd"], check=True)

    def plug(self) -> None:
        """Adds the second adapter, hci1, and waits until it is on."""
        with (LOGS / "btattach1").open("ab") as log:
            arguments = ["btattach", "-B", "/dev/hvc1", "-P", "h4"]
            self.second = subprocess.Popen(arguments, stdout=log, stderr=log)
        get = ["org.freedesktop.DBus.Properties.Get", "string:org.bluez.Adapter1", "string:Powered"]
        command = ["dbus-send", "--system", "--print-reply", "--dest=org.bluez", "/org/bluez/hci1", *get]
        deadline = time.monotonic() + 30
        while "true" not in subprocess.run(command, capture_output=True, text=True, check=False).stdout:
            if time.monotonic() > deadline:
                raise Failure("the second adapter is not on")
            time.sleep(0.1)

    def unplug(self) -> None:
        """Removes the second adapter."""
        if self.second is not None:
            self.second.terminate()
            self.second.wait()
            self.second = None

    def gives_reasons(self) -> bool:
        """Whether bluetoothd signals why a link has ended: since 5.83."""
        version = subprocess.run(["bluetoothctl", "--version"], capture_output=True, text=True, check=True).stdout
        return tuple(map(int, version.split()[-1].split("."))) >= (5, 83)

    def dump(self, path: pathlib.Path) -> None:
        """Writes all objects of org.bluez to a file, for those who look into a failure."""
        method = "org.freedesktop.DBus.ObjectManager.GetManagedObjects"
        with path.open("wb") as output:
            subprocess.run(["dbus-send", "--system", "--print-reply", "--dest=org.bluez", "/", method], stdout=output)

    def has_write_descriptor(self, serial: str) -> bool:
        """Whether a client writes to a connected tag by the descriptor of AcquireWrite."""
        method = "org.freedesktop.DBus.ObjectManager.GetManagedObjects"
        objects = subprocess.run(
            ["dbus-send", "--system", "--print-reply", "--dest=org.bluez", "/", method],
            capture_output=True, text=True, check=True,
        ).stdout
        device = "/dev_" + address(serial).replace(":", "_") + "/"
        return any(
            re.search(r'"WriteAcquired"\s+variant\s+boolean true', characteristic)
            for characteristic in objects.split("object path")
            if device in characteristic.split("\n")[0]
        )

    def keys(self, serial: str) -> list[str]:
        """The files in which bluetoothd keeps the bond with a tag."""
        return [str(path) for path in pathlib.Path("/var/lib/bluetooth").glob(f"*/{address(serial)}/info")]

    def forget(self, serial: str) -> None:
        """Removes a device with its bond, as `bluetoothctl remove` does; nothing happens if there is none.

        Repeats that until no key is left: a bluetoothd that crashes over it keeps the bond for its successor."""
        destination = ["dbus-send", "--system", "--print-reply", "--dest=org.bluez", "/org/bluez/hci0"]
        path = "objpath:/org/bluez/hci0/dev_" + address(serial).replace(":", "_")
        method = [*destination, "org.bluez.Adapter1.RemoveDevice", path]
        deadline = time.monotonic() + 30
        while True:
            subprocess.run(method, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            if not self.keys(serial):
                return
            if time.monotonic() > deadline:
                raise Failure(f"bluetoothd keeps the bond with tag {serial}")
            time.sleep(0.1)

    def power(self, is_on: bool) -> None:
        """Switches the adapter on or off."""
        destination = ["dbus-send", "--system", "--print-reply", "--dest=org.bluez", "/org/bluez/hci0"]
        value = f"variant:boolean:{str(is_on).lower()}"
        method = ["org.freedesktop.DBus.Properties.Set", "string:org.bluez.Adapter1", "string:Powered", value]
        subprocess.run(destination + method, check=True, stdout=subprocess.DEVNULL)

    @contextlib.contextmanager
    def other_listener(self, serial: str) -> Iterator[None]:
        """Another program that is notified, by signals, of everything that a tag says.

        bluetoothd may end when a client is killed. Its successor does not know the tag until it has heard it, so each error is
        taken as one that passes, until the time is over."""
        bus = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SYSTEM)
        deadline = time.monotonic() + 60
        outcome = "nothing"
        try:
            while outcome:
                if time.monotonic() > deadline:
                    raise Failure(f"BlueZ does not notify another program of tag {serial}: {outcome}")
                try:
                    outcome = self._listen(bus, serial)
                except dbus.DBusException as error:
                    outcome = str(error)
                time.sleep(0.1)
            yield
        finally:
            bus.close()

    def _listen(self, bus: dbus.bus.BusConnection, serial: str) -> str | None:
        """One step towards the notifications of a tag: what is missing, or None when they are on. BlueZ lists a device from when
        it is heard, and its characteristics while there is a link."""
        manager = dbus.Interface(bus.get_object("org.bluez", "/"), "org.freedesktop.DBus.ObjectManager")
        objects = manager.GetManagedObjects(timeout=10)
        device = "/org/bluez/hci0/dev_" + address(serial).replace(":", "_")
        if device not in objects:
            adapter = dbus.Interface(bus.get_object("org.bluez", "/org/bluez/hci0"), "org.bluez.Adapter1")
            adapter.StartDiscovery(timeout=10)
            return "no such device"
        if not objects[device]["org.bluez.Device1"]["Connected"]:
            dbus.Interface(bus.get_object("org.bluez", device), "org.bluez.Device1").Connect(timeout=30)
            return "no link"
        characteristics = {
            str(found["UUID"]): path
            for path, interfaces in objects.items()
            if path.startswith(device + "/") and (found := interfaces.get("org.bluez.GattCharacteristic1"))
        }
        if set(NOTIFYING) - set(characteristics):
            return f"only {sorted(characteristics)}"
        for uuid in NOTIFYING:
            characteristic = bus.get_object("org.bluez", characteristics[uuid])
            dbus.Interface(characteristic, "org.bluez.GattCharacteristic1").StartNotify(timeout=30)
        return None


class Tags:
    """The simulated tags, through the control socket of `air/simulate.py`."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.control = open("/dev/rig-control", "r+b", buffering=0)
        watch.follow(self.control, self._take)

    def do(self, serial: str, verb: str) -> None:
        """Has a tag do something, and waits until it has."""
        mark = len(self.watch)
        self.control.write(json.dumps({"tag": serial, "do": verb}).encode() + b"\n")
        self.watch.wait(f"answer of tag {serial} to {verb}", lambda: self._answer(mark, serial) is not None)
        answer = self._answer(mark, serial) or {}
        if "error" in answer:
            raise Failure(f"tag {serial} cannot {verb}: {answer['error']}")

    def told(self, mark: int, serial: str, event: str) -> list[dict[str, Any]]:
        """What a tag was told since a mark, of one kind."""
        lines = self.watch.since(mark, serial)
        return [line["told"] for line in lines if line.get("told", {}).get("event") == event]

    def _answer(self, mark: int, serial: str) -> dict[str, Any] | None:
        answers = (line for line in self.watch.since(mark, serial) if "done" in line or "error" in line)
        return next(answers, None)

    def _take(self, text: str) -> None:
        line = json.loads(text)
        self.watch.add(line["tag"], line)
