"""Secrets in texts that go out with every call. None is printed whole, or is part of a fingerprint."""

from __future__ import annotations

from collections.abc import Iterator

from hermes.inspect.lint.finding import Finding, finding
from hermes.inspect.lint.subject import Subject
from hermes.security.secrets import secrets_in


def check(subject: Subject) -> Iterator[Finding]:
    for source in subject.sources:
        text = source.document.text
        for secret in secrets_in(text):
            shown = f"{secret.name} {_masked(text[secret.start : secret.end])}"
            message = (
                f"{shown}: it goes to the provider with every call; "
                "revoke it, keep it in the environment and name the variable here"
            )
            yield finding("secret-key", source.place(secret.start, secret.end), message, shown)


def _masked(value: str) -> str:
    if value.startswith("-----"):
        return value
    return f"{value[:4]}… ({len(value)} characters)" if len(value) >= 16 else f"… ({len(value)} characters)"
