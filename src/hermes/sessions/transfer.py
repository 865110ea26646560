"""A session as JSON lines, and back: nothing is lost, and a line that was changed is noticed."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict, replace
from typing import Any

from hermes.errors import BytesGone, StoreError
from hermes.messages import Annex, Message, ToolCall, Usage
from hermes.sessions.checked import a_count, a_digest, made
from hermes.sessions.coding import compact
from hermes.sessions.contract import Store
from hermes.sessions.records import (
    CallRecord,
    EpochRecord,
    Fragment,
    SessionRecord,
    Step,
    StoredMessage,
)

FORMAT = 1


async def export(store: Store, session_id: str) -> AsyncIterator[str]:
    """The lines of a session, without line ends; the last one holds the digest of all before it."""
    session = await store.get(session_id)
    if session is None:
        raise StoreError(f"there is no session {session_id}; see: hermes sessions list")
    digest = hashlib.sha256()
    async for kind, value in _parts(store, session):
        line = compact({kind: value})
        digest.update(line.encode() + b"\n")
        yield line
    yield compact({"end": digest.hexdigest()})


async def _parts(store: Store, session: SessionRecord) -> AsyncIterator[tuple[str, object]]:
    yield "format", FORMAT
    yield "session", asdict(session)
    epochs, calls = await store.epochs(session.id), await store.calls(session.id)
    for epoch in epochs:
        yield "epoch", asdict(epoch)
    for stored in await store.messages(session.id):
        yield "message", {"seq": stored.seq, **asdict(stored.message)}
    for epoch in epochs:
        for fragment in await store.fragments(session.id, epoch.n):
            yield "fragment", {**asdict(fragment), "body": _text_of(fragment.body)}
    for digest in sorted({digest for call in calls for digest in (call.head, call.tail)}):
        try:
            yield "blob", _text_of(await store.blob(session.id, digest))
        except BytesGone as gone:
            yield "gone", [digest, gone.length]
    for call in calls:
        yield "call", asdict(call)


async def import_(store: Store, lines: Iterable[str], session_id: str = "") -> str:
    """Store an exported session, under another id if one is given; the id it has now.

    StoreError when the lines are not all there or were changed, or when the id is taken.
    """
    session, step = _read(lines)
    if session_id:
        session = replace(session, id=session_id)
    if await store.get(session.id):
        remedy = "take this one in under another id: hermes sessions import --as ID FILE"
        raise StoreError(f"there is a session {session.id} already; {remedy}")
    await store.create(session, step)
    return session.id


def _read(lines: Iterable[str]) -> tuple[SessionRecord, Step]:
    digest = hashlib.sha256()
    found: dict[str, list[Any]] = {}
    end = None
    try:
        for line in lines:
            kind, value = next(iter(json.loads(line).items()))
            if kind == "end":
                end = value
                break
            digest.update(line.rstrip("\n").encode() + b"\n")
            found.setdefault(kind, []).append(value)
        if found.get("format") != [FORMAT]:
            raise StoreError(f"no session in format {FORMAT}; see: hermes sessions export")
        if end != digest.hexdigest():
            raise StoreError("the exported session is not whole or was changed: its digest does not fit")
        session = made(SessionRecord, found["session"][0])
        return session, _step(session, found)
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        raise StoreError(f"this is no exported session: {error}") from None


def _step(session: SessionRecord, found: dict[str, list[Any]]) -> Step:
    return Step(
        at=max((c["started"] for c in found.get("call", ())), default=session.created),
        messages=tuple(StoredMessage(a_count(m.pop("seq")), _message(m)) for m in found.get("message", ())),
        fragments=tuple(
            made(Fragment, {**f, "body": _bytes_of(f["body"])}) for f in found.get("fragment", ())
        ),
        calls=tuple(_call(c) for c in found.get("call", ())),
        epochs=tuple(made(EpochRecord, e) for e in found.get("epoch", ())),
        blobs=tuple(_bytes_of(b) for b in found.get("blob", ())),
        gone=tuple((a_digest(digest), a_count(length)) for digest, length in found.get("gone", ())),
    )


def _message(found: dict[str, Any]) -> Message:
    annex = tuple(made(Annex, a) for a in found["annex"])
    tool_calls = tuple(made(ToolCall, c) for c in found["tool_calls"])
    return made(Message, {**found, "annex": annex, "tool_calls": tool_calls})


def _call(found: dict[str, Any]) -> CallRecord:
    inserts = tuple((a_count(at), str(text)) for at, text in found["inserts"])
    return made(CallRecord, {**found, "usage": made(Usage, found["usage"]), "inserts": inserts})


def _text_of(body: bytes) -> str | dict[str, str]:
    """Bytes as the text they nearly always are."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode("ascii")}


def _bytes_of(value: str | dict[str, str]) -> bytes:
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"], validate=True)
