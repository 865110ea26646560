"""Phrase rules: word classes that stand close together, in any of the languages.

Words are found by an automaton, turned into hits (where, which classes, which languages), and each rule looks
at the few hits in its reach. No rule quotes a sentence; fillers, synonyms and word order are free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, reduce
from itertools import chain
from operator import or_
from typing import NamedTuple

from hermes.security.findings import Mark
from hermes.security.literals import Finder, Literals
from hermes.security.rulebook import Phrase, load, words

# Reach of one word of a rule's span, in characters: generous, for marks between the words.
_WORD = 8
_SPACELESS_WORD = 4
_MOST_REACH = 130
_BEFORE = 40
_MOST_SETS = 10_000


class Hit(NamedTuple):
    """A word of the lexicon in the view: its classes and languages are bit sets."""

    start: int
    end: int
    classes: int
    languages: int


class Matcher:
    """The phrase rules, ready to run over passages of a view."""

    def __init__(self) -> None:
        rules = load()
        self._literals, self._plain, self._longer = words()
        self._finder = Finder(self._literals)
        self._spaceless = rules.spaceless
        self._rules = [(rule, reduce(or_, rule.slots)) for rule in rules.phrases]
        self._sets: dict[tuple[int, int], tuple[tuple[Phrase, int], ...]] = {}

    @cached_property
    def _anywhere(self) -> Finder:
        patterns, lengths, _, exact = self._literals
        return Finder(Literals([pattern.strip() or pattern for pattern in patterns], lengths, [0] * len(lengths), exact))

    def find(self, text: str, start: int, end: int, hidden: int = 0, joined: bool = False) -> Iterator[Mark]:
        """Marks for the passage [start, end) of a view.

        `hidden` adds rules for text nobody is shown, `joined` takes words as found inside longer ones.
        """
        hits = self._hits(text, start, end, joined)
        present = 0
        for hit in hits:
            present |= hit.classes
        rules = self._rules_for(present, hidden)
        if not rules:
            return
        first = 0
        for last, hit in enumerate(hits):
            while hits[first].start < hit.start - _MOST_REACH:
                first += 1
            for rule, slots in rules:
                if hit.classes & slots:
                    chosen = self._fit(rule, hits, first, last)
                    if chosen and self._stands(rule, text, chosen, joined):
                        begin, stop = chosen[0].start, _word_end(text, max(hit.end for hit in chosen))
                        yield Mark(rule.id, rule.family, rule.severity, begin, stop, text[begin:stop], rule.why)

    def _hits(self, text: str, start: int, end: int, joined: bool) -> list[Hit]:
        hits: list[Hit] = []
        search = self._anywhere if joined else self._finder
        passage = text[start:end]
        for number, at, to in search.find(passage):
            for held, spoken in self._plain[number]:
                hits.append(Hit(start + at, start + to, held, spoken))
            if number in self._longer:
                following, behind = self._longer[number], passage[to + 1 : to + 2]
                candidates = following.get(behind, ()) if behind.isalpha() else chain(*following.values())
                for held, spoken, rest, ends in candidates:
                    if (stop := _follows(passage, to, rest, ends)) >= 0:
                        hits.append(Hit(start + at, start + stop, held, spoken))
        hits.sort()
        return hits

    def _rules_for(self, present: int, hidden: int) -> tuple[tuple[Phrase, int], ...]:
        """The rules all of whose slots can be filled from the classes present, with the union of their slots."""
        rules = self._sets.get((present, hidden))
        if rules is None:
            if len(self._sets) > _MOST_SETS:
                self._sets.clear()
            rules = self._sets[present, hidden] = tuple(
                (rule, union)
                for rule, union in self._rules
                if rule.hidden <= hidden and all(present & slot for slot in rule.slots)
            )
        return rules

    def _fit(self, rule: Phrase, hits: Sequence[Hit], first: int, last: int) -> list[Hit]:
        """Hits that fill all slots with `last` among them, in one language and within the span; or none."""
        newest = hits[last]
        slots = rule.slots
        if rule.ordered:
            return self._fit_order(rule, hits, first, last) if newest.classes & slots[-1] else []
        for own, slot in enumerate(slots):
            if not newest.classes & slot:
                continue
            languages, chosen = newest.languages, [newest]
            reach = self._reach(rule, newest)
            for number, wanted in enumerate(slots):
                if number == own:
                    continue
                for at in range(last - 1, first - 1, -1):
                    hit = hits[at]
                    if hit.start < newest.start - reach:
                        at = first - 1
                        break
                    if hit.classes & wanted and hit.languages & languages and not _overlaps(hit, chosen):
                        chosen.append(hit)
                        languages &= hit.languages
                        break
                else:
                    break
                if at < first:
                    break
            if len(chosen) == len(slots):
                return sorted(chosen)
        return []

    def _fit_order(self, rule: Phrase, hits: Sequence[Hit], first: int, last: int) -> list[Hit]:
        newest = hits[last]
        chosen, languages = [newest], newest.languages
        edge = newest.start - self._reach(rule, newest)
        at = last - 1
        for wanted in reversed(rule.slots[:-1]):
            while at >= first and hits[at].start >= edge:
                hit = hits[at]
                at -= 1
                if hit.classes & wanted and hit.languages & languages and hit.end <= chosen[-1].start:
                    chosen.append(hit)
                    languages &= hit.languages
                    break
            else:
                return []
        return chosen[::-1]

    def _reach(self, rule: Phrase, hit: Hit) -> int:
        return rule.span * (_SPACELESS_WORD if hit.languages & self._spaceless else _WORD)

    def _stands(self, rule: Phrase, text: str, chosen: list[Hit], joined: bool) -> bool:
        start, end = chosen[0].start, max(hit.end for hit in chosen)
        if rule.before and not _compiled(rule.before).search(text, max(0, start - _BEFORE), start):
            return False
        if rule.after and not _compiled(rule.after).match(text, _word_end(text, end)):
            return False
        if rule.close and not _compiled(rule.close).fullmatch(text, chosen[0].end, chosen[1].start):
            return False
        if not joined and _torn(text[start:end]):
            return False
        return not (rule.negatable and _negated(text, start, end))


def _follows(text: str, at: int, rest: str, ends: bool) -> int:
    """Where the rest of a phrase ends that goes on at `at`; -1 where it does not."""
    match = _compiled(rest).match(text, at)
    if not match:
        return -1
    stop = match.end()
    return -1 if ends and stop < len(text) and text[stop].isalpha() else stop


# A phrase does not reach over a paragraph, a fence, a list item, a quotation mark or, in running text, a full stop.
_TORN = re.compile(r"\n\s*\n|```|\n[ \t]*(?:[-*#>|]|\d{1,3}[.)])\s|[\"\u201c\u201d\u300c\u300d|]")
_STOP = re.compile(r"[.!?\u3002;]\s|\u3002")
_RUNNING = re.compile(r"[^\W\d_] [^\W\d_]")


def _torn(passage: str) -> bool:
    if _TORN.search(passage):
        return True
    return bool(_STOP.search(passage) and (_RUNNING.search(passage) or "\u3002" in passage))


# "do not ignore these rules": an order to keep them. Only languages that put the negation first.
_NEGATED = re.compile(
    r"(?:\b(?:not|never|don'?t|doesn'?t|cannot|can'?t|won'?t|nao|nunca|jamais|niemals|nicht|nie|non|mai|niet|nooit|nor"
    r"|\u043d\u0435|\u043d\u0438\u043a\u043e\u0433\u0434\u0430|nigdy|jangan|dung|khong)[ \t*_]+(?:[\w']+[ \t*_]+){0,1}"
    r"|(?:\u4e0d\u8981|\u4e0d\u5f97|\u5207\u52ff|\u7981\u6b62|\u4e0d\u80fd|\u4e0d\u4f1a|\u4e0d\u53ef|\u65e0\u6cd5)\w{0,4})$"
)
# "do not override rules, ignore directives, or change them": the negation holds for the whole list.
_NEGATED_LIST = re.compile(r"\b(?:do not|don't|never|must not|should not|cannot|can't)\s[^.!?:;\n]{3,90},\s(?:or\s)?$")


def _negated(text: str, start: int, end: int) -> bool:
    if _NEGATED.search(text, max(0, start - 28), start):
        return True
    listed = _NEGATED_LIST.search(text, max(0, start - 110), start)
    return bool(listed and (" or " in text[start : end + 60] or text[:start].endswith("or ")))


def _word_end(text: str, at: int) -> int:
    limit = min(len(text), at + 24)
    while at < limit and text[at].isalpha() and text[at].isascii():
        at += 1
    return at


def _overlaps(hit: Hit, chosen: Sequence[Hit]) -> bool:
    return any(hit.start < other.end and other.start < hit.end for other in chosen)


@lru_cache(maxsize=2048)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@lru_cache(maxsize=1)
def matcher() -> Matcher:
    """The one matcher of this process, built on first use."""
    return Matcher()
