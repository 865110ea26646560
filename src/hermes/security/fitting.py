"""Which words near each other fill the slots of a rule: in order or in any, in one language."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hermes.security.rulebook import Phrase

Hit = tuple[int, int, int, int]
"""A word of the lexicon in the view: start, end, its classes and its languages, both as bit sets."""
START, END, CLASSES, LANGUAGES = range(4)
# A noun and the word that tells which are so few letters apart.
_SIDE_BY_SIDE = 24


def in_order(slots: tuple[int, ...], near: Sequence[Hit], newest: Hit) -> list[Hit]:
    """The nearest hits before `newest` that fill the slots one after the other."""
    if not newest[CLASSES] & slots[-1]:
        return []
    chosen, languages, at = [newest], newest[LANGUAGES], len(near) - 1
    for wanted in reversed(slots[:-1]):
        while at >= 0:
            hit = near[at]
            at -= 1
            if hit[CLASSES] & wanted and hit[LANGUAGES] & languages and hit[END] <= chosen[-1][START]:
                chosen.append(hit)
                languages &= _spoken(near, at + 1, wanted)
                break
        else:
            return []
    return chosen[::-1]


def in_any_order(slots: Sequence[int], near: Sequence[Hit], newest: Hit) -> list[Hit]:
    """The nearest hits before `newest` that fill the other slots, whatever their order."""
    chosen, languages = [newest], newest[LANGUAGES]
    for wanted in slots:
        for at in range(len(near) - 1, -1, -1):
            hit = near[at]
            if hit[CLASSES] & wanted and hit[LANGUAGES] & languages and not _overlaps(hit, chosen):
                chosen.append(hit)
                languages &= _spoken(near, at, wanted)
                break
        else:
            return []
    return sorted(chosen)


def tied(rule: Phrase, chosen: list[Hit]) -> bool:
    """Whether words of the two slots that belong together stand side by side: a noun and what tells which."""
    one, other = (rule.slots[number] for number in rule.tied)
    for first, second in pairwise(chosen):
        if second[START] - first[END] > _SIDE_BY_SIDE:
            continue
        if first[CLASSES] & one and second[CLASSES] & other:
            return True
        if first[CLASSES] & other and second[CLASSES] & one:
            return True
    return False


def _spoken(near: Sequence[Hit], at: int, wanted: int) -> int:
    """The languages in which the word of a hit fills a slot, by any of its meanings up to this one."""
    start, end, _, languages = near[at]
    while at and near[at - 1][START] == start and near[at - 1][END] == end:
        at -= 1
        if near[at][CLASSES] & wanted:
            languages |= near[at][LANGUAGES]
    return languages


def _overlaps(hit: Hit, chosen: Sequence[Hit]) -> bool:
    return any(hit[START] < other[END] and other[START] < hit[END] for other in chosen)
