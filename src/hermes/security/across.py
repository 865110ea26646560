"""Words that the structure of a file pulls apart: cells, items, headings, quotation marks, tags, footnotes.

A quotation mark or the border of a cell ends what is said, and no rule reaches over one. Between fragments, a
few words that say nothing alone, it does not: there the text is read once more as if the border were a space.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from hermes.security.expressions import compiled
from hermes.security.literals import narrow
from hermes.security.views import Edit, View, edited

# So far from the first and the last border may words stand that belong together across it; of those that a
# rule is known by one stands nearer.
_REACH, _NEAR = 80, 40
# What a view looks like when only the kinds of its signs are left: the ends of blocks (b), marks that may end
# something said (m), marks that dress a word (q), hyphens (h), what may follow a word (k), full stops (p),
# digits (d), spaces, letters (a), and all that is code (c).
_KINDS = {
    "b": "\n|",
    "m": '"<>[]',
    "q": "'`(*)~",
    "h": "-&+/",
    "k": ",;:!",
    "p": ".",
    "d": "0123456789",
    " ": " #\t",
}
_SIGNS = bytes(
    next((ord(kind) for kind, signs in _KINDS.items() if chr(code) in signs), None)
    or (97 if chr(code).isalpha() or chr(code) == "?" or code > 127 else 99)
    for code in range(256)
)
_WORD = rb"q{0,2}+[ad][adh]{0,23}+q{0,2}+[kp]{0,3}+"
# A few words, whatever opens the line before them.
_STAMP = rb"(?:d{4}hddhdd[ a]dd[adhkp]{3,14} (?:a{4,7}k? )?+)?+"
_FRAGMENT = (
    rb"(?:[ hkdpq]{0,9}? |(?<=b)h)??"
    + _STAMP
    + _WORD
    + rb"(?: {1,9}+(?:h{1,2}+ )?"
    + _WORD
    + rb"){0,2}+ *+(?=[bm])"
)
_DRESSED = rb"[ah]++[kp]?q{1,2}+[kp]{0,3}+ "
_MORE = rb"(?:[ hk]{0,12}+[bm]++)*+"
_BETWEEN = rb"[bm]++" + _MORE
# Borders in a row are tried as one, not each of them again.
_FIRST = b"".join(rb"(?<![bm][ hk]{%d}.)" % size for size in range(13))
# Most lines are longer than any fragment, or the next one is; they are passed over at once.
_FEW = rb"(?: *+[^bmc ]{1,60}+){1,7}+ *+"
_SHORT = rb"(?=(?:" + _FEW + rb")?+(?:m|b[ hkbm]{0,200}+" + _FEW + rb"[bm]))"
_OTHERS = (
    _SHORT + _FIRST + rb"[bm]*+" + _MORE
    + rb"(?:" + _FRAGMENT + _BETWEEN + _FRAGMENT
    + rb"((?:" + _BETWEEN + _FRAGMENT + rb"){1,40}+)?|(?<=m)" + _FRAGMENT + rb"(?=m))"
)  # fmt: skip
# Runs of fragments, one expression for each sign they begin with: it is found as quickly as one byte is. What
# is dressed word by word is one too.
_RUNS = tuple(
    re.compile(run)
    for run in (
        b"b" + _OTHERS,
        b"m" + _OTHERS,
        rb"q((?<=[ bm]q)q?+" + _DRESSED + rb"(?:(?:[ah]++[kp]{0,3} )?+q{1,2}+" + _DRESSED + rb"){2,}+)",
    )
)
# What stands for a mark: tags, addresses of links, numbers of notes and words, arrows and the like. Each way
# begins with the sign it is about: so the next one is found as quickly as one of those signs is.
_INLINE = (
    r"<(?:/?[a-z][^<>\n]{0,120}|!--[^<>]{0,80}--)>|\](?:\([^()\s]{0,200}\)|\[\w{0,9}\])|\[\^?[0-9]{1,3}\]|->|=>"
    r"|/(?<=\s/)(?=\s)|\+(?<=\s\+)(?=\s)|\.(?:(?<=\s[0-9]\.)|(?<=\s[0-9]{2}\.))(?=\s)|\.\.{1,3}(?=\s)"
)
# Without one of these none of them stands there.
_INLINE_SIGNS = ("<", "[", ">", "/", "+", "..")
_NUMBERED = b"dp "
_OPENING = (
    r"(?:[ \t]*(?:[-*+>#|:]+|//+|--+|/\*+|\*/|[0-9]{1,3}[.):]|\(?[a-z]\)|\[[ x]\])(?=[ \t|]|\n)){0,4}[ \t]*"
    r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[t ][0-9:.,z]{5,16}[ \t]+(?:\[?[a-z]{4,7}\]?:?[ \t]+)?)?"
)
_ONE = (
    rf"\n\+(?=\w)|\n(?:{_OPENING}\n){{0,3}}{_OPENING}|\||(?:(?<=\s)[0-9]{{1,2}})?(?:{_INLINE})|[<>\[\]`\"]"
    r"|(?<=\s)'(?=\w)|(?<=\w)',?(?=\s)|(?<=\[)'(?=\w)|(?<=\s)\((?=\w)|(?<=\w)\)|\*\*"
    r"|(?<=[\"'])[ ]?[,+.](?=\s)"
)
_BORDER = rf"[ \t]*(?:(?:{_ONE})[ \t]*)+"
_SPACELESS = "[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff]{9}"
_HEADING, _SAID = r"\n\s*#", r":\W{0,4}$"
# A colon before a quotation mark says that words of somebody follow; not among so many borders.
_SPOKEN = 3
_LETTERS_A_MARK, _FEW_MARKS = 5, 24
# So far around a place it is looked for runs; further where one comes so near to the end of that.
_AROUND, _MARGIN, _FURTHER = 300, 150, 2_000
# Where places stand closer than this all of a text is looked through.
_LETTERS_A_PLACE = 250
# So near to a place a fragment must stand, or a word between marks that dress it.
_SIGHT = 60
_SHORT_ONE = re.compile(rb"b[ hkb]{0,64}+" + _FEW + rb"(?=b)")
_DRESSED_ONE = re.compile(rb"q(?<=[ bm]q)q?+[ah]++[kp]?q")
_APART = "\n\n"


class _Stretch(NamedTuple):
    """A stretch of a view around fragments: where it begins in the reading, its bounds, its borders."""

    at: int
    low: int
    high: int
    borders: list[Edit]


class Across:
    """The stretches of a text that are read across their borders, one after the other."""

    def __init__(self, text: str, runs: list[tuple[int, int, int, int]]) -> None:
        self._whole = text
        self._stretches: list[_Stretch] = []
        self._shown = (-1, View(""))
        read: list[str] = []
        at = 0
        for low, first, last, high in runs:
            spans = (match.span() for match in compiled(_BORDER).finditer(text, first, last))
            borders = [(start, end, _between(text, low, start)) for start, end in spans]
            self._stretches.append(_Stretch(at, low, high, borders))
            behind = low
            for start, end, reading in borders:
                read += (text[behind:start], reading)
                at += start - behind + len(reading)
                behind = end
            read += (text[behind:high], _APART)
            at += high - behind + len(_APART)
        self.text = "".join(read)

    def pieces(self, start: int, end: int) -> list[tuple[int, int]]:
        """What borders make of [start, end) of the reading, in offsets of the text; none if one is closed."""
        stretch = self._stretches[bisect_right(self._stretches, start, key=_begin) - 1]
        at, low, _, borders = stretch
        view = self._view(stretch)
        behind, stop = low + view.start(start - at), low + view.end(min(end - at, len(view.text)))
        found = []
        for first, last, _ in borders[bisect_right(borders, behind, key=_first) :]:
            if last >= stop:
                break
            if behind < first:
                if self._begins_anew(self._whole[first:last], behind, first):
                    return []
                found.append((behind, first))
                behind = last
        found.append((behind, stop))
        spoken = compiled(_SAID).search(self._whole, *found[0]) if len(found) <= _SPOKEN else None
        return [] if spoken else found

    def _view(self, stretch: _Stretch) -> View:
        """The reading of a stretch; of one that is asked for again and again made once."""
        if stretch.at != self._shown[0]:
            _, low, high, borders = stretch
            spaces = [(first - low, last - low, reading) for first, last, reading in borders]
            self._shown = stretch.at, edited(self._whole[low:high], spaces, None)
        return self._shown[1]

    def _begins_anew(self, border: str, start: int, end: int) -> bool:
        """Whether a heading follows on what is none."""
        if "#" not in border or not compiled(_HEADING).match(border):
            return False
        line = self._whole.rfind("\n", 0, start) + 1
        return "#" not in self._whole[line:end]


def _between(text: str, low: int, at: int) -> str:
    """What a border at a place of a stretch reads as: code before it is not a part of what is said."""
    before = text[max(low, at - 2) : at].rstrip()
    return "" if at == low else "\n" if before.endswith(("(", "{", "=", ":")) else " "


def _first(border: Edit) -> int:
    return border[0]


def _begin(stretch: _Stretch) -> int:
    return stretch.at


Worth = Callable[[int, int, bool], bool]
"""Whether what stands in [low, high) may say something together; of dense runs more is asked."""


def across(text: str, anchors: Sequence[int], triggers: Sequence[int], worth: Worth) -> Across | None:
    """What of a view is to be read across its borders; None where it has none that matter.

    Where words stand by which phrases are known, and shapes, is given in ascending order. Far from them
    nothing matters but marks around every letter.
    """
    marked = text.count("<") + text.count('"') > len(text) // _FEW_MARKS
    if not (anchors or triggers or marked):
        return None
    signs = _signs(text)
    whole = marked or (len(anchors) + len(triggers)) * _LETTERS_A_PLACE > len(signs)
    around = [(0, len(signs))] if whole else _surroundings(signs, anchors, triggers)
    runs = list(_runs(text, signs, around, worth))
    return Across(text, runs) if runs else None


def _signs(text: str) -> bytes:
    signs = narrow(text).translate(_SIGNS)
    if any(sign in text for sign in _INLINE_SIGNS) or _NUMBERED in signs:
        signs = narrow(compiled(_INLINE).sub(_as_mark, text)).translate(_SIGNS)
    return b"b" + signs + b"b"


def _surroundings(signs: bytes, anchors: Sequence[int], triggers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where it is looked for runs: around words that have a fragment beside them, for shapes two in a row."""
    alike = signs.replace(b"m", b"b")  # one sign is looked for much more quickly than one of two
    ones = [match.span() for match in _SHORT_ONE.finditer(alike)]
    twos = [(one[0], other[1]) for one, other in pairwise(ones) if one[1] == other[0]]
    dressed = [match.span() for match in _DRESSED_ONE.finditer(signs)]
    places = [*_beside(anchors, [*ones, *dressed]), *_beside(triggers, [*twos, *dressed])]
    low = high = 0
    for place in sorted(places):
        if place - _AROUND > high:
            if high:
                yield low, high
            low = place - _AROUND
        high = place + _AROUND
    if high:
        yield max(low, 0), min(high, len(signs))


