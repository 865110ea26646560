"""What a provider itself says about its cache, where it compares a request with the one before.

Anthropic: `diagnostics` of a message, https://platform.claude.com/docs/en/build-with-claude/cache-diagnostics
OpenAI: `prompt_cache_diagnostics` of a response,
https://developers.openai.com/api/docs/guides/prompt-caching/diagnostics
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from hermes.frozen import frozen

Said = Literal["same", "changed", "not found", "unavailable", "pending"]


@frozen
class Told:
    """`where` is the part that changed, in the provider's word without `_changed`; `missed` in tokens."""

    said: Said
    where: str = ""
    missed: int | None = None

    def __str__(self) -> str:
        match self.said:
            case "same":
                return "nothing differs from the request before"
            case "changed":
                missed = f", {self.missed:,} tokens missed" if self.missed is not None else ""
                return f"{self.where} changed{missed}"
            case "not found":
                return "it does not know the request before"
            case "pending":
                return "it has not finished comparing"
        return "it cannot tell"


def read_told(text: str) -> Told | None:
    """A provider's diagnosis from its JSON; None for "" and for what is no diagnosis."""
    try:
        data = json.loads(text) if text else ""
    except ValueError:
        return None
    if data is None:  # compared, and nothing differs
        return Told("same")
    if not isinstance(data, Mapping):
        return None
    return _anthropic(data) if "cache_miss_reason" in data else _openai(data)


def _anthropic(data: Mapping[str, Any]) -> Told:
    reason = data["cache_miss_reason"]
    if not isinstance(reason, Mapping):
        return Told("pending")
    return _of(str(reason.get("type", "")), reason.get("cache_missed_input_tokens"))


def _openai(data: Mapping[str, Any]) -> Told | None:
    kind = data.get("type")
    if kind == "hit":
        return Told("same")
    if kind == "miss":
        return _of(str(data.get("reason", "")), data.get("cache_missed_tokens"))
    return _of(str(kind), None) if isinstance(kind, str) else None


def _of(reason: str, missed: object) -> Told:
    if reason.endswith("not_found"):
        return Told("not found")
    if reason == "unavailable" or not reason:
        return Told("unavailable")
    return Told("changed", reason.removesuffix("_changed"), missed if isinstance(missed, int) else None)
