"""What is known of a model, and what follows from it for the prompt. What is not known stays `None`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from hermes.contracts import CacheRules, ModelProfile, Prices
from hermes.provenance import Notice
from hermes.providers.facts import AS_OF, Family, checked, listed, registry
from hermes.providers.names import ModelName, parse_name

LIMIT_PERCENT = 24
"""The share of a window that one context file may take: window in tokens x 4 characters x 6 %."""
LIMIT_FLOOR = 20_000
LIMIT_CAP = 500_000

_UNKNOWN = Family("unknown", "")

Facts = tuple[tuple[str, object], ...]
Overrides = Mapping[str, Mapping[str, object]]


def profile_for(
    model: str, provider: str = "", overrides: Overrides | None = None, context_window: int | None = None
) -> ModelProfile:
    """The profile of a model, from its name and the dated data of this package; never raises, never guesses.

    `model` may carry its provider (`openrouter/anthropic/claude-sonnet-4.5`); with `provider` given it is
    taken whole. `overrides` is `models:` of config.yaml: parts of model names, in any case, with facts; of
    several that match the longest wins. `context_window`, in tokens, wins over everything: what the owner
    configured or the server said.
    """
    given: list[tuple[str, Facts]] = []
    if overrides:
        whole = f"{provider}/{model}".lower()
        for part in sorted(map(str, overrides), key=lambda p: (len(p), p)):
            if part.lower() in whole:
                facts, _ = checked(overrides[part])
                day = overrides[part].get(AS_OF) if isinstance(overrides[part], Mapping) else None
                given.append((f"models.{part} of config.yaml{f' as of {day}' if day else ''}", facts))
    if context_window is not None and context_window > 0:
        given.append(("config.yaml or the server", (("context_window", context_window),)))
    return _profile(model, provider, tuple(given))


def override_notices(overrides: Overrides | None) -> tuple[Notice, ...]:
    """What is wrong with `models:` of config.yaml; `profile_for` passes over these facts."""
    return tuple(
        Notice("warning", f"config.yaml: models.{part}: {problem}; it is ignored")
        for part in sorted(overrides or {}, key=str)
        for problem in checked((overrides or {})[part])[1]
    )


def enforcement_needed(profile: ModelProfile, setting: bool | str | Sequence[str] = "auto") -> bool:
    """Whether the prompt must insist on tool use: `agent.tool_use_enforcement` applied to a model.

    `auto` follows the family, true and false are final, anything else is parts of model names, in any case.
    """
    if isinstance(setting, bool):
        return setting
    if isinstance(setting, str):
        word = setting.strip().lower()
        if word in ("true", "false"):
            return word == "true"
        if word == "auto":
            return "tool_use_enforcement" in profile.guidance
        setting = (word,)
    name = profile.name.lower()
    return any(part.strip().lower() in name for part in setting if part.strip())


def context_limit_chars(profile: ModelProfile, configured: int | None = None) -> int:
    """The most characters of one context file: as configured, else a share of the window within bounds."""
    if configured is not None:
        return configured
    if profile.context_window is None:
        return LIMIT_FLOOR
    return min(max(profile.context_window * LIMIT_PERCENT // 100, LIMIT_FLOOR), LIMIT_CAP)


@lru_cache(maxsize=256)
def _profile(model: str, provider: str, given: tuple[tuple[str, Facts], ...]) -> ModelProfile:
    known = registry()
    name = parse_name(model, provider, known.aliases)
    family = _family(name, given)
    local = name.local or name.host in known.local
    # A bare name is taken to be asked of its maker; `org/name` may be served by anyone.
    maker = "" if "/" in name.name and not name.host else family.maker
    host = "local" if local else name.host or maker
    facts: dict[str, tuple[object, str]] = {}
    if family is not _UNKNOWN:
        facts["family"] = (family.name, known.source)
    if family.guidance:
        facts["guidance"] = (family.guidance, known.source)
    if not local:
        facts |= {fact: (value, source) for fact, value, source in listed(host, maker, name.keys)}
    for rule in known.rules:
        if (
            (not rule.family or family.name in rule.family)
            and (not rule.provider or host in rule.provider)
            and (not rule.match or re.search(rule.match, name.keys[-1]))
        ):
            facts |= {fact: (value, known.source) for fact, value in rule.facts}
    facts |= _read_price(facts)
    for source, told in given:
        facts |= {fact: (value, source) for fact, value in told}
    return _assembled(name, facts)


def _family(name: ModelName, given: tuple[tuple[str, Facts], ...]) -> Family:
    """The family told by config.yaml, else the first whose pattern begins a word of the name."""
    families = registry().families
    told = [value for _, facts in given for fact, value in facts if fact == "family"]
    if told:
        return next((f for f in families if f.name == told[-1]), Family(str(told[-1]), ""))
    for key in reversed(name.keys):
        for family in families:
            if re.search(rf"(?<![a-z0-9])(?:{family.match})", key):
                return family
    return _UNKNOWN


def _read_price(facts: dict[str, tuple[object, str]]) -> dict[str, tuple[object, str]]:
    """A hit's price as a multiple, by the price list: it knows the model, a rule often only its provider."""
    plain, hit = facts.get("prices.input"), facts.get("prices.cache_read")
    if plain and hit and "cache.kind" in facts and isinstance(plain[0], float) and isinstance(hit[0], float):
        return {"cache.read": (round(hit[0] / plain[0], 4), f"prices of {hit[1]}")} if plain[0] else {}
    return {}


def _assembled(name: ModelName, facts: dict[str, tuple[object, str]]) -> ModelProfile:
    values: dict[str, Any] = {fact: value for fact, (value, _) in facts.items()}
    cache = {k[6:]: values.pop(k) for k in sorted(values) if k.startswith("cache.")}
    prices = {k[7:]: values.pop(k) for k in sorted(values) if k.startswith("prices.")}
    sources = tuple(sorted((fact, source) for fact, (_, source) in facts.items()))
    return ModelProfile(
        name=name.name,
        provider=name.provider,
        source="; ".join(sorted({source for _, source in sources})),
        cache=CacheRules(**cache),
        prices=Prices(**prices),
        sources=sources,
        **values,
    )
