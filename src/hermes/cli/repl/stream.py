"""An answer as it arrives: blocks that are whole are given away, the last one stays and grows."""

from __future__ import annotations

import re

from hermes.frozen import frozen

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
LONGEST = 24
"""Lines of an open code block that are kept back; a longer one is given away in pieces."""


@frozen
class Block:
    """Markdown that can be drawn by itself. `joined`: it goes on from the one before."""

    text: str
    joined: bool = False


class Stream:
    """Cuts Markdown that arrives in pieces of any size into blocks; the same text, the same blocks."""

    def __init__(self) -> None:
        self.pending = ""
        self._line = 0  # where in `pending` the first line begins that was not looked at
        self._fence = ""  # the mark of the open code block, "" outside
        self._head = ""  # its first line
        self._since = 0  # lines in it that were not given away
        self._blank = False  # the last line was blank, outside a code block
        self._joined = False

    def feed(self, piece: str) -> list[Block]:
        """Take a piece; the blocks that it made whole."""
        self.pending += piece
        done: list[Block] = []
        while (end := self.pending.find("\n", self._line)) >= 0:
            self._look(self.pending[self._line : end], end + 1, done)
        return done

    def finish(self) -> list[Block]:
        """The end: what was kept back."""
        done: list[Block] = []
        self._give(len(self.pending), done)
        self.pending, self._line, self._fence = "", 0, ""
        self._blank = self._joined = False
        return done

    def _look(self, line: str, after: int, done: list[Block]) -> None:
        """One whole line, which ends at `after`."""
        found = _FENCE.match(line)
        if self._fence:
            self._since += 1
            if found and found[1].startswith(self._fence) and not found[2].strip():
                self._fence = ""
            elif self._since >= LONGEST:
                self._give(after, done, self._fence)
                self._open_again()
                return
            self._line = after
            return
        if self._blank and line.strip() and not line[0].isspace():
            after -= self._give(self._line, done)
            self._joined = False
        if found:
            self._fence, self._head, self._since = found[1], line, 0
        self._blank = not line.strip() and bool(self.pending[:after].strip())
        self._line = after

    def _give(self, end: int, done: list[Block], closing: str = "") -> int:
        """Give away what stands before `end`; the number of characters that are gone."""
        text = self.pending[:end]
        bare = self._joined and text.split() == [*self._head.split(), self._head.split()[0][:3]]
        if text.strip() and not bare:
            done.append(Block(text + closing, self._joined))
        self.pending = self.pending[end:]
        return end

    def _open_again(self) -> None:
        """The rest of a code block of which a piece was given away is a code block too."""
        self.pending = f"{self._head}\n{self.pending}"
        self._line, self._since, self._joined = len(self._head) + 1, 0, True
