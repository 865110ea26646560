"""Phrase rules: word classes that stand close together, in any of the languages.

Words are found by an automaton, turned into hits (where, which classes, which languages), and each rule looks
at the few hits in its reach. No rule quotes a sentence; fillers, synonyms and word order are free.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, reduce
from itertools import chain
from operator import or_

from hermes.security.expressions import compiled
from hermes.security.findings import Mark
from hermes.security.literals import Ends, Finder, Literals, joined_with
from hermes.security.rulebook import Longer, Meaning, Phrase, load, words

# Reach of one word of a rule's span, in characters: generous, for marks between the words.
_WORD = 8
_SPACELESS_WORD = 4
_MOST_REACH = 130
_BEFORE = 40
_MOST_SETS = 10_000
# Among so many words, one that stood in the same surroundings in vain is not tried again.
_CROWD, _SEEN = 200, 180
# One passage in which one rule holds so often has said it.
_ENOUGH = 300


Hit = tuple[int, int, int, int]
"""A word of the lexicon in the view: start, end, its classes and its languages, both as bit sets."""
Rules = tuple[tuple[Phrase, int], ...]
_START, _END, _CLASSES, _LANGUAGES = range(4)


class Matcher:
    """The phrase rules, ready to run over passages of a view."""

    def __init__(self) -> None:
        rules = load()
        self._words = words()
        self.size = len(self._words)
        """How many literals are words; those behind are signposts, found in the same search."""
        self.finder = Finder(joined_with(self._words.literals, rules.signposts))
        self._spaceless = rules.spaceless
        self._rules = [
            (rule.slots[0], rule.slots[-1], rule, reduce(or_, rule.slots)) for rule in rules.phrases
        ]
        self._plain: dict[int, list[Meaning]] = {}
        self._longer: dict[int, Longer] = {}
        self._ever: dict[int, int] = {}
        self._sets: dict[tuple[int, int], Rules] = {}

    @cached_property
    def _anywhere(self) -> Finder:
        patterns, lengths, _, exact = self._words.literals
        return Finder(
            Literals([pattern.strip() or pattern for pattern in patterns], lengths, [0] * len(lengths), exact)
        )

    def find(self, text: str, numbers: list[int], ends: Ends, hidden: int = 0) -> Iterator[Mark]:
        """Marks for a view, from what `finder` found in it. `hidden` adds rules for text nobody is shown.

        Of each rule the slot that is rarest in this text is looked for; only where words of the other slots
        are near are the surroundings read.
        """
        known, size = self._ever, self.size
        present = {number for number in set(numbers) if number < size}
        ever = {number: known[number] if number in known else self._classes(number) for number in present}
        loose = self._rules_for(reduce(or_, ever.values(), 0), hidden)
        if not loose:
            return
        useful = reduce(or_, [slots for _, slots in loose], 0)
        chosen = {number for number, held in ever.items() if held & useful}
        hits = self._hits(text, self.finder, self._begun(text, zip(numbers, ends(), strict=True), chosen))
        places: dict[int, list[int]] = {}
        for start, _, held, _ in hits:
            if held in places:
                places[held].append(start)
            else:
                places[held] = [start]
        rules = self._rules_for(reduce(or_, places, 0), hidden)
        if hidden and rules:
            yield from self._marks(text, 0, hits, hidden, False)
        elif rules:
            starts = [hit[_START] for hit in hits]
            for low, high in _around(text, sorted(self._near(rules, places))):
                inside = hits[bisect_left(starts, low) : bisect_left(starts, high)]
                yield from self._marks(text, low, [hit for hit in inside if hit[_END] <= high], hidden, False)

    def _begun(self, text: str, pairs: Iterable[tuple[int, int]], chosen: set[int]) -> list[tuple[int, int]]:
        """Of what was found the chosen words, without those that mean nothing before the next letter."""
        longer = self._longer
        alone = {number for number in chosen if self._plain[number]}
        return [
            pair
            for pair in pairs
            if pair[0] in alone
            or (
                pair[0] in chosen
                and ((letter := text[pair[1] - 1 : pair[1]]) in longer[pair[0]] or not letter.isalnum())
            )
        ]

    def find_joined(self, text: str, hidden: int = 0) -> Iterator[Mark]:
        """Marks for a view in which word breaks were lost: words count inside longer ones."""
        numbers, ends = self._anywhere.search(text)
        found = list(zip(numbers, ends(), strict=True))
        for number in {number for number, _ in found}:
            self._classes(number)
        return self._marks(text, 0, self._hits(text, self._anywhere, found), hidden, True)

    def _near(self, rules: Rules, places: dict[int, list[int]]) -> set[int]:
        """Where words of the rarest slot of a rule have words of all its other slots within reach."""
        of_slot: dict[int, list[int]] = {}
        near: set[int] = set()
        for rule, _ in rules:
            for slot in rule.slots:
                if slot not in of_slot:
                    lists = [starts for held, starts in places.items() if held & slot]
                    of_slot[slot] = lists[0] if len(lists) == 1 else sorted(chain.from_iterable(lists))
            near.update(_together(sorted([of_slot[slot] for slot in rule.slots], key=len), rule.span * _WORD))
        return near

    def _classes(self, number: int) -> int:
        """All classes a literal may stand for, alone or with the words behind it."""
        if (classes := self._ever.get(number)) is None:
            plain = self._plain[number] = self._words.plain(number)
            classes = reduce(or_, [held for held, _ in plain], 0)
            if longer := self._words.longer(number):
                self._longer[number] = longer
            for rows in longer.values():
                classes = reduce(or_, [row[0] for row in rows], classes)
            self._ever[number] = classes
        return classes

    def _marks(self, text: str, start: int, hits: list[Hit], hidden: int, joined: bool) -> Iterator[Mark]:
        rules = self._rules_for(reduce(or_, (hit[_CLASSES] for hit in hits), 0), hidden)
        if not rules:
            return
        first = 0
        behind, marked = [0] * len(rules), [0] * len(rules)
        vain: set[tuple[str, int, int]] = set()
        for last, (at, end_of_word, held, _) in enumerate(hits):
            while hits[first][_START] < at - _MOST_REACH:
                first += 1
            around = None
            if len(hits) > _CROWD and at - _SEEN > start:
                around = (text[at - _SEEN : end_of_word + _SEEN], end_of_word - at, held)
                if around in vain:
                    continue
            for number, (rule, slots) in enumerate(rules):
                if not held & slots or marked[number] > _ENOUGH:
                    continue
                if at < behind[number]:
                    around = None
                    continue
                chosen = self._fit(rule, hits, first, last)
                if chosen and self._stands(rule, text, chosen, joined):
                    begin, stop = chosen[0][_START], _word_end(text, max(hit[_END] for hit in chosen))
                    behind[number] = stop
                    marked[number] += 1
                    around = None
                    yield Mark(rule.id, rule.family, rule.severity, begin, stop, text[begin:stop], rule.why)
            if around:
                vain.add(around)

    def _hits(self, text: str, finder: Finder, found: list[tuple[int, int]]) -> list[Hit]:
        hits: list[Hit] = []
        plain, longer, spaceless = self._plain, self._longer, self._spaceless
        for number, at, to in finder.confirmed(text, found):
            for held, spoken in plain[number]:
                hits.append((at, to, held, spoken))
            if number not in longer:
                continue
            letter, plainly = text[to + 1 : to + 2], text[to : to + 1] == " "
            if not (plainly and letter.isalnum()):
                letter, plainly = _next_letter(text, to), False
            for held, spoken, parts, ends in longer[number].get(letter, ()):
                if plainly and not text.startswith(parts[0], to + 1):
                    continue
                stop = _follows(text, to, parts, ends, bool(spoken & spaceless))
                if stop >= 0:
                    hits.append((at, stop, held, spoken))
        hits.sort()
        return hits

    def _rules_for(self, present: int, hidden: int) -> Rules:
        """The rules whose slots can all be filled from the classes present, with the union of the slots."""
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
        span = rule.span * (_SPACELESS_WORD if newest[_LANGUAGES] & self._spaceless else _WORD)
        low, edge = last, newest[_START] - span
        while low > first and hits[low - 1][_START] >= edge:
            low -= 1
        near = hits[low:last]
        if rule.ordered:
            return _in_order(rule.slots, near, newest)
        for own, slot in enumerate(rule.slots):
            if newest[_CLASSES] & slot:
                chosen = _in_any_order([*rule.slots[:own], *rule.slots[own + 1 :]], near, newest)
                if chosen:
                    return chosen
        return []

    def _stands(self, rule: Phrase, text: str, chosen: list[Hit], joined: bool) -> bool:
        start, end = chosen[0][_START], max(hit[_END] for hit in chosen)
        if rule.before and not compiled(rule.before).search(text, max(0, start - _BEFORE), start):
            return False
        if rule.after and not compiled(rule.after).match(text, _word_end(text, end)):
            return False
        if rule.close and not compiled(rule.close).fullmatch(text, chosen[0][_END], chosen[1][_START]):
            return False
        if not joined and _torn(text[start:end]):
            return False
        return not (rule.negatable and _negated(text, start, end))


def _together(places: list[list[int]], reach: int) -> list[int]:
    """Those of the first list that have one of every other list within reach."""
    near, *others = places
    for other in others:
        last = len(other)
        near = [
            at for at in near if (to := bisect_left(other, at - reach)) < last and other[to] <= at + reach
        ]
    return near


def _around(text: str, starts: list[int]) -> Iterator[tuple[int, int]]:
    """The passages around words that begin there, as far as a phrase may reach; close ones are one."""
    low = high = -1
    for at in starts:
        if low < 0 or at - high > _BESIDE:
            begin = _before(text, at)
            if low >= 0 and begin > (stop := _behind(text, high)):
                yield low, stop
                low = -1
            low = low if low >= 0 else begin
        high = at
    if low >= 0:
        yield low, _behind(text, high)


# Over these no phrase reaches, see `_TORN`, so that a passage may end there.
_SEPARATORS = ("\n\n", "\n- ", '"', "|")
# Words so close are in one passage, whatever stands between.
_BESIDE = 30


def _before(text: str, at: int) -> int:
    """Where the passage around a word begins."""
    low = max(0, at - _MOST_REACH)
    for separator in _SEPARATORS:
        if (found := text.rfind(separator, low, at)) >= 0:
            low = found + len(separator)
    return low


def _behind(text: str, at: int) -> int:
    """Where the passage around a word ends."""
    high = min(len(text), at + _MOST_REACH)
    for separator in _SEPARATORS:
        if (found := text.find(separator, at, high)) >= 0:
            high = found
    return high


def _next_letter(text: str, at: int) -> str:
    """The first letter behind the few marks that may part the words of a phrase."""
    for letter in text[at : at + 6]:
        if letter.isalnum():
            return letter
    return ""


def _follows(text: str, at: int, parts: Sequence[str], ends: bool, spaceless: bool) -> int:
    """Where a phrase ends whose other parts follow `at`, a few marks between them; -1 if they do not."""
    least, most = (0, 3) if spaceless else (1, 5)
    for part in parts:
        if not spaceless and text.startswith(" " + part, at):
            at += 1 + len(part)
            continue
        start = at
        while at - start < most and at < len(text) and not text[at].isalnum():
            at += 1
        if at - start < least or not text.startswith(part, at):
            return -1
        at += len(part)
    return -1 if ends and at < len(text) and text[at].isalpha() else at


# A phrase does not reach over a paragraph, fence, list item, quotation mark or, in running text, a full stop.
_TORN = r"\n\s*\n|```|\n[ \t]*(?:[-*#>|]|\d{1,3}[.)])\s|[\"\u201c\u201d\u300c\u300d|]"
_STOP = r"[.!?\u3002;]\s|\u3002"
_RUNNING = r"[^\W\d_] [^\W\d_]"


def _torn(passage: str) -> bool:
    if compiled(_TORN).search(passage):
        return True
    return bool(
        compiled(_STOP).search(passage) and (compiled(_RUNNING).search(passage) or "\u3002" in passage)
    )


# "do not ignore these rules": an order to keep them. Only languages that put the negation first.
_NEGATED = (
    r"(?:\b(?:not|never|don'?t|doesn'?t|cannot|can'?t|won'?t|nor|nao|nunca|jamais|niemals|nicht|nie|non|mai"
    r"|niet|nooit|не|никогда|nigdy|jangan|dung|khong)[ \t*_]+(?:[\w']+[ \t*_]+){0,1}"
    r"|(?:不要|不得|切勿|禁止|不能|不会|不可|无法)\w{0,4})$"
)
# "do not override rules, ignore directives, or change them": the negation holds for the whole list.
_NEGATED_LIST = r"\b(?:do not|don't|never|must not|should not|cannot|can't)\s[^.!?:;\n]{3,90},\s(?:or\s)?$"


def _negated(text: str, start: int, end: int) -> bool:
    if compiled(_NEGATED).search(text, max(0, start - 28), start):
        return True
    listed = compiled(_NEGATED_LIST).search(text, max(0, start - 110), start)
    return bool(listed and (" or " in text[start : end + 60] or text[:start].endswith("or ")))


def _word_end(text: str, at: int) -> int:
    limit = min(len(text), at + 24)
    while at < limit and text[at].isalpha() and text[at].isascii():
        at += 1
    return at


def _in_order(slots: tuple[int, ...], near: Sequence[Hit], newest: Hit) -> list[Hit]:
    """The nearest hits before `newest` that fill the slots one after the other."""
    if not newest[_CLASSES] & slots[-1]:
        return []
    chosen, languages, at = [newest], newest[_LANGUAGES], len(near) - 1
    for wanted in reversed(slots[:-1]):
        while at >= 0:
            hit = near[at]
            at -= 1
            if hit[_CLASSES] & wanted and hit[_LANGUAGES] & languages and hit[_END] <= chosen[-1][_START]:
                chosen.append(hit)
                languages &= hit[_LANGUAGES]
                break
        else:
            return []
    return chosen[::-1]


def _in_any_order(slots: Sequence[int], near: Sequence[Hit], newest: Hit) -> list[Hit]:
    """The nearest hits before `newest` that fill the other slots, whatever their order."""
    chosen, languages = [newest], newest[_LANGUAGES]
    for wanted in slots:
        for hit in reversed(near):
            if hit[_CLASSES] & wanted and hit[_LANGUAGES] & languages and not _overlaps(hit, chosen):
                chosen.append(hit)
                languages &= hit[_LANGUAGES]
                break
        else:
            return []
    return sorted(chosen)


def _overlaps(hit: Hit, chosen: Sequence[Hit]) -> bool:
    return any(hit[_START] < other[_END] and other[_START] < hit[_END] for other in chosen)


@lru_cache(maxsize=1)
def matcher() -> Matcher:
    """The one matcher of this process, built on first use."""
    return Matcher()
