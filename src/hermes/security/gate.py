"""The one way from outside into a prompt: scanned whole, cut to size, scanned as it is sent."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple

from hermes.bulkhead import behind_bulkhead
from hermes.frozen import frozen
from hermes.provenance import Notice, Origin, Passage, Span, digest_of
from hermes.security.found import FOUND
from hermes.security.policy import Policy
from hermes.security.redaction import Lines, line_ranges, redacted, says_anything
from hermes.security.scan import Finding
from hermes.text import Cut, cut, well_formed

__all__ = ["Admitted", "Finding", "Weighed", "admit", "findings_in", "objection", "safe_name", "weigh"]

Outcome = Literal["loaded", "cut", "blocked", "empty"]

NAMELESS = "a file whose name was withheld"
ACCEPTED = "accepted by the owner"
_OWN_MARKS = frozenset({"glue", "cut marker", "redaction", "block line"})
# Each round takes lines out and looks again. What needs more is no text with a few bad lines.
_ROUNDS = 3
_REDACTED_AT_MOST = 40
_LINES_NAMED = 4
_HEADINGS_NAMED = 20


@frozen
class Admitted:
    """What the gate let through. A blocked text's passage is the block line; `redacted` counts lines."""

    passage: Passage
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    cut: Cut | None = None
    redacted: int = 0

    @property
    def detail(self) -> str:
        """The reason in a few words, for a decision."""
        if self.outcome == "blocked":
            return ", ".join(_ids(self.findings))
        plural = "s" if self.redacted > 1 else ""
        parts = [f"{self.redacted} line{plural} redacted"] if self.redacted else []
        if self.cut:
            parts.append(f"kept {self.cut.head}+{self.cut.tail} of {self.cut.total} chars")
        return ", ".join(parts)


def findings_in(text: str) -> tuple[Finding, ...]:
    """Scan a text; the same text is scanned once in a process, and once across starts."""
    return FOUND.of(text)


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
    given, name, shown = name, safe_name(name), safe_name(shown or name)
    if name != given:
        passage = passage.with_notes([_withheld(given, _origin(passage))])
    whole = _cleared(passage, name, policy)
    if whole.blocking:
        return _block(whole.passage, name, whole.blocking)
    sent, report = cut(whole.passage, limit, shown) if limit is not None else (whole.passage, None)
    last = _cleared(sent, name, policy) if report else whole  # what a cut brings together is read as sent
    if last.blocking:
        return _block(last.passage, name, last.blocking)
    objects, failed = objection(last.passage, last.findings, policy)
    if objects:
        return _block(last.passage, name, (objects,))
    notices = [*failed, *whole.notices, *(last.notices if report else ()), *_warnings(name, whole)]
    if report:
        notices.append(_cut_notice(name, report, _origin(passage)))
    lines = whole.lines + (last.lines if report else 0)
    done = last.passage.with_notes(notices) if notices else last.passage
    return Admitted(done, "cut" if report else "loaded", whole.findings, report, lines)


@lru_cache(maxsize=4096)
def safe_name(name: str) -> str:
    """A name as it may stand in a heading or a marker: a name comes from outside too."""
    if name.isprintable() and not any(f.severity != "low" for f in findings_in(name)):
        return name
    return NAMELESS


def _withheld(name: str, origin: Origin) -> Notice:
    text = f"a name was withheld from the prompt, since it reads like an order or hides something: {name!a}"
    return Notice("warning", text, origin)


class _Cleared(NamedTuple):
    """A passage without what must not be in it; `blocking` says why none of it may come in."""

    passage: Passage
    findings: tuple[Finding, ...] = ()
    blocking: tuple[Finding, ...] = ()
    lines: int = 0
    notices: tuple[Notice, ...] = ()


class Weighed(NamedTuple):
    """Findings by what is done about them; low ones stand nowhere."""

    block: list[Finding]
    redact: list[Finding]
    warn: list[Finding]
    accepted: list[Finding]


