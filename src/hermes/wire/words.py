"""Verdicts in words: for the terminal, for chat, the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from hermes.wire.diagnostics import read_told
from hermes.wire.review import Entry
from hermes.wire.verdict import Verdict


def explained(entry: Entry) -> list[str]:
    """One call in full."""
    verdict, wire = entry.verdict, entry.wire
    lines = [f"call {wire.n}: {verdict.cause} - {verdict.because}"]
    share = f", {100 * verdict.read // verdict.input} %" if verdict.input else ""
    predicted = f"{verdict.expected:,} were expected"
    if entry.expected.expected == "abstained":
        predicted = "nothing was predicted"
    told = f"{verdict.input:,} in, {verdict.read:,} from the cache{share}, {verdict.written:,} written"
    lines.append(f"  tokens: {told}; {predicted}")
    if found := verdict.difference:
        if found.where not in ("model", "settings"):
            lines.append(f"  first difference: byte {found.offset:,}, {found.where}, {found.name}")
        if found.before or found.after:
            lines += [f"  was: {found.before!r}", f"  now: {found.after!r}"]
        if found.source:
            lines.append(f"  source: {found.source}")
    if verdict.action:
        lines.append(f"  what was done: {verdict.action}")
    if verdict.missed:
        lines.append(f"  paid again: {verdict.missed:,} tokens{_money(verdict)}")
    if verdict.advice:
        lines.append(f"  what to do: {verdict.advice}")
    if said := read_told(verdict.told):
        lines.append(f"  the provider says: {said}")
    return lines


def _money(verdict: Verdict) -> str:
    return f", ${verdict.cost:.4f} more than from the cache" if verdict.cost is not None else ""


def worth_telling(entries: Sequence[Entry]) -> Entry | None:
    """The last call that missed; the last of all when none did."""
    return next((e for e in reversed(entries) if not e.verdict.is_calm), entries[-1] if entries else None)
