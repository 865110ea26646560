"""Holds one session: takes it up or begins it, builds its prompt, gathers what is said with a message."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from hermes.agent.boundaries import Boundaries
from hermes.agent.changes import changed_since
from hermes.agent.extensions import Extensions, whose_of
from hermes.agent.first_use import met
from hermes.agent.hands import Hands
from hermes.agent.memory_slots import memory_project
from hermes.agent.options import AgentOptions
from hermes.agent.overlays import DAY, day_of, gather_overlays, place, said
from hermes.agent.overlays import Sources as OverlaySources
from hermes.agent.personality import find_personality, personalities
from hermes.agent.prompt_builder import Sources
from hermes.agent.session import Session
from hermes.agent.system_prompt import build_system_prompt, default_slots
from hermes.agent.telling import Telling
from hermes.config import environment
from hermes.contracts import Model, Whose
from hermes.memory.scope import MemoryScope, memory_files
from hermes.messages import Message
from hermes.model_tools import builtin_tools, tool_definitions
from hermes.prompt import PromptFacts, Switches, SystemPrompt, Tier, WorkDir
from hermes.provenance import Notice
from hermes.sessions.contract import Store
from hermes.sessions.records import SessionRecord
from hermes.tooling import Tool
from hermes.turns import EphemeralOverlay, TurnRequest

TITLE = 60
"""Characters of the first words that become a session's title."""


