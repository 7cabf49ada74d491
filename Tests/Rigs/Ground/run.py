"""The parts of Tests/ground, whose head describes the options."""

from __future__ import annotations

import argparse
import datetime
import fcntl
import functools
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parents[1] / "Support"), str(HERE.parent / "Fleet")]

import brokers  # noqa: E402
import clusters  # noqa: E402
from broker_life import run_all  # noqa: E402
from cells import PAGE, Row, markdown  # noqa: E402
from life import Life, Packages, layer_of  # noqa: E402
from machine import Failed  # noqa: E402
from programs import TREE  # noqa: E402
from roots import GROUND, LOGS, NAMES, Skipped  # noqa: E402
from served import KINDS  # noqa: E402
from sources import build_sources, lintian  # noqa: E402

#: How far time and memory of the suites may be apart.
TOLERANCE = 0.15


def names(allowed: list[str]):
    """A list of names with commas."""
    def parse(text: str) -> list[str]:
        found = text.split(",")
        unknown = [name for name in found if name not in allowed]
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown[0]}: not one of {', '.join(allowed)}")
        return found
    return parse


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Tests/ground", usage="see Tests/ground --help", add_help=False)
    parser.add_argument("--suites", type=names(list(NAMES)), default=[])
    parser.add_argument("--brokers", type=names(list(KINDS)), default=[])
    parser.add_argument("--clusters", type=names(list(brokers.KINDS)), default=[])
    for flag in "dbus-broker", "upgrade", "lintian", "sources", "fresh", "write":
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--packages", type=pathlib.Path)
    options = parser.parse_args(arguments)
    if not (options.suites or options.brokers or options.clusters or options.dbus_broker or options.upgrade or options.lintian
            or options.sources):
        options.suites, options.brokers, options.clusters = list(NAMES), list(KINDS), list(brokers.KINDS)
        options.dbus_broker = options.upgrade = options.lintian = options.sources = True
    return options


@functools.cache
def packages(given: pathlib.Path | None) -> Packages:
    """Those of a folder, or of this commit, and the same programs with a later version. They are kept as long as nothing in them changes."""
    if given:
        return Packages(given.resolve())
    contents = [f"HEAD:{path}" for path in ("Package.swift", "Sources", "config", "deploy")]
    state = subprocess.run(["git", "rev-parse", *contents], cwd=TREE, capture_output=True, text=True, check=True).stdout
    folder = GROUND / "packages"
    stamp = folder / "contents"
    if stamp.exists() and stamp.read_text(encoding="ascii") == state:
        return Packages(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    package = str(TREE / "deploy" / "package")
    first = subprocess.run([package, str(folder)], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
    version = subprocess.run(["dpkg-deb", "-f", first, "Version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    programs = next((TREE / ".build").glob("*/release"))
    subprocess.run([package, "--bin", str(programs), "--version", f"{version}+next", str(folder)], check=True, stdout=sys.stderr)
    stamp.write_text(state, encoding="ascii")
    return Packages(folder)


def beside(lives: list[Life]) -> list[Row]:
    """Time and memory of the suites side by side, each the least of a suite's lives: two of them can be a sixth apart."""
    rows = []
    for title in dict.fromkeys(title for life in lives for title in life.figures):
        figures = [(NAMES[life.suite], life.figures[title]) for life in lives if title in life.figures]
        values = {name: min(value for other, value in figures if other == name) for name, _ in figures}
        if len(values) < 2:
            continue
        row = Row(title)
        for name, value in values.items():
            row.judge(name, f"{value:.1f}")
        spread = max(values.values()) / min(values.values()) - 1
        row.judge("apart by", f"{spread:.0%}", spread <= TOLERANCE)
        rows.append(row)
    return rows


def replace_tables(text: str) -> None:
    """Puts the tables between the marks of the page."""
    page = TREE / PAGE
    begin, end = "<!-- tables -->\n", "<!-- end of tables -->\n"
    old = page.read_text(encoding="utf-8")
    page.write_text(re.sub(f"{begin}.*{end}", lambda _: f"{begin}{text}{end}", old, flags=re.S), encoding="utf-8")


def main() -> int:
    options = parse(sys.argv[1:])
    began = time.monotonic()
    LOGS.mkdir(parents=True, exist_ok=True)
    with (GROUND / "lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if options.fresh:
            for stamp in (GROUND / "roots").glob("*.ready"):
                stamp.unlink()
        tables: list[tuple[str, str, list[Row]]] = []
        lives = [Life(layer_of(suite, False), packages(options.packages), False) for suite in options.suites]
        if options.dbus_broker:
            lives += [Life(layer_of(suite, True), packages(options.packages), True) for suite in ("trixie", "sid")]
        if options.upgrade:
            lives.append(Life(layer_of("bookworm", False), packages(options.packages), False, "trixie"))
        rows = [life.run() for life in lives]
        tables.append(("The life of the packages", "system", rows))
        tables.append(("Time and memory with three tags", "", beside(lives)))
        if options.brokers:
            rows = []
            for suite in "trixie", "sid":
                rows += run_all(suite, options.brokers, packages(options.packages))
            tables.append(("Brokers", "broker", rows))
        tables.append(("Clusters of Debian 12's brokers", "cluster", clusters.run_all(options.clusters)))
        rows = []
        if options.lintian:
            rows.append(lintian(packages(options.packages)))
        if options.sources:
            rows.append(build_sources())
        tables.append(("Packages and sources", "", rows))
    return report(tables, options, time.monotonic() - began)


def report(tables: list[tuple[str, str, list[Row]]], options: argparse.Namespace, seconds: float) -> int:
    """Prints the tables, and keeps them."""
    head = f"Run on {datetime.datetime.now(datetime.UTC):%Y-%m-%d}, in {seconds / 60:.0f} min.\n\n"
    parts = [f"### {title}\n\n{markdown(first, rows)}" for title, first, rows in tables if rows]
    notes: dict[str, list[str]] = {}
    for row in (row for _, _, rows in tables for row in rows):
        for note in dict.fromkeys(row.notes):
            notes.setdefault(note, []).append(row.name)
    if notes:
        parts.append("### Details\n\n" + "".join(f"- {'; '.join(names)}: {note}\n" for note, names in notes.items()))
    text = head + "\n".join(parts)
    (GROUND / "tables.md").write_text(text, encoding="utf-8")
    problems = [problem for _, _, rows in tables for row in rows for problem in row.problems]
    print(f"\n{text}")
    for problem in problems:
        print(f"FAILED: {problem}")
    if options.write:
        replace_tables(text)
    print(f"{len(problems)} failed; logs are in {GROUND / 'logs'}")
    return 1 if problems else 0


if __name__ == "__main__":
    # Containers and programs are stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        sys.exit(main())
    except (Skipped, Failed) as problem:
        sys.exit(f"ground: {problem}")
