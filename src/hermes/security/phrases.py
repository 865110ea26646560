"""Phrase rules: word classes that stand close together, in any of the languages.

Words are found by an automaton, turned into hits (where, which classes, which languages), and each rule looks
at the few hits in its reach. No rule quotes a sentence; fillers, synonyms and word order are free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, reduce
from itertools import islice
from operator import or_

from hermes.security.effort import Effort
from hermes.security.expressions import compiled
from hermes.security.findings import Mark
from hermes.security.fitting import CLASSES, END, LANGUAGES, START, Hit, in_any_order, in_order, tied
from hermes.security.literals import Finder, Literals
from hermes.security.rulebook import Meaning, Phrase, Words, load, words
from hermes.security.scouts import Scouts
from hermes.security.sentences import negated, torn

# Reach of one word of a rule's span, in characters: generous, for marks between the words.
_WORD = 8
_SPACELESS_WORD = 4
_MOST_REACH = 130
# Marks between words may make a phrase so many times as long.
_FAR = 2
# The last word of a phrase may be so long.
_WORD_AT_END = 40
_BEFORE = 90
_MOST_SETS = 10_000
# Among so many words, one that stood in the same surroundings in vain is not tried again.
_CROWD, _SEEN = 200, 180
# Passages longer than two blocks are read in blocks, with so much of what is around each.
_BLOCK, _OPENING, _BEFORE_BLOCK, _BEHIND_BLOCK = 2_000, 24, 300, 120
# A text in which one kind is found so often has said it.
_ENOUGH = 60
# What is spent on a passage, on its letters, on a rule tried at a word.
_WINDOW, _LETTERS_A_UNIT, _TRY = 14, 24, 5
# On an anchor; so many words are asked for in the time of a unit.
_PLACE, _WORDS_A_UNIT = 3, 5
# So many passages are searched for words at once.
_TOGETHER = 64
# So many marks may stand between the words of one entry.
_MARKS = 5


Rules = tuple[tuple[Phrase, int], ...]


class Said:
    """What was said in a text so far: for each rule, by its identity, up to where it held.

    `grave` counts, by id, what was found and is not merely spoken about; whoever reads the marks counts.
    """

    def __init__(self, effort: Effort, grave: Counter[str]) -> None:
        self.effort = effort
        self.behind: dict[int, int] = {}
        self._grave = grave

    def enough(self, rule: Phrase) -> bool:
        """Whether another finding of a rule says nothing new."""
        return self._grave[rule.id] > _ENOUGH

    def without_enough(self, rules: Rules) -> Rules:
        """The rules without those that have said enough."""
        if not any(times > _ENOUGH for times in self._grave.values()):
            return rules
        return tuple(row for row in rules if not self.enough(row[0]))


class Matcher:
    """The phrase rules, ready to run over passages of a view."""

    def __init__(self) -> None:
        rules = load()
        self.scouts = Scouts(rules.scouts)
        """Finds in every text the words that rules are anchored in; behind those, the signposts."""
        self.anchors = rules.anchors
        self._companions, self._accompanied = rules.companions, rules.accompanied
        self._company: dict[int, list[str]] = {}
        self._spaceless = rules.spaceless
        self._phrases = rules.phrases
        self._rules = [
            (rule.slots[0], rule.slots[-1], rule, rule.slots[-1] if rule.ordered else reduce(or_, rule.slots))
            for rule in rules.phrases
        ]
        self._meanings: dict[int, list[Meaning]] = {}
        self._held: dict[int, int] = {}
        self._sets: dict[tuple[int, int], Rules] = {}
        self._anchored: dict[int, list[Phrase]] = {}
        self._reach: dict[int, int] = {}

    @cached_property
    def _words(self) -> Words:
        return words()

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self._words.literals)

    @cached_property
    def _anywhere(self) -> Finder:
        patterns, firsts, leads, lengths, exact = self._words.literals
        bare = [pattern.strip() for pattern in patterns]
        return Finder(Literals(bare, [0] * len(firsts), leads, lengths, exact))

    def accompanied(self, text: str, anchors: list[tuple[int, int]], effort: Effort) -> list[tuple[int, int]]:
        """Those of the anchors, as `find` takes them, that have a word near which their rules ask for."""
        kept = []
        for anchor in anchors:
            at, number = anchor
            if number not in self._company:
                self._company[number] = self._companions[self._accompanied[number]].split()
            company = self._company[number]
            if company:
                effort.spend(_PLACE + len(company) // _WORDS_A_UNIT)
                reach = self._reach[number] if number in self._reach else self._reach_of(number)
                reach = _FAR * reach + _WORD_AT_END
                near = text[max(0, at - reach) : at + reach]
                if not any(map(near.__contains__, company)):
                    continue
            kept.append(anchor)
        return kept

    def find(self, text: str, anchors: list[tuple[int, int]], said: Said) -> Iterator[Mark]:
        """Marks for a view, from where anchors begin in it and their numbers: all else is left unread."""
        said.effort.spend(_PLACE * len(anchors))
        around = self._around(text, anchors)
        while together := list(islice(around, _TOGETHER)):
            pieces = [text[max(0, low - 1) : high + 1] for low, high, _ in together]
            said.effort.spend(sum(_WINDOW + len(piece) // _LETTERS_A_UNIT for piece in pieces))
            for (low, high, inside), present in zip(together, self._finder.present(pieces), strict=True):
                if self._fills(present, inside):
                    yield from self._passage(text, low, high, said)

    def may_hold(self, passage: str, anchors: Iterable[int]) -> bool:
        """Whether a passage has words for every slot of a rule that is anchored in one of these."""
        return self._fills(next(self._finder.present([passage])), anchors)

    def words_in(self, text: str) -> list[tuple[int, int]]:
        """Numbers of the words of the lexicon in a view, and where each begins."""
        return self._finder.find(text)

    def _fills(self, words: set[int], anchors: Iterable[int]) -> bool:
        """Whether words fill every slot of a rule that is anchored in one of these."""
        present = 0
        for number in words:
            present |= self._held[number] if number in self._held else self.classes(number)
        return any(_filled(rule.slots, present) for number in anchors for rule in self._rules_of(number))

    def _passage(self, text: str, low: int, high: int, said: Said) -> Iterator[Mark]:
        """Marks for a passage; of a long one block by block, what says nothing new only once."""
        heard: set[str] = set()
        for begin, end in _blocks(text, low, high):
            left, right = max(low, begin - _BEFORE_BLOCK), min(high, end + _BEHIND_BLOCK)
            words = text[left:right] if right - left < high - low else ""
            if words and words in heard:
                continue
            around = self._hits(text, max(0, left - 1), right + 1)
            hits = [h for h in around if left <= h[START] < end and h[END] <= high]
            silent = True
            for mark in self._marks(text, low, hits, 0, False, said, begin):
                silent = False
                yield mark  # one by one: whoever counts them may have heard enough
            if words and silent:
                heard.add(words)

    def _around(self, text: str, anchors: list[tuple[int, int]]) -> Iterator[tuple[int, int, set[int]]]:
        """The passages around anchors as far as their rules reach, with their anchors; close ones are one."""
        low, last, stop = -1, 0, 0
        inside: set[int] = set()
        for at, number in anchors:
            reach = self._reach[number] if number in self._reach else self._reach_of(number)
            if low < 0 or at - last > _BESIDE:
                begin = _before(text, at, reach)
                if low >= 0 and begin > stop:
                    yield low, stop, inside
                    low = -1
                if low < 0:
                    low, stop, inside = begin, 0, set()
            else:
                low = min(low, _before(text, at, reach))
            last, stop = at, max(stop, _behind(text, at, reach + _WORD_AT_END))
            inside.add(number)
        if low >= 0:
            yield low, stop, inside

    def _reach_of(self, number: int) -> int:
        """How far from an anchor a word of its rules may begin."""
        spans = (rule.span for rule in self._rules_of(number))
        reach = self._reach[number] = min(_MOST_REACH, max(spans, default=0) * _WORD)
        return reach

    def _rules_of(self, number: int) -> list[Phrase]:
        """The rules that are anchored in a scout."""
        if (rules := self._anchored.get(number)) is None:
            held = self.classes(self.anchors[number])
            rules = self._anchored[number] = [
                rule for rule in self._phrases if held & rule.slots[rule.anchor] and not rule.hidden
            ]
        return rules

    def find_hidden(self, text: str, hidden: int, said: Said) -> Iterator[Mark]:
        """Marks for a view of text that nobody is shown: for that there are more rules."""
        return self._marks(text, 0, self._hits(text, 0, len(text)), hidden, False, said)

    def find_joined(self, text: str, hidden: int, said: Said) -> Iterator[Mark]:
        """Marks for a view in which word breaks were lost: words count inside longer ones."""
        return self._marks(text, 0, self._read(text, self._anywhere.find(text)), hidden, True, said)

    def classes(self, number: int) -> int:
        """All classes a literal may stand for."""
        if (held := self._held.get(number)) is None:
            meanings = self._meanings[number] = self._words.meanings(number)
            held = self._held[number] = reduce(or_, [classes for classes, _ in meanings])
        return held

    def _marks(
        self, text: str, start: int, hits: list[Hit], hidden: int, joined: bool, said: Said, fresh: int = 0
    ) -> Iterator[Mark]:
        """Marks for the hits of a passage that begins at `start`; those before `fresh` are only company."""
        said.effort.spend(len(hits))
        rules = self._rules_for(reduce(or_, (hit[CLASSES] for hit in hits), 0), hidden)
        rules = said.without_enough(rules)
        open_slots = reduce(or_, (slots for _, slots in rules), 0)
        first = 0
        vain: set[tuple[str, int, int]] = set()
        for last, (at, end_of_word, held, _) in enumerate(hits):
            if not held & open_slots or at < fresh:
                continue
            while hits[first][START] < at - _MOST_REACH:
                first += 1
            around = None
            if len(hits) > _CROWD and at - _SEEN > start:
                around = (text[at - _SEEN : end_of_word + _SEEN], end_of_word - at, held)
                if around in vain:
                    continue
            tried, near = 1 + (last - first) // 8, 0
            for rule, slots in rules:
                if not held & slots:
                    continue
                if at < said.behind.get(id(rule), 0):
                    around = None
                    continue
                near = near or reduce(or_, [hit[CLASSES] for hit in hits[first : last + 1]])
                if not _filled(rule.slots, near):
                    continue
                tried += _TRY
                chosen = self._fit(rule, hits, first, last)
                if chosen and self._stands(rule, text, chosen, joined):
                    begin, stop = chosen[0][START], _word_end(text, max(hit[END] for hit in chosen))
                    said.behind[id(rule)] = stop
                    around = None
                    yield Mark(rule.id, rule.family, rule.severity, begin, stop, text[begin:stop], rule.why)
                    if said.enough(rule):
                        rules = said.without_enough(rules)
                        open_slots = reduce(or_, (slots for _, slots in rules), 0)
            said.effort.spend(tried)
            if around:
                vain.add(around)

    def _hits(self, text: str, low: int, high: int) -> list[Hit]:
        """The words of the lexicon in [low, high)."""
        return self._read(text, [(number, low + at) for number, at in self.words_in(text[low:high])])

    def _read(self, text: str, found: list[tuple[int, int]]) -> list[Hit]:
        """What the words found mean where they stand."""
        hits: list[Hit] = []
        lengths, parts, meanings = self._words.literals.lengths, self._words.parts, self._meanings
        for number, at in found:
            to = _follows(text, at, parts[number]) if number in parts else at + lengths[number]
            if to < 0:
                continue
            if number not in meanings:
                self.classes(number)
            for held, spoken in meanings[number]:
                hits.append((at, to, held, spoken))
        hits.sort()
        return hits

    def _rules_for(self, present: int, hidden: int) -> Rules:
        """The rules that the classes present can fill, each with what its last word may be."""
        rules = self._sets.get((present, hidden))
        if rules is None:
            if len(self._sets) > _MOST_SETS:
                self._sets.clear()
            rules = self._sets[present, hidden] = tuple(
                (rule, union)
                for first, last, rule, union in self._rules
                if present & first
                and present & last
                and rule.hidden <= hidden
                and all(present & slot for slot in rule.slots)
            )
        return rules

    def _fit(self, rule: Phrase, hits: Sequence[Hit], first: int, last: int) -> list[Hit]:
        """Hits that fill all slots with `last` among them, in one language and within the span; or none."""
        newest = hits[last]
        span = rule.span * (_WORD if newest[LANGUAGES] & ~self._spaceless else _SPACELESS_WORD)
        low, edge = last, newest[START] - span
        while low > first and hits[low - 1][START] >= edge:
            low -= 1
        near = hits[low:last]
        if rule.ordered:
            return in_order(rule.slots, near, newest)
        for own, slot in enumerate(rule.slots):
            if newest[CLASSES] & slot:
                chosen = in_any_order([*rule.slots[:own], *rule.slots[own + 1 :]], near, newest)
                if chosen:
                    return chosen
        return []

    def _stands(self, rule: Phrase, text: str, chosen: list[Hit], joined: bool) -> bool:
        start, end = chosen[0][START], max(hit[END] for hit in chosen)
        if rule.tied and not tied(rule, chosen):
            return False
        if rule.before and not compiled(rule.before).search(text, max(0, start - _BEFORE), start):
            return False
        if rule.after and not compiled(rule.after).match(text, _word_end(text, end)):
            return False
        if rule.close and not compiled(rule.close).fullmatch(text, chosen[0][END], chosen[1][START]):
            return False
        if not joined and torn(text[start:end]):
            return False
        return not (rule.negatable and negated(text, start, end))


def _blocks(text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    """A passage in parts; where its beginning comes again another begins, so that what repeats is equal."""
    begin = low
    while high - begin > 2 * _BLOCK:
        opening = text[begin : begin + _OPENING]
        again = text.find(opening, begin + _BLOCK, begin + 2 * _BLOCK)
        end = again if again >= 0 else begin + _BLOCK
        yield begin, end
        begin = end
    yield begin, high


def _filled(slots: tuple[int, ...], present: int) -> bool:
    for slot in slots:  # noqa: SIM110  a loop is quicker than a generator
        if not present & slot:
            return False
    return True


# Over these no phrase reaches, see `sentences.torn`, so that a passage may end there.
_SEPARATORS = ("\n\n", "\n- ", '"', "|")
# Words so close are in one passage, whatever stands between.
_BESIDE = 30


def _before(text: str, at: int, reach: int) -> int:
    """Where the passage around a word begins."""
    low = max(0, at - reach)
    for separator in _SEPARATORS:
        if (found := text.rfind(separator, low, at)) >= 0:
            low = found + len(separator)
    return low


def _behind(text: str, at: int, reach: int) -> int:
    """Where the passage around a word ends."""
    high = min(len(text), at + reach)
    for separator in _SEPARATORS:
        if (found := text.find(separator, at, high)) >= 0:
            high = found
    return high


def _follows(text: str, at: int, parts: Sequence[str]) -> int:
    """Where words end that begin at `at`, a few marks between them; -1 if there are too many marks."""
    at += len(parts[0])
    for part in parts[1:]:
        start = at
        while at - start < _MARKS and at < len(text) and not text[at].isalnum():
            at += 1
        if not text.startswith(part, at):
            return -1
        at += len(part)
    return at


def _word_end(text: str, at: int) -> int:
    limit = min(len(text), at + 24)
    while at < limit and text[at].isalpha() and text[at].isascii():
        at += 1
    return at


@lru_cache(maxsize=1)
def matcher() -> Matcher:
    """The one matcher of this process, built on first use."""
    return Matcher()
