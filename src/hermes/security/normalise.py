"""The text as a model reads it: one case, one alphabet, nothing invisible, mark-up inside words undone.

Most characters are replaced one for one; `views.py` knows the way back from what is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from hermes.security.expressions import compiled
from hermes.security.literals import narrow
from hermes.security.tables import look_alikes
from hermes.security.views import Edit, View, Without, edited

_ENTITY = r"&(?:amp;){0,3}(?:#[0-9]{2,7}|#x[0-9a-f]{1,6}|[a-z]{2,24});?"
_HYPHENATED = r"-\n(?<=[^\W\d_]-\n)[ \t>*#/]{0,4}(?=[^\W\d_])"
_PERCENT = r"%[0-9a-f]{2}(?:%[0-9a-f]{2})*"
_ESCAPE = r"\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|x[0-9a-f]{2})"
_MARK_IN_WORD = r"(?:<(?:!--[^<>]{0,200}--|/?[a-z][^<>\n]{0,200})>|\*{1,3}|~~|``?|__){1,6}"
# Tags of these are no part of a word: what stands on their two sides is drawn apart.
_APART = (
    r"</?(?:address|article|aside|blockquote|br|dd|div|dl|dt|figure|footer|h[1-6]|header|hr|li|main|nav|ol|option|p"
    r"|pre|section|summary|t[dhr]|table|ul)\b"
)
_MIXED = (
    r"[a-zA-Z][\u0370-\u058f\u13a0-\u13ff\u1e00-\u1fff\ua4d0-\ua4ff]"
    r"|[\u0370-\u058f\u13a0-\u13ff\u1e00-\u1fff\ua4d0-\ua4ff][a-zA-Z]"
)
_FOREIGN = "[\u0370-\u058f\u13a0-\u13ff\u1e00-\u1fff\ua4d0-\ua4ff]"
_WORD = r"[^\W\d_]+"
# Marks that only dress a letter: Latin, Hebrew, Arabic. Vowel signs of Indic scripts are spelling and stay.
_DRESS = (
    r"[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640\u1ab0-\u1aff\u1dc0-\u1dff"
    r"\u20d0-\u20ff\ufe20-\ufe2f]"
)
_SMALL_I_WITH_DOT, _FINAL_SIGMA = "\u0130", "\u03a3"


def fold(text: str) -> View:
    """The reading on which rules are matched."""
    without = None
    if text.isascii():
        lowered, grown = text.lower(), list[Edit]()
    else:
        lowered, grown, without = _fold_letters(_unmixed(text))
    edits = [*grown, *_markup(lowered)]
    return edited(lowered, sorted(edits), without) if edits else View(lowered, without=without)


def fold_word(word: str) -> str:
    """The same folding for a word of the lexicon."""
    return fold(word).text


@lru_cache(maxsize=4)
def ascii_lower(text: str) -> str:
    """Small letters for the capitals of ASCII; offsets and all other letters stay."""
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _fold_letters(text: str) -> tuple[str, list[Edit], Without | None]:
    """The text in plain small letters, what is to be put in for those that read as several, the way back."""
    letters = beyond_ascii(text)
    changed = _changed(letters)
    if len(changed) > _MANY or _FINAL_SIGMA in letters:  # a sigma's small form depends on its neighbours
        text = text.replace(_SMALL_I_WITH_DOT, "i").lower()
        changed = _changed(beyond_ascii(text))
    else:
        text = ascii_lower(text)
    swapped = {letter: reading for letter, reading in changed.items() if len(reading) == 1}
    lost = [letter for letter, reading in changed.items() if not reading]
    grown = [letter for letter, reading in changed.items() if len(reading) > 1]
    if len(swapped) > _MANY or not swapped.keys().isdisjoint(swapped.values()):
        text = text.translate({ord(letter): reading for letter, reading in swapped.items()})
    else:
        for letter, reading in swapped.items():
            text = text.replace(letter, reading)
    without = Without(text, lost) if lost else None
    for letter in lost:
        text = text.replace(letter, "")
    edits: list[Edit] = []
    if grown:
        for start, end in runs(text, grown):
            edits.append((start, end, "".join(map(changed.__getitem__, text[start:end]))))
    return text, edits, without


# So many different letters are replaced sooner by a table than one after the other.
_MANY = 64
# So few letters that stand so rarely are found sooner one after the other than all at once.
_FEW, _OFTEN = 6, 200


def runs(text: str, letters: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The stretches of a text that consist of some of the letters, in order."""
    pattern = compiled("[" + "".join(map(re.escape, sorted(letters))) + "]+")
    if len(letters) > _FEW or sum(map(text.count, letters)) > _OFTEN:
        yield from (match.span() for match in pattern.finditer(text))
        return
    found = []
    for letter in letters:
        at = text.find(letter)
        while at >= 0 and (match := pattern.match(text, at)):
            found.append(match.span())
            at = text.find(letter, match.end())
    behind = 0
    for end, start in sorted((end, start) for start, end in found):
        if end > behind:  # another that ends there begins inside this one
            yield start, end
            behind = end


