"""Regular expressions, compiled when they are first needed: a start that scans little compiles little."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=4096)
def compiled(expression: str) -> re.Pattern[str]:
    """The expression, compiled once in a process."""
    return re.compile(expression)
