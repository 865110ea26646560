"""Where a text holds words that a person who views the rendered page is not shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hermes.security.expressions import compiled
from hermes.security.normalise import ascii_lower
from hermes.security.unshown import unshown

# Attributes and comments of templates are common in honest files and speak of much, comments of a page less,
# hidden elements with prose are rare: the rarer, the more strictly it is read.
UNSHOWN, COMMENT, ELEMENT = 1, 2, 3
_MOST = 20_000
# What stands behind one of these and is never closed names a comment, and is shown.
_QUOTES = "'\"`"
_STYLE = (
    r"""style\s*=\s*(?:"[^"<>]{0,300}|'[^'<>]{0,300}|[^\s"'<>]{0,100})?"""
    r"""(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0\d*)?(?![.\d]*[1-9])|font-size\s*:\s*(?:0(?![.\d]*[1-9])|0?\.\d|1px|1pt)"""
    r"""|(?:left|top|right|text-indent|margin-left)\s*:\s*-\d{3,}|color\s*:\s*(?:(?:white|\#fff(?:fff)?|transparent)\b|rgba\([^()]{0,40},\s*0?(?:\.0\d*)?\s*\))"""
    r"""|(?:max-)?(?:height|width)\s*:\s*0(?:px)?\s*[;"']|clip\s*:\s*rect\(0|scale\(0)"""
)
_HIDING = (
    "style",
    "color=",
    "hidden",
    "<details",
    "sr-only",
    "d-none",
    "offscreen",
    "off-screen",
    "screen-reader",
    "invisible",
)
_CLASSES = r"sr-only|visually-hidden|screen-reader-text|d-none|offscreen|off-screen|invisible"
_ATTRIBUTE = (
    r"""\s(?:hidden(?=[\s=/]|$)|(?:text)?color\s*=\s*["']?(?:white|\#fff(?:fff)?|transparent)\b|aria-hidden\s*=\s*["']?true"""
    rf"""|class\s*=\s*["'][^"'<>]{{0,80}}?(?<![\w-])(?:{_CLASSES})(?![\w-]))"""
)
# A remark in angle brackets that nothing closes, "<scope / hidden findings>": so many bare words.
_PLACEHOLDER = r"[^=]*\w+[^=\w]+\w+[^=\w]+\w+[^=]*"
_TAG = r"<([a-z][a-z0-9-]{0,20})\b([^<>]{0,600})>"
_REFERENCE = r"""(?m)^\[[^\]\n]{1,40}\]:\s*(?:#|<>)\s*[("']([^\n]{0,2000})"""
_TITLE = r"""\]\([^()\s]{1,300}\s["']([^"\n]{12,600})["']\)"""
_EMPTY_SUMMARY = r"<details\b[^<>]{0,100}>\s*<summary>\s*</summary>"


class Region(NamedTuple):
    """A stretch of the text that is not shown."""

    start: int
    end: int
    id: str
    kind: int


def regions(text: str) -> Iterator[Region]:
    """Hidden stretches of a text."""
    at = text.find("<!--") if "<" in text else -1
    while at >= 0:
        close = text.find("-->", at + 4)
        if close < 0 and at and text[at - 1] in _QUOTES:
            break
        end = close if close >= 0 else min(len(text), at + _MOST)
        yield Region(at + 4, end, "html_comment_injection", COMMENT)
        at = text.find("<!--", end)
    if "]" in text:  # one sign is looked for much more quickly than two
        if "]:" in text and any(mark in text for mark in ("]: #", "]:#", "]: <>")):
            for match in compiled(_REFERENCE).finditer(text):
                yield Region(match.start(1), match.end(1), "markdown_comment_injection", COMMENT)
        if "](" in text:
            for match in compiled(_TITLE).finditer(text):
                yield Region(match.start(1), match.end(1), "link_title_injection", COMMENT)
    if "<" in text:
        lowered = ascii_lower(text)
        if any(word in lowered for word in _HIDING):
            yield from _elements(lowered, text)
    for start, end, name in unshown(text):
        yield Region(start, end, name, UNSHOWN)


def _is_component(attributes: str, name: str) -> bool:
    """Whether a tag is one of a component, `<Icon aria-hidden />`, that has no content to hide."""
    return name[:1].isupper() and attributes.endswith("/")


def _elements(text: str, written: str) -> Iterator[Region]:
    """Elements that hide what they hold, in a text in lower case and as it was written."""
    behind = 0
    for match in compiled(_TAG).finditer(text):
        if match.start() < behind:
            continue
        name, attributes = match[1], match[2]
        if compiled(_PLACEHOLDER).fullmatch(attributes) and f"</{name}" not in text:
            continue
        if _is_component(attributes, written[match.start(1) : match.end(1)]):
            continue
        hides = bool(compiled(_STYLE).search(attributes) or compiled(_ATTRIBUTE).search(attributes))
        if name == "details" and not hides:
            hides = bool(compiled(_EMPTY_SUMMARY).match(text, match.start()))
        if hides:
            close = text.find("</" + name, match.end(), match.end() + _MOST)
            behind = close if close >= 0 else min(len(text), match.end() + 400)
            yield Region(match.end(), behind, "hidden_div", ELEMENT)
