"""What a page does not show though no style hides it: comments of templates, attributes, text far away.

In a code fence all of it is shown.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from hermes.security.expressions import compiled

# How much of one is read, and how far away text is no longer seen.
_MOST = 4_000
_FENCE = r"(?m)^[ \t>]{0,12}(?:```|~~~)"
_COMMENT, _ATTRIBUTE, _FAR = "hidden_comment_injection", "attribute_injection", "far_text_injection"
# Comments of templates and mark-up, and elements that draw nothing: how they open and how they close.
_PAIRS = (
    ("{/*", "*/}"), ("{#", "#}"), ("{% comment", "{% endcomment"), ("{%- comment", "endcomment"),
    ("{{!", "}}"), ("<%#", "%>"), ("<%--", "--%>"), ("\n%%", "%%"), ("<![CDATA[", "]]>"), ("<?", "?>"),
    ("\n////\n", "\n////"), ("<template", "</template"), ("<noscript", "</noscript"), ("<style", "</style"),
    ("<desc", "</desc"), ("<metadata", "</metadata"), ("<script", "</script"),
)  # fmt: skip
# By the rarest sign of what opens them: to look for that one takes a fiftieth of looking for a word.
_PAIRS_BY_SIGN: dict[str, list[tuple[str, str]]] = {}
for _pair in _PAIRS:
    _sign = next(sign for sign in "{<%/" if sign in _pair[0])
    _PAIRS_BY_SIGN.setdefault(_sign, []).append(_pair)
_PROGRAM = (
    r"<script(?![^<>]{0,200}\btype\s*=\s*[\"']?(?:text/(?!javascript|babel)|application/(?!javascript)))"
)
_NAMES = (
    r"[\s\"'](?:alt|title|content|value|summary|placeholder|label|aria-[a-z]{4,15}|data-[a-z-]{1,30})\s?$"
)
# Each looks for a sign, without which a text has none of it, and begins with it where it may be long.
_OTHERS = (
    ("![", r"!\[([^\[\]\n]{24,600})\][(\[]", _ATTRIBUTE),
    ("]:", r"\]:(?!\s*#)[ \t]{1,4}\S{1,300}[ \t]{1,4}[\"'(]([^\n\"\[]{12,600})", "link_title_injection"),
    (" " * 80, r" {80}[ \t]*(?![ \t|])([^\n|]{12,2000})", _FAR),
    ("\t" * 20, r"\t{20}\t*(?![ \t|])([^\n|]{12,2000})", _FAR),
    ("\n" * 30, r"\n{30}\n*([^\n](?s:.){8,4000})", _FAR),
    ("\n.. ", r"\n\.\. (?![\w-]{1,30}::|\[|_|\|)([^\n]{12,600}(?:\n {3}[^\n]{1,600}){0,20})", _COMMENT),
    ("\\begin{", r"%(?<!\\%)[ \t]?([^\n%]{12,600})", _COMMENT),
)
_FRONT_MATTER = r"(?s)\A\s{0,4}---[ \t]*\n(.{1,6000}?)\n---[ \t]*(?:\n|\Z)"
# Remarks to linters are no orders.
_REMARK = r"(?m)(?:^|[ \t])#[ \t](?![^\n]*(?:\bnoqa\b|type: ?ignore|-ignore|-disable))([^\n]{12,600})"
_NOTE = r"(?m)^\[\^([^\]\n]{1,40})\]:[ \t]*([^\n]{12,2000}(?:\n(?:[ ]{4}|\t)[^\n]{1,2000}){0,20})"

Stretch = tuple[int, int, str]
"""Where something not shown begins and ends, and the name of a finding in it."""


def unshown(text: str) -> Iterator[Stretch]:
    """Stretches of a text that a page made of it does not show."""
    fences: list[int] | None = None
    for start, end, name in _candidates(text):
        if fences is None:
            fences = [fence.start() for fence in compiled(_FENCE).finditer(text)]
        if bisect_left(fences, start) % 2 == 0:
            yield start, end, name


def _candidates(text: str) -> Iterator[Stretch]:
    for sign, pairs in _PAIRS_BY_SIGN.items():
        if sign in text:
            for opening, closing in pairs:
                for start, end in _between(text, opening, closing):
                    yield start, end, _COMMENT
    for sign, expression, name in _OTHERS:
        if sign[0] in text and sign in text:
            for match in compiled(expression).finditer(text):
                yield *match.span(1), name
    if "<" in text:
        yield from _attributes(text)
    if text.lstrip()[:3] == "---" and (front := compiled(_FRONT_MATTER).match(text)):
        for match in compiled(_REMARK).finditer(text, *front.span(1)):
            yield *match.span(1), _COMMENT
    if "[^" in text:
        yield from _notes(text)


def _between(text: str, opening: str, closing: str) -> Iterator[tuple[int, int]]:
    """What stands between the two marks; what is opened must be closed."""
    at = text.find(opening)
    while at >= 0:
        start = at + len(opening)
        end = text.find(closing, start)
        if end < 0:
            return
        if opening != "<script" or not compiled(_PROGRAM).match(text, at):
            yield start, min(end, start + _MOST)
        at = text.find(opening, end)


def _attributes(text: str) -> Iterator[Stretch]:
    """Values of attributes that hold words for people who cannot see, or for programs."""
    for mark in "\"'":
        if "=" + mark in text:
            for match in compiled(rf"={mark}([^{mark}<>\n]{{24,1000}}){mark}").finditer(text):
                if compiled(_NAMES).search(text, max(0, match.start() - 40), match.start()):
                    yield *match.span(1), _ATTRIBUTE


def _notes(text: str) -> Iterator[Stretch]:
    """Footnotes that nothing refers to."""
    found = list(compiled(_NOTE).finditer(text))
    if found:
        named = Counter(re.findall(r"\[\^([^\]\n]{1,40})\]", text))
        for match in found:
            if named[match[1]] == 1:
                yield *match.span(2), _COMMENT
