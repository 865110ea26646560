"""Whether a call may run: judged by what it is about to do, and asked of a person where the policy says so.

The one place for it. Tools tell their `Plan` and know nothing of policies.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes.bulkhead import behind_bulkhead
from hermes.errors import UsageError
from hermes.messages import ToolCall
from hermes.paths import Home
from hermes.prompts import prompt_text
from hermes.tool_names import tools_of
from hermes.tooling import Plan, Tool, ToolContext
from hermes.turns import Question

if TYPE_CHECKING:  # what judges is imported with the first call that is judged
    from hermes.security.commands import Judged
    from hermes.security.dangers import Danger
    from hermes.security.where import Ground

MODES = ("ask", "auto", "yolo")
CHOICES = ("once", "session", "always", "no")
_YES = {"once": "once", "yes": "once", "y": "once", "session": "session", "s": "session", "always": "always"}
_NO = frozenset({"no", "n", "never", "deny"})
_WHOLE = ("sh", "bash", "zsh", "python", "python3", "node", "perl", "ruby", "find", "ssh", "docker", "make")


class Verdict(NamedTuple):
    """What was found about a plan: what is dangerous, whether it asks, and what allowing it would add."""

    dangers: tuple[Danger, ...] = ()
    asks: bool = False
    entries: tuple[str, ...] = ()


def _forget(entry: str) -> None:
    """Where nothing can be kept."""


@dataclass(slots=True)
class Approval:
    """The policy of one conversation, and what its person has allowed so far.

    `project` and `hermes` are where it works and Hermes' home; UsageError for a `mode` that there is not.
    `allow` holds entries: the name of a tool or toolset; `terminal: words` for commands that begin with
    these words, or are these word for word; `tool: path` for what lies there. `remember` keeps one for good.
    """

    project: str
    hermes: str
    mode: str = "ask"
    allow: tuple[str, ...] = ()
    confine: bool = False
    remember: Callable[[str], object] = _forget
    _ground: Ground | None = None
    _session: list[str] = field(default_factory=list)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UsageError(f"there is no approval mode {self.mode!r}; there are {', '.join(MODES)}")

    @property
    def ground(self) -> Ground:
        """The places that calls are judged by."""
        if self._ground is None:
            from hermes.security.where import Ground

            self._ground = Ground.at(self.project, self.hermes)
        return self._ground

    async def refusal(
        self, tool: Tool, call: ToolCall, arguments: dict[str, Any], context: ToolContext
    ) -> str:
        """Why the call may not run, in words for the model; "" when it may. Asks the person where needed."""
        if tool.plan is None:
            return ""
        plan = tool.plan(context, **arguments)
        if plan == Plan():
            return ""
        if self.confine and (path := self._outside(plan)):
            return _text("confined", path=path, project=self.ground.project)
        async with self._asking:  # one question at a time, and the answer counts for the next
            verdict = self._verdict(tool.spec.name, plan)
            if any(danger.never for danger in verdict.dangers):
                return _text("never", why=_reasons(verdict.dangers, only_never=True))
            if not verdict.asks or self.mode == "yolo":
                return ""
            return await self._ask(call, plan, verdict, context)

    async def _ask(self, call: ToolCall, plan: Plan, verdict: Verdict, context: ToolContext) -> str:
        why = _reasons(verdict.dangers)
        text = f"Let {call.name} do this?" + (f" Careful: {why}." if why else "")
        detail = plan.detail or plan.command or call.arguments
        said = (await context.ask(Question("approval", text, CHOICES, detail, call))).strip()
        answer = _YES.get(said.lower())
        if answer is None:
            if not said:
                return _text("nobody", why=why or "the policy asks a person first")
            words = "" if said.lower() in _NO else f" They said: {said}"
            return _text("refused", words=words)
        if answer != "once":
            self._session += verdict.entries
        if answer == "always":
            for entry in verdict.entries:
                _, notices = behind_bulkhead("keeping what is allowed", partial(self.remember, entry), None)
                for notice in notices:
                    context.tell(notice)
        return ""

    # -- judging ------------------------------------------------------------------------------------------

    def _verdict(self, name: str, plan: Plan) -> Verdict:
        found = [
            *(self._of_command(name, plan.command, plan.cwd) if plan.command else ()),
            *self._of_paths(name, plan),
        ]
        if plan.outside and not self._allowed(name, ""):
            found.append(Verdict((), True, (name,)))
        return Verdict(
            tuple(dict.fromkeys(d for v in found for d in v.dangers)),
            any(v.asks for v in found),
            tuple(dict.fromkeys(e for v in found for e in v.entries)),
        )

    def _of_paths(self, name: str, plan: Plan) -> Iterator[Verdict]:
        for path in plan.reads:
            dangers = tuple(self.ground.of_reading(path))
            yield self._weighed(name, path, dangers, usual=False)
        for path in plan.writes:
            dangers = tuple(self.ground.of_writing(path))
            yield self._weighed(name, path, dangers, usual=self.mode == "ask")

    def _weighed(self, name: str, path: str, dangers: tuple[Danger, ...], usual: bool) -> Verdict:
        """A path: what is dangerous asks by its place, all else by the tool."""
        if self._allowed(name, path, whole=not dangers):
            return Verdict()
        if dangers:
            return Verdict(dangers, True, (f"{name}: {path}",))
        return Verdict((), True, (name,)) if usual else Verdict()

    def _of_command(self, name: str, command: str, cwd: str) -> Iterator[Verdict]:
        from hermes.security.commands import judge

        judged = judge(command, cwd, self.ground)
        never = tuple(danger for danger in judged.dangers if danger.never)
        if never:
            yield Verdict(never)
            return
        if f"{name}: {command.strip()}" in self._entries():
            return
        if judged.dangers:
            yield Verdict(judged.dangers, True, (f"{name}: {command.strip()}",))
            return
        if self.mode != "ask" or judged.only_reads or self._allowed(name, ""):
            return
        if left := self._not_allowed(name, command, judged):
            yield Verdict((), True, left)

    def _not_allowed(self, name: str, command: str, judged: Judged) -> tuple[str, ...]:
        """The entries that are missing for the commands to run without asking."""
        given = [_words(e, name) for e in self._entries()]
        left = []
        for words in judged.simple:
            if not any(g and words[: len(g)] == g for g in given):
                left.append(f"{name}: {shlex.join(_beginning(words))}")
        return tuple(left) if judged.simple else (f"{name}: {command.strip()}",)

    def _entries(self) -> tuple[str, ...]:
        return (*self.allow, *self._session)

    def _allowed(self, name: str, path: str, *, whole: bool = True) -> bool:
        """Whether entries allow a tool as a `whole`, or at a path."""
        for entry in self._entries():
            tool, colon, rest = entry.partition(":")
            if name not in tools_of([tool.strip()]):
                continue
            if not colon and whole:
                return True
            place = os.path.realpath(os.path.join(self.ground.project, os.path.expanduser(rest.strip())))
            if colon and path and name != "terminal" and replace(self.ground, project=place).inside(path):
                return True
        return False

    def _outside(self, plan: Plan) -> str:
        """The first path of a plan that leaves the project; "" when none does."""
        from hermes.security.commands import judge

        paths = (*plan.reads, *plan.writes)
        if plan.command:
            paths = (*paths, plan.cwd, *judge(plan.command, plan.cwd, self.ground).writes)
        return next((path for path in paths if path and not self.ground.inside(path)), "")


def allow_for_good(home: Home, entry: str) -> None:
    """Add an entry to `tools.allow` in config.yaml. ConfigError when it cannot be written."""
    import json

    from hermes.config import load_config
    from hermes.config.edit import set_key

    allowed = load_config(home).tools.allow
    if entry not in allowed:
        set_key(home, "tools.allow", json.dumps([*allowed, entry], ensure_ascii=True))


def _words(entry: str, name: str) -> tuple[str, ...]:
    """The words that a command has to begin with for an entry to allow it; none for other entries."""
    tool, colon, rest = entry.partition(":")
    if tool.strip() != name or not colon:
        return ()
    try:
        return tuple(shlex.split(rest))
    except ValueError:
        return ()


def _beginning(words: tuple[str, ...]) -> tuple[str, ...]:
    """What of a command is allowed when it is allowed for longer: program and first word, or all of it."""
    program = os.path.basename(words[0])
    if len(words) == 1 or program in _WHOLE or words[1].startswith("-"):
        return words
    return words[:2]


def _reasons(dangers: tuple[Danger, ...], *, only_never: bool = False) -> str:
    return "; ".join(dict.fromkeys(d.why for d in dangers if d.never or not only_never))


def _text(name: str, **parts: str) -> str:
    return str(prompt_text(f"notes/approval_{name}")).format(**parts)