class Holder:
    """A session, or what one will be begun from: the sources of its prompt, a model, tools, a store.

    `session` is `None` until the first turn; `session_id` then names the stored one to go on with, if any.
    `parent` is the session of who sent this one, and `switches` leave out parts of its prompt.
    """

    parent = ""
    switches = Switches()

    def __init__(
        self,
        sources: Sources,
        workdir: WorkDir,
        store: Store,
        model: Model,
        scope: MemoryScope,
        platform: str,
        options: AgentOptions,
    ) -> None:
        self.sources, self.workdir, self.store, self.model = sources, workdir, store, model
        self.memory_scope, self.platform, self.clock = scope, platform, options.clock
        project = memory_project(sources.home, workdir, new=True)
        self.memory = memory_files(sources.config.memory, scope, project)
        self.system_message = options.system_message
        told = options.ephemeral_system_prompt
        self.ephemeral_system_prompt = environment().ephemeral_system_prompt if told is None else told
        self.personality = ""
        self.session: Session | None = None
        self.session_id = ""
        self.patience = 30.0  # seconds to wait for a session that someone else holds
        self.boundaries = Boundaries(sources.config, sources.home, store)
        self.extensions = Extensions()
        self.hands = Hands((), sources.config)
        self._telling = Telling(sources.home)
        self._name = f"{os.getpid()}:{os.urandom(4).hex()}"  # by which it holds a session

    # -- hold ---------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def held(self, said: str = "") -> AsyncGenerator[Session, None]:
        """The session, for as long as nobody else may go on with it."""
        session = await self._hold(said)
        try:
            yield session
        finally:
            await self.store.release(session.record.id, self._name)

    async def _hold(self, said: str = "") -> Session:
        """The session, held so that nobody else goes on with it; a new one is called by what is `said`."""
        if self.session is None and self.session_id:
            self.session_id = await self.store.resolve(self.session_id)
            await self.store.claim(self.session_id, self._name, self.patience)
            self.session = await self._resume()
            return self.session
        if self.session is None:
            self.session = await self._begin(said)
            self.session_id = self.session.record.id
        await self.store.claim(self.session_id, self._name, self.patience)
        return self.session

    async def _begin(self, said: str = "") -> Session:
        session_id = os.urandom(6).hex()
        whose = self._whose(session_id)
        noted = {"whose": whose.user} if whose.user else {}
        record = SessionRecord(
            id=session_id,
            created=self.clock().isoformat(timespec="seconds"),
            title=" ".join(said[:1000].split())[:TITLE],
            platform=self.platform,
            model=self.model.profile.name,
            provider=self.model.profile.provider,
            codec=self.model.codec.name,
            parent=self.parent,
            state=json.dumps({"cwd": self.workdir.path, **noted}, ensure_ascii=False),
        )
        await self.extensions.begin(whose)
        self._extend()
        prompt = self._prompt(session_id).shared()
        self._telling.first(met(self.sources.config, self.sources.home, prompt, self._facts(session_id)))
        return await Session.begin(self.store, record, prompt, tool_definitions(self.tools), self.clock)

    async def _resume(self) -> Session:
        await self.extensions.resume()
        return await Session.resume(self.store, self.session_id, self.clock)

    # -- tools --------------------------------------------------------------------------------------------

    @property
    def tools(self) -> Mapping[str, Tool]:
        """All tools that there are now, by name."""
        return self.hands.tools

    @tools.setter
    def tools(self, tools: Mapping[str, Tool]) -> None:
        self.hands.tools = tools

    @property
    def off(self) -> set[str]:
        """The names of those that are switched off."""
        return self.hands.off

    def _extend(self) -> tuple[Notice, ...]:
        return self.hands.extend(self.extensions, self._whose(self.session_id), self.model.profile)

    def _whose(self, session_id: str) -> Whose:
        return whose_of(self.memory_scope, session_id, self.platform)

    def _builtin_tools(self, *more: Tool) -> tuple[Tool, ...]:
        parts = self.sources
        return builtin_tools(
            parts.home, parts.config, parts.policies, self.store, self.workdir.path, self.memory, more
        )

    # -- prompt -------------------------------------------------------------------------------------------

    def _facts(self, session_id: str) -> PromptFacts:
        return PromptFacts(
            cwd=self.workdir,
            now=self.clock(),
            session_id=session_id,
            platform=self.platform,
            model=self.model.profile,
            tools=frozenset(self.tools),
            switches=self.switches,
            system_message=self.system_message,
        )

    def _prompt(self, session_id: str) -> SystemPrompt:
        slots = default_slots(self.sources, self.extensions.block, self.extensions.slots, self.memory_scope)
        return build_system_prompt(slots, self._facts(session_id), config_digest=self.sources.config.digest)

    # -- what is said -------------------------------------------------------------------------------------

    def _said(self, session: Session, turn: TurnRequest) -> tuple[tuple[Message, ...], tuple[Notice, ...]]:
        """The person's message with everything that is added to it at this moment."""
        changed: tuple[EphemeralOverlay, ...] = ()
        prompt = self._prompt(session.record.id) if session.visible else session.prompt
        if session.visible:
            changed = changed_since(_settled(session.prompt), _settled(prompt))
        now = self.clock() if self.sources.config.agent.turn_clock else None
        overlays, notices = gather_overlays(
            OverlaySources(
                self.sources.policies,
                self.personality_text(),
                self.ephemeral_system_prompt,
                turn.overlays,
                changed,
                now,
                session.standing.get(DAY, ""),
            )
        )
        annexes, standing = place(overlays, session.standing)
        session.stand({**standing, DAY: day_of(now)} if now else standing)
        if not self.parent:  # who sent a sub-agent has been told
            notices = (*self._telling.news(prompt.notices), *notices)
        return said(turn.text, annexes, self.model.profile.system_mid_conversation), notices

    def personality_text(self) -> str:
        if not self.personality:
            return ""
        known = personalities(self.sources.config.agent.personalities)[0]
        found = find_personality(self.personality, known)
        return found.text if found else ""

    def _interrupted(self, session: Session) -> tuple[Notice, ...]:
        if not session.interrupted:
            return ()
        session.interrupted = False
        text = "the last turn was interrupted; calls that had begun then are on record as interrupted"
        return (Notice("warning", text),)

    def _staged(self, session: Session) -> tuple[Notice, ...]:
        """A word about tools that came after the session's list was frozen."""
        if not (late := self.hands.late(session)):
            return ()
        self.boundaries.stage(session, "tools", late, self.model)
        text = (
            f"{late} came after this session began and will be there from the next boundary on "
            "(a new session, /refresh, /compress)"
        )
        return (Notice("info", text),)


def _settled(prompt: SystemPrompt) -> SystemPrompt:
    """The prompt without the session line, whose time always differs."""
    layers = tuple(
        replace(layer, sections=tuple(s for s in layer.sections if s.slot != "session line"))
        if layer.tier is Tier.VOLATILE
        else layer
        for layer in prompt.layers
    )
    return replace(prompt, layers=layers)
