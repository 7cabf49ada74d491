"""The sources with the Swift of sid, and lintian on the packages."""

from __future__ import annotations

import re
import shlex
import subprocess

from cells import Row, first_line
from life import Packages
from machine import Failed, require
from programs import TREE
from roots import GROUND, LOGS, NAMES, Layer, Skipped, base

#: As `build_packages` and `run_packages` of deploy/packages, and those that Swift itself needs.
BUILD_PACKAGES = ["swiftlang", "git", "ca-certificates"]
#: Where the sources are in a root, and for how long they may build.
PLACE, PATIENCE = "/source", 3 * 3600


def listed(name: str) -> list[str]:
    """A list of packages of deploy/packages."""
    text = (TREE / "deploy" / "packages").read_text(encoding="utf-8")
    found = re.search(rf"^{name}=\((.*)\)$", text, re.M)
    assert found, f"deploy/packages: no {name}"
    return found[1].split()


def lintian(packages: Packages) -> Row:
    """Errors and warnings of each suite's lintian."""
    row = Row("lintian")
    for suite in "trixie", "sid":
        row.attempt(NAMES[suite], lambda suite=suite: lintian_of(suite, packages))
    return row


def lintian_of(suite: str, packages: Packages) -> str:
    layer = Layer(f"{suite}-lintian", suite, base(suite), ["lintian"]).prepare()
    script = "dpkg-query --show --showformat='version ${Version}\\n' lintian; lintian --allow-root --fail-on error,warning " + " ".join(
        packages.paths())
    result = subprocess.run(
        layer.command(script, {packages.folder: "/packages"}), capture_output=True, text=True, timeout=900, check=False)
    (LOGS / f"{suite}-lintian.tags.log").write_text(result.stdout + result.stderr, encoding="utf-8")
    tags = re.findall(r"^[EW]: .*", result.stdout, re.M)
    require(result.returncode == 0, f"{len(tags)} tags: {'; '.join(dict.fromkeys(tags))}" if tags else result.stderr)
    version = re.search(r"^version (.*)", result.stdout, re.M)
    return f"works (lintian {version[1] if version else ''})"


def build_sources() -> Row:
    """The build and the unit tests in a root of sid."""
    row = Row("sources on sid")
    packages = list(dict.fromkeys([*BUILD_PACKAGES, *listed("build_packages"), *listed("run_packages"), "nats-server", "openssl", "jq"]))
    layer = Layer("sid-sources", "sid", base("sid"), packages)
    steps = [
        ("compiler", lambda: compiler(layer)), ("programs", lambda: build(layer, "programs", "")),
        ("tests built", lambda: build(layer, "tests-build", "--build-tests")), ("unit tests", lambda: unit_tests(layer))]
    # Each one needs the one before it.
    all(row.attempt(column, body) for column, body in steps)
    return row


def compiler(layer: Layer) -> str:
    layer.prepare()
    result = subprocess.run(layer.command("swift --version"), capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r"Swift version (\S+)", result.stdout + result.stderr)
    require(found, f"no version: {result.stdout}{result.stderr}")
    assert found
    return f"works ({found[1]})"


def run(layer: Layer, name: str, script: str) -> str:
    """Runs a script in the folder of the sources, which are those of the last commit, and returns what it has printed."""
    place = GROUND / "source"
    place.mkdir(parents=True, exist_ok=True)
    archive = f"git -C {shlex.quote(str(TREE))} archive HEAD | tar -x -C {shlex.quote(str(place))}"
    subprocess.run(["bash", "-c", archive], check=True)
    log = LOGS / f"sid-{name}.log"
    with log.open("wb") as file:
        result = subprocess.run(
            layer.command(f"cd {PLACE} && {script}", {place: PLACE}), stdout=file, stderr=file, stdin=subprocess.DEVNULL,
            timeout=PATIENCE, check=False)
    text = log.read_text(encoding="utf-8", errors="replace")
    if result.returncode:
        errors = list(dict.fromkeys(re.findall(r"^.*(?:error|Fatal|crash).*$", text, re.M)))
        raise Failed(f"ends with {result.returncode}: {'; '.join(errors[:3]) or first_line(text[-300:])} (all of it: {log})")
    return text


def build(layer: Layer, name: str, options: str) -> str:
    text = run(layer, name, f"swift build {options}")
    took = re.search(r"Build complete! \((.*?)\)", text)
    return f"works ({took[1] if took else 'no change'})"


def unit_tests(layer: Layer) -> str:
    """Each target in a process of its own, as Tests/run does it."""
    script = (
        "tests=$(swift build --show-bin-path)/jacquard2mqttPackageTests.xctest; status=0; "
        "for target in Tests/Unit/*Tests; do timeout 1200 $tests --testing-library swift-testing --filter \"^${target##*/}\\.\" || status=1; "
        "done; exit $status")
    text = run(layer, "tests", script)
    counts = [int(count) for count in re.findall(r"Test run with (\d+) test.* passed", text)]
    require(counts, "no test ran")
    return f"works ({sum(counts)} tests)"


__all__ = ["Skipped", "build_sources", "lintian"]
