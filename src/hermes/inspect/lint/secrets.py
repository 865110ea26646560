"""Secrets in texts that go out with every call. None is printed whole, or is part of a fingerprint."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from hermes.inspect.lint.finding import Finding, finding
from hermes.inspect.lint.subject import Subject

_SHAPES: tuple[tuple[str, str], ...] = (
    ("private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("GitHub token", r"\bgh[opsur]_[A-Za-z0-9]{36,}\b|\bgithub_pat_\w{40,}"),
    ("GitLab token", r"\bgl(?:pat|ptt|rt|soat)-[\w-]{20,}"),
    ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{20,}"),
    ("Slack webhook", r"hooks\.slack\.com/services/T\w{6,}/B\w{6,}/\w{20,}"),
    ("Anthropic key", r"\bsk-ant-[\w-]{24,}"),
    ("OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}"),
    ("Google API key", r"\bAIza[\w-]{35}"),
    ("Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{20,}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("PyPI token", r"\bpypi-[\w-]{50,}"),
    ("SendGrid key", r"\bSG\.[\w-]{20,}\.[\w-]{30,}"),
    ("Telegram bot token", r"\b\d{8,10}:AA[\w-]{33}\b"),
    ("JSON web token", r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}"),
    (
        "password in a URL",
        r"(?<=://)([^\s:/@\"'`<>]{1,64}):(?!\1@)([^\s/@\"'`<>{}$]{6,64})@(?!localhost|127\.)[\w-]+\.[\w.-]+",
    ),
    (
        "assigned secret",
        r"(?i:api[_-]?key|secret(?:[_-]?key)?|(?:access|auth|bearer)[_-]?token"
        r"|passw(?:or)?d)[\"']?\s{0,3}[:=]\s{0,3}"
        r"[\"'`]([A-Za-z0-9+/_=.-]{20,128})[\"'`]",
    ),
)
_STAND_IN = re.compile(
    r"example|your|placeholder|dummy|fake|sample|test|change|redacted|secret|password|x{4,}|\*{3,}"
    r"|\.{3}|0{6,}|"
    r"1234|abcd|process\.env|getenv|environ",
    re.IGNORECASE,
)
_LEAST_BITS = 3.0  # a random key has over 3.5 bits a character; words and runs have less


def check(subject: Subject) -> Iterator[Finding]:
    for source in subject.sources:
        text = source.document.text
        taken: set[int] = set()
        for name, shape in _SHAPES:
            for match in re.finditer(shape, text):
                group = match.lastindex or 0
                value = match[group]
                if match.start() in taken or not _real(name, value):
                    continue
                taken.add(match.start())
                shown = _masked(value)
                message = (
                    f"{name} {shown}: it goes to the provider with every call; "
                    "revoke it, keep it in the environment and name the variable here"
                )
                yield finding("secret-key", source.place(*match.span(group)), message, f"{name} {shown}")


def _real(name: str, value: str) -> bool:
    if name == "private key":
        return True
    return not _STAND_IN.search(value) and _bits(value) >= (2.0 if "URL" in name else _LEAST_BITS)


def _bits(value: str) -> float:
    """Shannon entropy in bits a character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


def _masked(value: str) -> str:
    if value.startswith("-----"):
        return value
    return f"{value[:4]}… ({len(value)} characters)" if len(value) >= 16 else f"… ({len(value)} characters)"
