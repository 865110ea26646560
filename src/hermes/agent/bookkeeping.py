"""Notes each call of a session with all that is needed to make its request again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from hermes.agent.foretelling import Asked, Foretelling
from hermes.contracts import Codec, ModelProfile
from hermes.messages import Completed, ModelRequest
from hermes.prompt import SystemPrompt
from hermes.provenance import digest_of_pieces
from hermes.sessions.records import Blob, CallRecord

MUCH = 64
"""More new fragments than this are laid out only when the request is surely on its way."""
ON_ITS_WAY = 0.05
"""Seconds until a request is; a model thinks longer."""


@dataclass(slots=True)
class Bookkeeping:
    """What was noted of calls so far, so that the next one names only what is another.

    `known` are the digests of the bytes that are stored, or will be with the next step.
    """

    foretelling: Foretelling = field(default_factory=Foretelling)
    known: set[str] = field(default_factory=set)
    _head: tuple[tuple[object, ...], str] = ((), "")  # the last one noted: made from what, its digest
    _prompt: tuple[SystemPrompt | None, str] = (None, "")  # the last one noted, and its digest
    _noted: tuple[str, str] = ("", "")  # prompt and provider of the last call
    _laying: asyncio.Handle | None = None  # what is done as soon as there is time
    _asked: int = 0  # fragments of the last request

    def take_up(self, calls: Iterable[CallRecord], epoch: int, *, pruned: bool) -> None:
        """Go on behind the calls of a stored session; those of an epoch that is `pruned` have no bytes."""
        for call in calls:
            self._noted = call.prompt or self._noted[0], call.provider or self._noted[1]
            if not pruned:
                self.known |= {digest for digest in (call.head, call.tail, call.prompt) if digest}
        self.foretelling.past = tuple(call for call in calls if call.epoch == epoch)

    def stores(self, prompt: SystemPrompt, pieces: tuple[bytes, ...]) -> None:
        """A prompt is stored with its session, in these pieces."""
        self._prompt = prompt, digest_of_pieces(pieces)
        self.known.add(self._prompt[1])

    def asked(self, n: int, request: ModelRequest, codec: Codec, profile: ModelProfile) -> None:
        """Call `n` is about to be made: it is laid out while the store, or the model, is waited for."""
        if self.foretelling.needs(profile):
            call = CallRecord(n, 0, "", self._head_of(request, codec, profile), "", 0, "", 0)
            asked = Asked(call, request, codec, profile, codec.tail(request, profile))
            new, self._asked = len(request.fragments) - self._asked, len(request.fragments)
            wait = 0 if 0 <= new <= MUCH else ON_ITS_WAY
            self._laying = asyncio.get_running_loop().call_later(wait, self.foretelling.lay_out, asked)

    def noted(
        self,
        call: CallRecord,
        request: ModelRequest,
        codec: Codec,
        profile: ModelProfile,
        prompt: SystemPrompt,
        blobs: list[Blob],
    ) -> CallRecord:
        """An answered call as it is stored; bytes that are not stored yet are put to the `blobs`."""
        if self._laying is not None:  # nobody was waited for
            self._laying.cancel()
        tail = codec.tail(request, profile)
        own = b",".join(request.fragments[call.fragments :])  # what only this call had stands before its tail
        head = self._head_of(request, codec, profile)
        if head not in self.known:
            self._blob(codec.layout(request, profile)[0], blobs)
        made_from = self._prompt_of(prompt, blobs)
        before, self._noted = self._noted, (made_from, profile.provider)
        call = replace(
            call,
            head=head,
            tail=self._blob(((b"," + own if own and call.fragments else own) + tail,), blobs),
            prompt=made_from if made_from != before[0] else "",
            provider=profile.provider if profile.provider != before[1] else "",
        )
        return self.foretelling.told(Asked(call, request, codec, profile, tail), prompt)

    def _head_of(self, request: ModelRequest, codec: Codec, profile: ModelProfile) -> str:
        """The digest of a request's head, made anew only when something in it is another than last time."""
        made_from = (request.system, request.tools, codec, profile)
        if self._head[0] != made_from:
            self._head = made_from, digest_of_pieces(codec.layout(request, profile)[0])
        return self._head[1]

    def _prompt_of(self, prompt: SystemPrompt, blobs: list[Blob]) -> str:
        if self._prompt[0] is not prompt:
            self._prompt = prompt, self._blob(prompt.json_pieces(), blobs)
        return self._prompt[1]

    def _blob(self, body: tuple[bytes, ...], blobs: list[Blob]) -> str:
        """The digest of bytes; they are stored with this step when they are not yet."""
        digest = digest_of_pieces(body)
        if digest not in self.known:
            self.known.add(digest)
            blobs.append(body)
        return digest


def call_record(answer: Completed, started: str) -> CallRecord:
    """What is known of a call when it has been answered; the session adds where it stands."""
    return CallRecord(
        n=0,
        epoch=0,
        started=started,
        head="",
        tail="",
        fragments=0,
        chain="",
        messages=0,
        usage=answer.usage,
        request_id=answer.request_id,
        model=answer.model,
        stop=answer.stop,
        inserts=answer.trace.marks,
        first=answer.trace.first,
        route=answer.trace.route,
        told=answer.trace.told,
    )