def _beside(places: Sequence[int], spans: list[tuple[int, int]]) -> Iterator[int]:
    """Those of the places that have one of the spans near."""
    spans.sort()
    furthest = list(accumulate((end for _, end in spans), max))
    for place in places:
        at = bisect_right(spans, (place + _SIGHT,)) - 1
        if at >= 0 and furthest[at] >= place - _SIGHT:
            yield place


def _matches(signs: bytes, around: Iterable[tuple[int, int]]) -> Iterator[re.Match[bytes]]:
    """Runs around the places; where one comes near an end of its surroundings it is looked further."""
    for low, high in around:
        found = _matches_in(signs, low, high)
        left, right = low and low + _MARGIN, high - _MARGIN if high < len(signs) else high
        if any(match.start() < left or match.end() > right for match in found):
            found = _matches_in(signs, max(0, low - _FURTHER), high + _FURTHER)
        yield from sorted(found, key=_place)


def _matches_in(signs: bytes, low: int, high: int) -> list[re.Match[bytes]]:
    return [match for run in _RUNS for match in run.finditer(signs, low, high)]


def _runs(
    text: str, signs: bytes, around: Iterable[tuple[int, int]], worth: Worth
) -> Iterator[tuple[int, int, int, int]]:
    """Where surroundings begin, where the first open border, where the last ends, where the surroundings."""
    behind = 0
    for match in _matches(signs, around):
        if match.end() <= behind:
            continue
        behind = match.end()
        first, last = match.start() - 1, _MARKS.match(signs, behind).end() - 1  # type: ignore[union-attr]
        dense = bool(match.lastindex)
        # Marks around every word also part the words by which rules are known.
        parted = dense and signs.count(_MARK, *match.span()) * _LETTERS_A_MARK >= last - first
        if not parted and not worth(first - _NEAR, last + _NEAR, dense):
            continue
        first = max(first, 0)
        if not text.isascii() and compiled(_SPACELESS).search(text, first, last):
            continue
        last = min(last, len(text))
        open_left, open_right = signs[match.start()] != _END, signs[match.end()] != _END
        low = max(0, first - _REACH) if open_left else first
        high = min(len(text), last + _REACH) if open_right else last
        yield low, first, max(first, min(last, high)), max(first, high)


_END, _MARK = ord("b"), ord("m")
_MARKS = re.compile(rb"m*")


def _place(match: re.Match[bytes]) -> tuple[int, int]:
    return match.start(), -match.end()


def _as_mark(match: re.Match[str]) -> str:
    return '"' * (match.end() - match.start())
