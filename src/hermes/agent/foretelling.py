"""What a provider's cache should make of each call, by the ledger; told from what was sent before.

A request is laid out in the ledger as soon as something is waited for: the store, or the answer. Where the
rules of a cache are not known nothing is laid out, and the ledger is not even imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hermes.contracts import Codec, ModelProfile
from hermes.fragments import Fragments
from hermes.messages import ModelRequest
from hermes.prompt import SystemPrompt
from hermes.sessions.records import CallRecord

if TYPE_CHECKING:
    from hermes.wire.ledger import Ledger
    from hermes.wire.request import Wire
    from hermes.wire.verdict import Verdict

    Witness = Callable[[CallRecord, ModelRequest, ModelProfile, Verdict | None], None]


@dataclass(slots=True)
class Foretelling:
    """The forecasts of a session. `past` are calls of this epoch that another process made.

    A `witness` is told of each call, with the verdict on it.
    """

    past: tuple[CallRecord, ...] = ()
    witness: Witness | None = None
    _ledger: Ledger | None = None

    def needs(self, profile: ModelProfile) -> bool:
        """Whether a call is to be laid out at all."""
        return not profile.cache.silence or self.witness is not None

    def lay_out(self, call: CallRecord, request: ModelRequest, codec: Codec, profile: ModelProfile) -> None:
        """Take a request that is under way; of the call no more is known than its number and head."""
        if self.past or not self.needs(profile):
            return
        try:
            wire = self._wire(call, request, codec, profile, codec.tail(request, profile))
            self._opened().cache(wire, profile).lay_out(wire)
        except (ValueError, RecursionError):  # a wire that cannot be read
            return

    def told(
        self,
        call: CallRecord,
        request: ModelRequest,
        codec: Codec,
        profile: ModelProfile,
        tail: bytes,
        prompt: SystemPrompt,
    ) -> CallRecord:
        """The answered call, with what its provider's cache should have made of it."""
        verdict = None
        if self.needs(profile):
            try:
                call, verdict = self._judged(call, request, codec, profile, tail, prompt)
            except (ValueError, RecursionError):  # a wire that cannot be read; nothing is foretold
                call = replace(call, forecast="")
        if self.witness:
            self.witness(call, request, profile, verdict)
        return call

    def _judged(
        self,
        call: CallRecord,
        request: ModelRequest,
        codec: Codec,
        profile: ModelProfile,
        tail: bytes,
        prompt: SystemPrompt,
    ) -> tuple[CallRecord, Verdict | None]:
        ledger, verdict = self._opened(), None
        wire = self._wire(call, request, codec, profile, tail)
        expected = ledger.expect(wire, profile)
        if self.witness:
            from hermes.wire.verdict import judge

            verdict = judge(wire, ledger.before, ledger.cache(wire, profile), expected, profile, prompt)
        ledger.enter(wire)
        told = replace(
            call, predicted=expected.read, predicted_write=expected.write, forecast=expected.expected
        )
        return told, verdict

    def _opened(self) -> Ledger:
        from hermes.wire.ledger import Ledger  # needed when a request is out, not before

        self._ledger = self._ledger or Ledger()
        return self._ledger

    def _wire(
        self, call: CallRecord, request: ModelRequest, codec: Codec, profile: ModelProfile, tail: bytes
    ) -> Wire:
        """The call with its bytes, behind all that the epoch has had before."""
        from hermes.wire.request import wire_of

        ledger, fragments = self._opened(), Fragments.of(request.fragments)
        wire = wire_of(call, profile.provider, b"", fragments, tail)
        if self.witness or not ledger.knows(wire):
            wire = replace(wire, head=codec.head(request, profile))
        past, self.past = self.past, ()
        for before in past:
            if before.head == call.head and before.model == call.model:
                sent = wire_of(before, profile.provider, wire.head, fragments.first(before.fragments), tail)
                ledger.expect(sent, profile)
                ledger.enter(sent)
        return wire
