"""The programs around Home Assistant: broker, simulated tags, bridge."""

from __future__ import annotations

import asyncio
import json
import pathlib
import signal
import subprocess
import sys
from typing import Any

from failure import Failure, until

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "Support"))
from ports import listens, take_port
from programs import mosquitto_command


class Process:
    """A program with a log file; it can be started again."""

    def __init__(self, log: pathlib.Path, command: list[str], environment: dict[str, str] | None = None) -> None:
        self.log = log
        self._command = command
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, with a pipe to its standard input."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=self._environment,
                start_new_session=True)

    def write(self, line: str) -> None:
        """Gives it a line on its standard input."""
        if self._process is None or self._process.stdin is None:
            raise Failure(f"{self._command[0]} does not run")
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    async def stop(self, number: int = signal.SIGTERM) -> None:
        """Ends it and waits."""
        if self._process is None:
            return
        process, self._process = self._process, None
        if process.poll() is None:
            process.send_signal(number)
        try:
            await asyncio.to_thread(process.wait, 40)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failure(f"{self._command[0]} does not end") from None

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self._process is not None and self._process.poll() is None


class Broker(Process):
    """A mosquitto without a memory of its own: what is retained is lost when it restarts."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.port = take_port()
        super().__init__(folder / "mosquitto.log", mosquitto_command(folder, self.port))

    async def begin(self) -> None:
        """Starts it and waits until it listens."""
        self.start()

        async def answers() -> bool:
            return listens(self.port)

        await until("the broker listens", answers)


class Tags(Process):
    """Simulated tags behind a fake BlueZ on a bus of their own."""

    def __init__(self, folder: pathlib.Path, program: pathlib.Path, count: int) -> None:
        super().__init__(folder / "simulator.log", [str(program), "--tags", str(count), "--quick", "--json"])
        self.bus_address = ""

    async def begin(self) -> None:
        """Starts them and learns the address of their bus."""
        self.start()

        async def ready() -> list[str]:
            lines = self.log.read_text().splitlines()
            return lines if "ready" in lines else []

        lines = await until("the simulator is ready", ready)
        self.bus_address = lines[0].removeprefix("DBUS_SYSTEM_BUS_ADDRESS=")

    def told(self, event: str, tag: str = "0001") -> list[dict[str, Any]]:
        """What a tag was told so far: `led`, `haptic` or `touch_mode`."""
        found = []
        for line in self.log.read_text().splitlines():
            if line.startswith("{"):
                said = json.loads(line)
                if said.get("event") == event and said.get("tag") == tag:
                    found.append(said)
        return found

    def answers(self, verb: str) -> list[str]:
        """How the simulator has answered a command so far: `ok` or `error`."""
        said = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [each["event"] for each in said if each.get("command", "").split(" ")[0] == verb]

    async def wait_told(self, event: str, count: int, tag: str = "0001") -> list[dict[str, Any]]:
        """Waits until a tag was told so many things."""

        async def enough() -> list[dict[str, Any]]:
            found = self.told(event, tag)
            return found if len(found) >= count else []

        return await until(f"tag {tag} is told {count} times: {event}", enough)

    async def wait_last(self, event: str, key: str, value: Any, tag: str = "0001") -> None:
        """Waits until the last command of a kind that a tag has received has a value."""

        async def has_value() -> bool:
            found = self.told(event, tag)
            return bool(found) and found[-1].get(key) == value

        await until(f"tag {tag} receives {event} with {key} {value}", has_value)


class Bridge(Process):
    """The program under test."""

    def __init__(self, folder: pathlib.Path, program: pathlib.Path, port: int, bus_address: str) -> None:
        self._file = folder / "jacquard2mqtt.yaml"
        self._port = port
        super().__init__(
            folder / "jacquard2mqtt.log",
            [str(program), "run", "--config", str(self._file), "--state", str(folder)],
            {"DBUS_SYSTEM_BUS_ADDRESS": bus_address})

    def configure(
        self, form: str, prefix: str = "homeassistant", name: str = "Left sleeve", settings: str = "",
        announcements: str = ""
    ) -> None:
        """Writes its configuration; tag 0002 shows the name that it has itself."""
        self._file.write_text(
            f"instance: attic\nmqtt:\n  port: {self._port}\nlog:\n  level: debug\n"
            f"home_assistant:\n  form: {form}\n  prefix: {prefix}\n  status_topic: homeassistant/status\n{announcements}"
            f"tags:\n  - serial: \"0001\"\n    name: {name}\n  - serial: \"0002\"\n{settings}")

    def reload(self) -> None:
        """Makes it read its configuration again."""
        if self._process:
            self._process.send_signal(signal.SIGHUP)
