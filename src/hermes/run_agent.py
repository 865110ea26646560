"""The agent: a prompt once, then turns. For programs; the faces use the same class."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Self

from hermes.agent.approval import Approval, allow_for_good
from hermes.agent.boundaries import Boundaries
from hermes.agent.changes import changed_since
from hermes.agent.compaction import Compactor
from hermes.agent.delegation import Delegation, Kind, kinds_of
from hermes.agent.extensions import Extensions, whose_of
from hermes.agent.first_use import met
from hermes.agent.guard import What
from hermes.agent.hands import Hands
from hermes.agent.loop import Hints, Limits, Turn, limits_for, no_hints
from hermes.agent.memory_slots import memory_project
from hermes.agent.overlays import DAY, day_of, gather_overlays, place, said
from hermes.agent.overlays import Sources as OverlaySources
from hermes.agent.personality import find_personality, personalities
from hermes.agent.prompt_builder import DEFAULT_AGENT_IDENTITY, Sources
from hermes.agent.session import Clock, Session
from hermes.agent.subdirectory_hints import tracker_of
from hermes.agent.system_prompt import build_system_prompt, default_slots, load_sources, working_directory
from hermes.agent.taking_back import take_back
from hermes.agent.telling import Telling
from hermes.config import environment
from hermes.contracts import Model, Whose
from hermes.errors import UsageError
from hermes.memory.scope import OWNER, MemoryScope, memory_files
from hermes.messages import Completed, Message
from hermes.model_tools import builtin_tools, tool_definitions, toolbox, unknown_tools
from hermes.paths import ensure_home, get_hermes_home
from hermes.prompt import PromptFacts, Switches, SystemPrompt, Tier, WorkDir
from hermes.provenance import Notice
from hermes.providers.connect import connect
from hermes.sessions.contract import Store, keep_bodies
from hermes.sessions.open import open_store
from hermes.sessions.records import SessionRecord
from hermes.tooling import Tool, ToolContext
from hermes.tools.delegate_tool import delegate_tool
from hermes.turns import Ask, EphemeralOverlay, Event, NoticeShown, TextShown, TurnEnded, TurnRequest, nobody

if TYPE_CHECKING:
    from hermes.agent.keep_warm import KeepWarm

TITLE = 60
"""Characters of the first words that become a session's title."""


def _now() -> datetime:
    return datetime.now().astimezone()


