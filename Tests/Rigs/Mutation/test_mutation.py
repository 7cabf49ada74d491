"""Tests of the mutation tool itself: `Tests/mutate --self-test`."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import planted
import schemata
from mutants import Finder, Mutant, changed_number, enum_cases, ordered
from swift_source import SwiftSource
from trials import Outcome, Trials


def mutants(text: str) -> list[Mutant]:
    source = SwiftSource(text)
    return Finder("Sources/Part/File.swift", source, enum_cases([source])).mutants()


def described(text: str) -> list[str]:
    return [f"{mutant.operator}: {mutant.before} -> {mutant.after}" for mutant in mutants(text)]


def rewritten(text: str) -> str:
    found = mutants(text)
    result = schemata.rewrite(text, found, "Part").replace("isMutantOfPart", "m")
    for number, mutant in enumerate(found, 1):
        result = result.replace(f"({mutant.number})", f"({number})")
    return result


class SourceTests(unittest.TestCase):
    def test_comments_and_strings_hold_no_tokens(self):
        source = SwiftSource('a /* 1 /* 2 */ 3 */ = "4 \\(f("5"))" // 6\nb = #"7"8"# + """\n9 "\n"""')
        self.assertEqual([t.text for t in source.tokens if t.kind != "string"], ["a", "=", "b", "=", "+"])
        self.assertEqual([t.line for t in source.tokens if t.text in ("a", "b")], [1, 2])

    def test_index_of_a_tuple_is_no_number(self):
        kinds = [t.kind for t in SwiftSource("$0.1 + 0.5 + 1...3").tokens]
        self.assertEqual(kinds.count("number"), 3)

    def test_bracket_that_is_not_closed(self):
        with self.assertRaises(ValueError):
            SwiftSource("func f() { (")


class FinderTests(unittest.TestCase):
    def test_drops_calls_and_assignments(self):
        text = "func f() {\n    let a = b\n    a.go()\n    c = d\n        .e()\n    if x { return }\n}"
        drops = [line for line in described(text) if line.startswith("drop")]
        self.assertEqual(drops, ["drop: a.go() -> nothing", "drop: c = d .e() -> nothing", "drop: return -> nothing"])

    def test_keeps_the_exit_of_a_guard(self):
        self.assertEqual(described("func f() {\n    guard let a else { return }\n}"), [])

    def test_drops_the_statement_of_a_case(self):
        text = "func f() {\n    switch a {\n    case .b: go()\n    default: break\n    }\n}"
        self.assertEqual(described(text), ["drop: go() -> nothing"])

    def test_negates_each_condition(self):
        text = "func f() {\n    if let a, b == c, try d() { }\n    guard e.f({ $0 }) else { return }\n    while g { }\n}"
        negated = [line for line in described(text) if line.startswith("negate")]
        conditions = ["b == c", "e.f({ $0 })", "g"]
        self.assertEqual(negated, [f"negate: {text} -> !({text})" for text in conditions])

    def test_negates_the_body_of_a_bool(self):
        self.assertEqual(described("var a: Bool { b || c }"), ["negate: b || c -> !(b || c)"])

    def test_swaps_cases_in_expressions_only(self):
        text = """
            enum E {
                case a, b
                case c(Int)
            }
            func f() {
                switch x {
                case .a: y(.b)
                default: y(E.a)
                }
            }
            """
        swaps = [line for line in described(text) if line.startswith("case")]
        self.assertEqual(swaps, ["case: .b -> .a", "case: E.a -> E.b"])

    def test_keeps_raw_values_labels_and_logs(self):
        text = """
            enum E: Int {
                case a = 1
                case b = 2
            }
            func f() {
                log.debug("x", [(1, true)])
                precondition(a < 1)
            }
            """
        self.assertEqual(described(text), [])

    def test_numbers_change_noticeably(self):
        changes = {"0": "1", "9": "10", "1_000": "500", "0xFF": "127", "0.5": "0.25", "0b11": "4"}
        self.assertEqual({number: changed_number(number) for number in changes}, changes)


class OrderTests(unittest.TestCase):
    TEXT = "func f() {\n    a(1)\n    b(2)\n    if c { d = 3 }\n}"

    def test_seed_decides(self):
        found = mutants(self.TEXT)
        orders = {tuple(m.key for m in ordered(found, seed)) for seed in range(20)}
        self.assertGreater(len(orders), 1)
        self.assertEqual([m.key for m in ordered(found, 1)], [m.key for m in ordered(found[::-1], 1)])

    def test_change_elsewhere_keeps_the_order(self):
        more = self.TEXT + "\nfunc g() {\n    e(5)\n}"
        before = [m.key for m in ordered(mutants(self.TEXT), 1)]
        own = set(before)
        after = [m.key for m in ordered(mutants(more), 1) if m.key in own]
        for operator in ("drop", "constant"):
            self.assertEqual([k for k in before if k.startswith(operator)], [k for k in after if k.startswith(operator)])


