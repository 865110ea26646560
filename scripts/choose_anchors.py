"""Chooses by which slot each phrase rule is looked for: so that as few places as possible of texts are read.

    python scripts/choose_anchors.py FOLDER…

Counts the words of the lexicon in the files of the folders, which should be ordinary ones in many languages,
and writes the slot of each rule into `patterns/*.toml`. Rules that share words cost no more than one of them.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hermes.security import compiler
from hermes.security.normalise import fold
from hermes.security.phrases import matcher
from hermes.security.rulebook import Phrase, load, words

_PATTERNS = Path(compiler.__file__).parent / "patterns"
_LONGEST = 200_000


class _Chosen:
    """A slot for each rule, and what the words of all of them cost together."""

    def __init__(self, rules: list[Phrase], times: Counter[int]) -> None:
        self._rules, self._times = rules, times
        self._words: dict[int, frozenset[int]] = {}
        self.slots = [rule.anchor for rule in rules]
        self._used: Counter[int] = Counter()
        for rule in rules:
            self._used.update(self._of(rule.slots[rule.anchor]))

    def cost(self) -> int:
        """How many places of the files are read."""
        return sum(self._times[number] for number, rules in self._used.items() if rules)

    def improve(self) -> bool:
        """Whether another slot of some rule was better; it is chosen then."""
        better = False
        for at, rule in enumerate(self._rules):
            self._used.subtract(self._of(rule.slots[self.slots[at]]))
            own = self.slots[at]
            costs = [(self._more(at, slot), slot != own, slot) for slot in range(len(rule.slots))]
            best = min(costs)[-1]
            better = better or best != own
            self.slots[at] = best
            self._used.update(self._of(rule.slots[best]))
        return better

    def _more(self, at: int, slot: int) -> int:
        own = self._of(self._rules[at].slots[slot])
        return sum(self._times[number] for number in own if not self._used[number])

    def _of(self, classes: int) -> frozenset[int]:
        if classes not in self._words:
            every = range(len(words().literals.patterns))
            self._words[classes] = frozenset(n for n in every if matcher().classes(n) & classes)
        return self._words[classes]


def main(folders: list[str]) -> int:
    """Choose and write."""
    files = sorted(path for folder in folders for path in Path(folder).rglob("*") if path.is_file())
    times: Counter[int] = Counter()
    for path in files:
        text = fold(path.read_text("utf-8", "replace")[:_LONGEST]).text
        times.update(number for number, _ in matcher().words_in(text))
    rules = list(load().phrases)
    chosen = _Chosen([rule for rule in rules if not rule.hidden], times)
    before = chosen.cost()
    while chosen.improve():
        pass
    print(f"{len(files)} files: {before} places to read before, {chosen.cost()} now")
    slots = iter(chosen.slots)
    _write([rule.anchor if rule.hidden else next(slots) for rule in rules])
    return compiler.main()


def _write(slots: list[int]) -> None:
    left = iter(slots)
    for path in sorted(_PATTERNS.glob("*.toml")):
        blocks = re.split(r"(?m)(?=^\[\[)", path.read_text("utf-8"))
        path.write_text("".join(_anchored(block, left) for block in blocks), encoding="utf-8")


def _anchored(block: str, left: Iterator[int]) -> str:
    if not block.startswith("[[phrase]]"):
        return block
    return re.sub(r"(?m)^anchor = .*\n", f"anchor = {next(left)}\n", block)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
