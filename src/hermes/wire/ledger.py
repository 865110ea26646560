"""The ledger: every call of a session, what it sent, and what was to be expected of it.

Nothing of it is stored twice: the store keeps heads, fragments, tails and marks, and this puts them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hermes.contracts import ModelProfile
from hermes.errors import BytesGone, StoreError
from hermes.fragments import Fragments, Sent
from hermes.sessions.contract import Store
from hermes.sessions.records import CallRecord
from hermes.wire.blocks import elements
from hermes.wire.layout import Measure
from hermes.wire.prediction import Forecaster, Prediction, measure_for
from hermes.wire.request import Wire, wire_of


@dataclass(slots=True)
class Ledger:
    """Takes calls in their order. Each model of each provider has a cache of its own.

    With a `measure` that is `exact`, tokens are taken as it gives them; else they are estimates, corrected
    by what the provider tells.
    """

    measure: Measure | None = None
    exact: bool = False
    _caches: dict[tuple[str, str], Forecaster] = field(default_factory=dict)
    before: Wire | None = None

    def knows(self, wire: Wire) -> bool:
        """Whether the head of a call is that of the one before, so that it need not be given again."""
        cache = self._caches.get((wire.provider, wire.model))
        return cache is not None and cache.layout.knows_head(wire)

    def expect(self, wire: Wire, profile: ModelProfile) -> Prediction:
        """What the cache should make of the next call; to be asked once for each, before `enter`."""
        expected = self.cache(wire, profile).predict(wire)
        before = self.before
        if expected.expected == "first" and before is not None and not wire.aside:
            return replace(expected, ideal=before.usage.input)
        return expected

    def enter(self, wire: Wire) -> None:
        """Take what the provider told of the call that was last asked about."""
        self._caches[wire.provider, wire.model].settle(wire)
        if not wire.aside or self.before is None:
            self.before = wire

    def cache(self, wire: Wire, profile: ModelProfile) -> Forecaster:
        """What is thought to be in the cache that a call would be served from."""
        key = wire.provider, wire.model
        if key not in self._caches:
            self._caches[key] = Forecaster(profile.cache, self.measure or measure_for(profile), self.exact)
        return self._caches[key]


async def read_calls(store: Store, session_id: str) -> tuple[tuple[Wire, CallRecord], ...]:
    """The calls of a stored session with their bytes, each with its record."""
    record = await store.get(session_id)
    if record is None:
        raise StoreError(f"there is no session {session_id}; see: hermes sessions list")
    reasons = {epoch.n: epoch.reason for epoch in await store.epochs(session_id)}
    blobs: dict[str, bytes] = {}
    sent: dict[int, Fragments] = {}
    gone: set[int] = set()
    found: list[tuple[Wire, CallRecord]] = []
    provider, epoch = record.provider, -1
    for call in await store.calls(session_id):
        provider = call.provider or provider
        if call.epoch not in sent:
            fragments = await store.fragments(session_id, call.epoch)
            gone |= {call.epoch} if any(f.gone for f in fragments) else set()
            sent[call.epoch] = Sent(f.body for f in fragments).so_far()
        try:
            for digest in () if call.epoch in gone else (call.head, call.tail):
                if digest not in blobs:
                    blobs[digest] = await store.blob(session_id, digest)
        except BytesGone:
            gone.add(call.epoch)
        if call.epoch in gone:
            found.append((replace(wire_of(call, provider, b"", (), b""), gone=True), call))
            continue
        own, tail = split_tail(blobs[call.tail])
        pieces: Sequence[bytes] = sent[call.epoch].first(call.fragments)
        pieces = (*pieces, *own) if own else pieces
        reason = reasons.get(call.epoch, "") if call.epoch != epoch and call.epoch else ""
        found.append((wire_of(call, provider, blobs[call.head], pieces, tail, reason), call))
        epoch = call.epoch if call.stop != "aside" else epoch
    return tuple(found)


def split_tail(tail: bytes) -> tuple[tuple[bytes, ...], bytes]:
    """The messages that only this call had, which are stored in front of its tail, and the tail."""
    at = tail.rfind(b'],"model":')
    if at <= 0:
        return (), tail
    own = "[" + tail[:at].decode("utf-8", "replace").removeprefix(",") + "]"
    return tuple(own[begin:end].encode() for begin, end, _ in elements(own, 0)), tail[at:]
