"""What a provider's cache should make of each call, by the ledger; told from what was sent before.

A request is laid out in the ledger as soon as something is waited for: the store, or the answer. Where the
rules of a cache are not known nothing is laid out, and the ledger is not even imported.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hermes.contracts import Codec, ModelProfile
from hermes.fragments import Fragments
from hermes.frozen import frozen
from hermes.messages import ModelRequest
from hermes.prompt import SystemPrompt
from hermes.sessions.records import CallRecord

if TYPE_CHECKING:
    from hermes.wire.ledger import Ledger
    from hermes.wire.request import Wire
    from hermes.wire.verdict import Verdict

    Witness = Callable[[CallRecord, ModelRequest, ModelProfile, Verdict | None], None]


@frozen
class Asked:
    """A call and what it was made from; before its answer only its number and its head are known."""

    call: CallRecord
    request: ModelRequest
    codec: Codec
    profile: ModelProfile
    tail: bytes


@dataclass(slots=True)
class Foretelling:
    """The forecasts of a session. `past` are calls of this epoch that another process made.

    A `witness` is told of each call, with the verdict on it.
    """

    past: tuple[CallRecord, ...] = ()
    witness: Witness | None = None
    _ledger: Ledger | None = None
    _first: Asked | None = None  # the first call of all, until a second one needs the ledger

    def lay_out(self, asked: Asked) -> None:
        """Take a request before it is answered; what is left to be done then is quickly done."""
        if self.past or self._opens(asked.profile) or not self.needs(asked.profile):
            return
        with suppress(ValueError, RecursionError):  # a wire that cannot be read
            wire = self._wire(asked)
            self._opened().cache(wire, asked.profile).lay_out(wire)

    def needs(self, profile: ModelProfile) -> bool:
        """Whether anything can be foretold of a call, or somebody looks at it all the same."""
        return not profile.cache.silence or self.witness is not None

    def _opens(self, profile: ModelProfile) -> bool:
        """Whether this is the first call of all, of which nothing is cached and no mark is counted."""
        begun = self._ledger or self._first or self.past or self.witness
        return not (begun or profile.cache.silence or profile.cache.by_marks)

    def told(self, asked: Asked, prompt: SystemPrompt) -> CallRecord:
        """The answered call, with what its provider's cache should have made of it."""
        if self._opens(asked.profile):
            self._first = asked
            return replace(asked.call, forecast="first")
        call, verdict = None, None
        if self.needs(asked.profile):
            with suppress(ValueError, RecursionError):  # a wire that cannot be read: nothing is foretold
                call, verdict = self._judged(asked, prompt)
        call = call or replace(asked.call, forecast=asked.profile.cache.silence)
        if self.witness:
            self.witness(call, asked.request, asked.profile, verdict)
        return call

    def _judged(self, asked: Asked, prompt: SystemPrompt) -> tuple[CallRecord, Verdict | None]:
        ledger, wire, profile, verdict = self._opened(), self._wire(asked), asked.profile, None
        expected = ledger.expect(wire, profile)
        if self.witness:
            from hermes.wire.verdict import judge

            verdict = judge(wire, ledger.before, ledger.cache(wire, profile), expected, profile, prompt)
        self._enter(wire)
        why, read, write = expected.expected, expected.read, expected.write
        return replace(asked.call, forecast=why, predicted=read, predicted_write=write), verdict

    def _opened(self) -> Ledger:
        """The ledger, in which the first call stands."""
        if self._ledger is None:
            from hermes.wire.ledger import Ledger  # needed when a request is out, not before

            self._ledger = Ledger()
            first, self._first = self._first, None
            if first is not None:
                self._pass(self._wire(first), first.profile)
        return self._ledger

    def _wire(self, asked: Asked) -> Wire:
        """A call with its bytes, behind all that the epoch has had before."""
        from hermes.wire.request import wire_of

        call, profile, fragments = asked.call, asked.profile, Fragments.of(asked.request.fragments)
        wire = wire_of(call, profile.provider, b"", fragments, asked.tail)
        if self.witness or not self._opened().knows(wire):
            wire = replace(wire, head=asked.codec.head(asked.request, profile))
        past, self.past = self.past, ()
        for before in past:
            if before.head == call.head and before.model == call.model:
                sent = fragments.first(before.fragments)
                self._pass(wire_of(before, profile.provider, wire.head, sent, asked.tail), profile)
        return wire

    def _pass(self, wire: Wire, profile: ModelProfile) -> None:
        """Take a call that was answered before."""
        self._opened().expect(wire, profile)
        self._enter(wire)

    def _enter(self, wire: Wire) -> None:
        """Take what was told of a call. Its head is laid out, and kept only for who looks at it."""
        kept = wire if self.witness or not wire.head else replace(wire, head=b"")
        self._opened().enter(kept)