# Letters known to stand for themselves, so that a text in a large script costs one set difference.
_SETTLED: set[str] = set()
_MOST_SETTLED = 20_000


def _changed(letters: frozenset[str]) -> dict[str, str]:
    """The readings of those letters that do not stand for themselves."""
    fresh = letters - _SETTLED
    changed = {letter: reading for letter in sorted(fresh) if (reading := _reading(letter)) != letter}
    if len(changed) < len(fresh) and len(_SETTLED) < _MOST_SETTLED:
        _SETTLED.update(fresh.difference(changed))
    return changed


@lru_cache(maxsize=4)
def beyond_ascii(text: str) -> frozenset[str]:
    """The distinct letters of a text that are not ASCII."""
    rest = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return frozenset(rest.decode("utf-8", "surrogatepass"))


_ASCII = bytes(range(128))


# What NFKC leaves alone though it reads as another: Russian io, often written ie, and letters with strokes.
_READINGS = {"\u0451": "\u0435", "\u0131": "i", "\u0142": "l", "\u00df": "s", "\u0111": "d", "\u00f8": "o"}
_READINGS |= dict.fromkeys("\u2018\u2019\u02bc\u2032\uff07", "'")
# Han, kana and Hangul stand for themselves; letters of the drawn alphabets are told by their name.
_ITSELF = ((0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3))
_DRAWN = ((0x250, 0x2AF), (0x1D00, 0x1D7F), (0x24B6, 0x24E9), (0x1F100, 0x1F1E5))


@lru_cache(maxsize=4096)
def _reading(letter: str) -> str:
    """What one character reads as: itself, another one, several, or nothing."""
    if letter == _SMALL_I_WITH_DOT:
        return "i"
    if (small := letter.lower()) != letter:
        return small if small.isascii() else _reading(small)
    code = ord(letter)
    if is_invisible(code) or compiled(_DRESS).match(letter):
        reading = ""
    elif letter in _READINGS:
        reading = _READINGS[letter]
    elif _in(code, _ITSELF):
        reading = letter
    elif not letter.isalnum() and (kind := unicodedata.category(letter))[0] in "PSZ":
        reading = _named_letter(letter) if kind == "So" and _in(code, _DRAWN) else _mark(letter, kind)
    elif _in(code, _DRAWN):
        reading = _named_letter(letter)
    else:
        reading = _plain(letter)
    return reading


