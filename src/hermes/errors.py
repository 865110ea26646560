"""Every error Hermes raises on purpose.

    HermesError
    ├── ConfigError         config.yaml cannot be used as asked
    ├── FileRefused         a file may not or cannot be read (carries the verdict of the decision)
    ├── PromptError         a stored or exported prompt cannot be used
    ├── TrustError          what the owner accepted cannot be stored
    └── UsageError          a command was asked for something that does not exist

A message names the thing, what was expected, and what to do about it.
"""

from __future__ import annotations

from typing import Literal

Verdict = Literal[
    "loaded",
    "cut",
    "shadowed",
    "empty",
    "duplicate",
    "outside project",
    "too large",
    "binary",
    "unreadable",
    "blocked",
    "glob waits",
    "described",
    "manual",
    "not trusted",
    "off",
    "broken",
    "missing",
]
"""What became of a candidate for a prompt."""


class HermesError(Exception):
    """Base of all errors a caller may want to catch; the message is fit for a person."""


class ConfigError(HermesError):
    """config.yaml cannot be used as asked."""


class FileRefused(HermesError):
    """A file may not or cannot be read.

    The message gives the detail of the verdict.
    """

    def __init__(self, verdict: Verdict, message: str) -> None:
        super().__init__(message)
        self.verdict = verdict


class PromptError(HermesError):
    """A stored or exported prompt cannot be used."""


class TrustError(HermesError):
    """What the owner accepted cannot be stored."""


class UsageError(HermesError):
    """A command was asked for something that does not exist."""
