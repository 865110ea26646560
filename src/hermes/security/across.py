"""Words that the structure of a file pulls apart: cells, items, headings, quotation marks, tags, footnotes.

A quotation mark or the border of a cell ends what is said, and no rule reaches over one. Between fragments, a
few words that say nothing alone, it does not: there the text is read once more as if the border were a space.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from hermes.security.effort import Effort
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
# What it looks ahead to rules most letters out at once.
_BORDER = rf"(?=[ \t]*[\n<\]\[\->=/+.|`\"')(,*0-9])[ \t]*(?:(?:{_ONE})[ \t]*)+"
_SPACELESS = "[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff]{9}"
_HEADING, _SAID = r"\n\s*#", r":\W{0,4}$"
# A colon before a quotation mark says that words of somebody follow; not among so many borders.
_SPOKEN = 3
_LETTERS_A_MARK, _FEW_MARKS = 5, 24
# So far around a place it is looked for runs; what stands so close behind it has the same surroundings.
_AROUND, _SAME = 160, 30
# So near to a place a fragment must stand, or a word between marks that dress it.
_SIGHT = 50
# No fragment has more letters, or more words and marks, than this; between two there are only such signs.
_SHORT_PIECE, _FEW_WORDS, _NOTHING = 80, 6, b" hkb"
# Words that are dressed, or numbers, dots and strokes between words: twice.
_MARKED = re.compile(
    rb"q(?<=[ bm]q)q?+[ah]++[kp]?q|p(?:(?<=dp) |p)[^p]{1,60}+p(?:(?<=dp) |p)|h(?<= h) [^h]{1,60}+h(?<= h) "
)
_APART = "\n\n"
# What is spent on a place, and on a border.
_PLACE, _BORDER_COSTS = 2, 3


class _Stretch(NamedTuple):
    """A stretch of a view around fragments: where it begins in the reading, its bounds, its borders."""

    at: int
    low: int
    high: int
    borders: list[Edit]


class Across:
    """The stretches of a text that are read across their borders, one after the other."""

    def __init__(self, text: str) -> None:
        self._whole = text
        self._stretches: list[_Stretch] = []
        self._read: list[str] = []
        self._at = 0
        self._shown = (-1, View(""))

    def add(self, stretch: _Stretch, read: str) -> None:
        """Another stretch, behind those before."""
        self._stretches.append(stretch._replace(at=self._at))
        self._read += (read, _APART)
        self._at += len(read) + len(_APART)

    @property
    def text(self) -> str:
        """All of it as it reads."""
        return "".join(self._read)

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


Worth = Callable[[int, int, bool, Callable[[], str]], bool]
"""Whether what stands around [low, high) may say something together, given how it reads; of dense runs more
is asked."""


def across(text: str, places: Sequence[tuple[int, int]], worth: Worth, effort: Effort) -> Across | None:
    """What of a view is to be read across its borders; None where it has none that matter.

    Places, in ascending order, are where words stand by which rules are known, each with how many fragments
    must stand beside it. Far from them nothing matters but marks around every letter.
    """
    marked = text.count("<") + text.count('"') > len(text) // _FEW_MARKS
    if not (places or marked):
        return None
    signs = b"b" + narrow(text).translate(_SIGNS) + b"b"
    around = [(0, len(signs))] if marked else list(_surroundings(signs, places))
    reading = Across(text)
    effort.spend(_PLACE * len(places))
    for stretch, read in _runs(text, _with_marks(text, signs, around), around, worth, effort):
        reading.add(stretch, read)
    return reading if reading.text else None


def _with_marks(text: str, signs: bytes, around: list[tuple[int, int]]) -> bytes:
    """The signs with marks for what stands for one, in the surroundings."""
    pieces: list[bytes] = []
    behind = 0
    for low, high in around:
        begin = max(behind, low)
        written = text[max(0, begin - 1) : high - 1]
        if any(sign in written for sign in _INLINE_SIGNS) or _NUMBERED in signs[begin:high]:
            inner = narrow(compiled(_INLINE).sub(_as_mark, written)).translate(_SIGNS)
            pieces += (signs[behind : max(1, begin)], inner)
            behind = max(1, begin) + len(inner)
    return b"".join([*pieces, signs[behind:]])


def _surroundings(signs: bytes, places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Where it is looked for runs: around places that have as many fragments beside them as they ask for."""
    alike = signs.replace(b"m", b"b")  # one sign is looked for much more quickly than one of two
    low = high = 0
    for place, wanted in places:
        if place <= high - _AROUND + _SAME:
            continue
        begin, end = max(0, place - _SIGHT), place + _SIGHT
        if _fragments(alike, place) < wanted and not _MARKED.search(signs, begin, end):
            continue
        if place - _AROUND > high:
            if high:
                yield low, high
            low = max(0, place - _AROUND)
        high = min(len(signs), place + _AROUND)
    if high:
        yield low, high


