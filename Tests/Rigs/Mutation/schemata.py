"""Writes every chosen mutant into one copy of the sources, each behind a switch that the environment turns."""

from __future__ import annotations

from mutants import OPERATORS, Mutant

# Not one of the names that configure the daemon.
VARIABLE = "ACTIVE_MUTANT"
FILE = "ActiveMutant.swift"


def switch(module: str) -> str:
    """The function that reads the switch. Public, for default arguments; named after its module, for importers."""
    return f"isMutantOf{module}"


def support(module: str) -> str:
    """The file that each mutated module gets."""
    return f"""import Glibc

private let activeMutant: Int32 = getenv("{VARIABLE}").map {{ atoi($0) }} ?? 0

public func {switch(module)}(_ number: Int32) -> Bool {{ activeMutant == number }}
"""


def rewrite(text: str, mutants: list[Mutant], module: str) -> str:
    """The file's text with all of its mutants. No line is added: an error of the compiler names the original's line.

    Spans nest or are apart, for all are made of whole brackets.
    """
    edits = []
    for mutant in mutants:
        before, after = mutant.choice(f"{switch(module)}({mutant.number})")
        length, layer = mutant.end - mutant.start, OPERATORS.index(mutant.operator)
        # At one place, what ends goes before what begins, and the inner one of two spans is inside.
        edits.append(((mutant.start, 1, -length, layer, mutant.number), before))
        edits.append(((mutant.end, 0, length, -layer, -mutant.number), after))
    pieces, position = [], 0
    for (place, *_), piece in sorted(edits):
        pieces += [text[position:place], piece]
        position = place
    return "".join(pieces) + text[position:]


def blamed(mutants: list[Mutant], texts: dict[str, str], file: str, line: int) -> list[Mutant]:
    """The mutants that an error of the compiler at a line of the rewritten file is about.

    Those on the line; else those around it; else the nearest one, as for a missing return.
    """
    here = [mutant for mutant in mutants if mutant.file == file]
    on_line = [mutant for mutant in here if mutant.line == line]
    if on_line:
        return on_line
    around = [m for m in here if m.line <= line <= m.line + texts[file].count("\n", m.start, m.end)]
    if around:
        return around
    return sorted(here, key=lambda mutant: abs(mutant.line - line))[:1]
