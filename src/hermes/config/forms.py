"""The forms a value may have, each with the words that describe it. A form reads plain YAML values."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

Place = tuple[str, ...]
Complain = Callable[[Place, object, str], None]
"""Report a bad part of a value that is otherwise kept: where below the key, what it is, what was expected."""


class Malformed(Exception):
    """The value has not the form; `words` is narrower than the form's own where that helps."""

    def __init__(self, words: str = "") -> None:
        super().__init__(words)
        self.words = words


class Form(NamedTuple):
    """What is expected, in words, and how it is read. `literal`: typed text is meant as it is."""

    words: str
    read: Callable[[object, Complain], object]
    literal: bool = False


def _text(value: object, _: Complain) -> str:
    if not isinstance(value, str):
        raise Malformed
    return value


def _filled(value: object, _: Complain) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Malformed
    return value


TEXT = Form("a text", _text, literal=True)
FILLED = Form("a text that is not blank", _filled, literal=True)

_WORDS_FOR = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def _flag(value: object, _: Complain) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and (meant := _WORDS_FOR.get(value.strip().lower())) is not None:
        return meant
    raise Malformed


FLAG = Form("true or false", _flag)


def _kept(value: object, _: Complain) -> str | int:
    if isinstance(value, str) and re.fullmatch(r"\d{1,5} ?(?:d|days?)", value.strip().lower()):
        return value.strip().lower()
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise Malformed
    return value


KEPT = Form("days as in 30d, or a whole number of calls, or null", _kept)


def whole(least: int, *, or_null: bool = False) -> Form:
    """A whole number of at least `least`; digits in quotes count."""

    def read(value: object, _: Complain) -> int:
        if (
            isinstance(value, str)
            and value.isascii()
            and value.replace("_", "").isdigit()
            and len(value) < 16
        ):
            value = int(value.replace("_", ""))
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise Malformed
        return value

    words = f"a whole number of at least {least:,}"
    return Form(f"{words}, or null" if or_null else words, read)


def _ratio(value: object, _: Complain) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 100:
        raise Malformed
    return float(value)


def _amount(value: object, _: Complain) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    raise Malformed


AMOUNT = Form("a number, 0 or more", _amount)
RATIO = Form("a number above 0 and at most 100", _ratio)


def seconds(most: int) -> Form:
    """A time in seconds; a whole number or one with a point."""

    def read(value: object, _: Complain) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
            raise Malformed
        return float(value)

    return Form(f"seconds, above 0 and at most {most}", read)


def _part(value: object, complain: Complain) -> float:
    found = _ratio(value, complain)
    if found > 1:
        raise Malformed
    return found


PART = Form("a number above 0 and at most 1", _part)


def one_of(*choices: str) -> Form:
    """One of a few words."""

    def read(value: object, _: Complain) -> str:
        if value not in choices or not isinstance(value, str):
            raise Malformed(f"one of {', '.join(choices)}{_near(value, choices)}")
        return value

    return Form(f"one of {', '.join(choices)}", read, literal=True)


def _near(value: object, choices: tuple[str, ...]) -> str:
    near = nearest(value, choices) if isinstance(value, str) else ""
    return f" (nearest: {near})" if near else ""


