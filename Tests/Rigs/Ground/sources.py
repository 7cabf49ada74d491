"""The sources with the Swift of sid, and lintian on the packages."""

from __future__ import annotations

import pathlib
import re
import shutil
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


def checked_out() -> pathlib.Path:
    """A folder with the sources of the last commit. What has not changed keeps its time, so that it is not compiled again."""
    place, new = GROUND / "source", GROUND / "source.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=TREE, stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(new)], input=archive, check=True)
    files = {path.relative_to(new) for path in new.rglob("*") if path.is_file()}
    for path in files:
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        if not (place / path).is_file() or (place / path).read_bytes() != (new / path).read_bytes():
            shutil.copy(new / path, place / path)
    for path in [path for path in place.rglob("*") if path.is_file()]:
        if path.relative_to(place).parts[0] != ".build" and path.relative_to(place) not in files:
            path.unlink()
    shutil.rmtree(new)
    return place


def run(layer: Layer, name: str, script: str) -> str:
    """Runs a script in the folder of the sources, and returns what it has printed."""
    place = checked_out()
    log = LOGS / f"sid-{name}.log"
    with log.open("wb") as file:
        result = subprocess.run(
            layer.command(f"cd {PLACE} && {script}", {place: PLACE}), stdout=file, stderr=file, stdin=subprocess.DEVNULL,
            timeout=PATIENCE, check=False)
    text = log.read_text(encoding="utf-8", errors="replace")
    if result.returncode:
        errors = list(dict.fromkeys(re.findall(r"^.*(?:cannot find -l|error|Fatal|crash).*$", text, re.M)))
        raise Failed(f"ends with {result.returncode}: {'; '.join(errors[:3]) or first_line(text[-300:])} (all of it: {log.relative_to(TREE)})")
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
