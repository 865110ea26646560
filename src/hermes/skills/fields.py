"""What is read from front matter."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from hermes.frozen import frozen

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"

MAX_CHARS = 65_536
"""Front matter beyond this is refused, with its reason."""
FIRST_LINE = 2
"""The line of the file on which the YAML starts: after the fence."""


class Fields(NamedTuple):
    """What front matter says, the lines of the file on which each top value stands, and what was repaired."""

    values: dict[str, Value]
    lines: dict[str, tuple[int, int]]
    warnings: tuple[str, ...] = ()


@frozen
class Fault:
    """Front matter that cannot be used: the line of the file and the reason."""

    line: int
    reason: str
