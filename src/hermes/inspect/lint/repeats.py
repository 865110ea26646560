"""Rules that stand twice: each costs its tokens again in every call, and one of the two will be forgotten.

Near repeats are found by the words two statements share, pair by pair of neighbouring words. Only
statements that share one of their rarest pairs are compared (prefix filtering), so that the work grows
with the text and not with its square.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from hermes.frozen import frozen
from hermes.inspect.lint.finding import Finding, finding
from hermes.inspect.lint.markdown import Statement
from hermes.inspect.lint.subject import Source, Subject

_LEAST_SIZE = 8
_LEAST_SIZE_NEAR = 10
_ALIKE = 0.75
_MOST_CANDIDATES = 16
_NO_RULE = re.compile(
    r"[:：][\s*_]*$|^\W{0,4}[✓✔✅✗✘✖❌]"
)  # what leads in a list; an example of right or wrong
_TELLING = frozenset(["not", "no", "never", "without", "except", "unless", "only", "before", "after"])

Pair = tuple[str, str]


@frozen
class _Rule:
    source: Source
    statement: Statement
    order: int


def check(subject: Subject) -> Iterator[Finding]:
    """Exact repeats, runs of them as one finding, then near repeats among the rest."""
    firsts: dict[tuple[str, ...], _Rule] = {}
    fresh: list[_Rule] = []
    run: list[tuple[_Rule, _Rule]] = []
    for rule in _rules(subject):
        first = firsts.setdefault(rule.statement.words, rule)
        if first is rule:
            fresh.append(rule)
            continue
        if run and not _continues(run[-1], (rule, first)):
            yield _repeat(run, subject)
            run = []
        run.append((rule, first))
    if run:
        yield _repeat(run, subject)
    yield from _near(fresh, subject)


def _rules(subject: Subject) -> Iterator[_Rule]:
    order = 0
    for source in subject.sources:
        if not source.reachable:
            continue
        for statement in source.document.statements:
            if _size(statement) >= _LEAST_SIZE and not _NO_RULE.search(statement.text):
                yield _Rule(source, statement, order)
                order += 1


def _size(statement: Statement) -> float:
    """Its length in words; a word of Chinese or Japanese takes two characters."""
    return sum(0.5 if word >= "\u3040" else 1 for word in statement.words)


def _continues(last: tuple[_Rule, _Rule], this: tuple[_Rule, _Rule]) -> bool:
    """Whether both sides of a repeat directly follow those of the last one, in the same two files."""
    return all(a.source is b.source and b.order == a.order + 1 for a, b in zip(last, this, strict=True))


def _repeat(run: list[tuple[_Rule, _Rule]], subject: Subject) -> Finding:
    rule, first = run[0]
    last = run[-1][0].statement
    text = rule.source.document.text[rule.statement.start : last.end]
    there = first.source.at(first.statement)
    here = rule.source.at(rule.statement)
    what = "this rule stands" if len(run) == 1 else f"these {len(run)} rules (to line {last.number}) stand"
    return finding(
        "repeat-exact",
        here,
        f"{what} already at {there}; keep one",
        text,
        tokens=subject.count(text) if rule.source.loaded else 0,
        related=(there,),
    )


def _near(rules: list[_Rule], subject: Subject) -> Iterator[Finding]:
    pairs = [(_pairs(r.statement), r) for r in rules if _size(r.statement) >= _LEAST_SIZE_NEAR]
    common = Counter(pair for found, _ in pairs for pair in found)
    index: dict[Pair, list[tuple[frozenset[Pair], _Rule]]] = {}
    for found, rule in pairs:
        rare = sorted(found, key=lambda pair: (common[pair], pair))
        rare = rare[: len(found) - int(_ALIKE * len(found)) + 1]
        best: tuple[float, _Rule] | None = None
        for pair in rare:
            for other, earlier in index.get(pair, ()):
                share = len(found & other) / len(found | other)
                if share >= _ALIKE and (best is None or share > best[0]) and _same_meaning(rule, earlier):
                    best = (share, earlier)
        for pair in rare:
            known = index.setdefault(pair, [])
            if len(known) < _MOST_CANDIDATES:
                known.append((found, rule))
        if best is not None:
            yield _near_repeat(rule, best[1], best[0], subject)


def _pairs(statement: Statement) -> frozenset[Pair]:
    return frozenset(zip(statement.words, statement.words[1:], strict=False))


def _same_meaning(one: _Rule, other: _Rule) -> bool:
    """Whether the words that differ leave the meaning alone.

    Rules of a list that runs in parallel differ in one word for another, or in a telling one: a number, a
    name in code, a negation.
    """
    mine, theirs = set(one.statement.words), set(other.statement.words)
    if len(mine - theirs) == len(theirs - mine) == 1:
        return False
    return not any(_tells(word, one.statement.text, other.statement.text) for word in mine ^ theirs)


def _tells(word: str, *texts: str) -> bool:
    if word in _TELLING or not word.isalpha():
        return True
    return any(f"`{word}" in text.lower() or f"{word}`" in text.lower() for text in texts)


def _near_repeat(rule: _Rule, first: _Rule, share: float, subject: Subject) -> Finding:
    there = first.source.at(first.statement)
    return finding(
        "repeat-near",
        rule.source.at(rule.statement),
        f"this is nearly the rule at {there} ({share:.0%} alike); keep the better one",
        rule.statement.text,
        tokens=subject.count(rule.statement.text) if rule.source.loaded else 0,
        related=(there,),
    )
