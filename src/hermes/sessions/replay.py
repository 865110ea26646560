"""Any past request again, byte for byte, and the proof that it is the one."""

from __future__ import annotations

from hermes.errors import StoreError, UsageError
from hermes.sessions.contract import Store
from hermes.sessions.records import NO_CHAIN, CallRecord, Fragment, chain
from hermes.text import many


async def request_body(store: Store, session_id: str, n: int) -> bytes:
    """The body of call `n`, as it was sent. StoreError when what is stored is not what was sent."""
    call = next((c for c in await store.calls(session_id) if c.n == n), None)
    if call is None:
        raise UsageError(f"session {session_id} has no call {n}; see: hermes sessions show {session_id}")
    sent = (await store.fragments(session_id, call.epoch))[: call.fragments]
    if problem := _differs(call, sent):
        see = "" if any(f.gone for f in sent) else "; see: hermes sessions check"
        raise StoreError(f"session {session_id}: {problem}{see}")
    head, tail = [await store.blob(session_id, digest) for digest in (call.head, call.tail)]
    body = head + b",".join(f.body for f in sent) + tail
    for offset, text in sorted(call.inserts, reverse=True):
        body = body[:offset] + text.encode() + body[offset:]
    return body


async def verify(store: Store, session_id: str) -> tuple[str, ...]:
    """Every call whose stored fragments are not those that were sent, a line each."""
    told: list[str] = []
    epoch, fragments, chained, length = -1, tuple[Fragment, ...](), NO_CHAIN, 0
    for call in await store.calls(session_id):
        if call.epoch != epoch or call.fragments < length:
            epoch, chained, length = call.epoch, NO_CHAIN, 0
            fragments = await store.fragments(session_id, epoch)
        new = fragments[length : call.fragments]
        if any(f.gone for f in fragments):
            continue  # its chain can no longer be made; the digests of its parts stay
        chained, length = chain(chained, (f.body for f in new)), length + len(new)
        if (chained, length) != (call.chain, call.fragments):
            told.append(f"session {session_id}: call {call.n} was sent with other messages than are stored")
    return tuple(told)


def _differs(call: CallRecord, sent: tuple[Fragment, ...]) -> str:
    if any(f.gone for f in sent):
        return f"the body of call {call.n} is kept no longer (cache.keep_bodies); its digest is {call.chain}"
    if len(sent) < call.fragments:
        return (
            f"call {call.n} was sent with {many(call.fragments, 'fragment')}, of which {len(sent)} are stored"
        )
    if chain(NO_CHAIN, (f.body for f in sent)) != call.chain:
        return f"the stored messages of call {call.n} are not those that were sent"
    return ""
