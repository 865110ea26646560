"""What a session leaves behind: its messages, the bytes that were sent for them, and every call."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import field, replace
from operator import attrgetter

from hermes.frozen import frozen
from hermes.messages import Message, Role, Usage
from hermes.text import well_formed

NO_CHAIN = ""
"""The chain of an epoch of which nothing was sent yet."""


Blob = bytes | tuple[bytes, ...]
"""Bytes to be stored, whole or in pieces; what many sessions have can be the same pieces."""


@frozen
class SessionRecord:
    """A session as it stands now. `prompt_json` is the frozen prompt, `tools` the frozen list as JSON.

    `state` is JSON of whatever must survive beside the messages (standing overlays, hints that were seen).
    `parent` is the session it was branched or delegated from. `epoch` is the number of the current one.
    Empty, `prompt_json` and `tools` are not with it.
    """

    id: str
    created: str
    title: str = ""
    platform: str = ""
    model: str = ""
    provider: str = ""
    codec: str = ""
    parent: str = ""
    epoch: int = 0
    prompt_json: str = ""
    tools: str = "[]"
    state: str = "{}"


@frozen
class StoredMessage:
    """A message with its place in the session; places count from 0 without a gap and are never used again."""

    seq: int
    message: Message


@frozen
class Fragment:
    """Bytes as they were sent for the messages `first_seq` to `last_seq`.

    `n` counts from 0 within the epoch. A message may have several fragments, and a fragment several messages.
    Bytes that are kept no longer have left their digest in `gone`, and their number in `length`.
    """

    epoch: int
    n: int
    first_seq: int
    last_seq: int
    body: bytes
    gone: str = ""
    length: int = 0


@frozen
class CallRecord:
    """One call of the model: enough to make the body of its request again, byte for byte.

    The body is the head, the first `fragments` fragments of the epoch parted by commas, and the tail; then
    each of `inserts` put in at its offset in that body (cache marks, which move). `head` and `tail` are
    digests of stored bytes; `chain` is that of the fragments. `n` counts from 1. `messages` were in the
    session when the call was made.

    `predicted` is how many cached tokens were expected, `predicted_write` how many newly cached ones, and
    `forecast` the class of what was expected, "" when nothing was. `first` is the milliseconds until the
    answer began, 0 when not known; `route` is who served it, and `told` JSON of the provider's own words on
    its cache. `prompt` is the digest of the stored prompt that the head was made from, and `provider` who was
    asked; "": as in the call before.
    """

    n: int
    epoch: int
    started: str
    head: str
    tail: str
    fragments: int
    chain: str
    messages: int
    usage: Usage = field(default_factory=Usage)
    request_id: str = ""
    model: str = ""
    stop: str = ""
    predicted: int = 0
    inserts: tuple[tuple[int, str], ...] = ()
    predicted_write: int = 0
    forecast: str = ""
    first: int = 0
    route: str = ""
    told: str = ""
    prompt: str = ""
    provider: str = ""


@frozen
class EpochRecord:
    """The beginning of a run of calls of which each starts with all bytes of the one before."""

    n: int
    reason: str
    at: str


@frozen
class Step:
    """All that one step adds, stored in one durable transaction or not at all.

    `session` is the session from now on, when anything of it changed; its prompt and its tools are as they
    were where they are empty texts. `prompt` is the JSON of the prompt from now on, in pieces, when it is
    another and not with the `session`. `blobs` are heads and tails that
    `calls` name by digest; those that are stored already need not be given again. `gone` are digests and
    lengths of those that are kept no longer. `at` is when, ISO 8601.
    """

    at: str
    messages: tuple[StoredMessage, ...] = ()
    fragments: tuple[Fragment, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    epochs: tuple[EpochRecord, ...] = ()
    blobs: tuple[Blob, ...] = ()
    session: SessionRecord | None = None
    gone: tuple[tuple[str, int], ...] = ()
    prompt: tuple[bytes, ...] = ()


@frozen
class SessionSummary:
    """A line of a list of sessions. `updated` is when the last step was stored."""

    id: str
    title: str
    created: str
    updated: str
    platform: str
    model: str
    provider: str
    parent: str
    messages: int
    calls: int


@frozen
class SessionFilter:
    """Which sessions are listed: an empty field lets all through; `title` is looked for without case."""

    platform: str = ""
    model: str = ""
    parent: str = ""
    title: str = ""


@frozen
class Hit:
    """A message that was found. `marks` are the places in `snippet` of what was looked for.

    `score` compares the hits of one search with each other; it is 0 where the newest come first.
    """

    session: str
    title: str
    seq: int
    role: Role
    time: str
    snippet: str
    marks: tuple[tuple[int, int], ...]
    score: float = 0.0


def chain(previous: str, bodies: Iterable[bytes]) -> str:
    """The digest of fragments that follow those of the chain `previous`; each costs only itself."""
    for body in bodies:
        previous = hashlib.sha256(previous.encode("ascii") + body).hexdigest()
    return previous


def storable(text: str) -> str:
    """A text that both stores give back as it was: lone surrogates and U+0000 as U+FFFD."""
    text = well_formed(text)
    return text.replace("\0", "\ufffd") if "\0" in text else text


_OWN = ("text", "call_id", "name", "reasoning", "opaque", "id", "time")
_own = attrgetter(*_OWN)


def storable_message(message: Message) -> Message:
    """The message as the stores keep it; the same object when nothing is to be changed."""
    whole = "".join(_own(message))
    changed: dict[str, object] = {}
    if storable(whole) != whole:
        changed |= {name: storable(getattr(message, name)) for name in _OWN}
    if message.annex:
        annex = tuple(replace(a, kind=storable(a.kind), text=storable(a.text)) for a in message.annex)
        if annex != message.annex:
            changed["annex"] = annex
    if message.tool_calls:
        calls = tuple(
            replace(c, id=storable(c.id), name=storable(c.name), arguments=storable(c.arguments))
            for c in message.tool_calls
        )
        if calls != message.tool_calls:
            changed["tool_calls"] = calls
    return replace(message, **changed) if changed else message  # type: ignore[arg-type]
