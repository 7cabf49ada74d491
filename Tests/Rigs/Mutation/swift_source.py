"""The tokens and brackets of a Swift file: as much of the grammar as choosing mutants needs."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"0x[0-9a-fA-F_]+|0b[01_]+|0o[0-7_]+|[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9_]+)?")
_WORD = re.compile(r"`\w+`|[#@$]?\w+")
_STRING = re.compile(r'(#*)("""|")')
_OPERATOR = set("=-+!*%<>&|^~?/.")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_TYPE_WORDS = {"struct", "class", "extension", "actor", "enum", "protocol"}


@dataclass
class Token:
    """One token, and its place among the brackets."""

    kind: str
    """`word`, `number`, `string`, `operator` or `punctuation`."""
    text: str
    start: int
    end: int
    line: int
    starts_line: bool
    parent: int = -1
    """The index of the innermost bracket that is open here; -1 at the top."""
    partner: int = -1
    """The index of the other bracket of the pair."""
    body: str = ""
    """Of a `{`: `enum`, `protocol`, `type`, or `code`."""


def _end_of_string(text: str, start: int, hashes: str, quote: str) -> int:
    """The index after a string literal, interpolations included."""
    index = start + len(hashes) + len(quote)
    escape = "\\" + hashes
    while index < len(text):
        if text.startswith(quote + hashes, index):
            return index + len(quote) + len(hashes)
        if text.startswith(escape + "(", index):
            index = _end_of_interpolation(text, index + len(escape))
        elif text.startswith(escape, index):
            index += len(escape) + 1
        else:
            index += 1
    raise ValueError("a string literal has no end")


def _end_of_interpolation(text: str, start: int) -> int:
    depth, index = 0, start
    while index < len(text):
        if match := _STRING.match(text, index):
            index = _end_of_string(text, index, *match.groups())
            continue
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        index += 1
        if depth == 0:
            return index
    raise ValueError("an interpolation has no end")


def _end_of_comment(text: str, start: int) -> int:
    """The index after a comment at `start`, or `start` if there is none. Block comments nest."""
    if text.startswith("//", start):
        end = text.find("\n", start)
        return len(text) if end < 0 else end
    if not text.startswith("/*", start):
        return start
    depth, index = 0, start
    while index < len(text):
        if text.startswith("/*", index):
            depth, index = depth + 1, index + 2
        elif text.startswith("*/", index):
            depth, index = depth - 1, index + 2
            if depth == 0:
                return index
        else:
            index += 1
    raise ValueError("a comment has no end")


def _next_token(text: str, start: int) -> tuple[str, int]:
    if match := _STRING.match(text, start):
        return "string", _end_of_string(text, start, *match.groups())
    if match := _NUMBER.match(text, start):
        return "number", match.end()
    if match := _WORD.match(text, start):
        return "word", match.end()
    if text[start] not in _OPERATOR:
        return "punctuation", start + 1
    end = start
    while end < len(text) and text[end] in _OPERATOR and _end_of_comment(text, end) == end:
        # `.5` of a tuple and `.name` are two tokens; `...` and `..<` are one.
        if text[end] == "." and not text.startswith("..", start):
            break
        end += 1
    return "operator", max(end, start + 1)


class SwiftSource:
    """A file's text and tokens. Comments are no tokens; a string is one, whatever it interpolates."""

    def __init__(self, text: str):
        self.text = text
        self.tokens: list[Token] = []
        self._read()
        self._pair()

    def _read(self) -> None:
        text, index, line, starts_line = self.text, 0, 1, True
        while index < len(text):
            if text[index].isspace():
                if text[index] == "\n":
                    line, starts_line = line + 1, True
                index += 1
                continue
            end = _end_of_comment(text, index)
            if end == index:
                kind, end = _next_token(text, index)
                # The index of a tuple's element belongs to its dot.
                if kind == "number" and self.tokens and self.tokens[-1].text == "." and self.tokens[-1].end == index:
                    kind, end = "word", _WORD.match(text, index).end()
                self.tokens.append(Token(kind, text[index:end], index, end, line, starts_line))
                starts_line = False
            line += text.count("\n", index, end)
            index = end

    def _pair(self) -> None:
        open_brackets: list[int] = []
        header: dict[int, str] = {}
        for index, token in enumerate(self.tokens):
            if token.kind == "punctuation" and token.text in ")]}":
                opener = open_brackets.pop()
                if _CLOSING[self.tokens[opener].text] != token.text:
                    raise ValueError(f"line {token.line}: {token.text} closes another bracket")
                token.partner, self.tokens[opener].partner = opener, index
            token.parent = open_brackets[-1] if open_brackets else -1
            if token.kind == "word" and token.text in _TYPE_WORDS and self._declares_type(index):
                header[token.parent] = token.text
            if token.kind == "punctuation" and token.text in _CLOSING:
                if token.text == "{":
                    word = header.pop(token.parent, "")
                    token.body = word if word in ("enum", "protocol") else "type" if word else "code"
                open_brackets.append(index)
        if open_brackets:
            raise ValueError("a bracket is not closed")

    def _declares_type(self, index: int) -> bool:
        following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        preceding = self.tokens[index - 1].text if index else ""
        return (
            following is not None
            and following.kind == "word"
            and following.text not in ("func", "var", "let")
            and preceding not in (".", ":", "->")
        )

    def children(self, opener: int) -> list[int]:
        """The indices of the tokens directly within a bracket; of a nested bracket, both its ends."""
        found, index = [], opener + 1
        while index < self.tokens[opener].partner:
            found.append(index)
            if self.tokens[index].partner > index:
                index = self.tokens[index].partner
                found.append(index)
            index += 1
        return found

    def excerpt(self, start: int, end: int) -> str:
        """A piece of the text in one line."""
        return re.sub(r"\s+", " ", self.text[start:end])