def nearest(name: str, choices: tuple[str, ...], cutoff: float = 0.6) -> str:
    """The choice most like a name, or "" when none is alike."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name[:80], choices, 1, cutoff)), "")


def listed(item: Form, words: str, *, in_order: bool = True, twins: bool = False) -> Form:
    """A list; bad items are reported and left out, and twins unless they are wanted.

    Without `in_order` it is a set, kept sorted.
    """

    def read(value: object, complain: Complain) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise Malformed
        kept: list[str] = []
        told: list[tuple[Place, object, str]] = []
        for number, given in enumerate(value):
            try:
                kept.append(str(item.read(given, complain)))
            except Malformed as bad:
                told.append(((str(number),), given, bad.words or item.words))
        if value and not kept:
            raise Malformed
        _pass_on(told, complain)
        if twins:
            return tuple(kept)
        return tuple(dict.fromkeys(kept)) if in_order else tuple(sorted(set(kept)))

    return Form(words, read)


def mapped(entry: Form, words: str, *, usual: tuple[str, ...] = ()) -> Form:
    """A mapping from any names; bad entries are reported and left out.

    A name that is nearly one of the `usual` ones is taken for a slip and reported too.
    """

    def read(value: object, complain: Complain) -> Mapping[str, object]:
        if not isinstance(value, dict):
            raise Malformed
        slips = {name for name in value if name not in usual and nearest(name, usual, 0.8)}
        for name in sorted(slips):
            complain((name,), value[name], f"another name; did you mean {nearest(name, usual)}?")
        kept = {name: given for name, given in value.items() if name not in slips}
        return _entries(kept, dict.fromkeys(kept, entry), complain)

    return Form(words, read)


def record(entries: Mapping[str, Form], words: str, *, vital: str = "", empty: bool = False) -> Form:
    """A mapping with known names, at least one unless it may be `empty`; a bad value of the `vital` one
    spoils the whole."""
    names = tuple(entries)

    def read(value: object, complain: Complain) -> Mapping[str, object]:
        if not isinstance(value, dict):
            raise Malformed
        told: list[tuple[Place, object, str]] = []
        for name in sorted(set(value) - set(names)):
            near = nearest(name, names)
            known = f"did you mean {near}?" if near else f"known are {', '.join(names)}"
            told.append(((name,), value[name], f"a known name; {known}"))
        known_ones = {name: given for name, given in value.items() if name in entries}
        kept = _entries(known_ones, entries, lambda *bad: told.append(bad))
        if empty and not value:
            return MappingProxyType({})
        if not kept or (vital in value and vital not in kept):
            raise Malformed
        _pass_on(told, complain)
        return kept

    return Form(words, read)


def _pass_on(told: list[tuple[Place, object, str]], complain: Complain) -> None:
    """Report the bad parts of a value that is kept; one that is not kept is reported as a whole."""
    for place, given, expected in told:
        complain(place, given, expected)


def _entries(
    value: Mapping[str, object], forms: Mapping[str, Form], complain: Complain
) -> Mapping[str, object]:
    kept = {}
    for name in sorted(value):

        def within(place: Place, given: object, expected: str, name: str = name) -> None:
            complain((name, *place), given, expected)

        try:
            kept[name] = forms[name].read(value[name], within)
        except Malformed as bad:
            complain((name,), value[name], bad.words or forms[name].words)
    return MappingProxyType(kept)


def fixed(value: Any) -> object:
    """A plain value of YAML as one that nobody can change."""
    if isinstance(value, dict):
        return MappingProxyType({name: fixed(value[name]) for name in sorted(value)})
    return tuple(fixed(item) for item in value) if isinstance(value, list) else value


def _mapping(value: object, _: Complain) -> object:
    if not isinstance(value, dict):
        raise Malformed
    return fixed(value)


MAPPING = Form("a mapping", _mapping)
"""Whatever it holds, which someone else reads."""


def text_or(other: Form, words: str) -> Form:
    """A text that is not blank, or another form."""

    def read(value: object, complain: Complain) -> object:
        return (FILLED if isinstance(value, str) else other).read(value, complain)

    return Form(words, read)


def _directory(value: object, _: Complain) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise Malformed
    path = os.path.expanduser(value.strip())
    if not os.path.isabs(path):
        raise Malformed
    return os.path.normpath(path)


DIRECTORY = Form("an absolute path, or one that begins with ~/", _directory)


def _address(value: object, _: Complain) -> str:
    if not isinstance(value, str) or (value and not value.startswith(("http://", "https://"))):
        raise Malformed
    return value.strip()


ADDRESS = Form("an address that begins with http:// or https://", _address, literal=True)


def _zone(value: object, _: Complain) -> str:
    if not isinstance(value, str):
        raise Malformed
    if value:
        from zoneinfo import ZoneInfo

        try:
            ZoneInfo(value)
        except (KeyError, ValueError, OSError):  # not there, not a name, a folder of the database
            raise Malformed from None
    return value


ZONE = Form("the name of a time zone, such as Europe/Lisbon", _zone, literal=True)


def _enforcement(value: object, complain: Complain) -> object:
    if value == "auto":
        return "auto"
    if isinstance(value, list):
        return _NAME_PARTS.read(value, complain)
    return _flag(value, complain)


_NAME_PARTS = listed(FILLED, "a list of parts of model names", in_order=False)
ENFORCEMENT = Form("auto, true, false, or a list of parts of model names", _enforcement)
