"""Finds the places of a Swift file that can be mutated, and orders them by a seed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from swift_source import SwiftSource, Token

OPERATORS = ("drop", "negate", "constant", "case")

# Words at the beginning of a statement that is no call and no assignment.
_NO_STATEMENT = set(
    """let var if guard return switch for while repeat case default break continue func defer throw do catch else
    struct enum class actor extension protocol typealias import init deinit subscript get set didSet willSet in static
    private fileprivate internal public package open final lazy weak nonisolated mutating override indirect where
    precondition preconditionFailure assert assertionFailure fatalError reserveCapacity log logger super""".split()
)
_ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "&+=", "&-=", "&*="}
# Calls whose arguments decide nothing that a test could observe.
_SILENT_CALLS = {"precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError", "reserveCapacity"}
_LOGGERS = {"log", "logger"}
_COMPARISONS = {"==", "!=", "<", ">", "<=", ">=", "&&", "||", "??", "===", "!=="}
# A longer statement holds many decisions, each with a mutant of its own.
_LONGEST_STATEMENT = 6


@dataclass
class Mutant:
    """One change of one place. The span is replaced by a choice between itself and the change."""

    operator: str
    start: int
    end: int
    line: int
    before: str
    after: str
    file: str
    key: str = ""

    @property
    def number(self) -> int:
        """Positive, 31 bits. It comes from the key, so that a choice of other mutants leaves this one's code as it is."""
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:4], "big") >> 1 | 1

    def choice(self, switch: str) -> tuple[str, str]:
        """What goes before and after the span, so that the call `switch` decides at run time."""
        if self.operator == "drop":
            return f"if !{switch} {{ ", " }"
        if self.operator == "negate":
            return f"({switch} != (", "))"
        return f"({switch} ? {self.after} : ", ")"

    def described(self) -> str:
        return f"{self.file}:{self.line}: {self.operator}: {self.before}  ->  {self.after}"


def enum_cases(sources: list[SwiftSource]) -> list[tuple[str, list[str]]]:
    """Every enum with its cases that have no associated value."""
    enums = []
    for source in sources:
        tokens = source.tokens
        for index, token in enumerate(tokens):
            if token.text != "enum" or index + 2 >= len(tokens) or tokens[index + 1].kind != "word":
                continue
            opener = next((i for i in range(index, len(tokens)) if tokens[i].body == "enum"), None)
            if opener is None or tokens[opener].parent != token.parent:
                continue
            cases = _plain_cases(source, opener)
            if len(cases) > 1:
                enums.append((tokens[index + 1].text, cases))
    return enums


def _plain_cases(source: SwiftSource, opener: int) -> list[str]:
    tokens, cases, is_case = source.tokens, [], False
    for index in source.children(opener):
        token, preceding, following = tokens[index], tokens[index - 1], tokens[index + 1]
        if token.text == "case" and preceding.text != ".":
            is_case = True
        elif token.starts_line and preceding.text != ",":
            is_case = False
        if is_case and token.kind == "word" and preceding.text in ("case", ",") and following.text != "(":
            cases.append(token.text)
    return cases


