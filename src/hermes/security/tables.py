"""Unicode facts that the standard library lacks, read once and only when a text needs them.

`tables.json` is written by `benchmarks/unicode_tables.py`, which names its sources.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def _tables() -> dict[str, Any]:
    with open(os.path.join(os.path.dirname(__file__), "tables.json"), "rb") as source:
        tables: dict[str, Any] = json.load(source)
    return tables


@lru_cache(maxsize=1)
def look_alikes() -> dict[int, str]:
    """Letters of other alphabets, as code points, with the small Latin letter they can be taken for."""
    return {ord(letter): latin for letter, latin in _tables()["look_alikes"].items()}


@lru_cache(maxsize=1)
def _pictographs() -> tuple[tuple[int, ...], tuple[int, ...]]:
    firsts, lasts = zip(*_tables()["pictographs"], strict=True)
    return tuple(firsts), tuple(lasts)


def is_pictograph(letter: str) -> bool:
    """Unicode's property Extended_Pictographic: what may stand beside a joiner in an emoji."""
    firsts, lasts = _pictographs()
    at = bisect_right(firsts, ord(letter)) - 1
    return at >= 0 and ord(letter) <= lasts[at]