class AIAgent:
    """One conversation with a model, from the first word or from where it was left.

    `model` is a model, or the name of one as `provider:name` (default: the configured one). `tools` is what
    it can do (default: what comes with Hermes). `session_id` names a stored session to go on with; without
    it a new one begins with the first turn. `sources` and `store` are those of the home unless they are
    given. `extensions` are plugins, external memory and MCP servers (default: the configured ones, unless
    `tools` are given). `hints` gives what is to be said of the places a tool call went to (default: the
    instructions of the folders it entered); `ask` puts a question to the person; `memory_scope` says whose
    memory it may see and write; `approval` says when the person is asked first (`ask`, `auto`, `yolo`;
    default: the configured one). `notices` tell what there is to say of the home, its configuration and
    the working directory.
    """

    def __init__(
        self,
        sources: Sources | None = None,
        store: Store | None = None,
        model: Model | str = "",
        tools: Iterable[Tool] | None = None,
        *,
        cwd: str | WorkDir = "",
        platform: str = "cli",
        session_id: str = "",
        system_message: str = "",
        personality: str = "",
        ephemeral_system_prompt: str | None = None,
        limits: Limits | None = None,
        hints: Hints | None = None,
        ask: Ask = nobody,
        memory_scope: MemoryScope = OWNER,
        approval: str = "",
        clock: Clock = _now,
        extensions: Extensions | None = None,
        parent: str = "",
        switches: Switches = Switches(),  # noqa: B008 - it is a value
        depth: int = 0,
    ) -> None:
        self.sources = sources = self._settle(sources, cwd)
        self.parent, self.switches, self.depth = parent, switches, depth
        self.model = connect(model, sources.config, home=sources.home) if isinstance(model, str) else model
        self._owns_store = store is None
        self.store = open_store(sources.home, sources.config) if store is None else store
        self.memory_scope = memory_scope
        project = memory_project(sources.home, self.workdir, new=True)
        self.memory = memory_files(sources.config.memory, memory_scope, project)
        self.platform = platform
        self.session_id = session_id
        self._equip(tools, extensions)
        self.system_message = system_message
        self.personality = personality
        if ephemeral_system_prompt is None:
            ephemeral_system_prompt = environment().ephemeral_system_prompt
        self.ephemeral_system_prompt = ephemeral_system_prompt
        self.limits = limits or limits_for(self.model.profile, sources.config.agent.max_turns)
        self.hints = hints or tracker_of(sources, self.workdir)
        self.ask = ask
        self.approval = self._approval(approval)
        self.clock = clock
        self.session: Session | None = None
        self.compactor = self._compactor()
        self._telling = Telling(sources.home)
        self.boundaries = Boundaries(sources.config, sources.home, self.store)
        self.patience = 30.0  # seconds to wait for a session that someone else holds
        self._steering: deque[str] = deque()
        self._brought: list[EphemeralOverlay] = []
        self._seen_files: dict[str, dict[str, str]] = {}
        self._holder = f"{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._runner: asyncio.Runner | None = None

    def _settle(self, sources: Sources | None, cwd: str | WorkDir) -> Sources:
        """The home and the working directory, with what there is to say of them."""
        made: tuple[Notice, ...] = ()
        if sources is None:
            made = ensure_home(get_hermes_home(), DEFAULT_AGENT_IDENTITY + "\n")
            sources = load_sources()
        told: tuple[Notice, ...] = ()
        if isinstance(cwd, WorkDir):
            self.workdir = cwd
        else:
            self.workdir, told = working_directory(sources.config, cwd)
        self.notices = (*made, *sources.config.notices, *sources.notices, *told)
        return sources

    def _equip(self, tools: Iterable[Tool] | None, extensions: Extensions | None) -> None:
        """The tools that were given, or the usual ones with the extensions that are configured."""
        self._built_tools = tools is None
        if tools is None:
            tools = self._builtin_tools(self.delegate_tool())
            extensions = extensions or Extensions.of(self.sources, self.store)
        self.extensions = extensions or Extensions()
        self.hands = Hands(tools, self.sources.config, fits=self._built_tools)
        told = self._extend()
        unknown = unknown_tools(self.sources.config.tools.enabled, self.tools)
        self.notices = (*self.notices, *told, *unknown)

    # -- talk ---------------------------------------------------------------------------------------------

    async def run(self, turn: TurnRequest) -> AsyncGenerator[Event, None]:
        """One turn, event by event; the last is `TurnEnded`."""
        session = await self._hold(turn.text)
        try:
            self._extend()
            if self.compactor.due(session, self.model.profile, turn.text):
                async with aclosing(self._summarise(session)) as summarising:
                    async for event in summarising:
                        yield event
            whose = self._whose(session.record.id)
            added = await self.extensions.overlays(turn.text, whose, self.model.profile.name, session.visible)
            messages, notices = self._said(
                session, replace(turn, overlays=(*turn.overlays, *self._brought, *added))
            )
            self._brought.clear()
            self.model, crossed = await self.boundaries.crossed(session, self.model)
            told = (*self._interrupted(session), *crossed, *self._staged(session))
            told = (*told, *self.extensions.told(), *notices)
            for notice in told:
                yield NoticeShown(notice)
            running = Turn(
                session,
                self.model,
                self.hands.callable(session, self.extensions),
                ToolContext(
                    session.record.id,
                    cwd=self.workdir.path,
                    ask=self.ask,
                    visible=lambda: session.visible,
                    seen=self._seen_files.setdefault(session.record.id, {}),
                ),
                self.limits,
                self._drain,
                self.hints,
                compactor=self.compactor,
                guard=self.approval.refusal,
            )
            for prefilled in turn.prefill if not session.visible else ():
                session.append(prefilled)
            events = self.extensions.watched(running.run(*messages), session, self.model.profile)
            answered = ""
            try:
                async for event in events:
                    self.extensions.event(event, session.record.id)
                    if isinstance(event, TurnEnded):
                        answered = event.text
                        for notice in self.extensions.told():
                            yield NoticeShown(notice)
                    yield event
            finally:
                self.extensions.ended(whose, turn.text, answered, self.clock)
                await events.aclose()
        finally:
            await self.store.release(session.record.id, self._holder)

    def chat(self, text: str) -> str:
        """Say something and wait for the answer; for programs without an event loop of their own."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(self._answer(text))

    async def _answer(self, text: str) -> str:
        answer = ""
        events = self.run(TurnRequest(text))
        async for event in events:
            if isinstance(event, TurnEnded):
                answer = event.text
        return answer

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

    # -- change -------------------------------------------------------------------------------------------

    def set_personality(self, name: str) -> None:
        """Take on a personality for this session; `none` for none. UsageError for an unknown one."""
        known = personalities(self.sources.config.agent.personalities)[0]
        found = find_personality(name, known)
        self.personality = found.name if found else ""

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

    def switch_tool(self, name: str, on: bool) -> str:
        """Switch a tool or toolset off or on; what that means for this session. UsageError when unknown."""
        listed = None if self.session is None else frozenset(t.name for t in self.session.tools)
        return self.hands.switch(name, on, listed)

    def only_tools(self, names: Iterable[str]) -> None:
        """Have only these tools and toolsets, in the order they have anyway. UsageError when unknown."""
        self.hands.only(names)

    def _extend(self) -> tuple[Notice, ...]:
        return self.hands.extend(self.extensions, self._whose(self.session_id), self.model.profile)

    def _whose(self, session_id: str) -> Whose:
        return whose_of(self.memory_scope, session_id, self.platform)

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

    def set_model(self, model: Model, *, told: bool = False) -> None:
        """Go on with another model. What was sent stays as it was sent.

        What it costs is told with the next message, unless it was `told`.
        """
        self.model, self.boundaries.told = model, told

    async def stage(self, what: What, name: str = "") -> str:
        """Have another model, or a new prompt, wait for the next boundary; when that comes, in words."""
        session = await self._hold()
        try:
            told = self.boundaries.stage(session, what, name, self.model)
            await session.save()
        finally:
            await self.store.release(session.record.id, self._holder)
        return told

    async def refresh(self) -> SystemPrompt:
        """Build the prompt anew on purpose; the conversation goes on behind it."""
        session = await self._hold()
        try:
            await self.extensions.begin(self._whose(session.record.id))
            self._extend()
            prompt = self._prompt(session.record.id)
            session.new_epoch("refresh", prompt, session.visible, tool_definitions(self.tools))
            await session.save()
            self.model, _ = await self.boundaries.crossed(session, self.model)
            await session.save()
        finally:
            await self.store.release(session.record.id, self._holder)
        return session.prompt

    async def keep_warm(self, keeper: KeepWarm) -> tuple[Notice, ...]:
        """Keep the conversation in the provider's cache; a word when that failed."""
        session = await self._hold()
        try:
            return await keeper.ping(session, self.model)
        finally:
            await self.store.release(session.record.id, self._holder)

    async def look(self) -> Session | None:
        """The session as it stands, also before a stored one is gone on with; None before the first word."""
        if self.session is None and self.session_id:
            session = await self._hold()
            await self.store.release(session.record.id, self._holder)
        return self.session

    async def undo(self) -> tuple[Message, ...]:
        """Take back the last turn; its messages, the person's first, or none when there is no turn.

        An epoch ends: the model no longer sees the turn, which stays on record. What stays is sent in the
        same bytes as before, so that it is still cached.
        """
        session = await self._hold()
        try:
            return await take_back(session)
        finally:
            await self.store.release(session.record.id, self._holder)

    async def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Have the older messages summarised now; `focus` names what is to be kept with special care."""
        session = await self._hold()
        try:
            async with aclosing(self._summarise(session, focus)) as told:
                async for event in told:
                    yield event
        finally:
            await self.store.release(session.record.id, self._holder)

    async def _summarise(self, session: Session, focus: str = "") -> AsyncGenerator[Event, None]:
        async with aclosing(self.compactor.run(session, self.model, focus=focus)) as events:
            async for event in events:
                if not isinstance(event, Completed):
                    yield event

    def _compactor(self) -> Compactor:
        return Compactor(
            self.sources.config.compaction,
            lambda: (self._prompt(self.session_id), tool_definitions(self.tools)),
            self.limits.max_tokens,
        )

    def _approval(self, mode: str) -> Approval:
        tools, home = self.sources.config.tools, self.sources.home
        return Approval(
            self.workdir.path,
            home.root,
            mode or tools.approval,
            tools.allow,
            tools.confine,
            lambda entry: allow_for_good(home, entry),
        )

    # -- delegate -----------------------------------------------------------------------------------------

    def delegate_tool(self) -> Tool:
        """The tool that sends sub-agents of this conversation; each has a session of its own."""
        settings = self.sources.config.delegation
        kinds = kinds_of(settings)
        delegation = Delegation(kinds, settings.max_parallel, self._child)
        words = {name: kind.words for name, kind in kinds.items()}
        return delegate_tool(delegation.send, words, settings.max_chars)

    def _builtin_tools(self, *more: Tool) -> tuple[Tool, ...]:
        parts = self.sources
        return builtin_tools(
            parts.home, parts.config, parts.policies, self.store, self.workdir.path, self.memory, more
        )

    def _child(self, kind: Kind, parent: str, ask: Ask) -> SubAgent:
        """A sub-agent, with what its kind inherits of this conversation and tools of its own."""
        config = kind.config(self.sources.config)
        sources, settings = replace(self.sources, config=config), config.delegation
        names = kind.tool_names(self.tools.keys() - self.off)
        built = self._builtin_tools() if self._built_tools else ()
        mine = toolbox((*self.tools.values(), *built))  # what has a state of its own is made anew
        model = connect(kind.model, config) if kind.model else self.model
        child = SubAgent(
            sources,
            self.store,
            model,
            [tool for name, tool in mine.items() if name in names and name != "delegate_task"],
            cwd=self.workdir,
            platform=self.platform,
            ephemeral_system_prompt="",
            limits=limits_for(model.profile, kind.max_turns or settings.max_turns),
            hints=None if kind.switches.project_context else no_hints,
            ask=ask,
            memory_scope=self.memory_scope,
            clock=self.clock,
            parent=parent,
            switches=kind.switches,
            depth=self.depth + 1,
        )
        child.approval = self.approval  # what a person allowed for the session holds for all of it
        child.owned = (built, bool(kind.model))
        if "delegate_task" in names and child.depth < settings.max_depth:
            child.tools = toolbox((*child.tools.values(), child.delegate_tool()))
        return child

    def reset(self) -> None:
        """Begin a new session with the next turn."""
        self._brought.clear()
        self.model = self.boundaries.carried(self.session, self.model)
        self.session = None
        self.compactor = self._compactor()
        self.session_id = ""
        self.personality = ""
        self.approval = self._approval(self.approval.mode)

    async def close(self) -> None:
        """End what tools left running, give back the model's connections, and the store if opened here."""
        await self.hands.close()
        await self.extensions.close()
        await self.model.close()
        if self.session is not None:
            await keep_bodies(
                self.store, self.sources.config.cache.keep_bodies, self.session.record.id, self.clock()
            )
        if self._owns_store:
            await self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._runner is not None:
            self._runner.run(self.close())
            self._runner.close()
            self._runner = None

    # -- parts of a turn ----------------------------------------------------------------------------------

    async def _hold(self, said: str = "") -> Session:
        """The session, held so that nobody else goes on with it; a new one is called by what is `said`."""
        if self.session is None and self.session_id:
            self.session_id = await self.store.resolve(self.session_id)
            await self.store.claim(self.session_id, self._holder, self.patience)
            self.session = await self._resume()
            return self.session
        if self.session is None:
            self.session = await self._begin(said)
            self.session_id = self.session.record.id
        await self.store.claim(self.session_id, self._holder, self.patience)
        return self.session

    async def _begin(self, said: str = "") -> Session:
        session_id = uuid.uuid4().hex[:12]
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
        prompt = self._prompt(session_id)
        self._telling.first(met(self.sources.config, self.sources.home, prompt, self._facts(session_id)))
        return await Session.begin(self.store, record, prompt, tool_definitions(self.tools), self.clock)

    async def _resume(self) -> Session:
        await self.extensions.resume()
        return await Session.resume(self.store, self.session_id, self.clock)

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


class SubAgent(AIAgent):
    """An agent that another one sent. `owned`: the tools that are its own, and whether its model is."""

    owned: tuple[Iterable[Tool], bool] = ((), False)

    async def close_own(self) -> None:
        """Let go of what is its own; store, extensions and mostly the model are its sender's."""
        tools, model = self.owned
        for tool in tools:
            if tool.close is not None:
                await tool.close()
        if model:
            await self.model.close()


def _settled(prompt: SystemPrompt) -> SystemPrompt:
    """The prompt without the session line, whose time always differs."""
    layers = tuple(
        replace(layer, sections=tuple(s for s in layer.sections if s.slot != "session line"))
        if layer.tier is Tier.VOLATILE
        else layer
        for layer in prompt.layers
    )
    return replace(prompt, layers=layers)


__all__ = ["AIAgent", "TextShown", "TurnEnded", "TurnRequest", "UsageError"]
