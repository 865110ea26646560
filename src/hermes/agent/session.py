"""One conversation: the frozen prompt, the frozen tools, the messages, and the bytes that were sent for them.

The only mutable thing. What was sent is kept as it was sent; a request is all of it and what is new.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from hermes.contracts import Codec, ModelProfile
from hermes.errors import SessionBusy, StoreError
from hermes.fragments import Beginning, Fragments, Sent
from hermes.messages import Completed, Message, ModelRequest, ToolSpec, Usage
from hermes.prompt import SystemPrompt, shared
from hermes.provenance import Notice, Origin, digest_of
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
    storable,
    storable_message,
)

if TYPE_CHECKING:
    from hermes.wire.ledger import Ledger
    from hermes.wire.verdict import Verdict

    Witness = Callable[[CallRecord, ModelRequest, ModelProfile, Verdict | None], None]

Clock = Callable[[], datetime]

INTERRUPTED = "[interrupted: this call was stopped before it ended; what it had done until then stays done]"
STOPPED = "[interrupted]"

ASIDE = "aside"
"""How a call ended that is no part of the conversation: its question and answer were not kept."""


@dataclass(slots=True)
class _Unsaved:
    """What the next step will store."""

    messages: list[StoredMessage] = field(default_factory=list)
    fragments: list[Fragment] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    epochs: list[EpochRecord] = field(default_factory=list)
    blobs: list[bytes] = field(default_factory=list)
    session: SessionRecord | None = None

    def step(self, at: str) -> Step:
        return Step(
            at,
            tuple(self.messages),
            tuple(self.fragments),
            tuple(self.calls),
            tuple(self.epochs),
            tuple(self.blobs),
            self.session,
        )

    def then(self, later: _Unsaved) -> _Unsaved:
        return _Unsaved(
            self.messages + later.messages,
            self.fragments + later.fragments,
            self.calls + later.calls,
            self.epochs + later.epochs,
            self.blobs + later.blobs,
            later.session or self.session,
        )


@dataclass(slots=True)
class Session:
    """A session that is open in this process. `visible` are the messages the model sees, oldest first.

    In an epoch messages and fragments are only added: requests share them.

    `record` is without the prompt and the tools, which stand beside it. `answered` says how many messages, in
    how many fragments, the last answered call of the epoch had; `last` is what the last call used, `used_at`
    when it began; `interrupted`, that the last turn of another process did not come to its end. A `witness`
    is told of each call, with the verdict on it.
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
    _unsaved: _Unsaved = field(default_factory=_Unsaved)
    _known_blobs: set[str] = field(default_factory=set)
    _opening: tuple[SystemPrompt | None, tuple[str, ...], str] = (None, (), "")  # made once for each prompt
    _head: tuple[tuple[object, ...], str] = ((), "")  # what the last head was made from, and its digest
    witness: Witness | None = None
    _ledger: Ledger | None = None
    _verdict: Verdict | None = None
    _past: tuple[CallRecord, ...] = ()  # calls of the epoch that another process made
    _prompt: tuple[SystemPrompt | None, str] = (None, "")  # the prompt that was last noted, and its digest
    _noted: tuple[str, str] = ("", "")  # prompt and provider of the last call

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
        """A new session, stored before anything is sent."""
        session = cls(record, prompt, tools, store, clock)
        started = Step(record.created, epochs=(EpochRecord(0, "new session", record.created),))
        await store.create(session._whole(), started)
        return session

    @classmethod
    async def resume(cls, store: Store, session_id: str, clock: Clock) -> Session:
        """A stored session, with the very bytes that were sent. StoreError when it cannot be had."""
        record = await store.get(session_id)
        if record is None:
            raise StoreError(f"there is no session {session_id}; hermes sessions list shows them")
        tools = tuple(ToolSpec(*entry) for entry in json.loads(record.tools))
        state = json.loads(record.state)
        prompt = SystemPrompt.from_json(record.prompt_json)
        session = cls(replace(record, prompt_json="", tools="[]"), prompt, tools, store, clock)
        session.standing = dict(state.get("standing", {}))
        stored = await store.messages(session_id)
        begins = state.get("begins", 0)
        by_seq = {s.seq: s.message for s in stored}
        order = [*state.get("carried", ()), *(s.seq for s in stored if s.seq >= begins)]
        session.visible = [by_seq[seq] for seq in order]
        session.next_seq = stored[-1].seq + 1 if stored else 0
        fragments = await store.fragments(session_id, record.epoch)
        pruned = any(f.gone for f in fragments)
        fragments = () if pruned else fragments
        session.fragments = Sent(f.body for f in fragments)
        session._chain = chain(NO_CHAIN, session.fragments.so_far())
        sent = order.index(fragments[-1].last_seq) + 1 if fragments else 0
        session._unsent = [(seq, by_seq[seq]) for seq in order[sent:]]
        calls = await store.calls(session_id)
        session.calls = len(calls)
        known = {d for call in calls for d in (call.head, call.tail, call.prompt) if d}
        session._known_blobs = set() if pruned else known
        for call in calls:
            session.usage = session.usage.plus(call.usage)
            session._noted = call.prompt or session._noted[0], call.provider or session._noted[1]
        session._past = tuple(call for call in calls if call.epoch == record.epoch)
        session.last = calls[-1].usage if calls else Usage()
        session.used_at = calls[-1].started if calls else ""
        heard = [c for c in calls if c.epoch == record.epoch and c.stop != ASIDE and not pruned]
        if heard:
            last = heard[-1]
            session.last_input = last.usage.input + last.usage.output
            session.answered = order.index(fragments[last.fragments - 1].last_seq) + 1, last.fragments
        elif record.epoch:
            session._reason = (await store.epochs(session_id))[-1].reason
        if pruned:
            session.new_epoch("what was sent is kept no longer", session.prompt, session.visible)
        session._mend()
        return session

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
            texts = tuple(shared(layer.tier, layer.text) for layer in layers)
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

    # -- keep ---------------------------------------------------------------------------------------------

    def called(self, request: ModelRequest, codec: Codec, profile: ModelProfile, call: CallRecord) -> None:
        """Note a call, with all that is needed to make its request again."""
        self.answered = len(request.messages), len(request.fragments)
        self._reason = ""
        self.last_input = call.usage.input + call.usage.output
        self._note(request, codec, profile, call, len(request.fragments))

    def called_aside(
        self, request: ModelRequest, codec: Codec, profile: ModelProfile, call: CallRecord
    ) -> None:
        """Note a call that was made beside the conversation; what only it had stands in its tail."""
        shared = self.fragments.so_far().shared(request.fragments)
        self._note(request, codec, profile, replace(call, stop=ASIDE), shared)

    def _note(
        self, request: ModelRequest, codec: Codec, profile: ModelProfile, call: CallRecord, shared: int
    ) -> None:
        own = b",".join(request.fragments[shared:])
        tail = (b"," + own if own and shared else own) + codec.tail(request, profile)
        self.calls += 1
        noted = replace(
            call,
            n=self.calls,
            epoch=self.record.epoch,
            head=self._head_of(request, codec, profile),
            tail=self._blob(tail),
            fragments=shared,
            chain=self._chain
            if shared == len(self.fragments)
            else chain(NO_CHAIN, self.fragments.so_far().first(shared)),
            messages=self.next_seq,
        )
        noted = self._made_from(self._foretold(noted, request, codec, profile), profile)
        self.usage, self.last, self.used_at = self.usage.plus(call.usage), call.usage, call.started
        self._unsaved.calls.append(noted)
        if self.witness:
            self.witness(noted, request, profile, self._verdict)
            self._verdict = None

    def _foretold(
        self, call: CallRecord, request: ModelRequest, codec: Codec, profile: ModelProfile
    ) -> CallRecord:
        """The call with what its provider's cache should have made of it, told from calls before."""
        from hermes.wire.ledger import Ledger  # needed when the answer is there, not before
        from hermes.wire.request import wire_of

        ledger = self._ledger = self._ledger or Ledger()
        tail = codec.tail(request, profile)
        fragments = Fragments.of(request.fragments)
        wire = wire_of(call, profile.provider, b"", fragments, tail)
        try:
            if self.witness or not ledger.knows(wire):
                wire = replace(wire, head=codec.head(request, profile))
            past, self._past = self._past, ()
            for before in past:
                if before.head == call.head and before.model == call.model:
                    sent = fragments.first(before.fragments)
                    ledger.expect(wire_of(before, profile.provider, wire.head, sent, tail), profile)
                    ledger.enter(wire_of(before, profile.provider, wire.head, sent, tail))
            expected = ledger.expect(wire, profile)
            if self.witness:
                from hermes.wire.verdict import judge

                cache = ledger.cache(wire, profile)
                self._verdict = judge(wire, ledger.before, cache, expected, profile, self.prompt)
            ledger.enter(wire)
        except (ValueError, RecursionError):  # a wire that cannot be read; nothing is foretold
            return call
        return replace(
            call, predicted=expected.read, predicted_write=expected.write, forecast=expected.expected
        )

    def _made_from(self, call: CallRecord, profile: ModelProfile) -> CallRecord:
        """The call with its prompt and provider, where they are others than in the call before."""
        if self._prompt[0] is not self.prompt:
            self._prompt = self.prompt, self._blob(storable(self.prompt.to_json()).encode())
        noted, self._noted = self._noted, (self._prompt[1], profile.provider)
        return replace(
            call,
            prompt=self._prompt[1] if self._prompt[1] != noted[0] else "",
            provider=profile.provider if profile.provider != noted[1] else "",
        )

    def _head_of(self, request: ModelRequest, codec: Codec, profile: ModelProfile) -> str:
        """The digest of a request's head, made anew only when something in it is another than last time."""
        made_from = (request.system, request.tools, codec, profile)
        if self._head[0] != made_from:
            self._head = made_from, self._blob(codec.head(request, profile))
        return self._head[1]

    def _blob(self, body: bytes) -> str:
        """The digest of bytes; they are stored with this step when they are not yet."""
        digest = digest_of(body)
        if digest not in self._known_blobs:
            self._known_blobs.add(digest)
            self._unsaved.blobs.append(body)
        return digest

    async def save(self) -> None:
        """Store all that is new in one durable step."""
        unsaved, self._unsaved = self._unsaved, _Unsaved()
        if unsaved == _Unsaved():
            return
        at = self.clock().isoformat(timespec="milliseconds")
        try:
            await self.store.commit(self.record.id, unsaved.step(at))
        except StoreError:
            self._unsaved = unsaved.then(self._unsaved)  # nothing is lost: it is stored with the next step
            raise

    async def keep(self) -> tuple[Notice, ...]:
        """`save`, where a store that fails for now stops nobody: what it missed comes later."""
        try:
            await self.save()
        except SessionBusy:
            raise
        except StoreError as error:
            text = f"this step is not saved yet ({error}); it will be stored with the next one"
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
        self.prompt = prompt
        if tools is not None:
            self.tools = tools
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
        self._unsaved.session = self._whole()

    def _whole(self) -> SessionRecord:
        """The record as it is stored."""
        return replace(self.record, prompt_json=self.prompt.to_json(), tools=_listed(self.tools))


def _listed(tools: tuple[ToolSpec, ...]) -> str:
    return json.dumps([[t.name, t.description, t.parameters] for t in tools], ensure_ascii=False)


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
