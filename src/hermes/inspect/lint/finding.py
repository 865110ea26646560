"""What lint says: the table of rules, and one finding of a rule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from hermes.frozen import frozen
from hermes.provenance import digest_of

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")
"""The gravest first."""


@frozen
class Rule:
    """One rule: its id, `family-name`, its usual level, and what it looks for."""

    id: str
    level: Level
    title: str


RULES: dict[str, Rule] = {
    rule.id: rule
    for rule in (
        Rule("conflict-choice", "warning", "Two places choose differently where only one choice can hold"),
        Rule("conflict-polarity", "warning", "One place asks for what another forbids"),
        Rule("cost-file", "note", "A file longer than rule files stay useful"),
        Rule("cost-prompt", "warning", "The prompt takes a large part of the context window"),
        Rule("cost-section", "note", "A section takes a large part of the prompt"),
        Rule("dead-command", "warning", "A command that this project does not have"),
        Rule("dead-import", "warning", "An @import of a file that does not exist"),
        Rule("dead-link", "warning", "A link to a file that does not exist"),
        Rule("dead-name", "note", "A file name that stands nowhere in the project"),
        Rule("dead-path", "warning", "A path that does not exist in the project"),
        Rule("invisible-character", "warning", "Characters that draw nothing"),
        Rule("repeat-exact", "warning", "The same rule twice"),
        Rule("repeat-near", "note", "Nearly the same rule twice"),
        Rule("secret-key", "error", "A secret that would be sent with every call"),
        Rule("soul-fact", "note", "A fact of one project in the identity of all"),
        Rule("unloaded-blocked", "error", "A file that the gate stopped"),
        Rule("unloaded-cut", "warning", "Part of a file lies over the limit and is left out"),
        Rule("unloaded-duplicate", "note", "A file whose content is loaded already"),
        Rule("unloaded-empty", "note", "A file without text"),
        Rule("unloaded-front-matter", "warning", "Front matter that cannot be read as such"),
        Rule("unloaded-glob", "warning", "A rule whose globs match no file of the project"),
        Rule("unloaded-manual", "note", "A rule that loads only when it is named"),
        Rule("unloaded-redacted", "warning", "Lines that the gate took out of a file"),
        Rule("unloaded-shadowed", "note", "A file that another one stands before"),
        Rule("unloaded-unreadable", "warning", "A file that cannot be read"),
        Rule("vague-rule", "note", "A rule that no one could check"),
    )
}


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something stands. Lines and columns are 1-based, `end_column` exclusive; 0 means no place.

    `file` is relative to the project's root, begins with `~HERMES_HOME/`, or is absolute.
    """

    file: str
    line: int = 0
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


@frozen
class Finding:
    """One thing to mend. `tokens` is what it costs in the prompt, 0 where that makes no sense.

    The fingerprint outlives shifted lines: it is made of rule, file and subject alone.
    """

    rule: str
    level: Level
    place: Place
    message: str
    fingerprint: str
    tokens: int = 0
    related: tuple[Place, ...] = ()


def finding(
    rule: str,
    place: Place,
    message: str,
    subject: str,
    *,
    tokens: int = 0,
    related: tuple[Place, ...] = (),
    level: Level | None = None,
) -> Finding:
    """A finding of a rule at its usual level. `subject` is the text it is about, and never a secret."""
    normal = re.sub(r"\s+", " ", subject).strip().casefold()
    fingerprint = digest_of(f"{rule}\0{place.file}\0{normal}")[:16]
    return Finding(rule, level or RULES[rule].level, place, message, fingerprint, tokens, related)
