"""Chooses by which of its words a literal is looked for: so that little is found that is not the literal.

`common.txt` lists words that honest texts are full of, the commonest first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from hermes.security.literals import ENDS, STARTS
from hermes.security.scouts import GAP, WORD, Keyed

_HERE = Path(__file__).parent
_Key = tuple[int, str]


@lru_cache(maxsize=1)
def common() -> dict[str, int]:
    """The common words, each with its place among them: 1 for the commonest."""
    words = _HERE.joinpath("common.txt").read_text("utf-8").split()
    return {word: place for place, word in enumerate(words, 1)}


@lru_cache(maxsize=4096)
def _rarity(key: str) -> int:
    """How rare a word is, given with a space at each edge it must have."""
    word = key.strip(" ")
    if key == f" {word} ":
        return common().get(word, len(common()) + len(word))
    alike = [
        place for other, place in common().items() if key.strip(" ") in f" {other} " and key in f" {other} "
    ]
    return min(alike, default=len(common()) + len(word))


def keyed(literals: Sequence[tuple[str, int]]) -> Keyed:
    """Keyed with their keys. Each must have a letter; without `pairs` all keys are single words."""
    owners: dict[str, list[tuple[int, int]]] = {}
    for number, (literal, bounds) in enumerate(literals):
        word, key = _key(_edged(literal, bounds))
        owners.setdefault(key, []).append((number, word))
    plain = sorted(key for key in owners if key.isascii() and GAP not in key)
    paired = sorted(key for key in owners if GAP in key)
    other = sorted(key for key in owners if not key.isascii())
    return Keyed(
        texts=[literal for literal, _ in literals],
        bounds=[bounds for _, bounds in literals],
        plain=plain,
        pairs=paired,
        other=other,
        owners=[owners[key] for key in (*plain, *paired, *other)],
    )


def _edged(literal: str, bounds: int) -> list[str]:
    """The words of a literal, with a space at each edge that they must have."""
    words = re.findall(WORD, literal)
    if not words:
        raise ValueError(f"{literal!r} has no letter to look for")
    last = len(words) - 1
    opens = bounds & STARTS or not literal.startswith(words[0])
    closes = bounds & ENDS or not literal.endswith(words[last])
    return [" " * bool(at or opens) + word + " " * bool(at < last or closes) for at, word in enumerate(words)]


def _key(words: list[str]) -> _Key:
    """The key of a literal, and which of its words that begins at."""
    places = range(len(words))
    if foreign := [at for at in places if not words[at].isascii()]:
        best = max(foreign, key=lambda at: (_rarity(words[at]), len(words[at])))
        return best, words[best]
    best = max(places, key=lambda at: _rarity(words[at]))
    if len(words) == 1 or _rarity(words[best]) > len(common()):
        return best, words[best]
    first = max(
        places[:-1],
        key=lambda at: (
            min(_rarity(words[at]), _rarity(words[at + 1])) + _rarity(words[at]) + _rarity(words[at + 1])
        ),
    )
    return first, words[first].rstrip(" ") + GAP + words[first + 1].lstrip(" ")
