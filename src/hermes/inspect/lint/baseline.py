"""A baseline: the findings that were there when lint was taken up, so that only new ones count."""

from __future__ import annotations

import json
from collections.abc import Iterable

from hermes.errors import UsageError
from hermes.frozen import frozen
from hermes.inspect.lint.finding import Finding

_FORMAT = 1


@frozen
class Known:
    """One finding of a baseline, with enough to say what it was."""

    fingerprint: str
    rule: str
    file: str
    message: str


@frozen
class Judged:
    """Findings against a baseline: the new ones, how many are known, and entries that nothing answers to."""

    new: tuple[Finding, ...]
    known: int = 0
    stale: tuple[Known, ...] = ()


def to_text(findings: Iterable[Finding]) -> str:
    """A baseline of findings; equal findings give equal bytes, whatever their lines."""
    entries = {f.fingerprint: {"file": f.place.file, "message": f.message, "rule": f.rule} for f in findings}
    return (
        json.dumps({"findings": entries, "format": _FORMAT}, ensure_ascii=False, indent=1, sort_keys=True)
        + "\n"
    )


def from_text(text: str, name: str) -> tuple[Known, ...]:
    """Read a baseline; UsageError when it is not one."""
    try:
        body = json.loads(text)
        if body["format"] != _FORMAT:
            raise UsageError(f"{name} has format {body['format']}; this Hermes reads format {_FORMAT}")
        return tuple(
            Known(print_, str(e["rule"]), str(e["file"]), str(e["message"]))
            for print_, e in sorted(body["findings"].items())
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{name} is no baseline; write one with --write-baseline {name}") from None


def judge(findings: tuple[Finding, ...], known: Iterable[Known], rules: frozenset[str]) -> Judged:
    """Take out what is known. Only entries of the rules that ran can be stale."""
    by_print = {entry.fingerprint: entry for entry in known}
    new = tuple(f for f in findings if f.fingerprint not in by_print)
    found = {f.fingerprint for f in findings}
    stale = tuple(e for e in by_print.values() if e.fingerprint not in found and e.rule in rules)
    return Judged(new, len(findings) - len(new), stale)
