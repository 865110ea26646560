"""Text that draws nothing: which of it is spelling, and which of it hides something.

Decided by rule, not by list: an invisible character passes where Unicode gives it a job (joiners in emoji
and in scripts that join, variation selectors after a base, direction marks in right-to-left text) and is a
finding everywhere else. What it hides is decoded and shown.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from hermes.security.expressions import compiled
from hermes.security.findings import Mark
from hermes.security.normalise import beyond_ascii, invisible_among, runs
from hermes.security.tables import is_pictograph

_FLAG = "\U0001f3f4"
_TAGS = "[\U000e0000-\U000e007f]+"
_FLAG_TAGS = "[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
# Two that choose a picture and then its outline, or twice the same, are a slip of a keyboard.
_SELECTORS = (
    "(?![\ufe0e\ufe0f]{2}(?![\ufe00-\ufe0f\U000e0100-\U000e01ef]))[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
)
_JOINER = "\u200d"
# The same run so many times says nothing new.
_ENOUGH = 400
_CONCEAL = r"(?:\x1b\[|\x9b)(?:\d+;)*8m"
# What a terminal takes as a title or a link, and letters written over: what it shows is not what is read.
_UNDRAWN = r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]{1,200}|[^\x08\n]{0,40}\x08+"
_RTL = "[\u05d0-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]"
_OPENERS = {
    "\u202a": "\u202c",
    "\u202b": "\u202c",
    "\u2066": "\u2069",
    "\u2067": "\u2069",
    "\u2068": "\u2069",
}
_CLOSERS = "\u202c\u2069"
_OVERRIDES = "\u202d\u202e"
_CONTROLS = "[\u202a-\u202e\u2066-\u2069]"
_DIRECTION_MARKS = "\u200e\u200f\u061c"
# So many marks of direction at once are no spelling; so far around one stand letters that it is for.
_RUN_OF_MARKS, _NEAR = 4, 200
_DIRECTION = frozenset((*_OPENERS, *_CLOSERS, *_OVERRIDES, *_DIRECTION_MARKS))
_JOINS = "\u200b\u200c\u200d"
# Blocks of scripts in which joiners are spelling (Unicode core specification, 23.2).
_JOINING = (
    "[\u0600-\u06ff\u0700-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1900-\u1aff\u1b00-\u1c4f\ua840-\ua87f"
    "\ua8e0-\ua8ff\ua980-\ua9ff\uaa60-\uaa7f\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefe\U00010a00-\U00011fff]"
)
# Scripts written without spaces, where a zero-width space marks where a line may break.
_SPACELESS = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3040-\u30ff\u4e00-\u9fff]"


def find(text: str) -> Iterator[Mark]:
    """Marks for every invisible run that has no job where it stands."""
    yield from _terminal(text)
    if text.isascii():
        return
    present = invisible_among(beyond_ascii(text))
    if not present:
        return
    paired = _paired(text) if any(letter in _OPENERS for letter in present) else frozenset()
    if paired:
        first = min(paired)
        why = "direction controls that open and close in right-to-left text"
        yield _named(text[first], "low", first, first + 1, _around(text, first, first + 1), why)
    seen: Counter[str] = Counter()
    for start, end in runs(text, present):
        run = text[start:end]
        # A joiner is judged by its neighbours: it is the same run only among the same ones.
        run = text[max(0, start - 4) : end + 1] if run == _JOINER else run
        seen[run] += 1
        if seen[run] <= _ENOUGH:
            yield from _run(text, start, end, paired)


def _terminal(text: str) -> Iterator[Mark]:
    """Marks for what a terminal would obey, and so not show."""
    if "\x1b" in text or "\x9b" in text:
        for match in islice(compiled(_CONCEAL).finditer(text), _ENOUGH):
            yield _mark(
                "hidden_terminal_text", "high", *match.span(), "ESC[8m", "terminal code that hides text"
            )
    if any(letter in text for letter in "\x1b\x08\x90\x98\x9d\x9e\x9f"):
        for match in islice(compiled(_UNDRAWN).finditer(text), _ENOUGH):
            why = "control characters that keep text from being shown"
            yield _mark("hidden_terminal_text", "medium", *match.span(), match[0], why)


def _run(text: str, start: int, end: int, paired: frozenset[int]) -> Iterator[Mark]:
    run = text[start:end]
    if tags := compiled(_TAGS).search(run):
        if not (text[start - 1 : start] == _FLAG and compiled(_FLAG_TAGS).fullmatch(run)):
            reads = "".join(chr(ord(c) - 0xE0000) for c in run if 0xE0020 <= ord(c) < 0xE007F)
            yield _named(
                tags[0][0], "high", start, end, reads, "tag characters spell a text that is not drawn"
            )
        return
    if selectors := compiled(_SELECTORS).search(run):
        yield _named(
            selectors[0][0],
            "high",
            start,
            end,
            _hidden_bytes(run),
            "a run of variation selectors carries data",
        )
        return
    judged: set[tuple[str, bool]] = set()
    for at in range(start, end):
        if (key := (text[at], at in paired)) in judged:
            continue
        judged.add(key)
        severity, why = _judge(text, at, start, end, paired)
        if why:
            yield _named(text[at], severity, at, end, _around(text, start, end), why)
            return


_PASSES = ("low", "")


def _judge(text: str, at: int, start: int, end: int, paired: frozenset[int]) -> tuple[str, str]:
    """Severity and reason for the character at `at` in the run [start, end); no reason: it passes."""
    letter = text[at]
    before, after = text[start - 1 : start], text[end : end + 1]
    if end - start > 2 and before and before == after and before in "\"'":
        return "medium", "a string that lists invisible characters"
    if letter in _DIRECTION_MARKS:
        return _judge_mark(text, start, end)
    if letter in _DIRECTION:
        return _judge_direction(letter, at in paired)
    if letter in _JOINS:
        return _judge_joiner(text, letter, start, end)
    for letters, where, severity, why in _JOBS:
        if compiled(letters).match(letter) and compiled(where).match(f"{before}\0{after}"):
            return severity, why
    return "high", "a character that draws nothing"


def _judge_mark(text: str, start: int, end: int) -> tuple[str, str]:
    if end - start >= _RUN_OF_MARKS:
        return "high", "a run of direction marks carries data"
    if compiled(_RTL).search(text, max(0, start - _NEAR), end + _NEAR):
        return _PASSES
    return "medium", "a direction mark in text without right-to-left letters"


def _judge_direction(letter: str, is_paired: bool) -> tuple[str, str]:
    if letter in _OVERRIDES:
        return "high", "turns the reading direction, so that what is shown is not what is read"
    if is_paired:
        return _PASSES
    return "high", "direction control without partner or outside right-to-left text"


def _judge_joiner(text: str, letter: str, start: int, end: int) -> tuple[str, str]:
    before, after = text[start - 1 : start], text[end : end + 1]
    if letter == "\u200d":
        fits = _joins_emoji(text, start, end) or (before and compiled(_JOINING).match(before))
        return _PASSES if fits else ("high", "a joiner where nothing joins")
    if letter == "\u200c":
        return (
            _PASSES
            if before and compiled(_JOINING).match(before)
            else ("high", "a non-joiner where nothing joins")
        )
    if end - start == 1 and not before.strip() and not after.strip():
        return "medium", "a zero-width space among spaces"
    # It breaks lines in scripts without spaces, and keeps an inner fence from closing the outer one.
    fits = before and after and compiled(_SPACELESS).match(before) and compiled(_SPACELESS).match(after)
    return (
        _PASSES
        if fits or text.startswith("```", end)
        else ("high", "a zero-width space splits or hides text")
    )


_SELECTORS_AND_HYPHEN = "[\xad\ufe00-\ufe0f\U000e0100-\U000e01ef]"
# Characters, where they stand (letter before, NUL, letter behind), what they are there; first row wins.
_JOBS: tuple[tuple[str, str, str, str], ...] = (
    ("\ufeff", r"\0", *_PASSES),
    ("\ufeff", r"[\r\n]\0", "medium", "a byte order mark inside the text"),
    (_SELECTORS_AND_HYPHEN, r"[a-zA-Z\s]\0", "medium", "an invisible mark after a plain letter"),
    (_SELECTORS_AND_HYPHEN, "", *_PASSES),
    ("[\u180b-\u180f]", "[\u1800-\u18af]\0", *_PASSES),
    ("\u2800", "[\u2801-\u28ff]\0|.?\0[\u2801-\u28ff]", *_PASSES),
    ("\u2800", "", "medium", "a blank Braille cell stands for space"),
    ("\u034f", "", "medium", "a grapheme joiner"),
    ("\u2060", r"\W?\0", "medium", "a word joiner at the edge of a word"),
)


def _joins_emoji(text: str, start: int, end: int) -> bool:
    if end - start > 2:  # at most one variation selector beside the joiner
        return False
    at = start - 1
    while at >= 0 and ("\U0001f3fb" <= text[at] <= "\U0001f3ff" or text[at] == "\u20e3"):
        at -= 1
    return at >= 0 and end < len(text) and is_pictograph(text[at]) and is_pictograph(text[end])


def _paired(text: str) -> frozenset[int]:
    """Offsets of direction controls that open and close in one paragraph that holds right-to-left letters."""
    good: set[int] = set()
    at = 0
    for line in text.splitlines(keepends=True):
        stack: list[tuple[str, int]] = []
        pairs: list[int] = []
        sound = True
        for match in compiled(_CONTROLS).finditer(line):
            letter, offset = match[0], at + match.start()
            if letter in _OPENERS:
                stack.append((_OPENERS[letter], offset))
            elif stack and stack[-1][0] == letter:
                pairs += (stack.pop()[1], offset)
            else:
                sound = False
        if sound and not stack and pairs and compiled(_RTL).search(line):
            good.update(pairs)
        at += len(line)
    return frozenset(good)


def _hidden_bytes(run: str) -> str:
    codes = [ord(c) - 0xFE00 if ord(c) < 0xFF00 else ord(c) - 0xE0100 + 16 for c in run if ord(c) >= 0xFE00]
    return bytes(code for code in codes if 0 <= code < 256).decode("utf-8", "replace")


def _around(text: str, start: int, end: int) -> str:
    shown = "".join(f"[U+{ord(letter):04X}]" for letter in text[start : min(end, start + 6)])
    return text[max(0, start - 24) : start] + shown + text[end : end + 24]


def _named(letter: str, severity: str, start: int, end: int, reads: str, why: str) -> Mark:
    name = unicodedata.name(letter, "").lower()
    return _mark(
        f"invisible_unicode_U+{ord(letter):04X}",
        severity,
        start,
        end,
        reads,
        f"{why} ({name})" if name else why,
    )


def _mark(id_: str, severity: str, start: int, end: int, reads: str, why: str) -> Mark:
    return Mark(id_, "invisible", severity, start, end, reads, why)
