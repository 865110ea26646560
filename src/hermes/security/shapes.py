"""Shape rules: bounded expressions for commands, tokens and set phrases, tried only where a trigger stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from hermes.security.findings import Mark
from hermes.security.rulebook import Shape, load

# No shape reads further than this behind its trigger.
_REACH = 520
_BEFORE = 160


class Shapes:
    """The shapes by trigger; expressions are compiled when their trigger is first met."""

    def __init__(self) -> None:
        self.triggers: dict[str, list[Shape]] = {}
        for shape in load().shapes:
            for trigger in shape.triggers:
                self.triggers.setdefault(trigger, []).append(shape)

    def find(self, text: str, places: Iterable[tuple[str, int]]) -> Iterator[tuple[Mark, bool]]:
        """Marks for triggers at places of the view, each with whether its context may soften it."""
        behind: dict[int, int] = {}
        around: dict[int, tuple[Shape, list[tuple[int, int]]]] = {}
        for trigger, start in places:
            for shape in self.triggers.get(trigger, ()):
                key = id(shape)
                low, high = start - shape.back, min(len(text), start + _REACH)
                if start < behind.get(key, 0) or (shape.needs and not _near(shape.needs, text, low, high)):
                    continue
                if shape.back:
                    _widen(around.setdefault(key, (shape, []))[1], max(0, low), high)
                elif match := _compiled(shape.regex).match(text, start, high):
                    behind[key] = match.end()
                    yield from _mark(shape, text, match)
        for shape, windows in around.values():
            for low, high in windows:
                for match in _compiled(shape.regex).finditer(text, low, high):
                    yield from _mark(shape, text, match)


def _mark(shape: Shape, text: str, match: re.Match[str]) -> Iterator[tuple[Mark, bool]]:
    start, end = match.span()
    if end == start or (start and text[start].isalpha() and text[start - 1].isalpha()):
        return
    if shape.unless and _compiled(shape.unless).search(text, max(0, start - _BEFORE), start):
        return
    if shape.id == "exfil_curl" and _own_api(match[0]):
        return
    yield Mark(shape.id, shape.family, shape.severity, start, end, match[0], shape.why), shape.mention


_HOST = re.compile(r"https?://([\w.-]{3,100})")
_ADDRESS_VARIABLE = re.compile(r"\s[\"']?\$\{?\w{0,30}(?:url|host|base|endpoint|api|server)\b")
_VARIABLE = re.compile(r"\$\{?(?:env:)?(\w{2,60})")
_NAMELESS = frozenset({"key", "api", "token", "secret", "auth", "access", "password", "env", "open", "app", "user", "http"})


def _own_api(command: str) -> bool:
    """Whether a request gives a service its own key: the address is a variable, or shares a name with the key."""
    if _ADDRESS_VARIABLE.search(command):
        return True
    host = _HOST.search(command)
    if not host:
        return False
    names = {part for variable in _VARIABLE.findall(command) for part in variable.split("_")}
    return any(len(name) >= 3 and name in host[1] for name in names - _NAMELESS)


def _widen(windows: list[tuple[int, int]], low: int, high: int) -> None:
    """Add a window; those that overlap become one, so that no text is read twice."""
    if windows and low <= windows[-1][1]:
        windows[-1] = (windows[-1][0], max(high, windows[-1][1]))
    else:
        windows.append((low, high))


def _near(needs: tuple[str, ...], text: str, low: int, high: int) -> bool:
    window = text[max(0, low) : high]
    return any(need in window for need in needs)


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@lru_cache(maxsize=1)
def shapes() -> Shapes:
    """The shapes of this process, built on first use."""
    return Shapes()
