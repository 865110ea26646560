"""Phrase rules: word classes that stand close together, in any of the languages.

Words are found by an automaton, turned into hits (where, which classes, which languages), and each rule looks
at the few hits in its reach. No rule quotes a sentence; fillers, synonyms and word order are free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from hermes.security.findings import Mark
from hermes.security.literals import Finder, finder
from hermes.security.rulebook import Phrase, Word, load

# Reach of one word of a rule's span, in characters: generous, for marks between the words.
_WORD = 8
_SPACELESS_WORD = 4
_MOST_REACH = 130
_BEFORE = 40
_STARTS, _ENDS = 1, 2


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
        self._words: list[list[Word]] = []
        literals: dict[str, int] = {}
        for word in rules.words:
            number = literals.setdefault(word.literal, len(literals))
            if number == len(self._words):
                self._words.append([])
            self._words[number].append(word)
        self._finder: Finder = finder(literals)
        self._lengths = [len(literal) for literal in literals]
        self._negation = 1 << rules.classes.index("negation")
        self._spaceless = sum(1 << rules.languages.index(name) for name in ("zh", "ja", "ko", "th"))
        self._by_class: list[list[Phrase]] = [
            [rule for rule in rules.phrases if any(slot >> bit & 1 for slot in rule.slots)]
            for bit in range(len(rules.classes))
        ]
        self._sets: dict[int, tuple[Phrase, ...]] = {}
        self._all = [(rule, rule.slots) for rule in rules.phrases]

    def find(self, text: str, start: int, end: int, hidden: int = 0, joined: bool = False) -> Iterator[Mark]:
        """Marks for the passage [start, end) of a view.

        `hidden` adds rules for text nobody is shown, `joined` takes words as found inside longer ones.
        """
        hits = self._hits(text, start, end, joined)
        first = 0
        for last, hit in enumerate(hits):
            while hits[first].start < hit.start - _MOST_REACH:
                first += 1
            seen = 0
            for other in hits[first : last + 1]:
                seen |= other.classes
            for rule in self._rules_for(hit.classes):
                if rule.hidden > hidden:
                    continue
                if all(seen & slot for slot in rule.slots):
                    chosen = self._fit(rule, hits, first, last)
                    if chosen and self._stands(rule, text, hits, chosen):
                        start, stop = chosen[0].start, _word_end(text, max(hit.end for hit in chosen))
                        yield Mark(rule.id, rule.family, rule.severity, start, stop, text[start:stop], rule.why)

    def _hits(self, text: str, start: int, end: int, joined: bool) -> list[Hit]:
        hits: list[Hit] = []
        for number, stop in self._finder.find(text[start:end]):
            at, to = start + stop - self._lengths[number], start + stop
            opens = joined or at == 0 or not text[at - 1].isalpha()
            closes = joined or to >= len(text) or not text[to].isalpha()
            for word in self._words[number]:
                if word.bounds & _STARTS and not opens:
                    continue
                if word.rest:
                    match = _compiled(word.rest).match(text, to)
                    if not match:
                        continue
                    behind = match.end()
                    if word.bounds & _ENDS and behind < len(text) and text[behind].isalpha():
                        continue
                    hits.append(Hit(at, behind, word.classes, word.languages))
                elif closes or not word.bounds & _ENDS:
                    hits.append(Hit(at, to, word.classes, word.languages))
        hits.sort()
        return hits

    def _rules_for(self, classes: int) -> tuple[Phrase, ...]:
        rules = self._sets.get(classes)
        if rules is None:
            wanted = [rule for bit, rules_ in enumerate(self._by_class) if classes >> bit & 1 for rule in rules_]
            rules = self._sets[classes] = tuple(dict.fromkeys(wanted))
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

    def _stands(self, rule: Phrase, text: str, hits: Sequence[Hit], chosen: list[Hit]) -> bool:
        start, end = chosen[0].start, chosen[-1].end
        if rule.before and not _compiled(rule.before).search(text, max(0, start - _BEFORE), start):
            return False
        if rule.after and not _compiled(rule.after).match(text, end):
            return False
        return not (rule.negatable and self._negated(text, start))

    def _negated(self, text: str, start: int) -> bool:
        return bool(_NEGATED.search(text, max(0, start - 28), start))


# "do not ignore these rules": an order to keep them. Only languages that put the negation first.
_NEGATED = re.compile(
    r"(?:\b(?:not|never|don'?t|doesn'?t|cannot|can'?t|won'?t|nao|nunca|jamais|niemals|nicht|nie|non|mai|niet|nooit"
    r"|не|никогда|ніколи|nigdy|jangan|dung|khong)\s+(?:[\w']+\s+){0,1}|不要|不得|切勿|禁止|不能|不会|不可)$"
)


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
