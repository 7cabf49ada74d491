"""A person who follows a guide word for word."""
import json
import re
import time

from article import blocks
from machine import HOME, PROJECT, Failure, require


def shape(line):
    """What two lines of the same kind have in common: the keys of a JSON object, or the text without serials and numbers."""
    try:
        return sorted(json.loads(line))
    except (ValueError, TypeError):
        return re.sub(r"\w*\d\w*", "0", line)


class Reader:
    """Goes through the blocks of code of one article in their order. Each step names the beginning of the block that it expects, so that
    a changed guide needs a changed step."""

    def __init__(self, machine, article, folder=HOME):
        self.machine, self.article, self.folder = machine, article, folder
        self.blocks = blocks((PROJECT / article).read_text(encoding="utf-8"))
        self.machine.say(f"\n== {article}")

    def next(self, expected):
        """The next block, which begins with a text."""
        require(self.blocks, f"{self.article}: no block {expected!r}")
        block = self.blocks.pop(0)
        require(block.text.startswith(expected), f"{self.article}:{block.line}: the next block is {block.first!r}, not {expected!r}")
        return block

    def runs(self, expected, prints=(), values=None, until=None, status=0, **options):
        """Types the block as written, except for `values` of placeholders. It ends with the status and prints the texts. `expected` may
        also be a block of `next` that the guide has for later.

        With `until`, it is stopped when it has printed that text, or when that function says so: see `Machine.types`."""
        block = self.next(expected) if isinstance(expected, str) else expected
        text = block.text
        for placeholder, value in (values or {}).items():
            require(placeholder in text, f"{self.article}:{block.line}: no {placeholder}")
            text = text.replace(placeholder, value)
        if isinstance(until, str):
            options["watch"], prints = lambda output, _: until in output, until
        elif until:
            options["watch"] = until
        output = self._type(block, text, status, **options)
        for part in [prints] if isinstance(prints, str) else prints:
            require(part in output, f"{self.article}:{block.line}: {block.first!r} does not print {part!r} but:\n{output[-2000:]}")
        return output

    def tries(self, expected, values):
        """Types the lines with a prompt, until lines of the same kinds as the others are printed."""
        block = self.next(expected)
        lines = block.text.split("\n")
        commands = "\n".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
        kinds = [shape(line) for line in lines if not line.startswith("$ ")]
        for placeholder, value in values.items():
            commands = commands.replace(placeholder, value)

        def watch(output, _):
            seen = [shape(line) for line in output.split("\n")]
            return all(kind in seen for kind in kinds)

        # A shell ends before the programs behind it that it does not wait for.
        self._type(block, commands + "\nwait", watch=watch, seconds=30)

    def _type(self, block, text, status=0, **options):
        for line in text.split("\n"):
            self.machine.say(f"$ {line}")
        for command in re.findall(r"(?m)^sudo (apt install [^#\n]*)", text):
            self.machine.fetches(command, self.folder)
        ended, output, self.folder = self.machine.types(text, self.folder, **options)
        require(status is None or ended == status, f"{self.article}:{block.line}: {text!r} ended with {ended}:\n{output[-2000:]}")
        return output

    def edits(self, expected, content=None, entered=""):
        """Types a command that opens an editor, and enters the next block there, or another text."""
        block = self.next(expected)
        self.enters(self.next(content).text if content else entered)
        return self._type(block, block.text)

    def enters(self, text):
        """What the next editor gets."""
        self.machine.write("/run/typing", text + "\n")
        for line in text.split("\n"):
            self.machine.say(f"  | {line}")

    def adds(self, expected, path):
        """Adds the block to a file."""
        text = self.next(expected).text
        self.machine.say(f"  added to {path}:\n" + "\n".join(f"  | {line}" for line in text.split("\n")))
        self.machine.write(path, self.machine.administer(f"cat {path}") + text + "\n")

    def leaves_out(self, expected, reason):
        """Passes over a block that cannot be tried here, or is no command."""
        self.machine.say(f"- not typed ({reason}): {self.next(expected).first}")

    def waits(self, what, script, seconds=60):
        """Waits until a command of the rig succeeds as root."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.machine.administer(script)
            except Failure as failure:
                require(time.monotonic() < end, f"{self.article}: {what}, not within {seconds} s: {failure}")
            time.sleep(0.2)

    def requires(self, condition, text):
        """Checks something that the guide says between its blocks."""
        require(condition, f"{self.article}: {text}")

    def ends(self):
        """The article has no further block."""
        require(not self.blocks, f"{self.article}:{self.blocks[0].line if self.blocks else 0}: not followed: "
                                 f"{[block.first for block in self.blocks]}")
