"""Shape rules: bounded expressions for commands, tokens and set phrases, tried where a trigger stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from hermes.security.expressions import compiled
from hermes.security.findings import Mark
from hermes.security.rulebook import Shape, load

# No shape reads further than this behind its trigger; those that begin before it read less.
_REACH, _REACH_BACK = 520, 260
_BEFORE = 160
_LONGEST_NEED = 32
_CROWD, _LEAST = 8, 64
# So far ahead is looked for what a shape needs.
_AHEAD = 4_000


class Shapes:
    """The shapes by trigger; expressions are compiled when their trigger is first met."""

    def __init__(self) -> None:
        self.triggers: dict[str, list[Shape]] = {}
        for shape in load().shapes:
            for trigger in shape.triggers:
                self.triggers.setdefault(trigger, []).append(shape)

    def find(self, text: str, places: Sequence[tuple[str, int]]) -> Iterator[tuple[Mark, bool]]:
        """Marks for triggers at places of the view, each with whether its context may soften it."""
        states: dict[str, _State] = {}
        by_trigger: dict[str, list[_State]] = {}
        last = len(places) - 1
        for at, (trigger, start) in enumerate(places):
            if trigger not in by_trigger:
                by_trigger[trigger] = [
                    states.setdefault(shape.regex, _State(shape)) for shape in self.triggers.get(trigger, ())
                ]
            # Where triggers crowd, the later ones read on: no text is read more than a few times.
            reach = max(places[at + _CROWD][1], start + _LEAST) if at + _CROWD <= last else len(text)
            for seen in by_trigger[trigger]:
                high = min(reach, start + seen.reach, len(text))
                if high <= seen.bare:
                    continue
                low = max(0, start - seen.shape.back)
                if (start < seen.behind and not seen.shape.back) or not seen.needed(text, low, high):
                    continue
                if seen.shape.heads:
                    yield from seen.before(text, low, start)
                elif seen.shape.back:
                    _widen(seen.windows, low, high)
                elif match := compiled(seen.shape.regex).match(text, start, high):
                    seen.behind = match.end()
                    yield from _mark(seen.shape, text, match)
        for seen in states.values():
            for low, high in seen.windows:
                for match in compiled(seen.shape.regex).finditer(text, low, high):
                    yield from _mark(seen.shape, text, match)


class _State:
    """How far one shape has come in one text."""

    __slots__ = ("bare", "behind", "reach", "shape", "windows")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.reach = _REACH_BACK if shape.back else _REACH
        self.behind = 0
        self.windows: list[tuple[int, int]] = []
        self.bare = 0

    def needed(self, text: str, low: int, high: int) -> bool:
        """Whether a need stands in [low, high). Places come in order: what was `bare` stays bare."""
        if not self.shape.needs:
            return True
        begin, ahead = max(low, self.bare - _LONGEST_NEED), high + _AHEAD
        window = text[begin:ahead]
        if not _any_in(self.shape.needs, window):
            self.bare = ahead
            return False
        return _any_in(self.shape.needs, text[begin:high])

    def before(self, text: str, low: int, start: int) -> Iterator[tuple[Mark, bool]]:
        """Marks that begin with a head in [low, start]; each place is tried once."""
        expression, tried = compiled(self.shape.regex), self.behind
        self.behind = max(self.behind, start + 1)
        places = set()
        for head in self.shape.heads:
            at = text.find(head, max(low, tried), start + len(head))
            while at >= 0:
                places.add(at)
                at = text.find(head, at + 1, start + len(head))
        for at in sorted(places):
            if match := expression.match(text, at, start + _REACH_BACK):
                self.behind = max(self.behind, match.end())
                yield from _mark(self.shape, text, match)


def _any_in(needs: tuple[str, ...], window: str) -> bool:
    for need in needs:  # noqa: SIM110  a loop is quicker than a generator, and this runs at every trigger
        if need in window:
            return True
    return False


def _mark(shape: Shape, text: str, match: re.Match[str]) -> Iterator[tuple[Mark, bool]]:
    start, end = match.span()
    if end == start or (start and text[start].isalpha() and text[start - 1].isalpha()):
        return
    if shape.unless and compiled(shape.unless).search(text, max(0, start - _BEFORE), start):
        return
    if shape.id == "exfil_curl" and _own_api(match[0]):
        return
    yield Mark(shape.id, shape.family, shape.severity, start, end, match[0], shape.why), shape.mention


_HOST = r"https?://([\w.-]{3,100})"
_ADDRESS_VARIABLE = r"\s[\"']?\$\{?\w{0,30}(?:url|host|base|endpoint|api|server)\b"
_VARIABLE = r"\$\{?(?:env:)?(\w{2,60})"
_NAMELESS = frozenset(
    {"key", "api", "token", "secret", "auth", "access", "password", "env", "open", "app", "user", "http"}
)


def _own_api(command: str) -> bool:
    """Whether a service is given its own key: the address is a variable, or shares a name with the key."""
    if compiled(_ADDRESS_VARIABLE).search(command):
        return True
    host = compiled(_HOST).search(command)
    if not host:
        return False
    names = {part for variable in compiled(_VARIABLE).findall(command) for part in variable.split("_")}
    return any(len(name) >= 3 and name in host[1] for name in names - _NAMELESS)


def _widen(windows: list[tuple[int, int]], low: int, high: int) -> None:
    """Add a window; those that overlap become one, so that no text is read twice."""
    if windows and low <= windows[-1][1]:
        windows[-1] = (windows[-1][0], max(high, windows[-1][1]))
    else:
        windows.append((low, high))


@lru_cache(maxsize=1)
def shapes() -> Shapes:
    """The shapes of this process, built on first use."""
    return Shapes()
