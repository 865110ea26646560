"""The protocols and shared records between the parts, on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from hermes.frozen import frozen

if TYPE_CHECKING:  # who builds a prompt needs no messages
    from collections.abc import AsyncGenerator, Sequence

    from hermes.messages import Message, ModelEvent, ModelRequest
    from hermes.tooling import Tool

CacheKind = Literal["marks", "prefix", "none", "unknown"]
"""How a provider caches prompts: where we set marks, by itself on an equal prefix, not at all, not known."""

InstructionRole = Literal["system", "developer"]


@frozen
class CacheTtl:
    """One lifetime a cache entry may have; `write` is its price as a multiple of plain input.

    A `write` of 1.0 costs no more than not caching. `seconds` is `None` where the provider promises none.
    """

    name: str
    write: float
    seconds: int | None = None


@frozen
class CacheRules:
    """What a provider's prompt cache does for one model; `None` means not known.

    `minimum_tokens`: a shorter prefix is not cached. `step`: hits are counted in steps of so many tokens.
    `read` is a hit's price as a multiple of plain input. `max_marks` may stand in one request, and from each
    the provider looks back over `look_back` positions. The first of `ttls` is the default. `answers`: what
    the model wrote is cached as well as what it read. `ping` is the least that a request may let the model
    write: one that is only to keep its prefix in the cache.
    """

    kind: CacheKind = "unknown"
    minimum_tokens: int | None = None
    step: int | None = None
    max_marks: int | None = None
    look_back: int | None = None
    ttls: tuple[CacheTtl, ...] = ()
    read: float | None = None
    answers: bool = False
    ping: int = 1

    @property
    def by_marks(self) -> bool:
        """Whether what is cached is told by marks, ours or the provider's, and not token by token."""
        return self.kind == "marks" or bool(self.max_marks)

    @property
    def silence(self) -> Literal["", "no cache", "abstained"]:
        """Why nothing can be foretold of a request, as a class of forecasts; "" where something can."""
        if self.kind == "none":
            return "no cache"
        if self.kind == "unknown" or self.minimum_tokens is None:
            return "abstained"
        return "abstained" if not (self.ttls if self.by_marks else self.step is not None) else ""


@frozen
class Prices:
    """US dollars for a million tokens; `None` means not known.

    `tiered`: some requests cost more, long ones or those at busy hours; these are the lowest standing prices.
    """

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    tiered: bool = False


@frozen
class ModelProfile:
    """What is known of a model; `None` and `unknown` mean: not known, so nothing is assumed.

    `context_window` and `output_limit` in tokens. `guidance` names the texts this family needs.
    `tokenizer` is an encoding name, or "" when only an estimate is possible: `chars_per_token` of average
    English, and `char_weights` against that average for letters and spaces, other ASCII, other characters
    of two bytes in UTF-8, Cyrillic, characters of three bytes, of four.
    `instruction_role` carries the system prompt. `system_mid_conversation`: a system message may follow a
    user's. `strict_template`: one leading system message, then user and assistant in turn, nothing else.
    `small`: its window is so small that it gets fewer tools and shorter files.
    `sources` names for each known fact where it comes from, `source` is the same in one line.
    """

    name: str = ""
    provider: str = ""
    family: str = "unknown"
    context_window: int | None = None
    output_limit: int | None = None
    guidance: tuple[str, ...] = ()
    tokenizer: str = ""
    chars_per_token: float = 3.6
    char_weights: tuple[float, ...] = (0.67, 2.6, 2.3, 1.2, 2.91, 11.4)
    source: str = ""
    instruction_role: InstructionRole = "system"
    system_mid_conversation: bool = False
    strict_template: bool = False
    cache: CacheRules = CacheRules()
    prices: Prices = Prices()
    sources: tuple[tuple[str, str], ...] = ()
    small: bool = False

    def source_of(self, fact: str) -> str:
        """Where a fact comes from, by the name of its field; "" when it is not known."""
        return dict(self.sources).get(fact, "")


class Model(Protocol):
    """A model that can be called. Retries and fallbacks are models that wrap a model."""

    @property
    def profile(self) -> ModelProfile: ...

    @property
    def codec(self) -> Codec: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Call the model with `request.fragments`; deltas as they come, then exactly one `Completed`.

        Raises ModelError when it fails. Cancelling the iteration ends the call.
        """
        ...

    async def close(self) -> None:
        """Give back connections and processes."""
        ...


class Codec(Protocol):
    """A provider's wire format. Pure: the same input gives the same bytes, in any process, for ever.

    A body is `head + b",".join(fragments) + tail`; a fragment is made once, stored, and never made again.
    """

    @property
    def name(self) -> str:
        """Name and version, such as `openai-chat/1`; stored with a session."""
        ...

    def head(self, request: ModelRequest, profile: ModelProfile) -> bytes: ...
    def layout(
        self, request: ModelRequest, profile: ModelProfile
    ) -> tuple[tuple[bytes, ...], tuple[int, ...]]:
        """The head in pieces, and the offsets in it at which marks may stand.

        Pieces that are alike in many sessions are the same objects.
        """
        ...

    def fragments(
        self, messages: tuple[Message, ...], profile: ModelProfile, after: str = ""
    ) -> tuple[bytes, ...]:
        """One fragment for each entry of the provider's message list; a run of tool results may be one.

        Given only the messages that are new, and `after`, the role of the last one already sent ("" at the
        beginning), it makes only the new fragments. A run of tool results must come in one piece.
        """
        ...

    def tail(self, request: ModelRequest, profile: ModelProfile) -> bytes: ...


class Whose(NamedTuple):
    """Whose memory is meant. `user` is "" for the owner of the home; `private`: nobody else reads along."""

    session_id: str
    platform: str = "cli"
    user: str = ""
    private: bool = True


class Recalled(NamedTuple):
    """Something remembered. `relevance` is from 0 to 1; `source` says to a model where it is from."""

    text: str
    relevance: float
    source: str = ""


class Exchange(NamedTuple):
    """What was asked and answered in one turn; no answer when the turn was stopped. `at` is ISO 8601."""

    whose: Whose
    asked: str
    answered: str
    at: str


class MemoryProvider(Protocol):
    """A memory beyond the session; at most one is active. What fails or is late is left out with a notice."""

    async def static_block(self, whose: Whose) -> str:
        """What is to stand in the prompt of a new session, frozen with it; "" for nothing."""
        ...

    async def recall(self, asked: str, whose: Whose) -> Sequence[Recalled]:
        """What of it bears on a person's message. The caller leaves out what is not relevant enough."""
        ...

    async def record(self, exchange: Exchange) -> None:
        """Take in one turn. When it fails, the same exchange comes again later."""
        ...

    def tools(self, whose: Whose) -> Sequence[Tool]:
        """Tools for the model, made without asking anyone."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
