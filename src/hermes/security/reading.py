"""Reads a text, and what is hidden or disguised in it.

One pass of an automaton over the folded text finds the few words that matter; phrase and shape rules look
only at the passages around them. Hidden regions and disguised runs are read by the same rules, one level
down.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from hermes.security import hidden, invisible
from hermes.security.across import across
from hermes.security.context import Context, crossed
from hermes.security.decode import disguises
from hermes.security.effort import Effort, TooDense
from hermes.security.findings import Finding, Mark, settle
from hermes.security.literals import narrow, signs
from hermes.security.normalise import fold
from hermes.security.phrases import Said, matcher
from hermes.security.repeats import shorten, told_again
from hermes.security.riddles import undo
from hermes.security.rulebook import load
from hermes.security.shapes import Loose, Places, shapes
from hermes.security.views import View

_DEEPEST = 2
# What is spent on a mark, its parts, another text to be read, what draws nothing, a look at a run.
_MARK, _PIECES, _READ, _UNSEEN, _GLANCE = 50, 12, 80, 12, 10
# A text with so many grave findings of one kind gains nothing from another.
_ENOUGH = 60
# So much of one hidden stretch is told.
_STRETCH_SAYS = 200
# Of so many signs that make one line only the first is of interest.
_LINE = 14
_SHOWN = 120
_TOO_DENSE = "so many places look like orders, or are hidden or disguised, that not all were read"
# Families of what is said, where program text is no order; that of deeds is.
_OF_WORDS = frozenset({"override", "role", "deception", "system_prompt"})
# Families of commands: those are full of hyphens, and another command without them.
_OF_DEEDS = frozenset({"remote_code", "persistence", "tools", "exfiltration", "secrets"})
# What options of honest programs do as well, and manuals tell.
_OF_OPTIONS = frozenset({"approval_bypass", "auto_approve"})
_SOFTER = {"high": "medium", "medium": "low", "low": "low"}


def read(text: str) -> tuple[Finding, ...]:
    """Everything in the text that tries to command its reader, sorted by (start, end, id)."""
    short, gaps = shorten(text)
    marks = _within(Effort(len(text)), short)
    return settle(text, told_again(marks, gaps) if gaps else marks)


def _within(effort: Effort, text: str) -> Iterator[Mark]:
    """Marks of a text, as far as the effort reaches. Where it does not, no order may stand behind that point
    unseen: the whole text is marked, so that whatever keeps an order out keeps the text out.
    """
    try:
        for mark in _unseen(text):
            effort.spend(_UNSEEN)
            yield mark
        yield from _Reader(effort).read(text, 0)
    except TooDense:
        yield Mark("too_dense", "encoded", "high", 0, len(text), text[:_SHOWN], _TOO_DENSE)


def _unseen(text: str) -> Iterator[Mark]:
    if text.isascii() and "\x1b" not in text and "\x08" not in text:
        return
    yield from invisible.find(text)


class _Reader:
    """Reads one text and, one level down each, what is hidden or disguised in it; equal stretches once."""

    def __init__(self, effort: Effort) -> None:
        self._known: dict[tuple[str, int, int, bool], list[Mark]] = {}
        self._effort = effort

    def read(self, text: str, depth: int, hidden: int = 0, joined: bool = False) -> Iterator[Mark]:
        """Marks of a text and of all that is hidden in it, in offsets of the text."""
        self._effort.spend(_READ * (depth > 0) + len(text) // (32 if text.isascii() else 16))
        view = fold(text)
        words = matcher()
        survey = _survey(view.text, self._effort)
        self._effort.spend(len(survey.anchors) + sum(map(len, survey.places.values())))
        grave: Counter[str] = Counter()
        told: dict[str, int] = {}
        said = Said(self._effort, grave)
        if joined:
            phrases = words.find_joined(view.text, hidden, said)
        elif hidden:
            phrases = words.find_hidden(view.text, hidden, said)
        else:
            phrases = words.find(view.text, survey.anchors, said)
        context = Context(view.text)
        loose: list[Loose] = []
        shaped = shapes().find(view.text, survey.places, self._effort, loose)
        found = chain(((mark, True) for mark in phrases), shaped)
        for mark, may_soften in found:
            if grave[mark.id] > _ENOUGH:
                continue
            self._effort.spend(_MARK)
            start = view.start(mark.start)
            about = crossed(text, start) or _spoken_about(mark, context)
            soft = may_soften and not hidden and about
            if not soft and told.get(mark.id) != start:  # rules that find the same in one place are one
                grave[mark.id] += 1
                told[mark.id] = start
            yield _placed(mark, start, view.end(mark.end), soft)
        if not joined:
            yield from _across(view, survey, loose, context, hidden, self._effort)
        if depth < _DEEPEST:
            yield from self._hidden(text, depth)
            yield from self._disguised(text, depth)
            for start, end, read, how in survey.riddles:
                if worst := self._grave(read, _DEEPEST):
                    first, last = view.start(start), view.end(end)
                    yield _encoded(worst, first, last, worst.reads, how + " text")

    def _hidden(self, text: str, depth: int) -> Iterator[Mark]:
        telling: Counter[str] = Counter()
        for region in hidden.regions(text):
            if telling[region.id] > _ENOUGH:
                continue
            for mark in self._stretch(text[region.start : region.end], depth + 1, region.kind):
                if mark.severity != "low":
                    telling[region.id] += 1
                    start, end = region.start + mark.start, region.start + mark.end
                    why = f"not shown to people: {mark.why}"
                    yield Mark(region.id, "hidden_html", "high", start, end, mark.reads, why)

    def _disguised(self, text: str, depth: int) -> Iterator[Mark]:
        for disguise in disguises(text):
            mark = self._grave(disguise.text, depth + 1, disguise.joined)
            if mark and not (disguise.how == "hyphens in words" and mark.family in _OF_DEEDS):
                yield _encoded(mark, disguise.start, disguise.end, disguise.text, disguise.how)

    def _stretch(self, text: str, depth: int, hidden: int) -> list[Mark]:
        """Marks of a hidden stretch, as many as say something new."""
        key = (text, depth, hidden, False)
        if key not in self._known:
            self._known[key] = list(islice(self.read(text, depth, hidden), _STRETCH_SAYS))
        return self._known[key]

    def _grave(self, text: str, depth: int, joined: bool = False) -> Mark | None:
        """The first grave mark of a disguised stretch, if there is one: for all of it is one finding."""
        key = (text, depth, 0, joined)
        if key not in self._known:
            grave = (mark for mark in self.read(text, depth, joined=joined) if mark.severity == "high")
            self._known[key] = list(islice(grave, 1))
        return self._known[key][0] if self._known[key] else None


def _spoken_about(mark: Mark, context: Context) -> bool:
    """Whether a mark is one of a text that is spoken about, or of names that say nothing."""
    if mark.family in _OF_WORDS and context.names(mark.start, mark.end):
        return True
    if mark.id in _OF_OPTIONS and context.documents(mark.start):
        return True
    return context.mentions(mark.start, mark.end)


def _across(
    view: View, survey: _Survey, loose: list[Loose], context: Context, hidden: int, effort: Effort
) -> Iterator[Mark]:
    """Marks of what the structure of the text pulls apart; what stands in one piece was read before."""
    if not (survey.anchors or loose or "<" in view.text or '"' in view.text):
        return
    words = matcher()
    anchors, loose = survey.anchors, sorted(loose)

    def worth(low: int, high: int, dense: bool, read: Callable[[], str]) -> bool:
        said = {number for _, number in _between(anchors, low, high)}
        done = {number for _, number in _between(loose, low, high)} if dense else ()
        if not (said or done):
            return False
        passage = read()
        effort.spend(_GLANCE + len(passage) // 32)
        if said and (hidden or dense or words.may_hold(passage, said)):
            return True
        return bool(done) and shapes().may_hold(passage, done, effort)

    places = {start: 2 for start, _ in loose} | {start: 1 for start, _ in anchors}
    reading = across(view.text, sorted(places.items()), worth, effort)
    if not reading:
        return
    text = reading.text
    effort.spend(_READ + len(text) // 32)
    there = _survey(text, effort)
    said = Said(effort, Counter())
    phrases = words.find_hidden(text, hidden, said) if hidden else words.find(text, there.anchors, said)
    found = chain(((mark, True) for mark in phrases), shapes().find(text, there.places, effort, []))
    for mark, may_soften in found:
        pieces = reading.pieces(mark.start, mark.end)
        effort.spend(_PIECES)
        if len(pieces) > 1:
            effort.spend(_MARK)
            spoken = (piece for piece in pieces if view.text[piece[0] - 1 : piece[0]] != "`")
            soft = (
                may_soften
                and not hidden
                and any(_spoken_about(mark._replace(start=start, end=end), context) for start, end in spoken)
            )
            told = mark._replace(why=f"{mark.why}, read across what pulls it apart")
            yield _placed(told, view.start(pieces[0][0]), view.end(pieces[-1][1]), soft)


def _between(posts: list[tuple[int, int]], low: int, high: int) -> list[tuple[int, int]]:
    """Those of the places that stand in [low, high)."""
    return posts[bisect_left(posts, (low,)) : bisect_left(posts, (high,))]


def _encoded(mark: Mark, start: int, end: int, reads: str, how: str) -> Mark:
    return mark._replace(id="encoded_payload", start=start, end=end, reads=reads, why=f"{how}: {mark.why}")


def _placed(mark: Mark, start: int, end: int, soft: bool) -> Mark:
    severity = _SOFTER[mark.severity] if soft else mark.severity
    return mark._replace(severity=severity, start=start, end=end)


Riddle = tuple[int, int, str, str]


class _Survey(NamedTuple):
    """Where anchors of phrases stand, and triggers of shapes; lines in a shifted alphabet."""

    anchors: list[tuple[int, int]]
    places: Places
    riddles: list[Riddle]


def _survey(text: str, effort: Effort) -> _Survey:
    """What is worth a closer look."""
    signposts = _signposts()
    survey = _Survey([], {}, [])
    read_to: dict[str, int] = {}
    size, triggers = signposts.anchors, signposts.triggers
    for start, number in matcher().scouts.find(text, effort):
        if number < size:
            survey.anchors.append((start, number))
        elif number in triggers:
            survey.places.setdefault(triggers[number], []).append(start)
        if number in signposts.riddles and start >= read_to.get(how := signposts.riddles[number], 0):
            begin, stop = _line_around(text, start)
            read_to[how] = stop
            hows = (how, "words reversed") if how == "reversed" else (how,)
            survey.riddles.extend((begin, stop, undo(text[begin:stop], each), each) for each in hows)
    if survey.anchors:
        survey.anchors[:] = matcher().accompanied(text, sorted(survey.anchors), effort)
    run, size = -1, 0
    for number, start in signposts.signs(narrow(text)):
        size = size + 1 if start == run else 1
        run = start + len(signposts.names[number][0][0])
        if 1 < size <= _LINE and number in signposts.lines:
            continue
        for trigger, offset in signposts.names[number]:
            survey.places.setdefault(trigger, []).append(start + offset)
    return survey


def _line_around(text: str, at: int) -> tuple[int, int]:
    low = max(0, at - 200, text.rfind("\n", max(0, at - 200), at) + 1)
    high = text.find("\n", at, at + 220)
    return low, min(len(text), at + 220) if high < 0 else high


class _Signposts:
    """What the survey looks for: words that trigger shapes, and signs that are no words."""

    def __init__(self) -> None:
        rules = load()
        self.anchors, self.triggers, self.riddles = len(rules.anchors), rules.triggers, rules.riddles
        ordered = rules.signs
        # The search reports the longest sign of a place; those inside it are triggers as well.
        # One mark again and again: what is drawn as a line.
        self.lines = {number for number, name in enumerate(ordered) if len(name) == 8 and len(set(name)) == 1}
        self.names = [[(other, name.find(other)) for other in ordered if other in name] for name in ordered]
        self.signs = signs([name.encode() for name in ordered])


@lru_cache(maxsize=1)
def _signposts() -> _Signposts:
    return _Signposts()
