"""The protocols and shared records between the parts, on one page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CacheKind = Literal["marks", "prefix", "none", "unknown"]
"""How a provider caches prompts: where we set marks, by itself on an equal prefix, not at all, not known."""

InstructionRole = Literal["system", "developer"]


@dataclass(frozen=True, slots=True)
class CacheTtl:
    """One lifetime a cache entry may have; `write` is its price as a multiple of plain input."""

    name: str
    seconds: int
    write: float


@dataclass(frozen=True, slots=True)
class CacheRules:
    """What a provider's prompt cache does for one model; `None` means not known.

    `minimum_tokens`: a shorter prefix is not cached. `step`: hits are counted in steps of so many tokens.
    `read` is a hit's price as a multiple of plain input. `max_marks` may stand in one request, and from each
    the provider looks back over `look_back` positions. The first of `ttls` is the default.
    """

    kind: CacheKind = "unknown"
    minimum_tokens: int | None = None
    step: int | None = None
    max_marks: int | None = None
    look_back: int | None = None
    ttls: tuple[CacheTtl, ...] = ()
    read: float | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens; `None` means not known.

    `tiered` says that long requests cost more than this: these are the prices of the lowest tier.
    """

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    tiered: bool = False


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What is known of a model; `None` and `unknown` mean: not known, so nothing is assumed.

    `context_window` and `output_limit` in tokens. `guidance` names the texts this family needs.
    `tokenizer` is an encoding name, or "" when only an estimate is possible; `chars_per_token` is for
    estimates of prose without CJK. `instruction_role` carries the system prompt. `system_mid_conversation`:
    a system message may follow a user's. `strict_template`: one leading system message, then user and
    assistant in turn, nothing else. `sources` names for each known fact where it comes from.
    """

    name: str = ""
    provider: str = ""
    family: str = "unknown"
    context_window: int | None = None
    output_limit: int | None = None
    guidance: tuple[str, ...] = ()
    tokenizer: str = ""
    chars_per_token: float = 4.0
    source: str = ""
    instruction_role: InstructionRole = "system"
    system_mid_conversation: bool = False
    strict_template: bool = False
    cache: CacheRules = CacheRules()
    prices: Prices = Prices()
    sources: tuple[tuple[str, str], ...] = ()

    def source_of(self, fact: str) -> str:
        """Where a fact comes from, by the name of its field; "" when it is not known."""
        return dict(self.sources).get(fact, "")
