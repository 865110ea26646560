"""Decides when a conversation is summarised, has the model do it, and puts the account in its place.

The question is asked behind the whole conversation, with the same prompt and tools, so that all of it is
read from the cache. Nothing changes until there is an account that makes the conversation shorter.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence

from hermes.agent.aside import ask_aside
from hermes.agent.compaction.account import missing_sections, question, told, unwrapped
from hermes.agent.compaction.carrying import carried, still_standing
from hermes.agent.compaction.measure import fixed, size_of, used
from hermes.agent.compaction.renewal import renewed
from hermes.agent.compaction.selection import Selection, select, shortened
from hermes.agent.guard import price_of
from hermes.agent.overlays import DAY, PRESSURE
from hermes.agent.session import Session
from hermes.config.records import CompactionConfig
from hermes.contracts import Model, ModelProfile
from hermes.errors import ModelError
from hermes.messages import Completed, Message, ToolSpec
from hermes.prompt import SystemPrompt
from hermes.provenance import Level, Notice, Origin
from hermes.turns import Event, NoticeShown
from hermes.wire.economics import dollars

Current = Callable[[], tuple[SystemPrompt, tuple[ToolSpec, ...]]]
"""Builds the prompt and the list of tools that a new session would get."""

Room = Callable[[ModelProfile], int]

REASON = "compaction"
GIVE_UP = 3
"""Failures in a row after which only a request that is really too long is a reason to try again."""
TAIL_PART = 0.25
"""How much of the window the messages at the end may take."""
PROGRESS = 0.9
"""An account is worth its break when the messages take no more than this part of what they did."""


class Compactor:
    """Summarises one session. It remembers what failed, and rests a while after a failure.

    `room` is what there must be for an answer of a model, in tokens.
    """

    def __init__(self, settings: CompactionConfig, current: Current, room: Room) -> None:
        self.settings = settings
        self.failures = 0
        self._current = current
        self._room = room
        self._seen = self._rests_until = 0  # tokens

    def due(self, session: Session, profile: ModelProfile, coming: str = "") -> bool:
        """Whether it is time, with the text `coming` still to be added."""
        if not profile.context_window or self.failures >= GIVE_UP:
            return False
        now = used(session, profile) + (size_of([Message("user", coming)], profile) if coming else 0)
        self._seen = now
        return now >= max(self._limit(profile.context_window, profile), self._rests_until)

    async def run(
        self, session: Session, model: Model, *, focus: str = "", forced: bool = False
    ) -> AsyncGenerator[Event | Completed, None]:
        """Summarise now. The session has a new epoch afterwards, or is as it was and a notice says why.

        `forced`: a request was too long, so that the window is smaller than what is used. The answer of the
        model is among the events, for what it cost.
        """
        profile, before = model.profile, used(session, model.profile)
        window = min(profile.context_window or before, before) if forced else profile.context_window or before
        selection = self._select(session, profile, window)
        if selection is None:
            yield self._without_account(session, profile, before, window)
            for notice in await session.keep():
                yield NoticeShown(notice)
            return
        price = price_of(session, profile, session.clock())
        text = f"the conversation is being summarised: it takes about {before:,} tokens"
        if price.cost:
            text += (
                f"; what stays is written anew, for at most {dollars(price.cost)} more than from the cache"
            )
        yield _notice("info", text)
        for notice in await session.keep():  # what is sent is stored before it is sent
            yield NoticeShown(notice)
        try:
            answer = await self._ask(session, model, selection, focus)
        except ModelError as error:
            yield self._failed(before, window, f"the model could not do it: {error}")
            return
        yield answer
        account, problem = self._read(answer)
        if not problem:
            problem = self._adopt(session, profile, selection, account, window)
        for notice in await session.keep():
            yield NoticeShown(notice)
        if problem:
            yield self._failed(before, window, problem)
            return
        yield self._succeeded(session, profile, before, window)
        missing, _ = missing_sections(account, self.settings.template)
        if missing:
            names = ", ".join(heading.removeprefix("## ") for heading in missing)
            yield _notice("warning", f"the summary has nothing under: {names}")

    # -- steps --------------------------------------------------------------------------------------------

    def _select(self, session: Session, profile: ModelProfile, window: int) -> Selection | None:
        """What goes and what stays; of a short conversation the later half stays."""
        tails = (self.settings.keep_tail, min(self.settings.keep_tail, len(session.visible) // 2))
        tried = (
            select(
                session.visible,
                keep_head=self.settings.keep_head,
                keep_tail=tail,
                tail_size=int(window * TAIL_PART),
                size=lambda message: size_of([message], profile),
            )
            for tail in tails
        )
        return next((found for found in tried if found), None)

    async def _ask(self, session: Session, model: Model, selection: Selection, focus: str) -> Completed:
        """The account, asked behind the conversation; where that is too long, behind a shorter form of it."""
        asked = question(self.settings.template, focus)
        heard = session.answered[0]
        end = len(session.visible) - len(selection.tail)
        if (answer := session.visible[heard : heard + 1]) and _is_plain_answer(answer[0]):
            end = max(end, heard + 1)  # the last answer is sent too: roles take turns
        codec, profile, room = model.codec, model.profile, self._room(model.profile)
        whole = session.aside(session.answered, (*session.visible[heard:end], asked), codec, profile, room)
        try:
            return await ask_aside(session, model, whole)
        except ModelError as error:
            short = tuple(map(shortened, session.visible[:end]))
            if error.kind != "context" or short == tuple(session.visible[:end]):
                raise
        return await ask_aside(session, model, session.aside((0, 0), (*short, asked), codec, profile, room))

    def _read(self, answer: Completed) -> tuple[str, str]:
        """The account in an answer, and what is wrong with it; calls of tools are not looked at."""
        account = unwrapped(answer.message.text)
        missing, required = missing_sections(account, self.settings.template)
        if not account:
            return "", "the model gave no text"
        if answer.stop in ("length", "refused"):
            return account, "the summary was not finished" if answer.stop == "length" else "the model refused"
        if required and len(missing) == required:
            return account, "the model wrote something else"
        return account, ""

    def _adopt(
        self, session: Session, profile: ModelProfile, selection: Selection, account: str, window: int
    ) -> str:
        """Put the account in its place; the problem when that would gain nothing."""
        annexes = carried(selection, session.visible, session.standing)
        message = Message("user", annex=(told(account), *annexes))
        after = selection.around(message)
        if fixed(session, profile) + size_of(after, profile) > self._limit(window, profile) * PROGRESS:
            after = tuple(map(shortened, after))
        if size_of(after, profile) > PROGRESS * size_of(session.visible, profile):
            return "the summary is hardly shorter than what it tells of"
        standing = still_standing(session.standing, selection.kept, annexes)
        self._begin(session, after, standing)
        return ""

    def _without_account(
        self, session: Session, profile: ModelProfile, before: int, window: int
    ) -> NoticeShown:
        """Nothing is old enough to be summarised: only long results can make room."""
        after = tuple(map(shortened, session.visible))
        if before < self._limit(window, profile) or after == tuple(session.visible):
            return self._failed(before, window, "nothing in it is old enough to be summarised")
        self._begin(session, after, session.standing)
        return self._succeeded(session, profile, before, window)

    def _begin(self, session: Session, messages: Sequence[Message], standing: dict[str, str]) -> None:
        """The new epoch; messages that are new get their place in the session first."""
        current, tools = self._current()
        known = {id(m) for m in session.visible}
        placed = tuple(m if id(m) in known else session.append(m) for m in messages)
        session.new_epoch(REASON, renewed(session.prompt, current), placed, tools)
        session.stand({kind: digest for kind, digest in standing.items() if kind not in (PRESSURE, DAY)})

    # -- outcome ------------------------------------------------------------------------------------------

    def _limit(self, window: int, profile: ModelProfile) -> int:
        """Tokens that may be used of a window: its threshold, and room for an answer where that is little."""
        return max(min(int(window * self.settings.threshold), window - self._room(profile)), window // 2)

    def _failed(self, before: int, window: int, why: str) -> NoticeShown:
        self.failures += 1
        self._rests_until = max(before, self._seen) + (window >> 5) * 2**self.failures
        text = f"the conversation was not summarised: {why}; nothing of it is lost"
        if self.failures >= GIVE_UP:
            text += "; it is tried again when a request is too long, or when asked for"
        return _notice("warning", text)

    def _succeeded(self, session: Session, profile: ModelProfile, before: int, window: int) -> NoticeShown:
        after = used(session, profile)
        self.failures = 0
        self._rests_until = after + (window >> 5)
        text = (
            f"the conversation was summarised: it took about {before:,} tokens and takes about {after:,} now"
        )
        text += "; the older messages are kept and can be searched"
        return _notice("info", text)


def _is_plain_answer(message: Message) -> bool:
    return message.role == "assistant" and not message.tool_calls


def _notice(level: Level, text: str) -> NoticeShown:
    return NoticeShown(Notice(level, text, Origin(REASON)))
