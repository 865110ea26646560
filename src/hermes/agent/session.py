"""One conversation: the frozen prompt, the frozen tools, the messages, and the bytes that were sent for them.

The only mutable thing. What was sent is kept as it was sent; a request is all of it and what is new.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from hermes.agent.bookkeeping import Bookkeeping
from hermes.agent.unsaved import Unsaved
from hermes.contracts import Codec, ModelProfile
from hermes.errors import SessionBusy, StoreError
from hermes.fragments import Beginning, Sent
from hermes.messages import Message, ModelRequest, ToolSpec, Usage
from hermes.prompt import SystemPrompt, shared
from hermes.provenance import Notice, Origin
from hermes.sessions.contract import Store
from hermes.sessions.records import (
    NO_CHAIN,
    CallRecord,
    EpochRecord,
    Fragment,
    SessionRecord,
    Step,
    StoredMessage,
    chain,
    storable_message,
)

if TYPE_CHECKING:
    from hermes.agent.foretelling import Witness

Clock = Callable[[], datetime]

INTERRUPTED = "[interrupted: this call was stopped before it ended; what it had done until then stays done]"
STOPPED = "[interrupted]"

ASIDE = "aside"
"""How a call ended that is no part of the conversation: its question and answer were not kept."""


@dataclass(slots=True)
class Session:
    """A session that is open in this process. `visible` are the messages the model sees, oldest first.

    In an epoch messages and fragments are only added: requests share them.

    `record` is without the prompt and the tools, which stand beside it; what other sessions have of them too
    is held once for all. `answered` says how many messages, in
    how many fragments, the last answered call of the epoch had; `last` is what the last call used, `used_at`
    when it began; `interrupted`, that the last turn of another process did not come to its end.
    """

    record: SessionRecord
    prompt: SystemPrompt
    tools: tuple[ToolSpec, ...]
    store: Store
    clock: Clock
    visible: list[Message] = field(default_factory=list)
    fragments: Sent = field(default_factory=Sent)
    standing: dict[str, str] = field(default_factory=dict)
    next_seq: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    last_input: int = 0
    last: Usage = field(default_factory=Usage)
    answered: tuple[int, int] = (0, 0)
    used_at: str = ""
    interrupted: bool = False
    _chain: str = NO_CHAIN
    _reason: str = ""  # why the next request does not begin with the last one
    _unsent: list[tuple[int, Message]] = field(default_factory=list)
    _unsaved: Unsaved = field(default_factory=Unsaved)
    _books: Bookkeeping = field(default_factory=Bookkeeping)
    _opening: tuple[SystemPrompt | None, tuple[str, ...], str] = (None, (), "")  # made once for each prompt
    _stored: tuple[SystemPrompt | None, tuple[ToolSpec, ...]] = (None, ())  # as the store has them

    # -- open ---------------------------------------------------------------------------------------------

    @classmethod
    async def begin(
        cls,
        store: Store,
        record: SessionRecord,
        prompt: SystemPrompt,
        tools: tuple[ToolSpec, ...],
        clock: Clock,
    ) -> Session:
        """A new session of a `shared` prompt, stored before anything is sent."""
        session = cls(replace(record, prompt_json="", tools=""), prompt, shared(tools), store, clock)
        epochs = (EpochRecord(0, "new session", record.created),)
        made = session._made()
        await store.create(session._recorded(), Step(record.created, epochs=epochs, prompt=made))
        session._stored = session.prompt, session.tools
        return session

    @classmethod
    async def resume(cls, store: Store, session_id: str, clock: Clock) -> Session:
        """A stored session, with the very bytes that were sent. StoreError when it cannot be had."""
        record = await store.get(session_id)
        if record is None:
            raise StoreError(f"there is no session {session_id}; hermes sessions list shows them")
        tools = tuple(ToolSpec(*entry) for entry in json.loads(record.tools))
        prompt = SystemPrompt.from_json(record.prompt_json).shared()
        session = cls(replace(record, prompt_json="", tools=""), prompt, shared(tools), store, clock)
        session._stored = session.prompt, session.tools
        stored = await store.messages(session_id)
        fragments = await store.fragments(session_id, record.epoch)
        pruned = any(f.gone for f in fragments)
        ends = session._take_messages(stored, () if pruned else fragments)
        heard = session._take_calls(await store.calls(session_id), pruned=pruned)
        if heard is not None:
            session.last_input = heard.usage.input + heard.usage.output
            session.answered = ends[heard.fragments - 1], heard.fragments
        elif record.epoch:
            session._reason = (await store.epochs(session_id))[-1].reason
        if pruned:
            session.new_epoch("what was sent is kept no longer", session.prompt, session.visible)
        session._mend()
        return session

    def _take_messages(self, stored: Sequence[StoredMessage], fragments: Sequence[Fragment]) -> list[int]:
        """What the model sees, and what of it was sent; how many messages there are up to each fragment."""
        state = json.loads(self.record.state)
        self.standing = dict(state.get("standing", {}))
        begins = state.get("begins", 0)
        by_seq = {s.seq: s.message for s in stored}
        order = [*state.get("carried", ()), *(s.seq for s in stored if s.seq >= begins)]
        self.visible = [by_seq[seq] for seq in order]
        self.next_seq = stored[-1].seq + 1 if stored else 0
        self.fragments = Sent(f.body for f in fragments)
        self._chain = chain(NO_CHAIN, self.fragments.so_far())
        place = {seq: n for n, seq in enumerate(order, 1)}
        ends = [place[f.last_seq] for f in fragments]
        self._unsent = [(seq, by_seq[seq]) for seq in order[ends[-1] if ends else 0 :]]
        return ends

    def _take_calls(self, calls: Sequence[CallRecord], *, pruned: bool) -> CallRecord | None:
        """What was called and used; the last call of this epoch, while its bytes are kept."""
        self.calls = len(calls)
        for call in calls:
            self.usage = self.usage.plus(call.usage)
        if calls:
            self.last, self.used_at = calls[-1].usage, calls[-1].started
        self._books.take_up(calls, self.record.epoch, pruned=pruned)
        heard = [c for c in calls if c.epoch == self.record.epoch and c.stop != ASIDE and not pruned]
        return heard[-1] if heard else None

    def _mend(self) -> None:
        """End what a killed process left open: calls without results are on record as interrupted."""
        if not self.visible or (self.visible[-1].role == "assistant" and not self.visible[-1].tool_calls):
            return
        last = max((i for i, m in enumerate(self.visible) if m.role == "assistant"), default=-1)
        answered = {m.call_id for m in self.visible[last + 1 :]}
        for call in self.visible[last].tool_calls if last >= 0 else ():
            if call.id not in answered:
                self.append(Message("tool", INTERRUPTED, call_id=call.id, name=call.name, error=True))
        self.append(Message("assistant", STOPPED))
        self.interrupted = True

    # -- say ----------------------------------------------------------------------------------------------

    def append(self, message: Message) -> Message:
        """Add a message at the end; it gets its place and time. It is sent with the next request."""
        now = self.clock().isoformat(timespec="milliseconds")
        message = storable_message(replace(message, id=f"m{self.next_seq}", time=message.time or now))
        self.visible.append(message)
        self._unsent.append((self.next_seq, message))
        self._unsaved.messages.append(StoredMessage(self.next_seq, message))
        self.next_seq += 1
        return message

    def stand(self, standing: dict[str, str]) -> None:
        """What of the standing overlays has been said from now on."""
        if standing != self.standing:
            self.standing = standing
            self._change(state=self._state(standing=standing))

    def remember(self, **state: object) -> None:
        """Keep something in the stored state of the session, as JSON has it, under these names."""
        self._change(state=self._state(**state))

    def request(self, codec: Codec, profile: ModelProfile, max_tokens: int = 8192) -> ModelRequest:
        """The next request: every byte that was sent, and the new messages, serialised here once."""
        if self._unsent:
            first, last = self._unsent[0][0], self._unsent[-1][0]
            sent = len(self.visible) - len(self._unsent)
            after = self.visible[sent - 1].role if sent else ""
            made = codec.fragments(tuple(m for _, m in self._unsent), profile, after)
            n = len(self.fragments)
            new = (Fragment(self.record.epoch, n + i, first, last, b) for i, b in enumerate(made))
            self._unsaved.fragments += new
            self.fragments.add(made)
            self._chain = chain(self._chain, made)
            self._unsent.clear()
        return self._request(profile, max_tokens)

    def _request(self, profile: ModelProfile, max_tokens: int) -> ModelRequest:
        if self._opening[0] is not self.prompt:
            layers = self.prompt.layers
            texts = tuple(shared(layer.text) for layer in layers)
            self._opening = self.prompt, texts, layers[0].digest[:32]
        _, system, cache_key = self._opening
        return ModelRequest(
            model=profile.name,
            system=system,
            tools=self.tools,
            messages=Beginning(self.visible),
            fragments=self.fragments.so_far(),
            max_tokens=max_tokens,
            session_id=self.record.id,
            cache_key=cache_key,
            epoch=self._reason,
        )

    def aside(
        self,
        stands_on: tuple[int, int],
        messages: tuple[Message, ...],
        codec: Codec,
        profile: ModelProfile,
        max_tokens: int = 8192,
    ) -> ModelRequest:
        """A question beside the conversation: so many of its messages and fragments, and others after them.

        Nothing of it is kept; the conversation goes on as if it had not been asked.
        """
        heard, fragments = stands_on
        made = codec.fragments(messages, profile, self.visible[heard - 1].role if heard else "")
        return replace(
            self._request(profile, max_tokens),
            messages=(*self.visible[:heard], *messages),
            fragments=(*self.fragments.so_far().first(fragments), *made),
            session_id=f"{self.record.id}:{ASIDE}",
            epoch=ASIDE,
        )

    def asked(self, request: ModelRequest, codec: Codec, profile: ModelProfile) -> None:
        """A request is about to be stored and made: it is laid out while someone else has work to do."""
        self._books.asked(self.calls + 1, request, codec, profile)

    @property
    def witness(self) -> Witness | None:
        """Who is told of each call, with the verdict on it."""
        return self._books.foretelling.witness

    @witness.setter
    def witness(self, witness: Witness) -> None:
        self._books.foretelling.witness = witness

    # -- keep ---------------------------------------------------------------------------------------------

    def called(self, request: ModelRequest, codec: Codec, profile: ModelProfile, call: CallRecord) -> None:
        """Note a call, with all that is needed to make its request again."""
        self.answered = len(request.messages), len(request.fragments)
        self._reason = ""
        self.last_input = call.usage.input + call.usage.output
        self._note(request, codec, profile, call, len(request.fragments), self._chain)

    def called_aside(
        self, request: ModelRequest, codec: Codec, profile: ModelProfile, call: CallRecord
    ) -> None:
        """Note a call that was made beside the conversation; what only it had stands in its tail."""
        shared = self.fragments.so_far().shared(request.fragments)
        so_far = chain(NO_CHAIN, self.fragments.so_far().first(shared))
        self._note(request, codec, profile, replace(call, stop=ASIDE), shared, so_far)

    def _note(
        self,
        request: ModelRequest,
        codec: Codec,
        profile: ModelProfile,
        call: CallRecord,
        shared: int,
        so_far: str,
    ) -> None:
        """Note a call that had so many fragments with the conversation, of this chain."""
        self.calls += 1
        self.usage, self.last, self.used_at = self.usage.plus(call.usage), call.usage, call.started
        call = replace(
            call,
            n=self.calls,
            epoch=self.record.epoch,
            fragments=shared,
            chain=so_far,
            messages=self.next_seq,
        )
        blobs = self._unsaved.blobs
        self._unsaved.calls.append(self._books.noted(call, request, codec, profile, self.prompt, blobs))

    async def save(self) -> None:
        """Store all that is new in one durable step."""
        unsaved, self._unsaved = self._unsaved, Unsaved()
        if not unsaved:
            return
        stands = self.prompt, self.tools
        at = self.clock().isoformat(timespec="milliseconds")
        try:
            await self.store.commit(self.record.id, unsaved.step(at))
        except StoreError:
            self._unsaved = unsaved.then(self._unsaved)  # nothing is lost: it is stored with the next step
            raise
        self._stored = stands

    async def stopped(self, *messages: Message) -> None:
        """Store these as the last of a turn that was stopped; the assistant's turn ends too."""
        for message in (*messages, Message("assistant", STOPPED)):
            self.append(message)
        with suppress(StoreError):  # what cannot be stored comes with the next step
            await self.save()

    async def keep(self) -> tuple[Notice, ...]:
        """`save`, where a store that fails for now stops nobody: what it missed comes later."""
        try:
            await self.save()
        except SessionBusy:
            raise
        except StoreError as error:
            text = f"this step is not saved yet ({error}); it is tried again with the next one"
            return (Notice("error", text, Origin("sessions")),)
        return ()

    # -- change -------------------------------------------------------------------------------------------

    def new_epoch(
        self,
        reason: str,
        prompt: SystemPrompt,
        carried: Iterable[Message],
        tools: tuple[ToolSpec, ...] | None = None,
    ) -> None:
        """Begin anew on the wire: another prompt, other tools, or fewer messages. The reason is recorded."""
        number = self.record.epoch + 1
        keep = list(carried)
        self.visible = keep
        self.fragments = Sent()
        self._chain = NO_CHAIN
        self._reason = reason
        self.answered, self.last_input = (0, 0), 0
        self._unsent = [(int(m.id[1:]), m) for m in keep]
        if prompt is not self.prompt:
            self.prompt = prompt.shared()
        if tools is not None:
            self.tools = shared(tools)
        at = self.clock().isoformat(timespec="milliseconds")
        self._unsaved.epochs.append(EpochRecord(number, reason, at))
        state = self._state(carried=[int(m.id[1:]) for m in keep], begins=self.next_seq)
        self._change(epoch=number, state=state)

    def speak_with(self, profile: ModelProfile, codec: Codec) -> None:
        """Go on with this model. With the same provider and wire nothing moves; else an epoch ends."""
        record = self.record
        if (record.provider, record.codec) != (profile.provider, codec.name):
            self.new_epoch(f"{profile.provider or profile.name} takes over", self.prompt, self.visible)
        if (record.model, record.provider, record.codec) != (profile.name, profile.provider, codec.name):
            self._change(model=profile.name, provider=profile.provider, codec=codec.name)

    def _state(self, **changes: object) -> str:
        state = {**json.loads(self.record.state), **changes}
        return json.dumps(state, ensure_ascii=False, sort_keys=True)

    def _change(self, **changes: str | int) -> None:
        self.record = replace(self.record, **changes)  # type: ignore[arg-type]
        self._unsaved.session = self._recorded()
        if self.prompt is not self._stored[0]:
            self._unsaved.prompt = self._made()

    def _recorded(self) -> SessionRecord:
        """The record, with the tools where the store has others."""
        stored = self._stored[0] is not None and self.tools is self._stored[1]
        return self.record if stored else replace(self.record, tools=_listed(self.tools))

    def _made(self) -> tuple[bytes, ...]:
        """The prompt as it is stored."""
        pieces = self.prompt.json_pieces()
        self._books.stores(self.prompt, pieces)
        return pieces


@lru_cache(maxsize=16)
def _listed(tools: tuple[ToolSpec, ...]) -> str:
    return json.dumps([[t.name, t.description, t.parameters] for t in tools], ensure_ascii=False)
