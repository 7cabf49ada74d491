"""Programs that the rigs start: brokers, buses, simulated tags, bridges."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable

from ports import listens, take_port

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILD = TREE / ".build" / "debug"


def program(name: str) -> str:
    """The path of a program, which may be in a folder of system programs."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin") or name


class Stopwatch:
    """Counts only the time in which no process of the machine waits for a processor, so that a busy machine decides nothing."""

    def __init__(self) -> None:
        self.begin = time.monotonic()
        self.before = self.stalled()

    def seconds(self) -> float:
        # Something that never ends must fail on a busy machine, too.
        passed = time.monotonic() - self.begin
        return max(passed - (self.stalled() - self.before), passed / 10)

    @staticmethod
    def stalled() -> float:
        """For how long processes have waited. Source: docs.kernel.org/accounting/psi.html."""
        try:
            with open("/proc/pressure/cpu", encoding="ascii") as file:
                return int(file.readline().rsplit("total=", 1)[1]) / 1_000_000
        except (OSError, IndexError, ValueError):
            return 0


def wait_for(what: str, condition: Callable[[], object], seconds: float = 20) -> object:
    """Waits until a condition returns something true, and returns that. Fails at the deadline, which is one of a `Stopwatch`."""
    watch = Stopwatch()
    while not (value := condition()):
        if watch.seconds() > seconds:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.05)
    return value


class Program:
    """A program with a log file; it can be killed and started again."""

    def __init__(
        self, folder: os.PathLike[str] | str, name: str, command: list[str], environment: dict[str, str] | None = None
    ) -> None:
        self.name = name
        self.command = [str(word) for word in command]
        self.environment = {**os.environ, **(environment or {})}
        self.log = pathlib.Path(folder) / f"{name}.log"
        self.start()

    def start(self) -> None:
        """Starts it; its output is added to the log."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdin=subprocess.PIPE, stdout=log, stderr=log)

    def kill(self) -> None:
        """Ends it with SIGKILL."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Ends it with SIGTERM, and after 5 s with SIGKILL."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()

    def type(self, line: str) -> None:
        """Writes a line to its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def printed(self) -> str:
        """Everything that it has printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")


def mosquitto_command(
    folder: os.PathLike[str] | str, port: int, options: Iterable[str] = ("allow_anonymous true",), name: str = "mosquitto"
) -> list[str]:
    """Writes a configuration for a mosquitto that listens on loopback and stores nothing; returns its command."""
    path = pathlib.Path(folder) / f"{name}.conf"
    lines = ["persistence false", "set_tcp_nodelay true", f"listener {port} 127.0.0.1", *options]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    path.chmod(0o644)
    return [program("mosquitto"), "-c", str(path)]


class Mosquitto(Program):
    """A mosquitto on a port of its own, which listens when this returns."""

    def __init__(
        self, folder: os.PathLike[str] | str, options: Iterable[str] = ("allow_anonymous true",), name: str = "mosquitto"
    ) -> None:
        self.port = take_port()
        super().__init__(folder, name, mosquitto_command(folder, self.port, options, name))

    def start(self) -> None:
        super().start()
        wait_for(f"{self.name} listens", lambda: listens(self.port))


class Bus(Program):
    """A private D-Bus daemon, which listens when this returns."""

    LIMITS = {
        **dict.fromkeys(
            ("max_incoming_bytes", "max_outgoing_bytes", "max_message_size", "max_incoming_unix_fds",
             "max_outgoing_unix_fds"), 1_000_000_000),
        **dict.fromkeys(
            ("auth_timeout", "max_completed_connections", "max_connections_per_user", "max_match_rules_per_connection",
             "max_replies_per_connection"), 100_000),
    }

    def __init__(self, folder: os.PathLike[str] | str, name: str = "bus") -> None:
        socket = pathlib.Path(folder) / name
        self.address = f"unix:path={socket}"
        configuration = pathlib.Path(folder) / f"{name}.conf"
        limits = "".join(f'<limit name="{key}">{value}</limit>' for key, value in self.LIMITS.items())
        configuration.write_text(
            '<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" '
            '"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">\n'
            f"<busconfig><type>session</type><listen>{self.address}</listen><auth>EXTERNAL</auth>"
            '<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>'
            f'<allow own="*"/></policy>{limits}</busconfig>\n', encoding="utf-8")
        super().__init__(
            folder, name, [program("dbus-daemon"), "--nofork", "--nopidfile", f"--config-file={configuration}"])
        wait_for(f"{name} listens", socket.exists)


class Simulator(Program):
    """Simulated tags on a bus of their own, ready when this returns."""

    def __init__(
        self, folder: os.PathLike[str] | str, *arguments: str, name: str = "tags", build: pathlib.Path = BUILD,
        is_quick: bool = True,
    ) -> None:
        quick = ["--quick"] if is_quick else []
        super().__init__(folder, name, [str(build / "jacquard-simulator"), *quick, *arguments])
        wait_for(f"{name} is ready", lambda: "\nready\n" in self.printed())
        self.address = self.printed().splitlines()[0].removeprefix("DBUS_SYSTEM_BUS_ADDRESS=")


class Bridge(Program):
    """The bridge, with a configuration file."""

    def __init__(
        self, folder: os.PathLike[str] | str, bus: str, configuration: str, name: str = "bridge",
        build: pathlib.Path = BUILD,
    ) -> None:
        path = pathlib.Path(folder) / f"{name}.yaml"
        path.write_text(configuration, encoding="utf-8")
        super().__init__(
            folder, name, [str(build / "jacquard2mqtt"), "run", "--config", str(path)],
            {"DBUS_SYSTEM_BUS_ADDRESS": bus, "STATE_DIRECTORY": str(pathlib.Path(folder) / f"{name}-state")})