def _cleared(passage: Passage, name: str, policy: Policy) -> _Cleared:
    """Take the lines out that the policy wants out, and look again, until nothing is left to take out."""
    notices: list[Notice] = []
    lines = places = 0
    for _ in range(_ROUNDS):
        findings = findings_in(passage)
        if not findings:
            return _Cleared(passage, (), (), lines, tuple(notices))
        weighed = weigh(passage, findings, policy)
        if weighed.block:
            return _Cleared(passage, findings, tuple(weighed.block))
        if not weighed.redact:
            if weighed.accepted:
                if hidden := _behind_accepted(passage, policy):
                    return _Cleared(passage, findings, hidden)
                passage = _marked(passage, policy)
            return _Cleared(passage, tuple(weighed.warn), (), lines, tuple(notices))
        places += len(weighed.redact)
        if places > _REDACTED_AT_MOST:
            break
        ranges = line_ranges(passage, weighed.redact)
        shortened = redacted(passage, ranges, name)
        if not says_anything(shortened):
            break
        notices += _redactions(passage, ranges, name)
        lines += sum(passage.count("\n", r.start, r.end) + 1 for r in ranges)
        passage = shortened
    return _Cleared(passage, tuple(weighed.redact), tuple(weighed.redact))


def weigh(passage: Passage, findings: Iterable[Finding], policy: Policy) -> Weighed:
    """What a policy does about findings in a passage."""
    weighed = Weighed([], [], [], [])
    whole = bool(policy.accepted) and digest_of(passage) in policy.accepted
    for finding in findings:
        if whole or _is_accepted(passage, finding, policy.accepted):
            weighed.accepted.append(finding)
        elif finding.severity != "low":
            getattr(weighed, policy.mode(finding)).append(finding)
    return weighed


def _is_accepted(passage: Passage, finding: Finding, accepted: frozenset[str]) -> bool:
    """Whether every source that has a part in a finding was accepted; our own marks have no say."""
    spans = passage.spans
    for at in range(max(0, bisect_right(spans, finding.start, key=_start) - 1), len(spans)):
        span = spans[at]
        if span.start >= max(finding.end, finding.start + 1):
            break
        if not (
            span.origin.kind in _OWN_MARKS
            or (span.origin.digest and span.origin.digest in accepted)
            or ACCEPTED in span.transforms
        ):
            return False
    return True


def _behind_accepted(passage: Passage, policy: Policy) -> tuple[Finding, ...]:
    """What keeps the rest of a passage out: a scan names only so many of a kind, which accepted ones may be.

    The findings are placed at the start of the rest.
    """
    if digest_of(passage) in policy.accepted:
        return ()
    kept = [
        s for s in passage.spans if s.origin.digest not in policy.accepted and ACCEPTED not in s.transforms
    ]
    rest = Passage.joined("\n", [passage.part(s.start, s.end) for s in kept])
    weighed = weigh(rest, findings_in(rest), policy) if rest else Weighed([], [], [], [])
    at = kept[0].start if kept else 0
    return tuple(replace(f, start=at, end=at + 1) for f in (*weighed.block, *weighed.redact))


def _marked(passage: Passage, policy: Policy) -> Passage:
    """The passage, its spans saying that they were accepted: what is joined from them stays so."""
    whole = digest_of(passage) in policy.accepted
    spans = tuple(
        Span(s.start, s.end, s.origin, (*s.transforms, ACCEPTED))
        if (whole or s.origin.digest in policy.accepted) and ACCEPTED not in s.transforms
        else s
        for s in passage.spans
    )
    return Passage(passage, spans, passage.notices, passage.decisions)


def _redactions(passage: Passage, ranges: list[Lines], name: str) -> list[Notice]:
    findings = [lines.findings[0] for lines in ranges]
    return _told(name, passage, findings, "; the line was redacted", "warning")


def _warnings(name: str, cleared: _Cleared) -> list[Notice]:
    return _told(name, cleared.passage, cleared.findings, "; it was loaded", "warning")


