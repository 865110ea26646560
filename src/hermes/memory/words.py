"""Finding the entry that is meant, and the entry that says the same already."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache

from hermes.memory.entries import ids

_SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\xad"),
    }
)
_DASHES, _BLANKS = re.compile("--+"), re.compile(r"\s+")
_ID = re.compile(r"[0-9a-f]{6,64}")
_WORD = re.compile(r"[\w'.@/\\:+#-]*\w[+#]*")
_EMPTY = frozenset(
    {"a", "an", "the", "is", "are", "was", "were", "has", "have", "had", "that", "this", "to", "of"}
    | {"user", "users", "user's", "he", "she", "they", "i", "my"}
)
_LEAST_CONTAINED = 3
_LEAST_INFLECTED = 5


@lru_cache(maxsize=1024)
def plain_form(text: str) -> str:
    """A text without the ways in which the same can be typed: dashes, quotes, accents, spaces, case."""
    text = unicodedata.normalize("NFKC", text).translate(_SAME)
    return _BLANKS.sub(" ", _DASHES.sub("-", text)).strip().casefold()


def find(entries: Sequence[str], wanted: str) -> list[int]:
    """The entries that may be meant: one when it is clear, several when it is not, none.

    The exact text goes before an id, that before the same text typed otherwise, that before a part of a text.
    """
    wanted, form = wanted.strip(), plain_form(wanted)
    if not form:
        return []
    bare = wanted.removeprefix("[").removesuffix("]").lower()
    names = ids(entries) if _ID.fullmatch(bare) else [""] * len(entries)
    tries: tuple[Callable[[int, str], bool], ...] = (
        lambda _, e: e == wanted,
        lambda i, _: names[i] == bare,
        lambda _, e: plain_form(e) == form,
        lambda _, e: wanted in e,
        lambda _, e: form in plain_form(e),
    )
    for fits in tries:
        if found := [i for i, entry in enumerate(entries) if fits(i, entry)]:
            return found
    return []


def said_already(entries: Sequence[str], new: str) -> int | None:
    """The entry that says what a new one would say, or nearly so."""
    form, words = plain_form(new), _words(new)
    for i, entry in enumerate(entries):
        if plain_form(entry) == form:
            return i
        there = _words(entry)
        if words and (there == words or _contains(there, words) or _inflected(there, words)):
            return i
    return None


@lru_cache(maxsize=1024)
def _words(text: str) -> tuple[str, ...]:
    return tuple(
        w for w in (m.strip(".:-'") for m in _WORD.findall(plain_form(text))) if w and w not in _EMPTY
    )


def _contains(whole: tuple[str, ...], part: tuple[str, ...]) -> bool:
    n = len(part)
    return n >= _LEAST_CONTAINED and any(whole[i : i + n] == part for i in range(len(whole) - n + 1))


def _inflected(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether texts of many words differ in the ending of one: prefers, prefer."""
    if len(one) != len(other) or len(one) < _LEAST_INFLECTED:
        return False
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    return len(pairs) == 1 and _same_stem(*pairs[0])


def _same_stem(a: str, b: str) -> bool:
    short, long = sorted((a, b), key=len)
    return (
        short.isalpha()
        and len(short) >= 4
        and long.startswith(short)
        and long[len(short) :] in ("s", "es", "ed", "d")
    )