class Finder:
    """The mutants of one file."""

    def __init__(self, file: str, source: SwiftSource, enums: list[tuple[str, list[str]]]):
        self.file, self.source, self.tokens, self.enums = file, source, source.tokens, enums
        self.excluded = self._excluded()
        self.found: list[Mutant] = []

    def mutants(self) -> list[Mutant]:
        for index, token in enumerate(self.tokens):
            if index in self.excluded:
                continue
            if token.body == "code":
                self._drops(index)
                self._boolean_body(index)
            elif token.kind == "word" and self._text(index - 1) != ".":
                if token.text in ("if", "guard", "while"):
                    self._conditions(index)
                elif token.text in ("true", "false") and not self._is_label(index) and not self._is_pattern(index):
                    self._add("constant", index, index, "false" if token.text == "true" else "true")
            elif token.kind == "number":
                if changed := changed_number(token.text):
                    self._add("constant", index, index, changed)
            elif token.text == ".":
                self._swap(index)
        return self._named()

    # Exclusions

    def _excluded(self) -> set[int]:
        """Tokens within log lines, checks of the caller, attributes, patterns of enum cases and raw values."""
        excluded: set[int] = set()
        for index, token in enumerate(self.tokens):
            if token.kind != "word":
                continue
            if token.text in _SILENT_CALLS and self._text(index + 1) == "(":
                excluded.update(range(index, self.tokens[index + 1].partner + 1))
            elif token.text in _LOGGERS and (opener := self._call_of(index)) is not None:
                excluded.update(range(index, self.tokens[opener].partner + 1))
            elif token.text[0] == "@" and self._text(index + 1) == "(":
                excluded.update(range(index, self.tokens[index + 1].partner + 1))
            elif token.text == "keepingCapacity":
                excluded.update((index + 1, index + 2))
            elif token.text == "case" and self._body(token) in ("enum", "type"):
                end = index + 1
                while end < len(self.tokens) and not (self.tokens[end].starts_line and self._text(end - 1) != ","):
                    end += 1
                excluded.update(range(index, end))
        return excluded

    def _call_of(self, index: int) -> int | None:
        """The bracket of `log.debug(`, or of `log?.debug(`."""
        place = index + 1
        if self._text(place) in ("?", "?."):
            place += 1
        if self._text(place) == ".":
            place += 1
        place += 1
        return place if self._text(place) == "(" else None

    # Statements

    def _drops(self, opener: int) -> None:
        for start, end in self._statements(opener):
            first = self.tokens[start].text
            lines = self.tokens[end].line - self.tokens[start].line + 1
            # What holds a log line in one line is one: `errors.forEach { log.error(...) }`.
            is_log = any(self._text(i) in _LOGGERS and i in self.excluded for i in range(start, end))
            if start in self.excluded or lines > _LONGEST_STATEMENT or (is_log and lines < 3):
                continue
            if first in ("return", "break", "continue", "throw"):
                if self._header(opener) == "if":
                    self._add("drop", start, end, "")
            elif self._is_droppable(start, end, opener):
                self._add("drop", start, end, "")

    def _is_droppable(self, start: int, end: int, opener: int) -> bool:
        token = self.tokens[start]
        if token.text in _NO_STATEMENT or token.kind not in ("word", "punctuation") or token.text[0] in "#@":
            return False
        if token.kind == "punctuation" and token.text != "(":
            return False
        words = {self._text(i) for i in range(start, end + 1) if self._is_own(i, opener)}
        if words & _SILENT_CALLS:
            return False
        if words & _ASSIGNMENTS:
            # An initialiser's first values are needed for it to compile.
            return self._header(opener) != "init" or "=" not in words
        # An expression of its own is a value: the body of a property, or of a closure that maps.
        is_value = words & _COMPARISONS or (token.text[0].isupper() and self._text(start + 1) == "(")
        return not is_value and self._text(end) in (")", "}") and self._text(opener - 2) not in (":", "->")

    def _is_own(self, index: int, opener: int) -> bool:
        return self.tokens[index].parent == opener

    def _statements(self, opener: int) -> list[tuple[int, int]]:
        """The statements directly within a brace, each by its first and its last token."""
        statements, current = [], []
        children = self.source.children(opener)
        for index in self._after_signature(opener, children):
            token = self.tokens[index]
            if token.text == ";" or (current and self._begins(index, current)):
                if current:
                    statements.append((current[0], current[-1]))
                current = []
                if token.text == ";":
                    continue
            current.append(index)
            if token.text == ":" and self._text(current[0]) in ("case", "default"):
                current = []
        if current:
            statements.append((current[0], current[-1]))
        return statements

    def _begins(self, index: int, current: list[int]) -> bool:
        """Whether a token at the beginning of a line begins a statement, and does not continue the last one."""
        token, preceding = self.tokens[index], self.tokens[index - 1]
        if not token.starts_line or token.partner in current:
            return False
        if token.kind == "operator" or token.text in (",", ":", "else", "where", "catch", "{"):
            return False
        if preceding.kind == "operator":
            return preceding.text in ("!", "?") and preceding.start == self.tokens[index - 2].end
        return preceding.text not in (",", ":", "else", "in", "return", "case")

    def _after_signature(self, opener: int, children: list[int]) -> list[int]:
        """What follows `[weak self] event in` of a closure."""
        for place, index in enumerate(children):
            if self.tokens[index].starts_line and place > 0:
                break
            if self._text(index) == "in" and not {"for"} & {self._text(i) for i in children[:place]}:
                return children[place + 1 :]
        return children

    def _header(self, opener: int) -> str:
        """The statement that a brace belongs to: `if`, `guard` (its else), or another."""
        index = opener - 1
        while index >= 0:
            token = self.tokens[index]
            if token.partner >= 0 and token.partner < index:
                if token.text == "}" and self._text(index + 1) != "else" and token.line != self.tokens[opener].line:
                    return ""
                index = token.partner - 1
                continue
            if token.partner > index:
                return ""
            if token.text in ("if", "guard", "for", "while", "switch", "func", "init", "in", "case", "default"):
                return token.text
            index -= 1
        return ""

    # Conditions

    def _conditions(self, keyword: int) -> None:
        if self._text(keyword - 1) == "}" and not self.tokens[keyword].starts_line and self._text(keyword) == "while":
            return  # The end of `repeat`; its condition has no bracket behind it.
        elements, current, index = [], [], keyword + 1
        while index < len(self.tokens):
            token = self.tokens[index]
            is_end = token.text == "else" if self._text(keyword) == "guard" else token.text == "{"
            if is_end or token.text == ",":
                elements.append(current)
                current = []
                if is_end:
                    break
            else:
                last = token.partner if token.partner > index else index
                current.extend(range(index, last + 1))
                index = last
            index += 1
        for element in elements:
            self._negate(element)

    def _boolean_body(self, opener: int) -> None:
        """The one expression of a function or property that is a Bool."""
        if self._text(opener - 1) != "Bool" or self._text(opener - 2) not in (":", "->"):
            return
        statements = self._statements(opener)
        if len(statements) == 1 and self._text(statements[0][0]) not in _NO_STATEMENT:
            self._negate(list(range(statements[0][0], statements[0][1] + 1)))

    def _negate(self, element: list[int]) -> None:
        words = {self._text(i) for i in element}
        if not element or self._text(element[0]) in ("let", "var", "case") or words & {"try", "await", "switch"}:
            return
        if self._text(element[0])[0] == "#" or self._text(element[0]) in ("true", "false"):
            return
        before = self.source.excerpt(self.tokens[element[0]].start, self.tokens[element[-1]].end)
        self._add("negate", element[0], element[-1], f"!({before})")

    # Enum cases

    def _swap(self, dot: int) -> None:
        """`.name` or `Type.name` in an expression."""
        if dot + 1 >= len(self.tokens) or self.tokens[dot + 1].kind != "word" or self._is_pattern(dot):
            return
        name, following = self._text(dot + 1), self._text(dot + 2)
        if following in ("(", ".", "{", "?", "?.", "=") or self.tokens[dot + 1].start != self.tokens[dot].end:
            return
        preceding = self.tokens[dot - 1]
        is_attached = preceding.end == self.tokens[dot].start and preceding.text not in ("(", "[", "!", "{", "&")
        start, qualifier = dot, ""
        if is_attached:
            if preceding.kind != "word" or self._text(dot - 2) == ".":
                return
            start, qualifier = dot - 1, preceding.text
        elif self.tokens[dot].starts_line:
            return
        for enum, cases in self.enums:
            if name not in cases or qualifier not in ("", enum):
                continue
            other = cases[(cases.index(name) + 1) % len(cases)]
            self._add("case", start, dot + 1, f"{qualifier}.{other}")
            return

    def _is_pattern(self, index: int) -> bool:
        """Whether a token stands between `case` or `catch` and what ends the pattern."""
        place = index - 1
        while place >= 0:
            token = self.tokens[place]
            if 0 <= token.partner < place:
                place = token.partner - 1
                continue
            if token.text in ("case", "catch") and self._text(place - 1) != ".":
                return True
            if token.text in ("{", ";", "=", ":", "where", "in", "return") and not (
                token.text == ":" and self.tokens[token.parent].text == "("
            ):
                return False
            place -= 1
        return False

    # Mutants

    def _add(self, operator: str, first: int, last: int, after: str) -> None:
        start, end = self.tokens[first].start, self.tokens[last].end
        before = self.source.excerpt(start, end)
        self.found.append(Mutant(operator, start, end, self.tokens[first].line, before, after or "nothing", self.file))

    def _named(self) -> list[Mutant]:
        """Gives each mutant a key that changes elsewhere in the file leave as it is."""
        seen: dict[str, int] = {}
        lines = self.source.text.split("\n")
        for mutant in self.found:
            key = "|".join((mutant.operator, mutant.file, lines[mutant.line - 1].strip(), mutant.before))
            seen[key] = seen.get(key, 0) + 1
            mutant.key = f"{key}|{seen[key]}"
        return self.found

    # Tokens

    def _text(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def _body(self, token: Token) -> str:
        return self.tokens[token.parent].body if token.parent >= 0 else ""

    def _is_label(self, index: int) -> bool:
        return self._text(index + 1) == ":" and self._text(index - 1) in ("(", ",")


def changed_number(text: str) -> str | None:
    """Another number, different enough for a test to notice: the next one below ten, half of it from ten on.

    Half fits every type that the number fits.
    """
    digits = text.replace("_", "")
    try:
        value = int(digits, 0) if not digits.isdigit() else int(digits)
    except ValueError:
        return repr(float(digits) / 2 if float(digits) else 1.0)
    return str(value + 1 if value < 10 else value // 2)


def ordered(mutants: list[Mutant], seed: int) -> list[Mutant]:
    """All mutants in the order of a seed, the operators in turn.

    A mutant's place comes from its own text: a change elsewhere in the module leaves the others in their order.
    """

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed}|{mutant.key}".encode()).digest()

    queues = {name: sorted((m for m in mutants if m.operator == name), key=rank, reverse=True) for name in OPERATORS}
    result = []
    while any(queues.values()):
        result += [queue.pop() for queue in queues.values() if queue]
    return result
