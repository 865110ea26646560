"""Talks in a session: turns, what is said while they run, summaries of what was said before."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from hermes.agent.approval import Approval
from hermes.agent.compaction import Compactor
from hermes.agent.holder import Holder
from hermes.agent.loop import Limits, Turn
from hermes.agent.pinned_skills import pinned
from hermes.agent.result_notes import Hints
from hermes.agent.session import Session
from hermes.contracts import Whose
from hermes.errors import SessionBusy
from hermes.messages import Completed, Message
from hermes.provenance import Notice, Origin
from hermes.tooling import ToolContext
from hermes.turns import Ask, EphemeralOverlay, Event, NoticeShown, TurnEnded, TurnRequest


class Talker(Holder):
    """A session that can be talked in. Who makes one says within which limits, and who is asked first."""

    limits: Limits
    hints: Hints
    ask: Ask
    approval: Approval
    compactor: Compactor
    _built_tools: bool  # whether the tools are the usual ones
    _steering: deque[str]
    _brought: list[EphemeralOverlay]
    _seen_files: dict[str, dict[str, str]]

    async def run(self, turn: TurnRequest | str) -> AsyncGenerator[Event, None]:
        """One turn, event by event; the last is `TurnEnded`. A text is a turn without anything beside it."""
        turn = TurnRequest(turn) if isinstance(turn, str) else turn
        async with self.held(turn.text) as session:
            whose, answered = self._whose(session.record.id), ""
            try:
                async with aclosing(self._caught_up(session, turn, whose)) as events:
                    async for event in events:
                        self.extensions.event(event, session.record.id)
                        if isinstance(event, TurnEnded):
                            answered = event.text
                            for notice in self.extensions.told():
                                yield NoticeShown(notice)
                        yield event
            finally:
                self.extensions.ended(whose, turn.text, answered, self.clock)

    async def _caught_up(
        self, session: Session, turn: TurnRequest, whose: Whose
    ) -> AsyncGenerator[Event, None]:
        """A turn behind all that is stored: what another process said since the last one is taken in."""
        brought, begun = tuple(self._brought), False
        try:
            async with aclosing(self._once(session, turn, whose)) as events:
                async for event in events:
                    begun = begun or not isinstance(event, NoticeShown)
                    yield event
            return
        except SessionBusy as busy:
            if begun or busy.holder:
                raise
        self._brought[:] = brought
        session = self.session = await self._resume()
        text = "this session was gone on with elsewhere; what was said there is taken in"
        yield NoticeShown(Notice("info", text, Origin("sessions")))
        async with aclosing(self._once(session, turn, whose)) as events:
            async for event in events:
                yield event

    async def _once(self, session: Session, turn: TurnRequest, whose: Whose) -> AsyncGenerator[Event, None]:
        """A turn, with room made for it where there is little."""
        self._extend()
        try:
            if self.compactor.due(session, self.model.profile, turn.text):
                async with aclosing(self._summarise(session)) as summarising:
                    async for event in summarising:
                        yield event
            messages, told = await self._opened(session, turn, whose)
        except (asyncio.CancelledError, GeneratorExit):
            await asyncio.shield(session.stopped(Message("user", turn.text)))
            raise
        running = self._turn(session).run(*messages, told=told)
        async with aclosing(self.extensions.watched(running, session, self.model.profile)) as events:
            async for event in events:
                yield event

    async def _opened(
        self, session: Session, turn: TurnRequest, whose: Whose
    ) -> tuple[tuple[Message, ...], tuple[Notice, ...]]:
        """What a turn begins with: the messages, with all that is added to them, and what is to be told."""
        added = await self.extensions.overlays(turn.text, whose, self.model.profile.name, session.visible)
        self.model, crossed = await self.boundaries.crossed(session, self.model)
        # From here on nothing is waited for: what counts as said must come to stand in a message.
        first, missing = pinned(self.sources) if not session.visible and self._built_tools else ((), ())
        overlays = (*first, *turn.overlays, *self._brought, *added)
        self._brought.clear()
        prefill = turn.prefill if not session.visible else ()
        said, notices = self._said(session, replace(turn, overlays=overlays))
        told = (*self._interrupted(session), *crossed, *self._staged(session), *self.extensions.told())
        return (*prefill, *said), (*told, *missing, *notices)

    def _turn(self, session: Session) -> Turn:
        context = ToolContext(
            session.record.id,
            cwd=self.workdir.path,
            ask=self.ask,
            visible=lambda: session.visible,
            seen=self._seen_files.setdefault(session.record.id, {}),
        )
        return Turn(
            session,
            self.model,
            lambda: self.hands.callable(session, self.extensions),
            context,
            self.limits,
            self._drain,
            self.hints,
            compactor=self.compactor,
            guard=self.approval.refusal,
        )

    def steer(self, text: str) -> None:
        """Say something while the agent works; it is heard before the next call of the model."""
        self._steering.append(text)

    def bring(self, overlay: EphemeralOverlay) -> None:
        """Add a text to the person's next message, such as a skill that is to be followed."""
        self._brought.append(overlay)

    def _drain(self) -> Sequence[str]:
        said = tuple(self._steering)
        self._steering.clear()
        return said

    def unheard(self) -> Sequence[str]:
        """What was said to steer and came too late to be heard; it is given once."""
        return self._drain()

    async def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Have the older messages summarised now; `focus` names what is to be kept with special care."""
        async with self.held() as session, aclosing(self._summarise(session, focus)) as told:
            async for event in told:
                yield event

    async def _summarise(self, session: Session, focus: str = "") -> AsyncGenerator[Event, None]:
        async with aclosing(self.compactor.run(session, self.model, focus=focus)) as events:
            async for event in events:
                if not isinstance(event, Completed):
                    yield event
