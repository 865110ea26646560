"""Secrets are never shown: not in a listing, not in a notice, not in an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

MASK = "***"

_ENDINGS = (
    "apikey", "accesskey", "authkey", "privatekey", "secretkey", "signingkey", "token", "secret", "password",
    "passwd", "passphrase", "credential", "authorization", "cookie",
)  # fmt: skip
_WHOLE = frozenset({"key", "auth", "bearer", "pass", "pwd"})
_VALUE = re.compile(
    r"\b(?:sk|pk|rk)[-_][\w-]{12,}|\bgh[a-z]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bxox[a-z]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}|\bAIza[\w-]{30,}|\bhf_\w{20,}|\beyJ[\w-]{10,}\.[\w-]{10,}[\w.-]*"
    r"|(?<=[?&]key=)[^&\s]+|(?<=token=)[^&\s]+|(?<=api_key=)[^&\s]+"
    r"|\b\d{8,12}:[\w-]{30,}|(?<=://)[^/\s@]+(?=@)|(?i:(?<=\bbearer ))[\w.~+/-]{12,}",
    re.ASCII,
)
_COUNTS = re.compile(r"tokens?$")
"""Names that hold a number of tokens as often as a token."""

_REFERENCE = re.compile(r"\$\{\w+\}|\$\w+")


@lru_cache(maxsize=4096)  # the environment is gone through after each call of a tool
def names_secret(name: str) -> bool:
    """Whether a key by this name holds a secret."""
    bare = re.sub(r"[^a-z0-9]", "", name.lower())
    return bare in _WHOLE or bare.removesuffix("s").endswith(_ENDINGS)


def masked(value: object, name: str = "") -> object:
    """The same value with secrets replaced; `name` is the last part of the key that holds it.

    A reference to a variable of the environment is no secret and stays.
    """
    if isinstance(value, Mapping):
        return {key: masked(inner, name if names_secret(name) else key) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [masked(inner, name) for inner in value]
    if isinstance(value, str):
        if names_secret(name) and value and not _REFERENCE.fullmatch(value):
            return MASK
        return _VALUE.sub(MASK, value)
    if isinstance(value, int) and not isinstance(value, bool) and names_secret(name):
        return value if _COUNTS.search(name.lower()) else MASK
    return value


def has_secret(value: object) -> bool:
    """Whether anything in a tree would be masked."""
    return masked(value) != _as_lists(value)


def _as_lists(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _as_lists(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_as_lists(inner) for inner in value]
    return value
