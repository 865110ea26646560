"""What a command may do that a person should have a say in, as data: dangers.toml and places.toml."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from hermes.files import read_file


class Danger(NamedTuple):
    """Something a person should have a say in. `never`: not even then."""

    id: str
    why: str
    never: bool = False


class Row(NamedTuple):
    """One row of the table, as dangers.toml describes it."""

    danger: Danger
    programs: re.Pattern[str]
    sub: re.Pattern[str] | None = None
    any: frozenset[str] = frozenset()
    word: re.Pattern[str] | None = None
    without: frozenset[str] = frozenset()
    place: tuple[str, ...] = ()


class Table(NamedTuple):
    """All that dangers.toml says."""

    rows: tuple[Row, ...]
    data: Mapping[str, Any]

    def set(self, part: str, name: str) -> frozenset[str]:
        """A list of the data, as a set; empty where there is none."""
        return frozenset(self.data[part].get(name, ()))


@lru_cache(maxsize=1)
def table() -> Table:
    """The table that comes with Hermes."""
    data = _data("dangers.toml")
    return Table(tuple(_row(entry) for entry in data["danger"]), data)


@lru_cache(maxsize=1)
def places() -> Mapping[str, Any]:
    """The files and folders that matter more than others; apart, since who only reads needs no more."""
    return _data("places.toml")


def _data(name: str) -> Mapping[str, Any]:
    import tomllib  # only a call that is judged pays

    return tomllib.loads(read_file(os.path.join(os.path.dirname(__file__), name)).data.decode())


def _row(entry: Mapping[str, Any]) -> Row:
    globs = (re.escape(p).replace(r"\*", ".*") for p in entry["programs"])
    return Row(
        Danger(entry["id"], entry["why"], entry.get("never", False)),
        re.compile("|".join(globs)),
        re.compile(entry["sub"]) if "sub" in entry else None,
        frozenset(entry.get("any", ())),
        re.compile(entry["word"]) if "word" in entry else None,
        frozenset(entry.get("without", ())),
        tuple(entry.get("place", ())),
    )
