"""Small conversations to store."""

from __future__ import annotations

import json
from dataclasses import replace

from hermes.messages import Message, Usage
from hermes.provenance import digest_of
from hermes.sessions.records import (
    NO_CHAIN,
    CallRecord,
    EpochRecord,
    Fragment,
    SessionRecord,
    Step,
    StoredMessage,
    chain,
    storable,
)

HEAD, TAIL = b'{"model":"m","messages":[', b'],"stream":true}'
DAY = "2026-03-{:02}T12:00:00Z"


def a_session(name: str = "s1", day: int = 1, **changes: object) -> SessionRecord:
    record = SessionRecord(
        name,
        DAY.format(day),
        f"Title of {name}",
        "cli",
        "large",
        "somewhere",
        "openai-chat/1",
        "",
        0,
        '{"format":1}',
        '[["read_file","reads","{}"]]',
        '{"standing":{}}',
    )
    return replace(record, **changes)  # type: ignore[arg-type]


def stored(seq: int, text: str, role: str = "user") -> StoredMessage:
    return StoredMessage(seq, Message(role, text, id=f"m{seq}", time=DAY.format(2)))  # type: ignore[arg-type]


def fragment(seq: int, message: Message, epoch: int = 0, n: int | None = None) -> Fragment:
    body = json.dumps({"role": message.role, "content": storable(message.sent)}, ensure_ascii=False).encode()
    return Fragment(epoch, seq if n is None else n, seq, seq, body)


def a_step(*messages: StoredMessage, day: int = 2, epoch: int = 0) -> Step:
    """Messages with a fragment each."""
    return Step(DAY.format(day), messages, tuple(fragment(m.seq, m.message, epoch) for m in messages))


def a_call(n: int, fragments: tuple[Fragment, ...], **changes: object) -> CallRecord:
    """The call whose request is made of HEAD, these fragments and TAIL."""
    call = CallRecord(
        n,
        0,
        DAY.format(2),
        digest_of(HEAD),
        digest_of(TAIL),
        len(fragments),
        chain(NO_CHAIN, (f.body for f in fragments)),
        len(fragments),
        Usage(10, 2, 3, 4, 5),
        "req_1",
        "large-2026",
        "end",
        7,
        ((9, ',"mark":1'),),
    )
    return replace(call, **changes)  # type: ignore[arg-type]


def a_turn(at: int = 0, n: int = 1, text: str = "What is the capital of Peru?") -> Step:
    """A question, the call, and the answer, as one step."""
    said = a_step(stored(at, text), stored(at + 1, "It is Lima.", "assistant"))
    return replace(said, calls=(a_call(n, said.fragments[:1]),), blobs=(HEAD, TAIL))


def told(*texts: str, name: str = "s1", day: int = 1) -> tuple[SessionRecord, Step]:
    """A session and a step with a message for each text; those that begin with `tool:` are results."""
    messages = tuple(
        stored(i, text, "tool" if text.startswith("tool:") else ("user", "assistant")[i % 2])
        for i, text in enumerate(texts)
    )
    return a_session(name, day), a_step(*messages, day=day)


NEW = EpochRecord(0, "new session", DAY.format(1))
