"""Letters in costume: other alphabets, spelled letters, numbers and pieces that stand for a text.

Each is looked for only where a sign of it stands, so that ordinary text costs a few substring searches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from hermes.security.expressions import compiled
from hermes.security.normalise import beyond_ascii

Costume = tuple[int, int, str, str]
"""The stretch [start, end) of the text, what it reads undressed, and the name of the costume."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LEAST = 6
_LONGEST = 4_000
_UPSIDE_DOWN = "ɐqɔpǝɟƃɥᴉɾʞlɯuodbɹsʇnʌʍxʎz"
_SMALL_CAPITALS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡxʏᴢ"
_RAISED = "ᵃᵇᶜᵈᵉᶠᵍʰᶦʲᵏˡᵐⁿᵒᵖᑫʳˢᵗᵘᵛʷˣʸᶻ"
_DOTS = (1, 3, 9, 25, 17, 11, 27, 19, 10, 26, 5, 7, 13, 29, 21, 15, 31, 23, 14, 30, 37, 39, 58, 45, 61, 53)
_BRAILLE = "".join(chr(0x2800 + dots) for dots in _DOTS)
# Letters that flags are made of, and letters in brackets.
_FLAGS = "".join(chr(0x1F1E6 + at) for at in range(26))
_BRACKETED = "".join(chr(0x249C + at) for at in range(26))
# One of these is in every sentence in such a costume: its e, o or t.
_COMMON = "ᴇᴏᵉᵒ⠑⠕ǝʇ\U0001f1ea\U0001f1f4⒠⒪"
_SPELLED = """
alpha|alfa bravo charlie delta echo foxtrot golf hotel india juliett|juliet kilo lima mike november oscar papa
quebec romeo sierra tango uniform victor whiskey|whisky x-ray|xray yankee zulu
"""


def undressed(text: str) -> Iterator[Costume]:
    """Everything in the text that is written in one of the costumes."""
    if not text.isascii() and not beyond_ascii(text).isdisjoint(_COMMON):
        yield from _dressed(text)
    # Looking for one rare letter takes a fiftieth of looking for a word.
    yield from _escaped(text)
    if "%" in text and text.count("%25") >= _LEAST:
        yield from _percent(text)
    if ("omeo" in text or "OMEO" in text) and ("ndia" in text or "NDIA" in text):
        yield from _spelled(text)
    if "+" in text and ('" + "' in text or "' + '" in text):
        yield from _pieces(text)


def _dressed(text: str) -> Iterator[Costume]:
    for name, expression, table, turned in _wardrobe():
        for match in expression.finditer(text):
            read = match[0].translate(table)
            yield match.start(), match.end(), read[::-1] if turned else read, name
            if turned:
                yield match.start(), match.end(), read, name


_Dress = tuple[str, re.Pattern[str], dict[int, str], bool]


@lru_cache(maxsize=1)
def _wardrobe() -> list[_Dress]:
    return [
        _dress("upside-down letters", _UPSIDE_DOWN, _LETTERS + " \n.,'", turned=True),
        _dress("small capitals", _SMALL_CAPITALS + _RAISED, " .,'-"),
        _dress("Braille", _BRAILLE, " \u2800.,"),
        _dress("flag letters", _FLAGS, " \u200b\u200c\u2060"),
        _dress("letters in brackets", _BRACKETED, " .,"),
    ]


def _dress(name: str, letters: str, between: str, *, turned: bool = False) -> _Dress:
    """A costume: a run of at least so many of its letters that are no plain ones, with others between."""
    table = {ord(letter): _LETTERS[at % 26] for at, letter in enumerate(letters)}
    own = "".join(letter for letter in letters if not letter.isascii())
    for mark in "\u200b\u200c\u2060":
        table.setdefault(ord(mark), "")
    if name == "Braille":
        table[0x2800] = " "
    if name == "flag letters":
        table[ord(" ")] = ""
    gap = f"[{re.escape(between)}]{{0,12}}"
    run = f"[{own}](?:{gap}[{own}]){{{_LEAST - 1},{_LONGEST}}}[{re.escape(between)}]{{0,12}}"
    if turned:
        run = f"[{_LETTERS}]{{0,12}}{run}"
    return name, re.compile(run), table, turned


class _Escape(NamedTuple):
    """How letters are written as numbers: a letter and a mark that it always has, its runs, and its units."""

    letter: str
    mark: str
    name: str
    run: str
    unit: str
    base: int


def _run(one: str, between: str = "") -> str:
    """Six or more of these. The first stands alone, since what begins with a repeat is sought slowly."""
    return f"{one}(?:{between}{one}){{5,}}"


_ESCAPES = (
    _Escape("\\", "\\1", "octal escapes", _run(r"\\[01][0-7]{2}"), r"[0-7]{3}", 8),
    _Escape("+", "U+", "code points", _run(r"U\+[0-9A-Fa-f]{4,5}", r"[\s,]{0,3}"), r"[0-9A-Fa-f]{4,5}", 16),
    _Escape("(", "hr(", "character calls", _run(r"[cC]hr\(\d{2,3}\)", r"[\s+.&,]{0,4}"), r"\d{2,3}", 10),
)


def _escaped(text: str) -> Iterator[Costume]:
    for escape in _ESCAPES:
        if escape.letter not in text or escape.mark not in text:
            continue
        for match in compiled(escape.run).finditer(text):
            units = compiled(escape.unit).findall(match[0][:_LONGEST])
            codes = [int(unit, escape.base) for unit in units]
            read = "".join(chr(code) for code in codes if code < 0x110000)
            yield match.start(), match.end(), read, escape.name


_PERCENT = r"(?:(?:%25[0-9A-Fa-f]{2}){1,40}[\w .~+-]{0,20}){3,}"


def _percent(text: str) -> Iterator[Costume]:
    from urllib.parse import unquote

    for match in compiled(_PERCENT).finditer(text):
        yield match.start(), match.end(), unquote(unquote(match[0][:_LONGEST])), "twice percent-encoded"


@lru_cache(maxsize=1)
def _call_signs() -> tuple[re.Pattern[str], dict[str, str]]:
    signs = {
        sign: letter
        for letter, names in zip(_LETTERS, _SPELLED.split(), strict=True)
        for sign in names.split("|")
    }
    any_sign = "|".join(sorted(signs, key=len, reverse=True))
    return re.compile(rf"(?i)\b(?:{any_sign})(?:[\s,.\-/]{{1,4}}(?:{any_sign})){{7,}}\b"), signs


def _spelled(text: str) -> Iterator[Costume]:
    expression, signs = _call_signs()
    for match in expression.finditer(text):
        words = compiled(r"[a-z]+(?:-ray)?").findall(match[0].lower()[: 8 * _LONGEST])
        yield match.start(), match.end(), "".join(signs.get(word, "") for word in words), "spelled letters"


_PIECE = r"(?:{0}[^{0}\n]{{1,80}}{0}\s{{0,2}}\+\s{{0,2}}){{2,}}{0}[^{0}\n]{{1,80}}{0}"
_PIECES = "|".join(map(_PIECE.format, "\"'"))


def _pieces(text: str) -> Iterator[Costume]:
    for match in compiled(_PIECES).finditer(text):
        mark = match[0][0]
        inside = compiled(rf"{mark}([^{mark}\n]+){mark}").findall(match[0][:_LONGEST])
        yield match.start(), match.end(), "".join(inside), "joined pieces"
