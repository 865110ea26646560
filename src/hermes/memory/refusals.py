"""What is no memory: secrets, stack traces, documents, phrases that stand for the rest."""

from __future__ import annotations

import re

from hermes.provenance import Origin, Passage
from hermes.security.gate import admit
from hermes.security.policy import Policy
from hermes.security.secrets import secrets_in

MOST_LINES = 20
MOST_CHARS = 2_000
_READ = 10_000
_SHORTENED_FROM, _SHORTENED_TO = 200, 4  # an entry of so many characters may not shrink to a fourth

_TRACE = re.compile(
    r"Traceback \(most recent call last\)"
    r"|^\s*File \"[^\"\n]{1,300}\", line \d+, in "
    r"|^\s*at [\w.$<>/ ]{1,200}\([^)\n]{0,300}:\d+(?::\d+)?\)"
    r"|^goroutine \d+ \[|^thread '[^'\n]{0,80}' panicked at|^\s*#\d+\s+0x[0-9a-f]+ in ",
    re.M,
)
_SAID = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code)|api[ _-]?key|secret(?:[ _-]key)?|(?:access|auth|bearer)[ _-]?token"
    r"|pin)\b[ \t]*(?:is|=|:|->)[ \t]*[\"'`]?(?P<value>[^\s\"'`]{4,200})",
    re.I,
)
_REST = re.compile(
    r"(?:\.{3}|…|\brest\b|\bremaind(?:er|ing)\b|\bother (?:entries|content|lines)\b|\beverything else\b)"
    r"[^\n]{0,40}?\b(?:unchanged|as before|(?:stay|remain)s? the same|the same as (?:before|above)"
    r"|omitted|truncated)\b",
    re.I,
)


def most_chars(limit: int) -> int:
    """The longest entry of a memory: half of it, and never a document."""
    return min(MOST_CHARS, max(limit // 2, 1))


def why_not(text: str, limit: int) -> str:
    """Why a text cannot be an entry, with what to do instead; "" when it can."""
    if not text:
        return "it is empty"
    most, lines = most_chars(limit), text.count("\n") + 1
    checks: tuple[tuple[object, str], ...] = (
        ("\0" in text, "it has a NUL character; write it as text"),
        (
            len(text) > most,
            f"it has {len(text):,} characters; an entry is one fact of at most {most:,}. "
            "Say the fact itself, or keep the text in a file and remember its path",
        ),
        (
            _TRACE.search(text[:_READ]),
            "it looks like a stack trace; remember what was learnt from it in one sentence",
        ),
        (lines > MOST_LINES, f"it has {lines} lines; keep it in a file and remember its path"),
        (
            _REST.search(text[:_READ]),
            "it speaks of a rest that is unchanged; give the one entry whole, others stay by themselves",
        ),
    )
    if why := next((why for found, why in checks if found), ""):
        return why
    kind = secret_in(text)
    told = f"it holds what looks like a secret ({kind}); remember where it is kept, never the secret"
    return told if kind else ""


def secret_in(text: str) -> str:
    """The kind of the first secret in a text, "" for none."""
    for secret in secrets_in(text):
        return secret.name
    for said in _SAID.finditer(text):
        value = said["value"].rstrip(".,;)")
        if any(c.isdigit() for c in value) and not value.startswith(("$", "<", "{", "/", "~", "http", "%")):
            return "a password or key"
    return ""


def shrinks_too_much(old: str, new: str) -> bool:
    """Whether a replacement loses most of an entry, which takes an explicit removal."""
    return len(old) >= _SHORTENED_FROM and len(new) * _SHORTENED_TO < len(old)


def stopped(text: str, policy: Policy) -> str:
    """Why the gate keeps a text out of memory; "" when it lets it in."""
    admitted = admit(Passage.quote(text, Origin("memory", trust="owner")), name="the entry", policy=policy)
    if admitted.outcome != "blocked" and not admitted.redacted:
        return ""
    first = admitted.findings[0] if admitted.findings else None
    what = f"{first.why} ({first.id}): {first.reads!r}" if first else "an order to the reader"
    return f"the gate stopped it, it reads like {what}; state the fact without it"
