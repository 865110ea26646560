"""The one way from outside into a prompt: scanned whole, cut to size, scanned as it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hermes.provenance import Notice, Origin, Passage, Span, digest_of
from hermes.security.policy import Policy
from hermes.security.scan import Finding, scan
from hermes.text import Cut, cut, well_formed

Outcome = Literal["loaded", "cut", "blocked", "empty"]


@dataclass(frozen=True, slots=True)
class Admitted:
    """What the gate let through. A blocked text's passage is the block line."""

    passage: Passage
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    cut: Cut | None = None

    @property
    def detail(self) -> str:
        """The reason in a few words, for a decision."""
        if self.outcome == "blocked":
            return ", ".join(_ids(self.findings))
        if self.cut:
            return f"kept {self.cut.head}+{self.cut.tail} of {self.cut.total} chars"
        return ""


_found: dict[str, tuple[Finding, ...]] = {}
_FOUND_LIMIT = 8192


def findings_in(text: str) -> tuple[Finding, ...]:
    """Scan a text; the same text is scanned once in a process."""
    key = digest_of(text)
    if (known := _found.get(key)) is not None:
        return known
    if len(_found) >= _FOUND_LIMIT:
        _found.clear()
    return _found.setdefault(key, scan(text))


def admit(
    passage: Passage, *, name: str, policy: Policy, limit: int | None = None, shown: str = ""
) -> Admitted:
    """Let a text from outside into a prompt, or say why not.

    `name` stands in the block line and in notices; `shown` (default: `name`) in the cut marker, as a path
    that the reading tool accepts; `limit` in characters. Never raises on any text.
    """
    passage = _well_formed(passage).trimmed()
    if not passage:
        return Admitted(passage, "empty")
    findings = _judged(findings_in(passage), passage, policy)
    if blocking := _blocking(findings, policy):
        return _block(passage, name, blocking)
    sent, report = cut(passage, limit, shown or name) if limit is not None else (passage, None)
    if report:  # what the cut brings together is read as the model will read it
        of_sent = _judged(findings_in(sent), passage, policy)
        if blocking := _blocking(of_sent, policy):
            return _block(sent, name, blocking)
    notices = [_warning(name, passage, f) for f in findings if f.severity != "low"]
    if report:
        notices.append(_cut_notice(name, report, _origin(passage)))
    return Admitted(sent.with_notes(notices), "cut" if report else "loaded", findings, report)


def _well_formed(passage: Passage) -> Passage:
    text = well_formed(passage)
    if text is passage or text == passage:
        return passage
    return Passage(text, passage.spans, passage.notices, passage.decisions).marked("surrogates replaced")


def _judged(findings: tuple[Finding, ...], passage: Passage, policy: Policy) -> tuple[Finding, ...]:
    if findings and digest_of(passage) in policy.accepted:
        return ()
    return findings


def _blocking(findings: tuple[Finding, ...], policy: Policy) -> tuple[Finding, ...]:
    return tuple(
        f
        for f in findings
        if (f.severity == "high" and policy.high == "block")
        or (f.severity == "medium" and policy.medium == "block")
    )


def _block(passage: Passage, name: str, findings: tuple[Finding, ...]) -> Admitted:
    ids = ", ".join(_ids(findings))
    line = f"[BLOCKED: {name} contained potential prompt injection ({ids}). Content not loaded.]"
    first = findings[0]
    at = min(first.start, len(passage) - 1)
    origin = passage.span_at(at).origin
    text = (
        f"{name} was blocked: line {passage.line_at(at)} looks like {first.id} ({first.why}); "
        f"it reads: {first.reads!r}. Read it, then accept this content with: "
        f"hermes trust {origin.path or name}"
    )
    blocked = Passage(
        line, (Span(0, len(line), Origin("block line", origin.path, origin.digest)),), passage.notices
    )
    return Admitted(blocked.with_notes([Notice("error", text, origin)]), "blocked", findings)


def _warning(name: str, passage: Passage, finding: Finding) -> Notice:
    line = passage.line_at(min(finding.start, len(passage) - 1))
    text = f"{name}, line {line}: {finding.why} ({finding.id}); it was loaded. It reads: {finding.reads!r}"
    return Notice("warning", text, _origin(passage))


def _cut_notice(name: str, report: Cut, origin: Origin) -> Notice:
    lost = f"; sections left out: {', '.join(report.lost)}" if report.lost else ""
    text = (
        f"{name} was cut: kept {report.head}+{report.tail} of {report.total} characters, "
        f"lines {report.first_lost_line} to {report.last_lost_line} are not in the prompt{lost}. "
        "Raise context_file_max_chars or shorten the file"
    )
    return Notice("warning", text, origin)


def _origin(passage: Passage) -> Origin:
    return passage.spans[0].origin


def _ids(findings: tuple[Finding, ...]) -> list[str]:
    return list(dict.fromkeys(f.id for f in findings))
