"""What Home Assistant writes into its log, as far as it complains."""

from __future__ import annotations

import pathlib
import re

RECORD = re.compile(r"^\d{4}-\d\d-\d\d \S+ (?P<level>[A-Z]+) \([^)]*\) \[(?P<logger>[^\]]+)\] (?P<text>.*)$")
# What Home Assistant says of the machine that it runs on, and of a broker that goes away.
NOISE = re.compile(
    r"Skipping pip installation|running Python version|ffmpeg|turbojpeg|Disconnected from MQTT server|"
    r"Failed to connect to MQTT server|Error returned from MQTT server|Unable to connect to the MQTT broker|"
    r"remove_config_entry is deprecated|were blocking|setup of .* is taking|Connection lost|MQTT broker",
    re.IGNORECASE)


class Log:
    """The file, and how far it was read."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        # How many warnings and errors were about something else.
        self.noise = 0
        self._complaints: list[str] = []
        self._position = 0

    def close(self) -> None:
        """Home Assistant has ended, and begins a new file when it starts."""
        self._read()
        self._position = 0

    def take_complaints(self) -> list[str]:
        """The warnings and errors since the last call, with their continuation lines.

        Of all loggers: a template that fails, a message that cannot be handled and an id that is used twice are not
        reported by the MQTT integration.
        """
        self._read()
        found, self._complaints = self._complaints, []
        return found

    def _read(self) -> None:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._position)
            lines = file.read().decode(errors="replace").splitlines()
            self._position = file.tell()
        is_wanted = False
        for line in lines:
            if record := RECORD.match(line):
                is_wanted = self._judge(record)
            elif is_wanted:
                self._complaints[-1] += "\n" + line

    def _judge(self, record: re.Match[str]) -> bool:
        """Takes the record if it complains of what the bridge does."""
        if record["level"] not in ("WARNING", "ERROR", "CRITICAL"):
            return False
        if NOISE.search(record["text"]) and "jacquard" not in record["text"]:
            self.noise += 1
            return False
        self._complaints.append(f"{record['level']} [{record['logger']}] {record['text']}")
        return True
