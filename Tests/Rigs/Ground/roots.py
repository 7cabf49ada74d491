"""Roots of Debian suites below .build/ground, and layers of packages on them. Both are kept, and so is every downloaded package."""

from __future__ import annotations

import hashlib
import pathlib
import shlex
import shutil
import subprocess

from programs import TREE

GROUND = TREE / ".build" / "ground"
LOGS = GROUND / "logs"
MIRROR = "http://deb.debian.org/debian"
NAMES = {"bookworm": "Debian 12", "trixie": "Debian 13", "sid": "sid"}
#: What a host has before the bridge is installed.
BASE = ["systemd", "systemd-sysv", "dbus", "libpam-systemd", "ca-certificates"]
HOST = "ground"
APT = [
    # A folder that is mounted there. The default one is on the root, and apt empties it.
    'Dir::Cache::archives "/archives";',
    'Binary::apt::APT::Keep-Downloaded-Packages "true";',
    'APT::Sandbox::User "root";',
    # A mirror may stand still.
    'Acquire::Check-Valid-Until "false";',
    'DPkg::Options { "--force-confdef"; "--force-confold"; };',
    'DPkg::Options { "--force-unsafe-io"; };',
]


class Skipped(Exception):
    """Something that cannot be had on this machine, with the reason."""


def archives(suite: str) -> pathlib.Path:
    """Where the packages of a suite are downloaded to."""
    folder = GROUND / "archives" / suite
    (folder / "partial").mkdir(parents=True, exist_ok=True)
    return folder


def mounts(lower: list[pathlib.Path], upper: pathlib.Path, place: pathlib.Path) -> str:
    """A shell command that mounts an overlay. In a namespace of mounts it ends with the last process there."""
    work = upper.with_name(f"{upper.name}.work")
    for folder in (upper, work, place):
        folder.mkdir(parents=True, exist_ok=True)
    # An overlay's folder of work belongs to one mount.
    options = f"lowerdir={':'.join(map(str, lower))},upperdir={upper},workdir={work}"
    return f"mount -t overlay overlay -o {shlex.quote(options)} {shlex.quote(str(place))}"


def run_logged(name: str, command: list[str], timeout: float) -> None:
    """Runs a command with its output in a log. Raises `Skipped` with the last lines of it if the command fails."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    with log.open("wb") as file:
        try:
            status = subprocess.run(command, stdout=file, stderr=file, stdin=subprocess.DEVNULL, timeout=timeout, check=False).returncode
        except subprocess.TimeoutExpired:
            raise Skipped(f"{name}: not within {timeout:.0f} s (all of it: {log.relative_to(TREE)})") from None
    if status:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise Skipped(f"{name}: {' / '.join(lines[-2:])} (all of it: {log.relative_to(TREE)})")


class Layer:
    """A folder with a suite's files, or with those that further packages add to another layer."""

    def __init__(self, name: str, suite: str, below: Layer | None = None, packages: list[str] | None = None, script: str = "") -> None:
        self.name, self.suite, self.below, self.script = name, suite, below, script
        self.packages = packages or []
        self.folder = GROUND / "roots" / name

    @property
    def folders(self) -> list[pathlib.Path]:
        """The folders of an overlay, the uppermost first."""
        return [self.folder, *(self.below.folders if self.below else [])]

    @property
    def recipe(self) -> str:
        """Changes whenever the layer has to be made again."""
        parts = [self.suite, *BASE, *self.packages, *APT, self.script, self.below.recipe if self.below else ""]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def prepare(self) -> Layer:
        """Makes the layer unless it is there."""
        if self.below:
            self.below.prepare()
        stamp = self.folder.with_name(f"{self.name}.ready")
        if stamp.exists() and stamp.read_text(encoding="ascii") == self.recipe:
            return self
        stamp.unlink(missing_ok=True)
        self.discard()
        print(f"making {self.name}", flush=True)
        if self.below:
            self.add_packages()
        else:
            self.bootstrap()
        stamp.write_text(self.recipe, encoding="ascii")
        return self

    def discard(self) -> None:
        for folder in (self.folder, self.folder.with_name(f"{self.name}.work")):
            if folder.exists():
                shutil.rmtree(folder)

    def bootstrap(self) -> None:
        cache = archives(self.suite)
        run_logged(self.name, [
            "debootstrap", "--variant=minbase", f"--cache-dir={cache}", f"--include={','.join(BASE)}", self.suite,
            str(self.folder), MIRROR], 1800)
        self.write("etc/apt/apt.conf.d/ground", "".join(f"{line}\n" for line in APT))
        self.write("etc/hostname", f"{HOST}\n")
        # Erlang's nodes look for the host's name.
        self.write("etc/hosts", f"127.0.0.1 localhost {HOST}\n")
        (self.folder / "archives").mkdir()
        self.write("etc/apt/sources.list", sources(self.suite))
        self.chroot("apt-get update", self.name)

    def write(self, path: str, text: str) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def add_packages(self) -> None:
        # No service may start in a chroot, and none at the boot of a machine from this layer.
        install = [
            "export DEBIAN_FRONTEND=noninteractive",
            "printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d", "chmod +x /usr/sbin/policy-rc.d",
            f"apt-get install -y --no-install-recommends {' '.join(self.packages)}",
            "rm /usr/sbin/policy-rc.d", self.script or ":",
        ]
        self.chroot(" && ".join(install), self.name)

    def chroot(self, script: str, log: str, timeout: float = 3600) -> None:
        """Runs a shell script in the layer, with the network of the host."""
        run_logged(log, self.command(script), timeout)

    def command(self, script: str, binds: dict[pathlib.Path, str] | None = None) -> list[str]:
        """The command that runs a shell script in the layer."""
        place = self.folder.with_name(f"{self.name}.place")
        lines = ["set -e", "mount --make-rprivate /"]
        if self.below:
            lines.append(mounts(self.below.folders, self.folder, place))
        else:
            place.mkdir(parents=True, exist_ok=True)
            lines.append(f"mount --bind {shlex.quote(str(self.folder))} {shlex.quote(str(place))}")
        for source, target in {archives(self.suite): "/archives", **(binds or {})}.items():
            there = shlex.quote(f"{place}{target}")
            lines += [f"mkdir -p {there}", f"mount --bind {shlex.quote(str(source))} {there}"]
        root = shlex.quote(str(place))
        lines += [
            f"mount -t proc proc {root}/proc", f"mount --rbind /dev {root}/dev", f"cat /etc/resolv.conf > {root}/etc/resolv.conf",
            f"exec chroot {root} env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 bash -ec {shlex.quote(script)}",
        ]
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", "\n".join(lines)]


def sources(suite: str) -> str:
    """The list of a suite's packages; those of a release with its updates."""
    lines = [f"deb {MIRROR} {suite} main"]
    if suite != "sid":
        lines += [f"deb {MIRROR} {suite}-updates main", f"deb {MIRROR}-security {suite}-security main"]
    return "".join(f"{line}\n" for line in lines)


def base(suite: str) -> Layer:
    return Layer(suite, suite)
