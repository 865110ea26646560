"""The one active external memory: asked with limits, its texts admitted, what it is told kept till then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from hermes.bulkhead import behind_bulkhead, behind_bulkhead_async
from hermes.config.records import MemoryConfig
from hermes.contracts import Exchange, MemoryProvider, Recalled, Whose
from hermes.lane import Lane
from hermes.memory.outbox import Outbox
from hermes.prompts import prompt_text
from hermes.provenance import Notice, Origin, Passage, digest_of
from hermes.security.foreign_tools import admitted_spec
from hermes.security.gate import admit
from hermes.security.policy import Policies
from hermes.tool_names import TOOL_NAMES
from hermes.tooling import Run, Tool, ToolContext

T = TypeVar("T")

BLOCK_CHARS = 4_000
BLOCK_TIMEOUT = 5.0
RECORD_TIMEOUT = 30.0
TOOL_TIMEOUT = 60.0
CLOSE_TIMEOUT = 5.0
"""Seconds. What was not recorded by then is on the disk and is recorded after the next start."""


class ActiveMemory:
    """A provider at work. With a `lane` its code runs in a thread of its own; without, it is ours.

    `outbox` keeps what it is to record; None for one that needs to be told nothing.
    """

    def __init__(
        self,
        name: str,
        provider: MemoryProvider,
        config: MemoryConfig,
        policies: Policies,
        lane: Lane | None = None,
        outbox: Outbox | None = None,
    ) -> None:
        self.name = name
        self.provider = provider
        self.config = config
        self.policies = policies
        self.lane = lane
        self.outbox = outbox
        self.notices: list[Notice] = []
        self._recording = asyncio.Lock()  # what was said first is recorded first

    def tools(self, whose: Whose) -> tuple[Tool, ...]:
        """What the provider offers the model; what is poisoned or has a taken name is left out."""
        provider, lane = self.provider, self.lane

        def ask() -> Iterable[Tool]:
            if lane is None:
                return provider.tools(whose)
            return lane.call(lambda: provider.tools(whose), BLOCK_TIMEOUT)

        none: Iterable[Tool] = ()
        given, notices = behind_bulkhead(f"the tools of {self._who}", ask, none)
        self.notices += notices
        kept: dict[str, Tool] = {}
        for tool in given:
            if tool.spec.name in TOOL_NAMES or tool.spec.name in kept:
                self._tell("warning", f"its tool {tool.spec.name} was left out: there is one of that name")
                continue
            spec, told = admitted_spec(tool.spec, owner=self._who, policy=self.policies.of("plugin"))
            self.notices += told
            if spec is not None:
                run = tool.run if lane is None else _in_lane(tool.run, lane)
                kept[spec.name] = replace(tool, spec=spec, run=run)
        return tuple(kept.values())

    async def block(self, whose: Whose) -> Passage:
        """What stands in the prompt of a new session."""
        if not whose.private:
            return Passage()
        text: object = await self._wait(
            "the block", lambda: self.provider.static_block(whose), BLOCK_TIMEOUT, ""
        )
        if not isinstance(text, str):
            self._tell("warning", f"its block is {type(text).__name__} in place of a text; it was left out")
            return Passage()
        if len(text) > BLOCK_CHARS:
            self._tell(
                "warning", f"its block has {len(text):,} characters; the first {BLOCK_CHARS:,} are used"
            )
            text = f"{text[:BLOCK_CHARS]} […]"
        origin = Origin("external memory", self.name, digest_of(text), trust="third_party")
        return Passage.quote(text, origin)

    async def recall(self, asked: str, whose: Whose, sent: Iterable[str] = ()) -> str:
        """What rides before a person's message, "" for nothing. What was `sent` already is not sent again."""
        if not (self.config.recall and whose.private and asked.strip()):
            return ""
        none: Sequence[Recalled] = ()
        found = await self._wait(
            "the recall", lambda: self.provider.recall(asked, whose), self.config.recall_timeout, none
        )
        text, notices = behind_bulkhead(f"the recall of {self._who}", lambda: self._chosen(found, sent), "")
        self.notices += notices
        return text

    def _chosen(self, found: Iterable[Recalled], sent: Iterable[str]) -> str:
        """The best of what was recalled, as far as there is room."""
        lines: list[str] = []
        texts: list[str] = []
        left = self.config.recall_chars
        for one in sorted(found, key=lambda r: -r.relevance):
            if one.relevance < self.config.recall_threshold:
                break
            line = self._line(one, left)
            if line and not any(line in text for text in sent):
                lines.append(line)
                texts.append(one.text)
                left -= len(line)
        # What is harmless apart may not be so together.
        if not (lines and self._admitted(" ".join(texts)) and (whole := self._admitted("\n".join(lines)))):
            return ""
        return f"{prompt_text('notes/recall')}\n\n{whole}"

    def _line(self, one: Recalled, left: int) -> str:
        """One of the memories on a line, or "" when it is poisoned or there is no room for it."""
        source = f"{' '.join(one.source.split())}: " if one.source else ""
        line = f"- {source}{' '.join(one.text.split())}"
        if len(line) > left:
            if left < self.config.recall_chars:
                return ""
            self._tell("info", f"a memory of {len(line):,} characters was cut to {left:,}")
            line = f"{line[: left - 1]}…"
        return self._admitted(line)

    def _admitted(self, text: str) -> str:
        origin = Origin("recall", self.name, digest_of(text), trust="third_party")
        name = f"a memory of {self._who}"
        admitted = admit(Passage.quote(text, origin), name=name, policy=self.policies.of("recall"))
        self.notices += admitted.passage.notices
        return "" if admitted.outcome == "blocked" else str(admitted.passage)

    # -- record -------------------------------------------------------------------------------------------

    def remember(self, exchange: Exchange) -> None:
        """Have an exchange recorded. It is on the disk when this returns; nobody waits for the rest."""
        if self.outbox is None or self.lane is None or not exchange.whose.private:
            return
        outbox = self.outbox
        path, notices = behind_bulkhead(f"the outbox of {self._who}", lambda: outbox.put(exchange), "")
        self.notices += notices
        self.lane.post(lambda: self._record(path, exchange))

    def send_waiting(self) -> None:
        """Have recorded what earlier processes could not."""
        if self.outbox is not None and self.lane is not None and self.outbox.waiting:
            self.lane.post(self._record_waiting)

    async def _record(self, path: str, exchange: Exchange) -> None:
        sent = False
        try:
            async with self._recording, asyncio.timeout(RECORD_TIMEOUT):
                await self.provider.record(exchange)
            sent = True
        finally:  # whatever stopped it: what was not sent waits for another time
            if path and self.outbox is not None:
                (self.outbox.sent if sent else self.outbox.keep)(path)

    async def _record_waiting(self) -> None:
        while self.outbox is not None and (taken := self.outbox.take()) is not None:
            await self._record(*taken)

    # -- tell ---------------------------------------------------------------------------------------------

    def told(self) -> tuple[Notice, ...]:
        """What there is to tell since this was asked last."""
        if self.lane is not None and (failed := self.lane.failures()):
            last = failed[-1]
            waiting = f"{self.outbox.waiting} wait to be sent later" if self.outbox else ""
            self._tell("warning", f"it could not record ({type(last).__name__}: {last}); {waiting}")
        notices, self.notices = self.notices, []
        return tuple(notices)

    @property
    def _who(self) -> str:
        return f"the memory {self.name}"

    def _tell(self, level: str, text: str) -> None:
        self.notices.append(Notice(level, f"{self._who}: {text}", Origin("memory", self.name)))  # type: ignore[arg-type]

    async def _wait(self, part: str, ask: Callable[[], Awaitable[T]], limit: float, fallback: T) -> T:
        found, notices = await behind_bulkhead_async(
            f"{part} of {self._who}", self._within(ask, limit), fallback
        )
        self.notices += notices
        return found

    async def _within(self, ask: Callable[[], Awaitable[T]], limit: float) -> T:
        if self.lane is not None:
            return await self.lane.wait(ask, limit)
        try:
            async with asyncio.timeout(limit):
                return await ask()
        except TimeoutError:
            raise TimeoutError(f"no answer within {limit:g} s") from None

    async def close(self) -> None:
        """Let it record what it can within a few seconds, and let go of it."""
        if self.lane is None:
            await self.provider.close()
            return
        await self.lane.idle(CLOSE_TIMEOUT)
        if not self.lane.busy:
            await self._wait("the end", self.provider.close, CLOSE_TIMEOUT, None)
        self.lane.close()


def _in_lane(run: Run, lane: Lane) -> Run:
    """A tool of a provider works where the provider does."""

    async def call(context: ToolContext, **arguments: object) -> str:
        return await lane.wait(lambda: run(context, **arguments), TOOL_TIMEOUT)

    return call
