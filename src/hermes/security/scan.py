"""The scanner: reads a text as a model would and reports what tries to command it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Severity = Literal["high", "medium", "low"]

_VERSION = "0"
_INVISIBLE = re.compile("[\u00ad\u180e\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_RULES: tuple[tuple[str, str, str, str], ...] = (
    (
        "prompt_injection",
        "override",
        r"\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}"
        r"(?:previous|prior|above|earlier|all|your)\s+(?:\w+\s+){0,2}(?:instructions?|rules|guidelines|prompts?)\b",
        "asks the reader to drop the instructions it was given",
    ),
    (
        "deception_hide",
        "deception",
        r"\b(?:do\s+not|don'?t|never)\s+(?:tell|inform|mention|reveal)\b.{0,20}\buser\b",
        "asks the reader to keep something from the user",
    ),
    (
        "sys_prompt_override",
        "system_prompt",
        r"\bsystem\s+prompt\s+override\b|\boverride\s+(?:\w+\s+){0,2}system\s+prompt\b",
        "claims to replace the system prompt",
    ),
    (
        "html_comment_injection",
        "hidden_html",
        r"<!--.{0,400}?\b(?:ignore|override|secret|hidden|do\s+not|you\s+must)\b.{0,400}?-->",
        "an HTML comment carries an order",
    ),
    (
        "hidden_div",
        "hidden_html",
        r"<\w+\b[^<>]{0,200}style\s*=\s*[\"'][^\"'<>]{0,200}display\s*:\s*none",
        "an element that is not shown carries text",
    ),
    (
        "exfil_curl",
        "exfiltration",
        r"\bcurl\b[^\n]{0,200}\$\{?\w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD)",
        "a request carries a secret out",
    ),
    (
        "read_secrets",
        "secrets",
        r"\bcat\s+[^\s|;]{0,80}(?:\.env|credentials|\.netrc|\.pgpass|id_rsa)\b",
        "reads a file that holds secrets",
    ),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One passage that tries to command the reader. Offsets are characters of the scanned text."""

    id: str
    family: str
    severity: Severity
    start: int
    end: int
    line: int
    column: int
    reads: str
    why: str


def scan(text: str) -> tuple[Finding, ...]:
    """All findings, sorted by (start, end, id)."""
    found = []
    for id_, family, pattern, why in _RULES:
        for match in re.finditer(pattern, text, re.IGNORECASE | re.DOTALL):
            found.append(_finding(text, id_, family, match.start(), match.end(), why))
    for match in _INVISIBLE.finditer(text):
        id_ = f"invisible_unicode_U+{ord(match[0]):04X}"
        found.append(_finding(text, id_, "invisible", match.start(), match.end(), "renders as nothing"))
    return tuple(sorted(found, key=lambda f: (f.start, f.end, f.id)))


def _finding(text: str, id_: str, family: str, start: int, end: int, why: str) -> Finding:
    line_start = text.rfind("\n", 0, start) + 1
    line = text.count("\n", 0, start) + 1
    return Finding(id_, family, "high", start, end, line, start - line_start + 1, text[start:end][:120], why)


def scanner_version() -> str:
    """Changes whenever the same text could give other findings; part of every cache key."""
    return _VERSION
