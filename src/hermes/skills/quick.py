"""The front matter that most people write, read a hundred times as quickly as by a parser of all of YAML.

It knows scalars without escapes, lists of words in brackets, lists and maps one line an item, and texts over
several lines that have no blank ones. Of anything else it says that it does not know.
"""

from __future__ import annotations

import re
from typing import Any

from hermes.skills.fields import FIRST_LINE, MAX_CHARS, Fields, Value

_WORD = r"\w(?:[\w ./+-]*[\w./+-])?"
_FLAT = re.compile(
    r"^([A-Za-z_][\w-]{0,63}): +"
    rf"(?:([\w(/.$+^;][ -~]*(?<![: ]))|\[({_WORD}(?:, {_WORD})*)\]|\"([ !#-\[\]-~]*)\"|'([ -&(-~]*)')$",
    re.A | re.M,
)
"""A line with a key and a plain text, words in brackets, or a text in quotes."""
# Written by what they leave out: a set that spans most of Unicode takes milliseconds to compile.
_UNCERTAIN = re.compile("[\0-\t\v-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_(/.$+^;")
_KEY = re.compile(r"( *)([A-Za-z_][A-Za-z0-9_-]{0,63}):(?: +(.*))?$")
_ITEM = re.compile(r"( *)- +([^ ].*)$")
_QUOTED = re.compile(r'"([^"\\]*)"$|\'([^\']*)\'$')
_FLOW_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ ./+-]*")
_QUOTED_WORD = re.compile(r'"([A-Za-z0-9_ ./+-]*)"$|\'([A-Za-z0-9_ ./+-]*)\'$')
_NULLS = frozenset(("null", "Null", "NULL"))
_BLOCKS = {"|": ("\n", "\n"), "|-": ("\n", ""), ">": (" ", "\n"), ">-": (" ", "")}


def quick_fields(yaml: str) -> Fields | None:
    """The fields when every line is of the simple kinds; None when a real parser must look."""
    return None if len(yaml) > MAX_CHARS else _flat_fields(yaml) or _lined_fields(yaml)


def _flat_fields(yaml: str) -> Fields | None:
    """The fields when every line is a key and its value, found all at once."""
    rows = _FLAT.findall(yaml)
    if len(rows) <= yaml.count("\n") or "null" in yaml.lower():
        return None
    top: dict[str, Value] = {}
    places: dict[str, tuple[int, int]] = {}
    for at, (key, plain, words, double, single) in enumerate(rows, FIRST_LINE):
        if key in top or ": " in plain or " #" in plain:
            return None
        top[key] = plain or (words.split(", ") if words else double or single)
        places[key] = (at, at)
    return Fields(top, places)


def _lined_fields(yaml: str) -> Fields | None:
    """The fields, found line by line."""
    lines = yaml.split("\n")
    if not (yaml.isascii() and "".join(lines).isprintable()) and _UNCERTAIN.search(yaml):
        return None
    top: dict[str, Value] = {}
    places: dict[str, tuple[int, int]] = {}
    open_: list[tuple[int, dict[str, Value] | list[Value]]] = [(0, top)]
    waiting: tuple[dict[str, Value], str, int] | None = None  # a key whose value may follow below
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if found := _KEY.match(line):
            spaces, key, rest = found.groups()
            indent, raw = len(spaces), rest.rstrip(" ") if rest else None
            if waiting and indent > waiting[2]:
                child: dict[str, Value] = {}
                waiting[0][waiting[1]] = child
                open_.append((indent, child))
            target = top if not indent and len(open_) == 1 else _target(open_, indent, dict)
            first = at
            goes_on = at < len(lines) and (raw in _BLOCKS or lines[at][:1] == " ")
            value, at = _scalar(raw, lines, at, indent) if raw and goes_on else (_value(raw), at)
            if target is None or key in target or value is _UNSURE:
                return None
            target[key] = value
            waiting = None if raw else (target, key, indent)
            if target is top:
                places[key] = (first + FIRST_LINE - 1, at + FIRST_LINE - 1)
        elif found := _ITEM.match(line):
            indent = len(found[1])
            if waiting and indent >= waiting[2]:
                items: list[Value] = []
                waiting[0][waiting[1]] = items
                open_.append((indent, items))
            waiting = None
            into = _target(open_, indent, list)
            if into is None or (value := _value(found[2].rstrip(" "))) is _UNSURE:
                return None
            into.append(value)
        elif (rest := line.lstrip(" ")) and not rest.startswith("#"):
            return None
    return Fields(top, places) if top else None


def _scalar(raw: str, lines: list[str], at: int, indent: int) -> tuple[Any, int]:
    """The value that begins with `raw` and may go on from line `at`, and the line after it."""
    if raw in _BLOCKS:
        return _block(raw, lines, at, indent)
    if lines[at].startswith(" " * (indent + 1)) and _is_plain(raw):
        return _wrapped(raw, lines, at, indent)
    return _value(raw), at


def _block(style: str, lines: list[str], at: int, indent: int) -> tuple[Any, int]:
    """A literal or folded text without blank or indented lines."""
    first = at
    inner = _indent(lines[at])
    while at < len(lines) and (depth := _indent(lines[at])) > indent:
        if depth != inner or depth == len(lines[at]):
            return _UNSURE, at
        at += 1
    if at == first or (at < len(lines) and not lines[at].strip(" ")):
        return _UNSURE, at
    glue, end = _BLOCKS[style]
    return glue.join([line[inner:] for line in lines[first:at]]) + (end if at < len(lines) else ""), at


def _wrapped(raw: str, lines: list[str], at: int, indent: int) -> tuple[Any, int]:
    """A plain text that goes on in deeper lines, without blank ones."""
    parts = [raw]
    while at < len(lines) and _indent(lines[at]) > indent:
        part = lines[at].strip(" ")
        if not _is_plain(part):
            return _UNSURE, at
        parts.append(part)
        at += 1
    if (at < len(lines) and not lines[at].strip(" ")) or any(_value(p) is _UNSURE for p in parts):
        return _UNSURE, at
    return " ".join(parts), at


def _is_plain(text: str) -> bool:
    """Whether a text begins as nothing but a plain scalar does."""
    return text[:1] in _PLAIN or text[:1] > "\x9f"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


_UNSURE: Any = object()


def _target(open_: list[tuple[int, Any]], indent: int, kind: type) -> Any:
    """The open collection a line of this indent belongs to; None when there is none of its kind."""
    while open_[-1][0] > indent or (kind is dict and open_[-1][0] == indent and type(open_[-1][1]) is list):
        open_.pop()
        if not open_:
            return None
    at, collection = open_[-1]
    return collection if at == indent and type(collection) is kind else None


def _value(raw: str | None) -> Any:
    if not raw or raw in _NULLS:
        return None
    if _is_plain(raw):
        return _UNSURE if ": " in raw or " #" in raw or raw[-1] == ":" else raw
    if raw[0] in "\"'":
        found = _QUOTED.match(raw)
        return (found[1] or found[2] or "") if found else _UNSURE
    if raw[0] == "[" and raw[-1] == "]":
        return _flow_list(raw[1:-1])
    return _UNSURE


def _flow_list(inside: str) -> Any:
    if not inside.strip(" "):
        return []
    items: list[Value] = []
    for part in inside.split(","):
        word = part.strip(" ")
        if _FLOW_WORD.fullmatch(word):
            items.append(None if word in _NULLS else word)
        elif found := _QUOTED_WORD.match(word):
            items.append(found[1] or found[2] or "")
        else:
            return _UNSURE
    return items
