"""The reverse question: did this file, or this line of it, reach the model, and if not, why?"""

from __future__ import annotations

import os

from hermes.frozen import frozen
from hermes.prompt import Span, SystemPrompt
from hermes.provenance import Decision


@frozen
class Place:
    """Where a run of the file stands in the prompt; offsets in characters, lines from 1."""

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
    quoted = [s for s in spans if s.origin.first_line]
    decision = next((d for d in reversed(prompt.decisions) if _same(d.path, path, real)), None)
    wanted = [s for s in quoted if not line or s.origin.first_line <= line <= s.origin.last_line]
    if wanted:
        places = tuple(_place(prompt, span, line) for span in wanted)
        reason = "it was loaded" if decision is None else f"it was {decision}"
        return Whereabouts(path, line, True, reason, places, decision)
    return Whereabouts(path, line, False, _why_not(path, line, quoted, decision, prompt), (), decision)


def _same(known: str, path: str, real: str) -> bool:
    return known in (path, real) or (
        os.path.basename(known) == os.path.basename(real) and os.path.realpath(known) == real
    )


def _place(prompt: SystemPrompt, span: Span, line: int) -> Place:
    first, last = span.origin.first_line, span.origin.last_line
    start, end = span.start, span.end
    if line:
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


def _why_not(
    path: str, line: int, quoted: list[Span], decision: Decision | None, prompt: SystemPrompt
) -> str:
    if not os.path.lexists(path):
        return "there is no such file"
    if quoted:
        return _why_not_the_line(line, quoted, decision)
    if decision is not None:
        return _because(decision)
    if os.path.isdir(path):
        return "it is a directory"
    kinds = sorted({d.kind for d in prompt.decisions}) or ["none"]
    return (
        "it was not looked at: it is no context file of this working directory "
        f"(looked for: {', '.join(kinds)})"
    )


def _why_not_the_line(line: int, quoted: list[Span], decision: Decision | None) -> str:
    """The file is in the prompt, this line of it is not."""
    first = min(s.origin.first_line for s in quoted)
    last = max(s.origin.last_line for s in quoted)
    transforms = {t for s in quoted for t in s.transforms}
    if line < first and "front matter removed" in transforms:
        return f"line {line} is front matter, which is not part of the prompt"
    if first < line < last and "truncated" in transforms:
        detail = f" ({decision.detail})" if decision else ""
        return f"line {line} was cut out: the file is over its limit{detail}"
    if first < line < last:
        return f"line {line} was left out when the text was prepared"
    return f"line {line} is blank or beyond the text; lines {first} to {last} are in the prompt"


def _because(decision: Decision) -> str:
    reasons = {
        "shadowed": f"it is shadowed {decision.detail}",
        "duplicate": f"it is a duplicate {decision.detail}",
        "empty": "it is empty",
        "glob waits": f"its rule waits until a file matching {decision.detail} is touched",
        "described": "only its description is in the prompt; the model may read it on request",
        "manual": "it is a manual rule, which loads only when named",
        "off": f"it is switched off: {decision.detail}" if decision.detail else "it is switched off",
    }
    plain = f"it is {decision.verdict}" + (f": {decision.detail}" if decision.detail else "")
    return reasons.get(decision.verdict, plain)