def _fragments(signs: bytes, place: int) -> int:
    """How many of what stands at a place, before and behind that, are as short as a fragment, and near."""
    left = signs.rfind(b"b", max(0, place - _SHORT_PIECE), place + 1)
    right = signs.find(b"b", place + 1, place + _SHORT_PIECE)
    found = int(left >= 0 and right >= 0 and _is_short(signs[left:right]))
    if 0 <= right <= place + _SIGHT:
        following, border, _ = signs[right : right + _SHORT_PIECE].lstrip(_NOTHING).partition(b"b")
        found += bool(border) and _is_short(following)
    if left >= 0 and left >= place - _SIGHT:
        _, border, before = signs[max(0, left - _SHORT_PIECE) : left].rstrip(_NOTHING).rpartition(b"b")
        found += bool(border) and _is_short(before)
    return found


def _is_short(piece: bytes) -> bool:
    return len(piece) <= _SHORT_PIECE and len(piece.split(None, _FEW_WORDS)) <= _FEW_WORDS


def _matches(signs: bytes, around: Iterable[tuple[int, int]]) -> Iterator[re.Match[bytes]]:
    """Runs in the surroundings of places, the first and longest before others."""
    for low, high in around:
        yield from sorted((match for run in _RUNS for match in run.finditer(signs, low, high)), key=_place)


def _runs(
    text: str, signs: bytes, around: Iterable[tuple[int, int]], worth: Worth, effort: Effort
) -> Iterator[tuple[_Stretch, str]]:
    """The stretches around runs that may say something, and how each reads."""
    behind = 0
    for match in _matches(signs, around):
        if match.end() <= behind:
            continue
        behind = match.end()
        first, last = match.start() - 1, _MARKS.match(signs, behind).end() - 1  # type: ignore[union-attr]
        dense = bool(match.lastindex)
        # Marks around every word also part the words by which rules are known.
        parted = dense and signs.count(_MARK, *match.span()) * _LETTERS_A_MARK >= last - first
        low, high = first - _NEAR, last + _NEAR
        first, last = max(first, 0), min(last, len(text))
        open_left, open_right = signs[match.start()] != _END, signs[match.end()] != _END
        begin = max(0, first - _REACH) if open_left else first
        end = min(len(text), last + _REACH) if open_right else last
        read = _Read(text, (begin, first, max(first, min(last, end)), max(first, end)), effort)
        if (parted or worth(low, high, dense, read)) and not _is_spaceless(text, first, last):
            yield read.stretch, read()


def _is_spaceless(text: str, first: int, last: int) -> bool:
    return not text.isascii() and bool(compiled(_SPACELESS).search(text, first, last))


class _Read:
    """How a stretch reads across its borders, found out when somebody asks.

    The span says where it begins, in what part its borders stand, and where it ends.
    """

    def __init__(self, text: str, span: tuple[int, int, int, int], effort: Effort) -> None:
        self._text, self._span, self._effort = text, span, effort

    @cached_property
    def stretch(self) -> _Stretch:
        """The stretch, not yet in its place among others."""
        low, first, last, high = self._span
        spans = (match.span() for match in compiled(_BORDER).finditer(self._text, first, last))
        borders = [(start, end, _between(self._text, low, start)) for start, end in spans]
        self._effort.spend(_BORDER_COSTS * len(borders))
        return _Stretch(0, low, high, borders)

    def __call__(self) -> str:
        """The stretch with what stands for its borders."""
        _, low, high, borders = self.stretch
        read: list[str] = []
        for start, end, reading in borders:
            read += (self._text[low:start], reading)
            low = end
        return "".join([*read, self._text[low:high]])


_END, _MARK = ord("b"), ord("m")
_MARKS = re.compile(rb"m*")


def _place(match: re.Match[bytes]) -> tuple[int, int]:
    return match.start(), -match.end()


def _as_mark(match: re.Match[str]) -> str:
    return '"' * (match.end() - match.start())
