"""What a prompt is made of, and who put a given piece of it there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

from hermes.contracts import ModelProfile
from hermes.errors import UsageError
from hermes.frozen import frozen
from hermes.prompt import Section, Span, SystemPrompt
from hermes.provenance import digest_of
from hermes.providers.tokens import count_tokens

GIT_OPTIONS = ("-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false")
"""A repository that lies hidden in a project must not have its settings obeyed, nor programs run for them."""

_BLAMED_AT_MOST = 20


@frozen
class Part:
    """One source inside a section: its lines that are in the prompt, and their size."""

    origin: str
    path: str
    first_line: int
    last_line: int
    chars: int
    tokens: int
    transforms: tuple[str, ...] = ()


@frozen
class Row:
    """One section of a prompt. `share` is its part of all tokens, from 0 to 1."""

    tier: str
    section: str
    chars: int
    tokens: int
    share: float
    digest: str
    parts: tuple[Part, ...]
    notices: tuple[str, ...]


@frozen
class Explanation:
    """A prompt as a table. `method` says how tokens were counted; the total counts the prompt as a whole."""

    rows: tuple[Row, ...]
    chars: int
    tokens: int
    method: str
    exact: bool
    digest: str


def explain(prompt: SystemPrompt, profile: ModelProfile) -> Explanation:
    """The sections of a prompt with what they cost."""
    total = count_tokens(prompt.text, profile)
    counted = [(section, count_tokens(section.text, profile).tokens) for section in prompt.sections]
    whole = sum(tokens for _, tokens in counted) or 1
    rows = tuple(_row(s, tokens, tokens / whole, profile) for s, tokens in counted if s.text or s.notices)
    return Explanation(rows, len(prompt.text), total.tokens, total.method, total.exact, prompt.digest)


def _row(section: Section, tokens: int, share: float, profile: ModelProfile) -> Row:
    return Row(
        section.tier.value,
        section.slot,
        len(section.text),
        tokens,
        round(share, 4),
        digest_of(section.text),
        tuple(_parts(section, profile)),
        tuple(n.text for n in section.notices),
    )


def _parts(section: Section, profile: ModelProfile) -> Iterator[Part]:
    """The files a section draws on, in order; text of Hermes' own between them is not listed."""
    files: dict[str, list[Span]] = {}
    for span in section.spans:
        if span.origin.path:
            files.setdefault(span.origin.path, []).append(span)
    for path, spans in files.items():
        text = "".join(section.text[s.start : s.end] for s in spans)
        lines = [n for s in spans for n in (s.origin.first_line, s.origin.last_line) if n]
        yield Part(
            spans[0].origin.kind,
            path,
            min(lines, default=0),
            max(lines, default=0),
            len(text),
            count_tokens(text, profile).tokens,
            tuple(dict.fromkeys(t for s in spans for t in s.transforms)),
        )


@frozen
class Culprit:
    """Who put a piece of text into the prompt. `line` is 0 where the source has no lines.

    The commit is named for the first twenty places; a text that stands in more is asked for more closely.
    """

    offset: int
    text: str
    tier: str
    section: str
    origin: str
    path: str
    line: int
    trust: str
    digest: str
    transforms: tuple[str, ...]
    commit: str = ""


def who_put(prompt: SystemPrompt, *, text: str = "", offset: int | None = None) -> tuple[Culprit, ...]:
    """The sources of every place where `text` stands, or of the character at `offset`.

    UsageError when the text is not in the prompt, or the offset lies outside it.
    """
    if offset is not None:
        if not 0 <= offset < len(prompt.text):
            raise UsageError(
                f"offset {offset} is outside the prompt, which has {len(prompt.text)} characters"
            )
        line_end = prompt.text.find("\n", offset)
        excerpt = prompt.text[offset : min(offset + 60, line_end if line_end > offset else offset + 60)]
        return (_culprit(prompt, offset, excerpt),)
    if not text:
        raise UsageError("name a text to look for, at least one character of it")
    places = list(_find(prompt.text, text))
    if not places:
        raise UsageError(
            f"the prompt does not contain {text!r}; hermes prompt where FILE tells what kept a file out"
        )
    return tuple(_culprit(prompt, at, text, blamed=n < _BLAMED_AT_MOST) for n, at in enumerate(places))


def _find(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))


def _culprit(prompt: SystemPrompt, offset: int, text: str, blamed: bool = True) -> Culprit:
    span = prompt.span_at(offset)
    section = next((s for start, s in prompt.places() if start <= offset < start + len(s.text)), None)
    line = prompt.passage.line_at(offset)
    return Culprit(
        offset,
        text,
        section.tier.value if section else "",
        section.slot if section else "between sections",
        span.origin.kind,
        span.origin.path,
        line,
        span.origin.trust,
        span.origin.digest,
        span.transforms,
        blame(span.origin.path, line) if line and blamed else "",
    )


def blame(path: str, line: int) -> str:
    """Commit, author, date and subject of a line, from git; "" outside a repository or without git."""
    lines = ("-L", f"{line},{line}", "--porcelain", "--no-textconv")
    command = ["git", *GIT_OPTIONS, "-C", os.path.dirname(path) or ".", "blame", *lines, "--", path]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    if done.returncode or not done.stdout:
        return ""
    first, *rest = done.stdout.splitlines()
    facts = dict(entry.partition(" ")[::2] for entry in rest if not entry.startswith("\t"))
    commit = first.split(" ", 1)[0]
    if not commit.strip("0"):
        return "not committed yet"
    return f"{commit[:12]} {facts.get('author', '')}: {facts.get('summary', '')}"
