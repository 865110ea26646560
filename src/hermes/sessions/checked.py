"""Records made of what came from outside. TypeError or ValueError says which field is not of its kind."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any, TypeVar, get_args

from hermes.messages import Place, Role
from hermes.sessions.records import Fragment, SessionRecord

T = TypeVar("T")
MOST = 1 << 31
"""Numbers are smaller than this."""
_ONE_OF = {"Role": get_args(Role), "Place": get_args(Place)}
_digest = re.compile(r"[0-9a-f]{64}").fullmatch


def made(kind: type[T], found: dict[str, Any]) -> T:
    """A record of these fields."""
    record = kind(**found)
    for field in fields(kind):  # type: ignore[arg-type]  # all records are dataclasses
        value = getattr(record, field.name)
        if not _fits(str(field.type), value):
            raise TypeError(f"{field.name} of a {kind.__name__} is {value!r:.60}")
    if isinstance(record, SessionRecord):
        _session(record)
    if isinstance(record, Fragment) and record.gone:
        a_digest(record.gone)
    return record


def a_digest(value: object) -> str:
    """A SHA-256 in hexadecimal."""
    if not isinstance(value, str) or not _digest(value):
        raise TypeError(f"{value!r:.60} is no digest")
    return value


def a_count(value: object) -> int:
    if not _fits("int", value):
        raise TypeError(f"{value!r:.60} is no number that can be")
    return int(value)  # type: ignore[call-overload,no-any-return]


def _fits(kind: str, value: object) -> bool:
    if kind in _ONE_OF:
        return value in _ONE_OF[kind]
    if kind == "int":
        return type(value) is int and 0 <= value < MOST
    return {"str": str, "bool": bool}.get(kind, object) in (type(value), object)


def _session(record: SessionRecord) -> None:
    for name, kind in (("state", dict), ("tools", list), ("prompt_json", dict)):
        text = getattr(record, name)
        if (text and not isinstance(json.loads(text), kind)) or (not text and name != "prompt_json"):
            raise TypeError(f"{name} of a session is {text!r:.60}")
