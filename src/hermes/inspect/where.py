"""The reverse question: did this file, or this line of it, reach the model, and if not, why?"""

from __future__ import annotations

import os

from hermes.frozen import frozen
from hermes.inspect.why_not import lines_of, why_not
from hermes.prompt import Span, SystemPrompt
from hermes.provenance import Decision, line_by_line

_MARKS = frozenset({"redaction", "block line"})
"""What stands in the prompt in place of a text."""


@frozen
class Place:
    """Where a run of the file stands in the prompt; offsets in characters, lines from 1.

    Lines are 0 where what stands there is no quotation, such as the branch that a `.git/HEAD` names.
    """

    offset: int
    prompt_line: int
    tier: str
    section: str
    first_line: int
    last_line: int
    text: str


@frozen
class Whereabouts:
    """The answer. `reason` says in words why a line is in the prompt or not."""

    path: str
    line: int
    reached: bool
    reason: str
    places: tuple[Place, ...] = ()
    decision: Decision | None = None


def where(prompt: SystemPrompt, path: str, line: int = 0) -> Whereabouts:
    """Follow a file (an absolute path), or one line of it (from 1), into a prompt."""
    real = os.path.realpath(path)
    spans = [s for s in prompt.spans if s.origin.path and _same(s.origin.path, path, real)]
    decision = next((d for d in reversed(prompt.decisions) if _same(d.path, path, real)), None)
    there = [s for s in spans if s.origin.kind not in _MARKS]
    wanted = [s for s in there if not line or s.origin.first_line <= line <= s.origin.last_line]
    places = tuple(_place(prompt, span, line) for span in wanted)
    if places and not _only_its_end(places, path, line):
        reason = f"it was {decision}" if decision is not None else "it was loaded"
        if not any(s.origin.first_line for s in wanted):
            reason = "a fact of it stands there"
        return Whereabouts(path, line, True, reason, places, decision)
    return Whereabouts(path, line, False, why_not(path, line, spans, decision, prompt), (), decision)


def _only_its_end(places: tuple[Place, ...], path: str, line: int) -> bool:
    """Whether nothing of a line is there but the break that ends it, its text replaced by another."""
    if not line or any(place.text for place in places):
        return False
    there = lines_of(path)
    return line <= len(there) and bool(there[line - 1].strip())


def _same(known: str, path: str, real: str) -> bool:
    return known in (path, real) or (
        os.path.basename(known) == os.path.basename(real) and os.path.realpath(known) == real
    )


def _place(prompt: SystemPrompt, span: Span, line: int) -> Place:
    first, last = span.origin.first_line, span.origin.last_line
    start, end = span.start, span.end
    if line and line_by_line(prompt.text, span):
        for _ in range(line - first):
            start = prompt.text.index("\n", start, end) + 1
        line_end = prompt.text.find("\n", start, end)
        end = line_end if line_end >= 0 else end
        first = last = line
    section = next((s for at, s in prompt.places() if at <= start < at + len(s.text)), None)
    return Place(
        start,
        prompt.text.count("\n", 0, start) + 1,
        section.tier.value if section else "",
        section.slot if section else "",
        first,
        last,
        prompt.text[start:end] if line else prompt.text[start : min(end, start + 80)].partition("\n")[0],
    )
