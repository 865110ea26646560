"""What secrets look like, and hiding them in what goes to a model, a screen or a log."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

SHAPES: tuple[tuple[str, str, str], ...] = (
    ("private key", "-----BEGIN", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("AWS access key", "AKIA ASIA", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    (
        "GitHub token",
        "ghp_ gho_ ghs_ ghu_ ghr_ github_pat_",
        r"\bgh[opsur]_[A-Za-z0-9]{36,}\b|\bgithub_pat_\w{40,}",
    ),
    ("GitLab token", "glpat- glptt- glrt- glsoat-", r"\bgl(?:pat|ptt|rt|soat)-[\w-]{20,}"),
    ("Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{20,}"),
    ("Slack webhook", "hooks.slack", r"hooks\.slack\.com/services/T\w{6,}/B\w{6,}/\w{20,}"),
    ("Anthropic key", "sk-ant-", r"\bsk-ant-[\w-]{24,}"),
    ("OpenAI key", "sk-", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}"),
    ("Google API key", "AIza", r"\bAIza[\w-]{35}"),
    ("Stripe key", "k_live_", r"\b[rs]k_live_[A-Za-z0-9]{20,}"),
    ("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("PyPI token", "pypi-", r"\bpypi-[\w-]{50,}"),
    ("SendGrid key", "SG.", r"\bSG\.[\w-]{20,}\.[\w-]{30,}"),
    ("Telegram bot token", ":AA", r"\b\d{8,10}:AA[\w-]{33}\b"),
    ("JSON web token", ".eyJ", r"(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}"),
    (
        "password in a URL",
        "://",
        r"(?<=://)([^\s:/@\"'`<>]{1,64}):(?!\1@)([^\s/@\"'`<>{}$]{6,64})@(?!localhost|127\.)[\w-]+\.[\w.-]+",
    ),
    (
        "assigned secret",
        "api secret token passw",
        r"(?i:api[_-]?key|secret(?:[_-]?key)?|(?:access|auth|bearer)[_-]?token"
        r"|passw(?:or)?d)[\"']?\s{0,3}[:=]\s{0,3}"
        r"[\"'`]([A-Za-z0-9+/_=.-]{20,128})[\"'`]",
    ),
)
"""What a secret is, parts of which each has at least one (in any case), and its shape."""

_PARTS = tuple((name, tuple(parts.lower().split()), shape) for name, parts, shape in SHAPES)
_STAND_IN = re.compile(
    r"example|your|placeholder|dummy|fake|sample|test|change|redacted|secret|password|x{4,}|\*{3,}"
    r"|\.{3}|0{6,}|"
    r"1234|abcd|process\.env|getenv|environ",
    re.IGNORECASE,
)
_LEAST_BITS = 3.0  # a random key has over 3.5 bits a character; words and runs have less

MARK = "[hidden secret: "
"""How the text begins that stands for a secret."""


class Secret(NamedTuple):
    """Where a secret stands in a text, and what it is."""

    start: int
    end: int
    name: str


def secrets_in(text: str) -> Iterator[Secret]:
    """Every secret that its shape gives away; what is plainly a stand-in is none."""
    taken: set[int] = set()
    lowered = text.lower()
    for name, parts, shape in _PARTS:
        for part in parts:
            if part in lowered:
                break
        else:
            continue  # a quick look spares most texts the long one
        for match in re.finditer(shape, text):
            group = match.lastindex or 0
            if match.start() not in taken and _real(name, match[group]):
                taken.add(match.start())
                yield Secret(*match.span(group), name)


def hide_secrets(text: str, values: Iterable[str] = ()) -> tuple[str, tuple[str, ...]]:
    """The text with a mark for each secret, and what they were. `values` are secrets known word for word."""
    found = [*secrets_in(text), *_known(text, values)] if text else []
    if not found:
        return text, ()
    parts, at, names = [], 0, []
    for secret in sorted(found):
        if secret.start < at:
            continue
        end = secret.end
        if secret.name == "private key":  # the shape is that of its first line
            close = text.find("-----END", end)
            end = len(text) if close < 0 else text.find("-----", close + 8) + 5
        parts += [text[at : secret.start], f"{MARK}{secret.name}]"]
        at = max(end, secret.end)
        names.append(secret.name)
    return "".join([*parts, text[at:]]), tuple(dict.fromkeys(names))


def _known(text: str, values: Iterable[str]) -> Iterator[Secret]:
    for value in values:
        at = text.find(value)
        while at >= 0:
            yield Secret(at, at + len(value), "value from the environment")
            at = text.find(value, at + len(value))


def _real(name: str, value: str) -> bool:
    if name == "private key":
        return True
    return not _STAND_IN.search(value) and _bits(value) >= (2.0 if "URL" in name else _LEAST_BITS)


def _bits(value: str) -> float:
    """Shannon entropy in bits a character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())
