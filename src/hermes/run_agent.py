"""The agent: a prompt once, then turns. For programs; the faces use the same class."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from hermes.agent.approval import Approval, allow_for_good
from hermes.agent.compaction import Compactor
from hermes.agent.delegation import Delegation, Kind, kinds_of
from hermes.agent.extensions import Extensions
from hermes.agent.guard import What
from hermes.agent.hands import Hands
from hermes.agent.loop import Limits
from hermes.agent.options import AgentOptions
from hermes.agent.personality import find_personality, personalities
from hermes.agent.prompt_builder import DEFAULT_AGENT_IDENTITY, Sources
from hermes.agent.result_notes import no_hints
from hermes.agent.session import Session
from hermes.agent.subdirectory_hints import tracker_of
from hermes.agent.system_prompt import load_sources, working_directory
from hermes.agent.taking_back import take_back
from hermes.agent.talker import Talker
from hermes.contracts import Model, ModelProfile
from hermes.errors import ModelError, StoreError, UsageError
from hermes.memory.scope import OWNER, MemoryScope
from hermes.messages import Message
from hermes.model_tools import tool_definitions, toolbox, unknown_tools
from hermes.paths import ensure_home, get_hermes_home
from hermes.prompt import SystemPrompt, WorkDir
from hermes.provenance import Notice, Origin
from hermes.providers.connect import connect
from hermes.sessions.contract import Store, keep_bodies
from hermes.sessions.open import open_store, store_notices
from hermes.tooling import Tool
from hermes.tools.delegate_tool import delegate_tool
from hermes.turns import Ask, NoticeShown, TextShown, TurnEnded, TurnRequest, nobody

if TYPE_CHECKING:
    from hermes.agent.keep_warm import KeepWarm


class AIAgent(Talker):
    """One conversation with a model, from the first word or from where it was left.

    `model` is a model, or the name of one as `provider:name` (default: the configured one). `tools` is what
    it can do (default: what comes with Hermes). `session_id` names a stored session to go on with; without
    it a new one begins with the first turn. `sources` and `store` are those of the home unless they are
    given; `options` has what few programs say. `ask` puts a question to the person; `memory_scope` says whose
    memory it may see and write; `approval` says when the person is asked first (`ask`, `auto`, `yolo`;
    default: the configured one). `notices` tell what there is to say of the home, its configuration and
    the working directory, of turns that `chat` made, and of the end. `depth` is how many sent each other
    before it.
    """

    depth = 0

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
        personality: str = "",
        ask: Ask = nobody,
        approval: str = "",
        memory_scope: MemoryScope = OWNER,
        options: AgentOptions = AgentOptions(),  # noqa: B008 - it is a value
    ) -> None:
        sources, workdir, self.notices = _settled(sources, cwd)
        config = sources.config
        model = connect(model, config, home=sources.home) if isinstance(model, str) else model
        self._owns_store = store is None
        store = open_store(sources.home, config) if store is None else store
        self.notices = (*self.notices, *store_notices(store))
        super().__init__(sources, workdir, store, model, memory_scope, platform, options)
        self.session_id, self.personality, self.ask = session_id, personality, ask
        self._equip(tools, options.extensions)
        self.limits = options.limits or Limits(config.agent.max_turns)
        self.hints = options.hints or tracker_of(sources, workdir)
        self.approval = self._approval(approval)
        self.compactor = self._compactor()
        self._steering, self._brought, self._seen_files = deque(), [], {}
        self._runner: asyncio.Runner | None = None

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

    def chat(self, text: str) -> str:
        """Say something and wait for the answer; for programs without an event loop of their own.

        ModelError when the model could not be asked, UsageError where an event loop runs. What else a person
        should know is added to `notices`.
        """
        if _in_a_loop():
            raise UsageError(
                "chat() waits for the answer, and here an event loop runs; iterate run() instead: "
                "async for event in agent.run(text)"
            )
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(self._answer(text))

    async def _answer(self, text: str) -> str:
        told: list[Notice] = []
        ended = TurnEnded("", reason="failed")
        async for event in self.run(TurnRequest(text)):
            if isinstance(event, NoticeShown):
                told.append(event.notice)
            elif isinstance(event, TurnEnded):
                ended = event
        self.notices = (*self.notices, *told)
        if ended.reason == "failed":
            raise ModelError(next((n.text for n in reversed(told) if n.level == "error"), "no answer came"))
        return ended.text

    async def save(self) -> tuple[Notice, ...]:
        """Store what could not be stored yet, where no next step may come; an error when it cannot be."""
        try:
            if self.session is not None:
                await self.session.save()
        except StoreError as error:
            text = f"the end of this conversation is not stored: {error}"
            return (Notice("error", text, Origin("sessions")),)
        return ()

    # -- change -------------------------------------------------------------------------------------------

    def set_personality(self, name: str) -> None:
        """Take on a personality for this session; `none` for none. UsageError for an unknown one."""
        known = personalities(self.sources.config.agent.personalities)[0]
        found = find_personality(name, known)
        self.personality = found.name if found else ""

    def switch_tool(self, name: str, on: bool) -> str:
        """Switch a tool or toolset off or on; what that means for this session. UsageError when unknown."""
        listed = None if self.session is None else frozenset(t.name for t in self.session.tools)
        return self.hands.switch(name, on, listed)

    def only_tools(self, names: Iterable[str]) -> None:
        """Have only these tools and toolsets, in the order they have anyway. UsageError when unknown."""
        self.hands.only(names)

    def set_model(self, model: Model, *, told: bool = False) -> None:
        """Go on with another model. What was sent stays as it was sent.

        What it costs is told with the next message, unless it was `told`.
        """
        self.model, self.boundaries.told = model, told

    async def stage(self, what: What, name: str = "") -> str:
        """Have another model, or a new prompt, wait for the next boundary; when that comes, in words."""
        async with self.held() as session:
            told = self.boundaries.stage(session, what, name, self.model)
            await session.save()
            return told

    async def refresh(self) -> SystemPrompt:
        """Build the prompt anew on purpose; the conversation goes on behind it."""
        async with self.held() as session:
            await self.extensions.begin(self._whose(session.record.id))
            self._extend()
            prompt = self._prompt(session.record.id)
            session.new_epoch("refresh", prompt, session.visible, tool_definitions(self.tools))
            await session.save()
            self.model, _ = await self.boundaries.crossed(session, self.model)
            await session.save()
            return session.prompt

    async def keep_warm(self, keeper: KeepWarm) -> tuple[Notice, ...]:
        """Keep the conversation in the provider's cache; a word when that failed."""
        async with self.held() as session:
            return await keeper.ping(session, self.model)

    async def look(self) -> Session | None:
        """The session as it stands, also before a stored one is gone on with; None before the first word."""
        if self.session is None and self.session_id:
            async with self.held():
                pass
        return self.session

    async def undo(self) -> tuple[Message, ...]:
        """Take back the last turn; its messages, the person's first, or none when there is no turn.

        An epoch ends: the model no longer sees the turn, which stays on record. What stays is sent in the
        same bytes as before, so that it is still cached.
        """
        async with self.held() as session:
            return await take_back(session)

    def _compactor(self) -> Compactor:
        return Compactor(
            self.sources.config.compaction,
            lambda: (self._prompt(self.session_id), tool_definitions(self.tools)),
            self._room,
        )

    def _room(self, profile: ModelProfile) -> int:
        return self.limits.room(profile)

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
            ask=ask,
            memory_scope=self.memory_scope,
            options=AgentOptions(
                ephemeral_system_prompt="",
                limits=Limits(kind.max_turns or settings.max_turns),
                hints=None if kind.switches.project_context else no_hints,
                clock=self.clock,
            ),
        )
        child.parent, child.switches, child.depth = parent, kind.switches, self.depth + 1
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
        """End what tools left running, give back the model's connections, and the store if opened here.

        What could not be stored yet is tried once more; `notices` tell when it is lost.
        """
        self.notices = (*self.notices, *await self.save())
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


def _settled(sources: Sources | None, cwd: str | WorkDir) -> tuple[Sources, WorkDir, tuple[Notice, ...]]:
    """The home and the working directory, with what there is to say of them."""
    made: tuple[Notice, ...] = ()
    if sources is None:
        made = ensure_home(get_hermes_home(), DEFAULT_AGENT_IDENTITY + "\n")
        sources = load_sources()
    workdir, told = (cwd, ()) if isinstance(cwd, WorkDir) else working_directory(sources.config, cwd)
    return sources, workdir, (*made, *sources.config.notices, *sources.notices, *told)


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


__all__ = ["AIAgent", "AgentOptions", "TextShown", "TurnEnded", "TurnRequest", "UsageError"]
