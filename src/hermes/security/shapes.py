"""Shape rules: bounded expressions for commands, tokens and set phrases, tried where a trigger stands."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain

from hermes.security.effort import Effort
from hermes.security.expressions import compiled
from hermes.security.findings import Mark
from hermes.security.hosts import Hosts
from hermes.security.rulebook import Shape, load
from hermes.security.wrapped import unwrapped

Places = dict[str, list[int]]
"""Where each trigger stands, in ascending order."""
Loose = tuple[int, int]
"""Where a shape was tried that did not match, and its number."""

# No shape reads further than this behind its trigger; those that begin before it read less.
_REACH, _REACH_BACK = 520, 260
_BEFORE = 160
_LONGEST_NEED = 32
_CROWD, _LEAST = 8, 64
# So far ahead is looked for what a shape needs; at so few places the shape itself is tried sooner.
_AHEAD, _FEW = 1_000, 60
# What is spent on a place of a shape, and on trying it there. A try takes some microseconds; of the dearest
# shapes, which pay for it when they are tried more often than in honest texts, ten times as many.
_PLACE, _TRY, _DEAR_TRY, _OFTEN = 1, 3, 24, 80
# Of more places than this, those are left out that stand amid so many others, each no further than `_BESIDE`
# from the next: what matters there is read from its ends.
_MANY, _ENDS, _BESIDE = 200, 32, 8
# Where fewer of many places stand than one in so many letters, heads are looked for beside each.
_SPARSE = 400
# After so many searches for heads an expression for them pays for itself.
_PAYS = 40


class Shapes:
    """The shapes by trigger; expressions are compiled when their trigger is first met."""

    def __init__(self) -> None:
        shapes = load().shapes
        self._rules = [_Rule(shape) for shape in shapes]
        self._by_trigger: dict[str, list[int]] = {}
        for number, shape in enumerate(shapes):
            for trigger in shape.triggers:
                self._by_trigger.setdefault(trigger, []).append(number)

    def find(
        self, text: str, places: Places, effort: Effort, loose: list[Loose]
    ) -> Iterator[tuple[Mark, bool]]:
        """Marks for triggers at places of the view, each with whether its context may soften it.

        `loose` gets the places where a shape that begins with a word did not match.
        """
        triggers: dict[int, list[list[int]]] = {}
        hosts = Hosts(text)
        unbroken = unwrapped(text) if places else text
        for trigger, starts in places.items():
            for number in self._by_trigger[trigger]:
                triggers.setdefault(number, []).append(starts)
        for number, lists in sorted(triggers.items()):
            starts = lists[0] if len(lists) == 1 else sorted(chain.from_iterable(lists))
            rule = self._rules[number]
            if len(starts) > _MANY and not _any_in(rule.shape.needs, text):
                continue
            effort.spend(len(starts) * (1 + (len(starts) > _MANY)))
            written = text if rule.shape.lines else unbroken
            reading = _Reading(rule, written, _thinned(starts) if len(starts) > _MANY else starts, effort)
            for match in reading.matches():
                yield from _mark(rule.shape, text, match, hosts)
            if rule.shape.heads or rule.shape.back:
                loose += [(start, number) for start in reading.loose]

    def may_hold(self, passage: str, numbers: Iterable[int], effort: Effort) -> bool:
        """Whether one of the shapes of these numbers stands in a passage."""
        return any(self._rules[number].stands_in(passage, effort) for number in numbers)


class _Rule:
    """A shape with its expressions, which are made when nothing quicker rules a place out.

    Making one takes as long as hundreds of tries, and a short-lived program has few.
    """

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._searches = 0

        self.is_new = True
        """Whether there is no expression yet."""

    @cached_property
    def expression(self) -> re.Pattern[str]:
        self.is_new = False
        return re.compile(self.shape.regex)

    def stands_in(self, passage: str, effort: Effort) -> bool:
        """Whether there is a match in a passage."""
        if not (_any_in(self.shape.needs, passage) and _any_in(self.shape.heads, passage)):
            return False
        effort.spend(_DEAR_TRY)
        if not self.shape.heads:
            return self.expression.search(passage) is not None
        for at in _occurrences(self.shape.heads, passage):
            effort.spend(_TRY)
            if self.expression.match(passage, at, at + self.shape.back + _REACH_BACK):
                return True
        return False

    def heads(self, text: str, low: int, high: int) -> list[int]:
        """Where a head begins in [low, high] and is no end of a longer word, in ascending order."""
        self._searches += 1
        if self._searches < _PAYS:
            return _heads_one_by_one(self.shape.heads, text, low, high)
        found = []
        expression, longest = self._any_head
        while head := expression.search(text, low, high + longest):
            low = head.start() + 1
            if low > high + 1:
                break
            found.append(low - 1)
        return found

    @cached_property
    def _any_head(self) -> tuple[re.Pattern[str], int]:
        """An expression for all heads, and the length of the longest."""
        opened: dict[str, list[str]] = {}
        for head in self.shape.heads:
            opened.setdefault(head[0], []).append(head[1:])
        ways = [
            re.escape(first) + rf"(?<![a-z]{first})" * ("a" <= first <= "z") + _any_of(rests)
            for first, rests in opened.items()
        ]
        return re.compile("|".join(ways)), max(map(len, self.shape.heads))


class _Reading:
    """One shape in one text."""

    def __init__(self, rule: _Rule, text: str, starts: list[int], effort: Effort) -> None:
        self.rule, self.shape = rule, rule.shape
        self._effort = effort
        self._text = text
        self._starts = starts
        self._bare = self._tries = 0
        self._words = ""
        self._vain: set[str] | None = set() if len(starts) > _MANY else None
        self.loose: list[int] = []
        """Where the shape was tried and did not match."""

    def matches(self) -> Iterator[re.Match[str]]:
        """Every match, none of them inside one before it."""
        if not self.shape.back:
            return self._from_triggers(_REACH_BACK if self.shape.heads else _REACH)
        return self._from_heads() if self.shape.heads else self._from_windows()

    def _from_triggers(self, reach: int) -> Iterator[re.Match[str]]:
        behind, many, rule = 0, len(self._starts) > _FEW, self.rule
        for start, high in self._places(reach):
            if start < behind or (many and not self._needed(start, high)) or self._in_vain(start, high):
                continue
            self._try()
            if rule.is_new and not many and not _any_in(self.shape.needs, self._text[start:high]):
                continue
            match = rule.expression.match(self._text, start, high)
            if match and (many or _any_in(self.shape.needs, self._text[start:high])):
                behind = match.end()
                self._forget()
                yield match
            elif not match and _any_in(self.shape.needs, self._text[start:high]):
                self.loose.append(start)

    def _from_heads(self) -> Iterator[re.Match[str]]:
        """Matches that begin with a head at, or not long before, a trigger; each place is tried once."""
        text, back = self._text, self.shape.back
        crowded = self._vain is not None and len(self._starts) * _SPARSE > len(text)
        everywhere = _occurrences(self.shape.heads, text) if crowded else None
        behind = 0
        for start in self._starts:
            low, high = max(behind, start - back), start + _REACH_BACK
            if low > start or not self._needed(low, high) or self._in_vain(start - back, high):
                continue
            behind = start + 1
            self._effort.spend(_PLACE)
            if everywhere is None:
                found = self.rule.heads(text, low, start)
            else:
                found = everywhere[bisect_left(everywhere, low) : bisect_left(everywhere, behind)]
            if found:
                self.loose.append(start)
            for at in found:
                self._try()
                if match := self.rule.expression.match(text, at, high):
                    behind = max(behind, match.end())
                    self._forget()
                    yield match

    def _from_windows(self) -> Iterator[re.Match[str]]:
        """Matches anywhere around triggers; windows that overlap are read as one."""
        low = high = 0
        for start, stop in self._places(_REACH_BACK):
            begin = max(0, start - self.shape.back)
            self._effort.spend(_TRY)
            if not self._needed(begin, stop):
                continue
            self.loose.append(start)
            if begin > high:
                yield from self.rule.expression.finditer(self._text, low, high)
                low = begin
            high = stop
        yield from self.rule.expression.finditer(self._text, low, high)

    def _try(self) -> None:
        """Pay for one try."""
        self._tries += 1
        self._effort.spend(_TRY if self._tries <= _OFTEN else _DEAR_TRY)

    def _places(self, reach: int) -> Iterator[tuple[int, int]]:
        """Each trigger, and how far is read behind it: where they crowd less, as the later ones read on."""
        starts, last, end = self._starts, len(self._starts) - 1, len(self._text)
        for at, start in enumerate(starts):
            high = start + reach
            if at + _CROWD <= last:
                high = min(high, max(starts[at + _CROWD], start + _LEAST))
            yield start, min(high, end)

    def _in_vain(self, low: int, high: int) -> bool:
        """Whether the shape, one of many here, was tried on the same words before and did not match."""
        if self._vain is None:
            return False
        self._words = self._text[max(0, low - 1) : high]
        if self._words in self._vain:
            return True
        self._vain.add(self._words)
        return False

    def _forget(self) -> None:
        """The words tried last did match."""
        if self._vain is not None:
            self._vain.discard(self._words)

    def _needed(self, low: int, high: int) -> bool:
        """Whether a need stands in [low, high). Places come in order: what was bare stays bare."""
        needs = self.shape.needs
        if not needs:
            return True
        if high <= self._bare:
            return False
        begin, ahead = max(low, self._bare - _LONGEST_NEED), high + _AHEAD
        if not _any_in(needs, self._text[begin:ahead]):
            self._bare = ahead
            return False
        return _any_in(needs, self._text[begin:high])


def _thinned(starts: list[int]) -> list[int]:
    """Places without those in the middle of a long crowd."""
    kept: list[int] = []
    first = 0
    for at in range(1, len(starts) + 1):
        if at < len(starts) and starts[at] - starts[at - 1] <= _BESIDE:
            continue
        crowd = starts[first:at]
        kept += crowd if len(crowd) <= 2 * _ENDS else crowd[:_ENDS] + crowd[-_ENDS:]
        first = at
    return kept


def _heads_one_by_one(heads: tuple[str, ...], text: str, low: int, high: int) -> list[int]:
    found = set()
    for head in heads:
        stop = high + len(head)
        at = text.find(head, low, stop)
        while at >= 0:
            if not (at and "a" <= head[0] <= "z" and "a" <= text[at - 1] <= "z"):
                found.add(at)
            at = text.find(head, at + 1, stop)
    return sorted(found)


def _any_of(words: list[str]) -> str:
    """An expression for what begins with one of the words, each letter of which is looked at once."""
    if "" in words:
        return ""
    opened: dict[str, list[str]] = {}
    for word in words:
        opened.setdefault(word[0], []).append(word[1:])
    ways = [re.escape(first) + _any_of(rests) for first, rests in opened.items()]
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


def _occurrences(heads: tuple[str, ...], text: str) -> list[int]:
    """Where one of the heads begins, in ascending order."""
    found = []
    for head in heads:
        at = text.find(head)
        while at >= 0:
            found.append(at)
            at = text.find(head, at + 1)
    return sorted(found)


def _any_in(needs: tuple[str, ...], window: str) -> bool:
    """Whether one of the needs is there, or there are none."""
    for need in needs:
        if need in window:
            return True
    return not needs


def _mark(shape: Shape, text: str, match: re.Match[str], hosts: Hosts) -> Iterator[tuple[Mark, bool]]:
    start, end = match.span()
    if end == start or (start and text[start].isalpha() and text[start - 1].isalpha()):
        return
    if shape.unless and compiled(shape.unless).search(text, max(0, start - _BEFORE), start):
        return
    if shape.id == "exfil_curl" and _own_api(match[0]):
        return
    severity, why = shape.severity, shape.why
    if shape.id in ("pipe_to_shell", "odd_host") and severity != "high":
        named = hosts.named(match[0])
        if shape.id == "odd_host" and named:
            return
        if not named:
            severity, why = "high", why + "; the text speaks of that host nowhere else"
    yield Mark(shape.id, shape.family, severity, start, end, match[0], why), shape.mention


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


@lru_cache(maxsize=1)
def shapes() -> Shapes:
    """The shapes of this process, built on first use."""
    return Shapes()