def _in(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def _plain(letter: str) -> str:
    """Without compatibility forms and, in Latin and Greek, without accents."""
    plain = unicodedata.normalize("NFKC", letter).lower()
    base = unicodedata.normalize("NFD", plain)
    if base[:1].isascii() or "\u0370" <= base[:1] <= "\u03ff":
        plain = compiled(_DRESS).sub("", base)
    return plain if 0 < len(plain) <= 6 else letter


def _mark(letter: str, kind: str) -> str:
    """Punctuation and symbols as their ASCII kin, so that the edges of words are plain."""
    plain = unicodedata.normalize("NFKC", letter)
    if len(plain) == 1 and plain.isascii():
        return plain
    if letter in "\u3002\u0964":
        return "\u3002"
    if kind in ("Pi", "Pf") or letter in "\u300c\u300d\u300e\u300f\u201e\u201f":
        return '"'
    return "-" if kind == "Pd" else " "


def _named_letter(letter: str) -> str:
    """Small capitals, phonetic, circled and squared letters: Unicode's name says which letter is drawn."""
    *_, last = unicodedata.name(letter, "?").split()
    if len(last) == 1 and last.isalpha():
        return last.lower()
    return look_alikes().get(ord(letter), letter)


def invisible_among(letters: frozenset[str]) -> list[str]:
    """Those of the letters that are invisible, sorted."""
    found = letters & _UNSEEN
    if max(letters, default="") >= "\U000e0000":
        found |= {letter for letter in letters if is_invisible(ord(letter))}
    return sorted(found)


def is_invisible(code: int) -> bool:
    """Characters that draw nothing and are not space: the ones a reader cannot see."""
    return code in _INVISIBLE or 0xE0000 <= code <= 0xE0FFF


def _codes(*ranges: tuple[int, int]) -> frozenset[int]:
    return frozenset(code for first, last in ranges for code in range(first, last + 1))


_INVISIBLE = _codes(
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
)  # fmt: skip
_UNSEEN = frozenset(map(chr, _INVISIBLE))


def _unmixed(text: str) -> str:
    """Look-alike letters of other alphabets, read as Latin: in words that mix alphabets, and in the
    words beside them that consist of look-alikes only."""
    foreign = compiled(_FOREIGN).search("".join(beyond_ascii(text)))
    if not foreign or not _may_mix(text) or not compiled(_MIXED).search(text):
        return text
    table = look_alikes()
    pieces: list[str] = []
    done = 0
    for line_start, line_end in _lines_with(text, _MIXED):
        line = text[line_start:line_end]
        pieces += (text[done:line_start], compiled(_WORD).sub(lambda word: _latin(word[0], table), line))
        done = line_end
    pieces.append(text[done:])
    return "".join(pieces)


# ASCII letters, and of the other letters of `_MIXED` the first bytes and the ones that follow.
_SIDES = bytes(
    97 if chr(code).isalpha() and code < 128 else 76 if 0xCD <= code <= 0xD6 or code in (0xE1, 0xEA)
    else 99 if 0x80 <= code <= 0xBF else 32
    for code in range(256)
)  # fmt: skip


def _may_mix(text: str) -> bool:
    """Whether letters of `_MIXED` may stand side by side: much quicker than to ask where."""
    sides = text.encode("utf-8", "surrogatepass").translate(_SIDES)
    return b"aL" in sides or b"Lca" in sides or b"Lcca" in sides


def _latin(word: str, table: dict[int, str]) -> str:
    if word.isascii():
        return word
    mixed = bool(compiled(_MIXED).search(word))
    read = word.translate(table)
    return read if mixed or read.isascii() else word


def _lines_with(text: str, expression: str) -> Iterator[tuple[int, int]]:
    at = 0
    while match := compiled(expression).search(text, at):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        yield start, end
        at = end


def _markup(text: str) -> Iterator[Edit]:
    if "&" in text:
        for match in compiled(_ENTITY).finditer(text):
            char = _entity(match[0])
            if char:
                yield match.start(), match.end(), char
    if "%" in text:
        for match in compiled(_PERCENT).finditer(text):
            decoded = bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace").lower()
            if decoded.isprintable():
                yield match.start(), match.end(), decoded
    if "\\" in text and ("\\u" in text or "\\x" in text):
        for match in compiled(_ESCAPE).finditer(text):
            char = _from_code(int(match[0].strip("\\ux{}"), 16))
            if char:
                yield match.start(), match.end(), char
    if "-\n" in text:
        for match in compiled(_HYPHENATED).finditer(text):
            yield match.start(), match.end(), ""
    yield from _inside_words(text)


_KINDS = bytes(
    97 if chr(code).isalpha() or code == 0x3F else {42: 109, 126: 109, 96: 109, 60: 60, 95: 95}.get(code, 32)
    for code in range(256)
)
# Marks amid letters, by the sign without which there are none: to ask for that takes next to nothing.
_AMID = (
    (b"m", re.compile(rb"m(?<=am)m?m?a")),
    (b"_", re.compile(rb"_(?<=a_)_a")),
    (b"<", re.compile(rb"<(?<=a<)")),
)


def _inside_words(text: str) -> Iterator[Edit]:
    """Mark-up inside a word, found in a text of which only the kinds of letters are left."""
    kinds = narrow(text).translate(_KINDS)
    behind = 0
    marks = (match.start() for sign, amid in _AMID if sign in kinds for match in amid.finditer(kinds))
    for place in sorted(marks):
        at = place
        while at >= behind and (match := compiled(_MARK_IN_WORD).match(text, at)):
            behind = match.end()
            if behind >= len(text) or not text[behind].isalpha():
                break
            yield at, behind, " " if compiled(_APART).search(match[0]) else ""
            at = behind
            while at < len(text) and text[at].isalpha():
                at += 1


def _entity(entity: str) -> str:
    import html

    while entity.startswith("&amp;") and len(entity) > len("&amp;"):
        entity = "&" + entity.removeprefix("&amp;")
    char = html.unescape(entity)
    if char == entity or not 1 <= len(char) <= 2 or not char.isprintable():
        return ""
    return char.lower()


def _from_code(code: int) -> str:
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return ""
    char = chr(code)
    return char.lower() if char.isprintable() else ""
