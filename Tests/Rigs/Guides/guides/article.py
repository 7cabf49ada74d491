"""The blocks of code in an article, in order."""
import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Block:
    """A block of code: its text without indentation or fences, and the line of the article where it begins."""

    line: int
    text: str

    @property
    def first(self):
        return self.text.split("\n", 1)[0]


def blocks(text):
    """The blocks of a Markdown text: fenced ones, and lines with four spaces behind an empty line."""
    found, lines, index = [], text.split("\n"), 0
    while index < len(lines):
        begin = index
        if lines[index].startswith("```"):
            index = lines.index("```", begin + 1)
            found.append(Block(begin + 2, "\n".join(lines[begin + 1:index])))
        elif lines[index].startswith("    ") and (index == 0 or not lines[index - 1]):
            while index < len(lines) and re.match(r"    |$", lines[index]):
                index += 1
            found.append(Block(begin + 1, "\n".join(line[4:] for line in lines[begin:index]).rstrip("\n")))
        index += 1
    return found