class SchemataTests(unittest.TestCase):
    def test_mutants_nest(self):
        self.assertEqual(
            rewritten("func f() {\n    if a { b = 1 }\n}"),
            "func f() {\n    if (m(1) != (a)) { if !m(2) { b = (m(3) ? 2 : 1) } }\n}")

    def test_lines_stay(self):
        text = "func f() {\n    a(\n        1)\n    b = 2\n}"
        self.assertEqual(rewritten(text).count("\n"), text.count("\n"))

    def test_error_blames_what_is_near(self):
        text = "func f() {\n    a(\n        1,\n        b)\n}\n"
        found, texts = mutants(text), {"Sources/Part/File.swift": text}

        def blamed(line):
            return [m.operator for m in schemata.blamed(found, texts, "Sources/Part/File.swift", line)]

        self.assertEqual(blamed(3), ["constant"])
        self.assertEqual(blamed(4), ["drop"])
        self.assertEqual(blamed(5), ["constant"])
        self.assertEqual(schemata.blamed(found, texts, "Sources/Part/Other.swift", 3), [])


class TrialTests(unittest.TestCase):
    """Each program stands for the tests. It starts processes in groups of their own, which hold its output open."""

    ORPHANS = """
        for number in 1 2; do
            (setsid sh -c 'echo $$ >> processes; while :; do sleep 0.01; done' &)
        done
        until [ "$(cat processes 2> /dev/null | wc -l)" = 2 ]; do sleep 0.01; done
        """

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_tests(self, script: str, limit: float = 60) -> Outcome:
        program = self.folder / "tests"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return Trials(program, self.folder, [], 1)._run(1, "", limit)

    def assert_none_is_left(self):
        processes = (self.folder / "processes").read_text().split()
        self.assertEqual(len(processes), 2)
        self.assertEqual([number for number in processes if Path("/proc", number).exists()], [])

    def test_tests_that_pass_leave_no_process(self):
        outcome = self.run_tests(self.ORPHANS + "echo 'Test run with 3 tests in 1 suite passed after 1 seconds.'")
        self.assertEqual((outcome.reason, outcome.tests), ("", 3))
        self.assert_none_is_left()

    def test_tests_that_fail_leave_no_process(self):
        outcome = self.run_tests(self.ORPHANS + "echo '✘ Test a() recorded an issue'; sleep 1000")
        self.assertEqual((outcome.reason, outcome.is_timeout), ("a()", False))
        self.assert_none_is_left()

    def test_tests_that_hang_end_with_all_their_processes(self):
        outcome = self.run_tests(self.ORPHANS + "sleep 1000", limit=5)
        self.assertEqual((outcome.reason, outcome.is_timeout), ("no end after 5 s", True))
        self.assert_none_is_left()

    def test_end_of_the_caller_ends_all_processes(self):
        enclosure = Path(__file__).with_name("enclosure.py")
        script = f"{self.ORPHANS}\necho started\nsleep 1000"
        with subprocess.Popen(
            [sys.executable, enclosure, "sh", "-c", script], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            self.assertEqual(process.stdout.readline(), b"started\n")
            process.stdin.close()
            self.assertEqual(process.stdout.read(), b"")
        self.assert_none_is_left()

    def test_crash_is_a_kill(self):
        self.assertEqual(self.run_tests("kill -SEGV $$").reason, "exit status 139")

    def test_run_that_is_too_slow_is_repeated_alone(self):
        trials = Trials(Path("tests"), self.folder, ["a"], 2)
        trials.limits["a"], runs, reports = 1, [], []

        def run(number: int, name: str, limit: float) -> Outcome:
            runs.append(number)
            is_first = runs.count(number) == 1
            return Outcome("no end", 0, 1, True) if number == slow.number and is_first else Outcome("", 1, 1)

        trials._run = run
        slow, quick = mutants("func f() {\n    a.b()\n    c.d()\n}")
        trials.judge([slow, quick], lambda mutant, reason: reports.append((mutant.before, reason)))
        self.assertEqual(runs[-1], slow.number)
        self.assertEqual(reports, [("c.d()", ""), ("a.b()", "")])


class PlantedTests(unittest.TestCase):
    def test_each_error_fits_the_sources(self):
        planted.planted_files()


if __name__ == "__main__":
    unittest.main()
