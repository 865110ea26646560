"""The conversation at a terminal: one line of work, fed by what is typed."""

from __future__ import annotations

import asyncio
import base64
import time
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Iterable
from contextlib import aclosing

from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer

from hermes.agent.keep_warm import KeepWarm, recent_pauses
from hermes.bulkhead import behind_bulkhead_async
from hermes.cli.repl import keys
from hermes.cli.repl.complete import Words
from hermes.cli.repl.draw import Pen
from hermes.cli.repl.history import TypedBefore
from hermes.cli.repl.paste import Pastes
from hermes.cli.repl.question import Desk, detail_lines
from hermes.cli.repl.screen import Screen
from hermes.cli.repl.show import Show
from hermes.cli.repl.status import Status, status_line
from hermes.commands import COMMANDS, Conversation, answer, words_for
from hermes.commands.money import Spending
from hermes.errors import HermesError
from hermes.messages import Usage
from hermes.run_agent import AIAgent
from hermes.turns import Event, Question, TurnRequest
from hermes.version import __version__

_AGAIN = 2.0
"""Seconds within which a second Ctrl-C leaves."""
STEER = ">>"


class Talk:
    """A conversation that a person has with an agent at a terminal."""

    def __init__(self, agent: AIAgent, *, colour: bool = True) -> None:
        self.agent = agent
        self.queue: deque[str] = deque()
        self.conversation = Conversation(agent, copy=self._copy)
        self._desk = Desk()
        self._pastes = Pastes()
        self._spending = Spending(agent)
        self._turn: asyncio.Task[None] | None = None
        self._began = 0.0
        self._note = ""
        self._stopped_at = 0.0
        self._wake = asyncio.Event()
        self._beside: set[asyncio.Task[None]] = set()
        self._buffer = Buffer(
            multiline=True,
            completer=Words(
                COMMANDS.values(), lambda name: words_for(self.conversation, name), agent.workdir.path
            ),
            complete_while_typing=True,
            history=TypedBefore(agent.sources.home.path("history")),
            auto_suggest=AutoSuggestFromHistory(),
        )
        actions = keys.Actions(
            self._send,
            self._steer,
            self._stop,
            self._leave,
            self._expand,
            self._pastes.fold,
            self._move,
            self._unanswered,
            lambda: self._desk.pending is not None,
        )
        self._screen = Screen(
            self._buffer, keys.key_bindings(actions), self._live, self._status, colour=colour
        )
        self._show = Show(lambda: self._screen.pen, self._screen.above)
        agent.ask = self._ask

    async def run(self) -> int:
        """Talk until the person leaves; the exit code."""
        work = asyncio.create_task(self._work())
        try:
            await self._screen.app.run_async()
        finally:
            for task in (self._turn, work, *self._beside):
                if task is not None:
                    task.cancel()
            await asyncio.gather(*(t for t in (self._turn, work) if t), return_exceptions=True)
        return 0

    # -- work ---------------------------------------------------------------------------------------------

    async def _work(self) -> None:
        """One thing after the other: what was typed, in its order."""
        await self._screen.ready.wait()
        self._welcome()
        await self._guarded(self._recall())
        warm = await self._keeper()
        while not self.conversation.ended:
            if not self.queue:
                self._wake.clear()
                await self._rest(warm)
                continue
            line = self.queue.popleft()
            self._show.person(line)
            if line.startswith("/"):
                await self._command(line)
            else:
                await self._guarded(self._say(line))
            if said := self.conversation.take_said():
                self.queue.appendleft(said)
        self._exit()

    async def _recall(self) -> None:
        """Of a session that is gone on with: where it was left, and what it has cost."""
        await self._spending.look()
        if session := await self.agent.look():
            self._show.recap(session.visible)

    async def _keeper(self) -> KeepWarm:
        """What keeps the conversation in the provider's cache while the person thinks."""
        settings = self.agent.sources.config.cache
        pauses = await recent_pauses(self.agent.store) if settings.keep_warm else ()
        return KeepWarm(settings, pauses)

    async def _rest(self, warm: KeepWarm) -> None:
        """Wait for something to do; what is cached is kept meanwhile, where that pays."""
        agent = self.agent
        delay = warm.delay(agent.session, agent.model.profile, agent.clock())
        try:
            await asyncio.wait_for(self._wake.wait(), delay)
        except TimeoutError:
            await self._until_woken(self._guarded(self._ping(warm)))

    async def _until_woken(self, work: Coroutine[None, None, None]) -> None:
        """Work that gives way as soon as there is something else to do."""
        tasks = asyncio.ensure_future(work), asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _ping(self, warm: KeepWarm) -> None:
        for notice in await self.agent.keep_warm(warm):
            self._show.notice(notice)
        self._spending.see()
        self._screen.redraw()

    async def _command(self, line: str) -> None:
        name, _, argument = line[1:].strip().partition(" ")
        if name == "expand":
            self._screen.above(self._show.calls.expanded(argument.strip(), self._screen.pen))
            return
        await self._guarded(self._answer(line))
        if name == "help":
            self._show.answer(f"\n/expand [N]             The whole result of a tool.\n\n{keys.HELP}")
        await self._guarded(self._spending.look())

    async def _answer(self, line: str) -> None:
        self._show.answer(await answer(self.conversation, line))

    async def _say(self, text: str) -> None:
        """A turn, which Ctrl-C stops."""
        self._began = time.monotonic()
        self._turn = asyncio.create_task(self._hear(self._pastes.unfold(text)))
        ticking = asyncio.create_task(self._tick())
        try:
            await asyncio.shield(self._turn)
        except asyncio.CancelledError:
            if not self._turn.cancelled():  # it is the conversation that ends
                raise
            self._show.stopped()
            self._take_back()
        finally:
            ticking.cancel()
            self._turn = None
            for unheard in reversed(self.agent.unheard()):
                self.queue.appendleft(unheard)
            self._screen.redraw()

    async def _hear(self, text: str) -> None:
        events: AsyncGenerator[Event, None] = self.agent.run(TurnRequest(text))
        async with aclosing(events):
            async for event in events:
                self._show.event(event)
                self._spending.see()
                self._screen.redraw()

    async def _guarded(self, work: object) -> None:
        """Work whose failure is told and ends nothing."""
        try:
            _, notices = await behind_bulkhead_async("the conversation", work, None, letting=(HermesError,))  # type: ignore[arg-type]
        except HermesError as error:
            self._show.answer(f"Error: {error}")
            return
        for notice in notices:
            self._show.notice(notice)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            self._screen.redraw()

    # -- keys ---------------------------------------------------------------------------------------------

    def _send(self) -> None:
        text = self._buffer.text
        self._note = ""
        if pending := self._desk.pending:
            given = pending.typed(text)
            if given is None:
                self._note = "choose one of the answers"
                return
            self._buffer.reset()
            pending.give(given)
            return
        if not text.strip():
            return
        self._buffer.reset(append_to_history=True)
        if text.startswith(STEER) and self._turn is not None:
            self._said_aside(text.removeprefix(STEER).strip())
        elif self._turn is not None and self._at_once(text):
            task = asyncio.create_task(self._command(text))
            self._beside.add(task)
            task.add_done_callback(self._beside.discard)
        else:
            self.queue.append(text.removeprefix(STEER).strip() if text.startswith(STEER) else text)
            self._wake.set()

    def _at_once(self, text: str) -> bool:
        name = text[1:].partition(" ")[0] if text.startswith("/") else ""
        return name == "expand" or (name in COMMANDS and COMMANDS[name].anytime)

    def _steer(self) -> None:
        if self._turn is not None and (text := self._buffer.text.strip()):
            self._buffer.reset(append_to_history=True)
            self._said_aside(text)

    def _said_aside(self, text: str) -> None:
        if text:
            self.agent.steer(self._pastes.unfold(text))
            said = [(f"{STEER} ", "bold green"), (text, "bold")]
            self._screen.above(self._screen.pen.styled(said, fold=True))

    def _stop(self) -> None:
        if self._turn is not None:
            self._turn.cancel()
        elif self._desk.pending is not None:
            self._desk.pending.give("")
        elif self._buffer.text:
            self._buffer.reset()
        elif time.monotonic() - self._stopped_at < _AGAIN:
            self._leave()
        else:
            self._stopped_at = time.monotonic()
            self._note = "Ctrl-C again leaves"
            asyncio.get_running_loop().call_later(_AGAIN, self._forget_note)
        self._screen.redraw()

    def _forget_note(self) -> None:
        self._note = ""
        self._screen.redraw()

    def _leave(self) -> None:
        self.conversation.ended = True
        if self._turn is not None:
            self._turn.cancel()
        self._exit()

    def _exit(self) -> None:
        app = self._screen.app
        if app.future is not None and not app.future.done():
            app.exit()

    def _expand(self) -> None:
        self._screen.above(self._show.calls.expanded("", self._screen.pen))

    def _move(self, by: int) -> None:
        if self._desk.pending:
            self._desk.pending.move(by)

    def _unanswered(self) -> None:
        if self._desk.pending:
            self._desk.pending.give("")

    def _take_back(self) -> None:
        """What waited behind a stopped turn goes back into the input."""
        waiting = [text for text in self.queue if not text.startswith("/")]
        if waiting and not self._buffer.text:
            self.queue.clear()
            self._buffer.insert_text("\n".join(waiting))

    # -- screen -------------------------------------------------------------------------------------------

    async def _ask(self, question: Question) -> str:
        self._screen.above(detail_lines(question, self._screen.pen))
        if question.call is not None:
            self._show.calls.seen[question.call.id] = question.detail
        given = await self._desk.put(question)
        said = given or "unanswered"
        self._screen.above(
            self._screen.pen.styled([("? ", "yellow"), (question.text, ""), (f" {said}", "bold")], fold=True)
        )
        return given

    def _live(self, pen: Pen) -> list[str]:
        lines = self._show.live(pen)
        if pending := self._desk.pending:
            lines += pending.lines(pen)
        for text in self.queue:
            lines += pen.styled([("queued: ", "dim"), (text, "dim")])
        return lines

    def _status(self, width: int) -> str:
        agent, session = self.agent, self.agent.session
        profile = agent.model.profile
        return status_line(
            Status(
                profile.name,
                agent.session_id,
                session.last_input if session else 0,
                profile.context_window,
                session.last if session else Usage(),
                self._spending.bill.spent,
                len(self.queue),
                agent.personality,
                int(time.monotonic() - self._began) if self._turn else None,
                self._note,
            ),
            width,
        )

    def _welcome(self) -> None:
        pen = self._screen.pen
        self._screen.above(
            pen.styled([("Hermes ", "bold"), (__version__, ""), (f"  {self.agent.workdir.path}", "dim")])
        )
        for notice in dict.fromkeys(self.agent.notices):
            self._show.notice(notice)
        self._screen.above(pen.styled([("/help lists commands and keys", "dim")]))

    def _copy(self, text: str) -> bool:
        """Into the terminal's clipboard (OSC 52), which works over ssh too."""
        data = base64.b64encode(text.encode()).decode("ascii")
        self._screen.raw(f"\x1b]52;c;{data}\x07")
        return True


async def converse(agent: AIAgent, *, colour: bool = True, first: Iterable[str] = ()) -> int:
    """A conversation at the terminal; `first` is said before anything is typed."""
    talk = Talk(agent, colour=colour)
    talk.queue.extend(first)
    return await talk.run()