def _told(
    name: str, passage: Passage, findings: Iterable[Finding], what: str, level: Literal["warning", "error"]
) -> list[Notice]:
    """One notice for each kind of finding, with its first lines."""
    by_id: dict[str, list[Finding]] = {}
    for finding in findings:
        by_id.setdefault(finding.id, []).append(finding)
    notices = []
    for id_, found in by_id.items():
        first = found[0]
        numbers = dict.fromkeys(_line(passage, f) for f in found[:_LINES_NAMED])
        more = f" and {len(found) - _LINES_NAMED} more" if len(found) > _LINES_NAMED else ""
        place = f"{'line' if len(numbers) == 1 else 'lines'} {', '.join(map(str, numbers))}{more}"
        origin = _origin_at(passage, first)
        place = f"{name}, {place}{_imported(origin)}" if any(numbers) else name
        text = f"{place}: {first.why} ({id_}){what}. It reads: {first.reads!r}"
        notices.append(Notice(level, text, origin))
    return notices


def _block(passage: Passage, name: str, findings: tuple[Finding, ...]) -> Admitted:
    ids = ", ".join(_ids(findings))
    line = f"[BLOCKED: {name} contained potential prompt injection ({ids}). Content not loaded.]"
    first = findings[0]
    origin = _origin_at(passage, first)
    number = _line(passage, first)
    place = f"line {number}{_imported(origin)}" if number else "it"
    text = (
        f"{name} was blocked: {place} looks like {first.id} ({first.why}); it reads: {first.reads!r}. "
        f"{_advice(origin)}"
    )
    source = Origin("block line", origin.path, origin.digest)
    blocked = Passage(line, (Span(0, len(line), source),), passage.notices)
    return Admitted(blocked.with_notes([Notice("error", text, origin)]), "blocked", findings)


def _imported(origin: Origin) -> str:
    """Whose line it is, where that is not the file that is named."""
    return f" of {safe_name(origin.path)}, which it imports," if origin.kind == "import" else ""


def _advice(origin: Origin) -> str:
    """What the owner can do; a text that is no file has no bytes to accept."""
    if origin.path and origin.digest and origin.kind not in ("config", "personality"):
        return f"Read it, then accept this content with: hermes trust {quoted(origin.path)}"
    return f"Change it, or set security.scan.{origin.trust} to high: warn in config.yaml"


def quoted(path: str) -> str:
    """A path as a shell takes it."""
    import shlex

    return shlex.quote(path)


def objection(
    passage: Passage, findings: tuple[Finding, ...], policy: Policy
) -> tuple[Finding | None, tuple[Notice, ...]]:
    """What the second opinion, where there is one, has against a text with these warnings; its failure."""
    judge = policy.second_opinion
    if judge is None or not findings:
        return None, ()
    why, failed = behind_bulkhead("the second opinion", lambda: judge(passage, findings), "")
    reads = " ".join(passage[:120].split())
    return (
        Finding("second_opinion", "opinion", "high", 0, len(passage), 1, 1, reads, why) if why else None
    ), failed


def _well_formed(passage: Passage) -> Passage:
    text = well_formed(passage)
    if text is passage or text == passage:
        return passage
    return Passage(text, passage.spans, passage.notices, passage.decisions).marked("surrogates replaced")


def _cut_notice(name: str, report: Cut, origin: Origin) -> Notice:
    named = ", ".join(report.lost[:_HEADINGS_NAMED])
    more = f" and {len(report.lost) - _HEADINGS_NAMED} more" if len(report.lost) > _HEADINGS_NAMED else ""
    lost = f"; sections left out: {named}{more}" if report.lost else ""
    text = (
        f"{name} was cut: kept {report.head}+{report.tail} of {report.total} characters, "
        f"lines {report.first_lost_line} to {report.last_lost_line} are not in the prompt{lost}. "
        "Raise context_file_max_chars or shorten the file"
    )
    return Notice("warning", text, origin)


def _line(passage: Passage, finding: Finding) -> int:
    return passage.line_at(min(finding.start, len(passage) - 1))


def _origin_at(passage: Passage, finding: Finding) -> Origin:
    """Where a finding begins, or the first source after it when a mark of our own stands there."""
    at = bisect_right(passage.spans, min(finding.start, len(passage) - 1), key=_start) - 1
    spans = passage.spans[max(at, 0) :]
    return next((s.origin for s in spans if s.origin.kind not in _OWN_MARKS), spans[0].origin)


def _origin(passage: Passage) -> Origin:
    return passage.spans[0].origin


def _start(span: Span) -> int:
    return span.start


def _ids(findings: Iterable[Finding]) -> list[str]:
    return list(dict.fromkeys(f.id for f in findings))
