"""What is said in a session: messages as people see them, and what rides along for the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Literal

from hermes.frozen import frozen

Role = Literal["system", "user", "assistant", "tool"]
Place = Literal["before", "after"]
StopReason = Literal["end", "tool_calls", "length", "refused", "cancelled", "other"]


@frozen
class Annex:
    """Text added at the time of a call, stored beside the clean text and never taken back.

    `kind` names the overlay it came from (`recall`, `clock`, `personality`, …); `place` says on which side
    of the clean text it stands for the model.
    """

    kind: str
    text: str
    place: Place = "after"


@frozen
class ToolCall:
    """A call the model asked for. `arguments` is the JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str


@frozen
class Message:
    """One message. `text` is what people, search and compaction see; `sent` is what the model sees.

    `call_id` and `name` belong to a tool result, which is an `error` when the call failed. `opaque` is JSON
    that a provider wants back word for word (signed reasoning). `id` is unique in its session; `time` is
    ISO 8601.
    """

    role: Role
    text: str = ""
    annex: tuple[Annex, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    name: str = ""
    error: bool = False
    reasoning: str = ""
    opaque: str = ""
    id: str = ""
    time: str = ""

    @property
    def sent(self) -> str:
        """The text as the model gets it: annexes before, the clean text, annexes after."""
        if not self.annex:
            return self.text
        before = [a.text for a in self.annex if a.place == "before"]
        after = [a.text for a in self.annex if a.place == "after"]
        return "\n\n".join(part for part in (*before, self.text, *after) if part)


@frozen
class ToolSpec:
    """A tool as the model is told of it. `parameters` is a JSON schema as canonical JSON text."""

    name: str
    description: str
    parameters: str


@frozen
class Usage:
    """Tokens of one call as the provider reports them; `input` counts cached ones too.

    `cache_write_long` are those of `cache_write` that were written for the longer lifetime, at its price.
    """

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    cache_write_long: int = 0

    def plus(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, n) + getattr(other, n) for n in Usage.__dataclass_fields__))


@frozen
class ModelRequest:
    """One call of a model: the same request always serialises to the same bytes.

    `system` holds the texts of the three tiers, in order, without the blank lines that part them.
    `fragments` are the messages as the codec serialised them when each was first sent; a client sends
    these and serialises nothing again. `session_id` and `cache_key` may travel as provider fields, never
    as text. `epoch` is the recorded reason why this request does not begin with the whole of the one before.
    """

    model: str
    system: tuple[str, ...]
    tools: tuple[ToolSpec, ...]
    messages: Sequence[Message]
    fragments: Sequence[bytes] = ()
    max_tokens: int = 8192
    session_id: str = ""
    cache_key: str = ""
    epoch: str = ""


@frozen
class TextDelta:
    """A piece of the answer as it arrives."""

    text: str


@frozen
class ReasoningDelta:
    """A piece of the model's reasoning as it arrives."""

    text: str


@frozen
class Trace:
    """How a call went over the wire, as far as it is known.

    `marks` are what was put into the body that the codec makes, each at its offset in that body. `first` is
    the milliseconds until the answer began. `route` is who served it, in the words of whoever told; `told`
    is JSON of what the provider itself said about its cache.
    """

    marks: tuple[tuple[int, str], ...] = ()
    first: int = 0
    route: str = ""
    told: str = ""


@frozen
class Completed:
    """The end of a call: the whole assistant message, what it cost, why it stopped."""

    message: Message
    usage: Usage = field(default_factory=Usage)
    stop: StopReason = "end"
    request_id: str = ""
    model: str = ""
    trace: Trace = Trace()


@frozen
class Restarted:
    """A call that failed is made again: the deltas so far are void, the answer begins anew.

    `reason` is fit for a person; `wait` in seconds. With `model` (`provider:name`) another one takes over:
    nothing of it is cached there, and an epoch ends.
    """

    reason: str
    wait: float = 0.0
    model: str = ""


@frozen
class PromptRead:
    """How much of the prompt the model has read, in tokens, where a server tells."""

    read: int
    total: int


ModelEvent = TextDelta | ReasoningDelta | Restarted | PromptRead | Completed
