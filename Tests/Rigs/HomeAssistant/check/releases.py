"""The releases of Home Assistant that `setup` has installed."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Release:
    """One of them: a Python in a Debian tree."""

    name: str
    version: str
    tree: pathlib.Path

    @property
    def knows_device_form(self) -> bool:
        """Whether it takes the device form of discovery."""
        return self._month >= (2024, 11)

    @property
    def is_recent(self) -> bool:
        """Whether it has the trigger `event.received` and imports blueprints from any address."""
        return self._month >= (2026, 11)

    @property
    def oddities(self) -> list[str]:
        """What it complains of whatever a bridge does: early releases with the device form empty the topic of a device that was
        removed again themselves, and accept the key that lights need in earlier ones with a warning."""
        is_early = self.knows_device_form and self._month < (2025, 3)
        return ["No device components to cleanup", "Deprecated flag `color_mode`"] if is_early else []

    @property
    def deletes_devices_once(self) -> bool:
        """Whether a device cannot be deleted in a run in which its triggers were announced twice: "Unknown error"."""
        return self._month < (2026, 1)

    @property
    def _month(self) -> tuple[int, int]:
        year, month = (int(part) for part in self.version.split(".")[:2])
        return year, month

    @property
    def package(self) -> pathlib.Path:
        """Its source."""
        return next(self.tree.glob(f"opt/home-assistant-{self.version}/lib/python3.*/site-packages/homeassistant"))

    def command(self, configuration: pathlib.Path) -> list[str]:
        """How to run it with a folder as its configuration."""
        python = f"/opt/home-assistant-{self.version}/bin/python"
        return [
            str(HERE / "in-tree"), str(self.tree), str(configuration), "--",
            python, "-m", "homeassistant", "--skip-pip", "--config", "/config",
        ]


def named(name: str, cache: pathlib.Path) -> Release:
    """The release of a name in the file `releases`."""
    for line in (HERE / "releases").read_text().splitlines():
        words = line.split()
        if words and words[0] == name:
            return Release(name, words[1], cache / "trees" / words[2])
    raise SystemExit(f"there is no release {name}")
