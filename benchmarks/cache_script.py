"""The session that both systems play: what is said, and what moves a prompt's beginning elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cache_proxy import Answer, Call, Say

Act = Literal["write", "personality", "ephemeral", "clock", "evict", "restart"]


@dataclass(frozen=True, slots=True)
class Do:
    """Something that happens before a turn. `write` puts `value` into a file, `at`, of home or project."""

    act: Act
    value: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: its name in the table, the words, what happens before, and the answers that are scripted.

    After the scripted answers the engine speaks. `recall` is what a memory service finds for this turn.
    """

    name: str
    text: str
    before: tuple[Do, ...] = ()
    answers: tuple[Answer, ...] = ()
    recall: str = ""


SOUL = "You are Hermes. Answer in one short sentence.\n"
AGENTS = "# Harbour\n\nA small service that keeps the timetable of ferries. `make test` runs its tests.\n"
MEMORY = "The ferry company is called Blue Line.\n"
PERSONALITY, PERSONA = "librarian", "You speak as a careful librarian who loves exact words."
TIMES = "Monday 08:10 Aland\nTuesday 09:40 Borgo\nFriday 17:25 Aland\n"
STARTS, AFTER_MIDNIGHT = "2026-03-02T23:40:00+00:00", "2026-03-03T00:20:00+00:00"

FILES = (
    Do("write", SOUL, "home/SOUL.md"),
    Do("write", MEMORY, "home/memories/MEMORY.md"),
    Do("write", AGENTS, "project/AGENTS.md"),
    Do("write", TIMES, "project/times.txt"),
    Do("write", "Tickets cost 12 crowns.   \n\t\n\n", "project/prices.txt"),
)
"""What lies in home and project when the session begins."""

_SKILL = (
    "---\nname: ferry-notices\ndescription: Write a short notice when a ferry is late.\n---\n"
    "Name the ferry, the delay and the next departure.\n"
)


def _read(name: str) -> Call:
    return Call("read_file", f'{{"path": "{name}"}}')


SCRIPT: tuple[Turn, ...] = (
    Turn("first request", "Hello, which project is this?", (Do("ephemeral", "Answer in English."),)),
    Turn("plain", "What is a timetable?"),
    Turn("tool call", "Read the file times.txt.", answers=(_read("times.txt"),)),
    Turn("two calls in a row", "Read both files.", answers=(_read("times.txt"), _read("prices.txt"))),
    Turn("recall", "Where do I live?", recall="Two years ago the user moved to Borgo, near the harbour."),
    Turn("plain, after recall", "Which ferry goes there?"),
    Turn("white space ends my words", "Name a colour.  \n\n"),
    Turn("white space ends an answer", "Name another.", answers=(Say("Sea green.  \n\n"),)),
    Turn("plain, after white space", "And one more?"),
    Turn("white space ends a result", "What does a ticket cost?", answers=(_read("prices.txt"),)),
    Turn(
        "memory written",
        "What is the company called?",
        (Do("write", MEMORY + "§\nThe user prefers morning ferries.\n", "home/memories/MEMORY.md"),),
    ),
    Turn("personality on", "Describe a boat.", (Do("personality", PERSONALITY),)),
    Turn("plain, personality on", "Describe the sea."),
    Turn("personality off", "Describe the sky.", (Do("personality", "none"),)),
    Turn("ephemeral prompt changed", "Say good night.", (Do("ephemeral", "Answer in Italian."),)),
    Turn("ephemeral prompt gone", "Say goodbye.", (Do("ephemeral", ""),)),
    Turn(
        "skill installed",
        "The ferry is late.",
        (Do("write", _SKILL, "home/skills/ferry-notices/SKILL.md"),),
    ),
    Turn(
        "AGENTS.md edited",
        "How do I run the tests?",
        (Do("write", AGENTS + "`make check` looks at its style.\n", "project/AGENTS.md"),),
    ),
    Turn("midnight passed", "Which day is it?", (Do("clock", AFTER_MIDNIGHT),)),
    Turn("restart, other hash seed", "Where were we?", (Do("restart"),)),
    Turn("tool call, after restart", "Read times.txt again.", answers=(_read("times.txt"),)),
    Turn("idle eviction", "Are you there?", (Do("evict"),)),
    Turn("recall, after eviction", "What do I like?", recall="The user prefers the deck to the saloon."),
    Turn("plain, at the end", "Thank you."),
)
