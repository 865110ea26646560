"""The same words asked for in one place and forbidden in another.

Compared as sets of words, so the work is linear. A negation that is not where the statement begins, or a
heading that turns the rules below it round (`Common mistakes:`), leaves a statement out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hermes.inspect.lint.finding import Finding, finding
from hermes.inspect.lint.hedges import UNSURE_ABOVE
from hermes.inspect.lint.markdown import Statement, words_of
from hermes.inspect.lint.subject import Source, Subject

_FORBIDS = re.compile(
    r"(?:\W*)(?:you\s+)?(?:please\s+)?(?P<how>never(?: ever)?|do not(?: ever)?|don['’]?t(?: ever)?"
    r"|must not|mustn['’]?t|should not|shouldn['’]?t|avoid using|avoid|no)\s+",
    re.I,
)
_ASKS = re.compile(
    r"(?:\W*)(?:you\s+)?(?:please\s+)?(?:always|must|should|do|make sure to|be sure to)\s+", re.I
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|don['’]?t|avoid|without|cannot|can['’]?t|isn['’]?t|unless|except|instead)\b", re.I
)
_STOP = frozenset({
    "a", "an", "the", "any", "all", "your", "our", "this", "that", "it", "its", "to", "of", "and", "or",
    "in", "on", "for", "with", "is", "are", "be", "as", "at", "by", "from", "please", "ever",
})  # fmt: skip
_LEAST_KEY = 2


def check(subject: Subject) -> Iterator[Finding]:
    """The same words with and without a `never`: compared as sets of words, so the work is linear."""
    forbidden: dict[frozenset[str], tuple[Source, Statement]] = {}
    asked: dict[frozenset[str], tuple[Source, Statement]] = {}
    for source in subject.sources:
        if not source.reachable:
            continue
        for statement in source.document.statements:
            if not 2 <= len(statement.words) <= 24 or UNSURE_ABOVE.search(statement.above):
                continue
            if match := _FORBIDS.match(statement.text):
                key = _key(statement.text[match.end() :], match["how"])
                into, against = forbidden, asked
            elif not _NEGATION.search(statement.text):
                match = _ASKS.match(statement.text)
                key = _key(statement.text[match.end() if match else 0 :], "")
                into, against = asked, forbidden
            else:
                continue
            if len(key) < _LEAST_KEY:
                continue
            into.setdefault(key, (source, statement))
            if key in against:
                yield _opposed((source, statement), against[key])


def _key(text: str, how: str) -> frozenset[str]:
    words = {word.rstrip("s") for word in words_of(text) if word not in _STOP}
    if how.lower() in ("avoid", "avoid using", "no"):
        words.add("use")
    return frozenset("use" if word in ("prefer", "using") else word for word in words)


def _opposed(later: tuple[Source, Statement], earlier: tuple[Source, Statement]) -> Finding:
    source, statement = later
    there = earlier[0].at(earlier[1])
    return finding(
        "conflict-polarity",
        source.at(statement),
        f"this says the opposite of {there} ({earlier[1].text[:80]!r}); keep one of the two",
        f"{statement.text}\n{earlier[1].text}",
        related=(there,),
    )
