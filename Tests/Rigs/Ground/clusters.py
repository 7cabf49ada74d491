"""Clusters of the brokers of this machine's Debian, each node of which is killed once: the rig Fleet/cluster."""

from __future__ import annotations

import json
import subprocess
import sys

import brokers
from cells import Row
from machine import Failed
from programs import TREE
from roots import GROUND, LOGS, Skipped

#: The rig needs minutes; on a busy machine a NATS server elects leaders for further ones.
PATIENCE = 1800


def run_all(kinds: list[str]) -> list[Row]:
    """One row for each kind of broker."""
    if not kinds:
        return []
    # The rig takes the bridge and the simulated tags of the debug build.
    for product in "jacquard2mqtt", "jacquard-simulator":
        subprocess.run(["swift", "build", "--product", product], cwd=TREE, stdout=sys.stderr, check=True)
    rows = []
    for kind in kinds:
        row = Row(f"{brokers.KINDS[kind].package}, {brokers.KINDS[kind].count} nodes")
        row.attempt("each node killed once", lambda kind=kind: fail_nodes(kind))
        rows.append(row)
    return rows


def fail_nodes(kind: str) -> str:
    """What the rig says of one kind."""
    figures = GROUND / f"cluster-{kind}.json"
    figures.unlink(missing_ok=True)
    result = subprocess.run(
        [TREE / "Tests" / "Rigs" / "Fleet" / "cluster", kind, "--json", figures], cwd=TREE, text=True, capture_output=True,
        timeout=PATIENCE, check=False)
    (LOGS / f"cluster-{kind}.log").write_text(result.stdout + result.stderr, encoding="utf-8")
    if result.returncode == 77:
        raise Skipped(result.stderr.strip())
    if result.returncode:
        failed = [line for line in result.stdout.splitlines() if line.startswith("FAILED")]
        raise Failed("; ".join(failed) or result.stderr)
    rounds = json.loads(figures.read_text(encoding="utf-8"))["rounds"]

    def most(name: str) -> str:
        return f"{max(round[name] for round in rounds)} s"
    return f"works (connected again after {most('connected')}, facts right after {most('right')}, the node is back after {most('returned')})"
