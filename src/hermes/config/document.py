"""What stands in a config file: plain values, their lines, and what is wrong with the text."""

from __future__ import annotations

from dataclasses import field
from typing import Any, NamedTuple

from hermes.frozen import frozen
from hermes.provenance import Level

MAX_BYTES = 256 * 1024
"""The largest config.yaml that is read."""

Path = tuple[str, ...]


class Problem(NamedTuple):
    """What is wrong with the text, and on which line (0: no line)."""

    level: Level
    line: int
    text: str


@frozen
class Document:
    """The mapping in a file. `lines` knows on which line each key and item begins.

    `texts` has the first and the last line of each text that does not stand on the line of its key.
    `readable` says whether the file is YAML at all, so that it can be edited.
    """

    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[Path, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    texts: dict[Path, tuple[int, int]] = field(default_factory=dict)
    readable: bool = True
