"""A container that boots a layer with systemd, and whose changes are discarded at its end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator

from programs import Program, wait_for
from roots import GROUND, HOST, LOGS, Layer, Skipped, archives, mounts

CLONE_NEWNET = 0x40000000
#: Kept open, because the process itself is in the network of a container most of the time.
HOST_NETWORK = os.open("/proc/self/ns/net", os.O_RDONLY)
ENVIRONMENT = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]


class Failed(Exception):
    """A result that differs from the expected one."""


def require(condition: object, text: str) -> None:
    if not condition:
        raise Failed(text)


class Machine:
    """A booted layer with a network of its own, in which no other process listens."""

    def __init__(self, name: str, layer: Layer, packages: pathlib.Path) -> None:
        self.name, self.suite = name, layer.suite
        self.folder = GROUND / "machines" / name
        shutil.rmtree(self.folder, ignore_errors=True)
        root = self.folder / "root"
        script = "\n".join([
            "set -e", "mount --make-rprivate /", mounts(layer.folders, self.folder / "changes", root),
            # systemd from 258 on needs version 2 of control groups alone.
            "test ! -d /sys/fs/cgroup/unified || mount --bind /sys/fs/cgroup/unified /sys/fs/cgroup",
            "exec systemd-nspawn --quiet --register=no --keep-unit --private-network --resolv-conf=off --link-journal=no "
            f"--machine={HOST} --directory={shlex.quote(str(root))} --bind={shlex.quote(str(archives(layer.suite)))}:/archives "
            f"--bind-ro={shlex.quote(str(packages))}:/packages --boot --console=pipe",
        ])
        LOGS.mkdir(parents=True, exist_ok=True)
        (LOGS / f"{name}.boot.log").unlink(missing_ok=True)
        self.container = Program(LOGS, f"{name}.boot", ["unshare", "--mount", "bash", "-c", script])
        self.leader = 0
        self.programs: list[Program] = []
        try:
            wait_for(f"{name} boots", self.is_up, 90)
        except (TimeoutError, Failed) as problem:
            last = self.container.printed().strip().splitlines()[-2:]
            self.stop()
            raise Skipped(f"a container with systemd does not boot: {problem}: {' / '.join(last)}") from None

    def is_up(self) -> bool:
        require(self.container.process.poll() is None, "the container has ended")
        children = pathlib.Path(f"/proc/{self.container.process.pid}/task/{self.container.process.pid}/children")
        numbers = children.read_text(encoding="ascii").split()
        if not numbers:
            return False
        self.leader = int(numbers[0])
        state = self.call("systemctl", "is-system-running").stdout.strip()
        return state in ("running", "degraded")

    def path(self, path: str) -> pathlib.Path:
        """A file of the container, as this process reaches it."""
        return pathlib.Path(f"/proc/{self.leader}/root/{path.lstrip('/')}")

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        place = self.path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        place.chmod(mode)

    def enter(self, *words: str, network: bool = True) -> list[str]:
        """The command that runs another one in the container."""
        own = f"--net=/proc/{os.getpid()}/fd/{HOST_NETWORK}"
        spaces = ["--mount", "--uts", "--ipc", "--pid", "--root", "--wd", "--net" if network else own]
        return ["nsenter", "--target", str(self.leader), *spaces, *ENVIRONMENT, *words]

    def call(self, *words: str, network: bool = True, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Runs a command in the container; without `network`, with the network of the host."""
        return subprocess.run(
            self.enter(*words, network=network), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=timeout, check=False)

    def do(self, *words: str, network: bool = True, timeout: float = 900) -> str:
        """Runs a command that has to succeed, and returns its output."""
        result = self.call(*words, network=network, timeout=timeout)
        if result.returncode:
            last = " / ".join((result.stdout + result.stderr).strip().splitlines()[-3:])
            raise Failed(f"`{' '.join(words[:4])}` ends with {result.returncode}: {last}")
        return result.stdout

    def install(self, *packages: str, recommends: bool = True) -> None:
        """Installs packages, which the host's network downloads and the container's apt installs."""
        options = ["-y"] if recommends else ["-y", "--no-install-recommends"]
        self.do("apt-get", "install", *options, "--download-only", *packages, network=False)
        self.do("apt-get", "install", *options, *packages)

    def add(self, name: str, *words: str) -> Program:
        """Starts a program in the container."""
        (LOGS / f"{self.name}.{name}.log").unlink(missing_ok=True)
        program = Program(LOGS, f"{self.name}.{name}", self.enter(*words))
        self.programs.append(program)
        return program

    def version(self, package: str) -> str:
        """The version of an installed package, without that of Debian's packaging; empty if it is not installed."""
        text = self.call("dpkg-query", "--show", "--showformat=${db:Status-Status} ${source:Upstream-Version}", package).stdout
        found = re.fullmatch(r"installed (.*)", text.strip())
        return re.sub(r"\+(dfsg|ds|really|debian).*", "", found[1]) if found else ""

    def show(self, unit: str, *properties: str) -> list[str]:
        """Properties of a unit."""
        text = self.do("systemctl", "show", unit, f"--property={','.join(properties)}")
        values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        return [values.get(name, "") for name in properties]

    def is_active(self, unit: str) -> bool:
        return self.show(unit, "ActiveState") == ["active"]

    def journal(self, unit: str) -> str:
        return self.call("journalctl", "--no-pager", "--output=cat", f"--unit={unit}").stdout

    @contextlib.contextmanager
    def network(self) -> Iterator[None]:
        """Moves this thread, and those that it starts, into the network of the container for a while."""
        with open("/proc/thread-self/ns/net", encoding="ascii") as own, open(f"/proc/{self.leader}/ns/net", encoding="ascii") as other:
            enter_network(other.fileno())
            try:
                yield
            finally:
                enter_network(own.fileno())

    def stop(self) -> None:
        """Ends the container, keeps its journal and discards its changes."""
        if self.leader and self.container.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                (LOGS / f"{self.name}.journal").write_text(self.call("journalctl", "--no-pager").stdout, encoding="utf-8")
        self.container.stop()
        for program in self.programs:
            program.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def enter_network(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
