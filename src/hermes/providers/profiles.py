"""What is known of a model, from dated data; what is not known stays `None`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from hermes.contracts import ModelProfile
from hermes.files import read_file

CONTEXT_SHARE_PERCENT = 6
CHARS_PER_TOKEN = 4
LIMIT_FLOOR = 20_000
LIMIT_CAP = 500_000


def profile_for(
    model: str,
    provider: str = "",
    overrides: Mapping[str, Mapping[str, object]] | None = None,
    context_window: int | None = None,
) -> ModelProfile:
    """The profile of a model by its name; never raises, never guesses."""
    profile = _known(model, provider)
    for part, facts in sorted((overrides or {}).items()):
        window = facts.get("context_window")
        if part.lower() in model.lower() and isinstance(window, int):
            profile = replace(profile, context_window=window)
    if context_window is not None:
        profile = replace(profile, context_window=context_window)
    return profile


def enforcement_needed(profile: ModelProfile, setting: bool | str | Sequence[str] = "auto") -> bool:
    """Whether the prompt must insist on tool use: `agent.tool_use_enforcement` applied to a model."""
    if isinstance(setting, bool):
        return setting
    if setting == "auto":
        return "tool_use_enforcement" in profile.guidance
    parts = (setting,) if isinstance(setting, str) else setting
    name = profile.name.lower()
    return any(part.lower() in name for part in parts)


def context_limit_chars(profile: ModelProfile, configured: int | None = None) -> int:
    """The most characters of one context file: as configured, else a share of the window."""
    if configured is not None:
        return configured
    if profile.context_window is None:
        return LIMIT_FLOOR
    share = profile.context_window * CHARS_PER_TOKEN * CONTEXT_SHARE_PERCENT // 100
    return min(max(share, LIMIT_FLOOR), LIMIT_CAP)


@lru_cache(maxsize=256)
def _known(model: str, provider: str) -> ModelProfile:
    import re

    facts = _facts()
    for family in facts["family"]:
        if re.search(rf"(?<![a-z0-9])(?:{family['match']})", model.lower()):
            return ModelProfile(
                name=model,
                provider=provider,
                family=family["name"],
                guidance=tuple(family.get("guidance", ())),
                tokenizer=family.get("tokenizer", ""),
                source=f"models.toml of {facts['as_of']}",
            )
    return ModelProfile(name=model, provider=provider)


@lru_cache(maxsize=1)
def _facts() -> Any:
    import tomllib

    path = os.path.join(os.path.dirname(__file__), "models.toml")
    return tomllib.loads(read_file(path).data.decode("utf-8"))
