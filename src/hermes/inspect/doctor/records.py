"""What a check is given, and what it may find."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hermes.agent.prompt_builder import Sources
from hermes.agent.workdir import Project
from hermes.frozen import frozen
from hermes.prompt import SystemPrompt
from hermes.provenance import Level


@frozen
class Problem:
    """One thing found. `remedy` says in one line what to do; it is empty for what is only told.

    `removable` is the path of a file that `--fix` may delete, or "".
    """

    level: Level
    text: str
    remedy: str = ""
    removable: str = ""


@frozen
class Terminal:
    """How this process talks to the person: the encoding of its output, and that of the locale."""

    encoding: str = "utf-8"
    locale_encoding: str = "utf-8"


@frozen
class Patient:
    """All that the checks look at. `now` is the time in seconds; the prompt is the one built here."""

    sources: Sources
    prompt: SystemPrompt
    project: Project
    terminal: Terminal
    now: float


Check = Callable[[Patient], Iterable[Problem]]


@frozen
class Result:
    """What one check found."""

    check: str
    problems: tuple[Problem, ...]

    @property
    def worst(self) -> Level | None:
        """The gravest level that needs a remedy; None when all is well."""
        levels = {p.level for p in self.problems}
        return "error" if "error" in levels else "warning" if "warning" in levels else None
