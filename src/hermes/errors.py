"""Every error Hermes raises on purpose.

    HermesError
    ├── ConfigError         config.yaml cannot be used as asked
    │   ├── UnknownModel    a name that no model or provider goes by
    │   └── WrongSetting    a key or value that config.yaml does not take
    ├── FileRefused         a file may not or cannot be read (carries the verdict of the decision)
    ├── MemoryRefused       a memory cannot be read or written as asked
    │   └── UnknownMemory   a name that no entry goes by
    ├── ModelError          a model could not be called, or answered with an error
    ├── PromptError         a stored or exported prompt cannot be used
    ├── SkillError          a skill cannot be written, removed or installed as asked
    │   └── UnknownSkill    a name or place that no skill goes by
    ├── StoreError          sessions cannot be read or written
    │   ├── BytesGone       the retention policy took these bytes away
    │   └── SessionBusy     someone else holds this session, or went on with it
    ├── ToolError           a call failed in a way the model can mend, which is told to it
    ├── TrustError          what the owner accepted cannot be stored
    └── UsageError          a command was used wrongly, or asked for something that does not exist

Every `Unknown…` and `WrongSetting` is a UsageError too: what ends a command so has exit code 2, all else 1.
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


class UsageError(HermesError):
    """A command was used wrongly, or asked for something that does not exist."""


class ConfigError(HermesError):
    """config.yaml cannot be used as asked."""


class UnknownModel(ConfigError, UsageError):
    """A name that no model or provider goes by."""


class WrongSetting(ConfigError, UsageError):
    """A key or value that config.yaml does not take."""


class FileRefused(HermesError):
    """A file may not or cannot be read.

    The message gives the detail of the verdict.
    """

    def __init__(self, verdict: Verdict, message: str) -> None:
        super().__init__(message)
        self.verdict = verdict


class MemoryRefused(HermesError):
    """A memory cannot be read or written as asked."""


class UnknownMemory(MemoryRefused, UsageError):
    """A name that no entry of a memory goes by."""


class ModelError(HermesError):
    """A model could not be called, or answered with an error.

    `kind` says what may help: `auth` (another key), `rate` and `overloaded` and `network` (trying again),
    `context` (a shorter request), `request` (nothing; it is wrong), `other`. `retry_after` in seconds, when
    the provider names it.
    """

    def __init__(
        self, message: str, *, kind: str = "other", status: int = 0, retry_after: float | None = None
    ):
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after


class SkillError(HermesError):
    """A skill cannot be written, removed or installed as asked."""


class UnknownSkill(SkillError, UsageError):
    """A name or place that no skill goes by."""


class StoreError(HermesError):
    """Sessions cannot be read or written."""


class BytesGone(StoreError):
    """Bytes that the retention policy took away; `length` is how many they were."""

    def __init__(self, message: str, length: int) -> None:
        super().__init__(message)
        self.length = length


class SessionBusy(StoreError):
    """Someone else holds this session, or went on with it; `holder` names who, where that is known."""

    def __init__(self, message: str, holder: str = "") -> None:
        super().__init__(message)
        self.holder = holder


class PromptError(HermesError):
    """A stored or exported prompt cannot be used."""


class TrustError(HermesError):
    """What the owner accepted cannot be stored."""


class ToolError(HermesError):
    """A call that failed in a way the model can mend; the message is what the model gets to read."""
