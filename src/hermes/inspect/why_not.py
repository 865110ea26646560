"""What kept a file, or one line of it, out of a prompt."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hermes.errors import FileRefused
from hermes.files import read_file
from hermes.prompt import Span, SystemPrompt
from hermes.provenance import Decision
from hermes.text import decode


def why_not(path: str, line: int, spans: list[Span], decision: Decision | None, prompt: SystemPrompt) -> str:
    """The reason in words; `spans` are those of the file in the prompt, its marks among them."""
    if not os.path.lexists(path):
        return "there is no such file"
    if any(s.origin.first_line for s in spans):
        return next(_of_the_line(path, line, spans, decision, prompt))
    if decision is not None:
        return _because(decision)
    if os.path.isdir(path):
        return "it is a directory"
    kinds = sorted({d.kind for d in prompt.decisions}) or ["none"]
    return (
        "it was not looked at: it is no context file of this working directory "
        f"(looked for: {', '.join(kinds)})"
    )


def _of_the_line(
    path: str, line: int, spans: list[Span], decision: Decision | None, prompt: SystemPrompt
) -> Iterator[str]:
    """The file is in the prompt, this line of it is not: what holds, the nearest first."""
    for span in spans:
        if span.origin.kind == "redaction" and span.origin.first_line <= line <= span.origin.last_line:
            yield f"it was redacted; in its place stands {prompt.text[span.start : span.end]}"
    there = lines_of(path)
    if line > len(there) > 0:
        yield f"the file ends with line {len(there)}"
    kinds, transforms = {s.origin.kind for s in spans}, {t for s in spans for t in s.transforms}
    lines = [n for s in spans if s.origin.first_line for n in (s.origin.first_line, s.origin.last_line)]
    first, last = min(lines), max(lines)
    shown = f"line {first}" if first == last else f"lines {first} to {last}"
    if there and not there[line - 1].strip() and not first < line < last:
        yield f"line {line} is blank; of this file the prompt has {shown}"
    if "skill" in kinds:
        yield f"of a skill the prompt has only name and description ({shown}); skill_view gives the rest"
    if "description" in transforms:
        yield f"the prompt has only its description ({shown}); the model may read it on request"
    if kinds & {"skill category", "config"}:
        yield f"of this file the prompt has only texts in {shown}"
    if line < first and "front matter removed" in transforms:
        yield f"line {line} is front matter, which is not part of the prompt"
    for span in prompt.spans:
        if any(_imported_at(t, path, line) for t in span.transforms):
            yield f"{span.origin.path}, which it imports, stands in its place"
    if first < line < last and "truncated" in transforms:
        detail = f" ({decision.detail})" if decision else ""
        yield f"line {line} was cut out: the file is over its limit{detail}"
    if decision is not None and decision.detail:
        yield f"line {line} is not in the prompt: the file was {decision.verdict}, {decision.detail}"
    yield f"line {line} was left out when the text was prepared"


def _imported_at(transform: str, path: str, line: int) -> bool:
    place, _, number = transform.removeprefix("imported by ").rpartition(":")
    same = os.path.basename(place) == os.path.basename(path)
    return transform.startswith("imported by ") and same and number == str(line)


def lines_of(path: str) -> list[str]:
    """The lines of a file as they are counted here; none when it cannot be read."""
    try:
        return decode(read_file(path).data).text.removesuffix("\n").split("\n")
    except FileRefused:
        return []


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
