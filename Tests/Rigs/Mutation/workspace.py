"""A copy of the tree with the mutants in it, and its build. Both are kept between runs, below .build."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import schemata
from mutants import Finder, Mutant, enum_cases, ordered
from swift_source import SwiftSource

_ERROR = re.compile(r"^(/\S.*?\.swift):(\d+):\d+: error: (.*)$", re.MULTILINE)


class BuildError(Exception):
    """The copy does not build, and no mutant can be blamed for it."""


def _is_compiled(name: str) -> bool:
    return name.startswith(("Package.", "Sources/")) and ".docc/" not in name or name.endswith(".swift")


def copy_tree(project: Path, tree: Path, texts: dict[str, str]) -> set[str]:
    """Brings a copy of the project up to date, with other texts of some files, and further files.

    Unchanged files keep their time of change. Returns the names of the others.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=project, check=True, capture_output=True,
    ).stdout.decode().split("\0")
    wanted = {name for name in listed if name and (project / name).is_file()}
    changed = set()
    for name in wanted | set(texts):
        content = texts[name].encode() if name in texts else (project / name).read_bytes()
        if name == "Package.swift":
            # A change may leave a value unused.
            content = content.replace(b"    .treatAllWarnings(as: .error),\n", b"")
        path = tree / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            changed.add(name)
        path.chmod((project / name).stat().st_mode & 0o777 if name in wanted else 0o644)
    for path in [p for p in tree.rglob("*") if not p.is_dir()]:
        name = path.relative_to(tree)
        if str(name) not in wanted and str(name) not in texts and name.parts[0] != ".build":
            path.unlink()
            changed.add(str(name))
    return changed


class Refused:
    """The mutants that the compiler has refused, kept for the next run."""

    def __init__(self, path: Path):
        self.path = path
        self.keys: set[str] = set(json.loads(path.read_text())) if path.exists() else set()

    def add(self, keys: list[str]) -> None:
        self.keys.update(keys)
        self.path.write_text(json.dumps(sorted(self.keys), indent=1))


class Workspace:
    """One project with mutants, and the programs built from it."""

    def __init__(self, project: Path, jobs: int):
        self.project, self.jobs = project, jobs
        self.folder = project / ".build" / "mutation"
        self.tree = self.folder / "tree"
        self.products = self.folder / "build" / "debug"
        self.built = self.folder / "built"
        """Exists while the programs are those of the copy."""
        self.sources: dict[str, str] = {}
        self.refused = Refused(self.folder / "refused.json")

    # Finding

    def choose(self, modules: list[str], seeds: list[int], count: int) -> dict[str, dict[int, list[Mutant]]]:
        """For each module and seed so many mutants and some spare ones, for those that do not compile."""
        parsed = {}
        for path in sorted((self.project / "Sources").rglob("*.swift")):
            name = str(path.relative_to(self.project))
            self.sources[name] = path.read_text(encoding="utf-8")
            parsed[name] = SwiftSource(self.sources[name])
        chosen = {}
        for module in modules:
            own = {name: source for name, source in parsed.items() if name.split("/")[2] == module}
            others = [source for name, source in parsed.items() if name not in own]
            # An enum of the module itself is meant more often than one of the same case elsewhere.
            enums = enum_cases(list(own.values()) + others)
            found = [m for name, source in own.items() for m in Finder(name, source, enums).mutants()]
            chosen[module] = {seed: self._first(ordered(found, seed), count) for seed in seeds}
        return chosen

    def _first(self, mutants: list[Mutant], count: int) -> list[Mutant]:
        """So many mutants that may compile, and some more; the same ones again once the compiler has refused some."""
        accepted = [mutant.key not in self.refused.keys for mutant in mutants]
        end = min(count + count // 4 + 5, len(mutants))
        while end < len(mutants) and sum(accepted[:end]) < count:
            end += 1
        return [mutant for mutant, is_accepted in zip(mutants[:end], accepted) if is_accepted]

    def _folder(self, module: str) -> str:
        """Of a module, such as Sources/Bridge/Bridge."""
        return "/".join(next(name for name in self.sources if name.split("/")[2] == module).split("/")[:3])

    # Copying

    def copy(self, mutants: dict[str, list[Mutant]]) -> set[str]:
        """Brings the copy up to date, and returns the files that have changed. The others keep their time of change."""
        by_file = {m.file: module for module, all_of_it in mutants.items() for m in all_of_it}
        texts = {f"{self._folder(module)}/{schemata.FILE}": schemata.support(module) for module in mutants}
        for name, module in by_file.items():
            own = [m for m in mutants[module] if m.file == name]
            texts[name] = schemata.rewrite(self.sources[name], own, module)
        return copy_tree(self.project, self.tree, texts)

    # Building

    def build(self, chosen: dict[str, dict[int, list[Mutant]]]) -> None:
        """Builds the tests with every mutant that compiles, and takes the others out of the choice."""
        self.folder.mkdir(parents=True, exist_ok=True)
        everything = {module: self._numbered(seeds) for module, seeds in chosen.items()}
        while output := self._compile(everything):
            self._take_out(output, everything, chosen)

    @staticmethod
    def _numbered(seeds: dict[int, list[Mutant]]) -> list[Mutant]:
        """The mutants of all seeds, one that is in two of them once."""
        unique: dict[str, Mutant] = {}
        for seed, mutants in seeds.items():
            seeds[seed] = [unique.setdefault(mutant.key, mutant) for mutant in mutants]
        return list(unique.values())

    def _compile(self, mutants: dict[str, list[Mutant]]) -> str | None:
        """Builds the tests, unless nothing has changed since the last time. Returns the output if that fails."""
        if any(map(_is_compiled, self.copy(mutants))):
            self.built.unlink(missing_ok=True)
        if self.built.exists():
            return None
        command = ["swift", "build", "-j", str(self.jobs), "--scratch-path", str(self.folder / "build"), "--build-tests"]
        print(f"building the tests with {sum(map(len, mutants.values()))} mutants", flush=True)
        result = subprocess.run(
            command, cwd=self.tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
        (self.folder / "build.log").write_text(result.stdout)
        if result.returncode:
            return result.stdout
        self.built.touch()
        return None

    def _take_out(
        self, output: str, everything: dict[str, list[Mutant]], chosen: dict[str, dict[int, list[Mutant]]]
    ) -> None:
        blamed: set[int] = set()
        for path, line, _ in _ERROR.findall(output):
            name = os.path.relpath(path, self.tree)
            for mutants in everything.values():
                blamed |= {m.number for m in schemata.blamed(mutants, self.sources, name, int(line))}
        if not blamed:
            raise BuildError(output[-4_000:])
        for module, mutants in everything.items():
            self.refused.add([m.key for m in mutants if m.number in blamed])
            everything[module] = [m for m in mutants if m.number not in blamed]
            for seed, choice in chosen[module].items():
                chosen[module][seed] = [m for m in choice if m.number not in blamed]

    def test_program(self) -> Path:
        """The program with all tests."""
        return next(self.products.glob("*PackageTests.xctest"))

    def clean(self) -> None:
        """Removes the copy and its build."""
        shutil.rmtree(self.folder, ignore_errors=True)
