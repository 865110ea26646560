"""Commands about skills."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hermes.agent.pinned_skills import started
from hermes.commands.records import Conversation
from hermes.config import load_config
from hermes.errors import UsageError
from hermes.files import read_file
from hermes.text import decode

if TYPE_CHECKING:  # a start need not wait for what few conversations ask for
    from hermes.skills.records import Library

USAGE = "Say /skills, or /skills with use, show, on or off and a NAME."


async def skills(conversation: Conversation, argument: str) -> str:
    """The skills of this session: listed, shown, switched on and off."""
    word, _, name = argument.partition(" ")
    name = name.strip()
    if not word or word == "list":
        return _printable(_list(conversation))
    if word not in ("use", "show", "on", "off", "enable", "disable") or not name:
        raise UsageError(USAGE)
    if word == "use":
        return _use(conversation, name)
    if word == "show":
        from hermes.skills.overview import find_skill

        return _printable(decode(read_file(find_skill(_library(conversation), name).path).data).text.strip())
    return _switch(conversation, name, word in ("on", "enable"))


def _printable(text: str) -> str:
    """A text from outside without anything that a terminal would obey."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def _library(conversation: Conversation) -> Library:
    from hermes.skills.known import directories
    from hermes.skills.library import load_library

    sources = conversation.agent.sources
    return load_library(sources.home, directories(sources.config.skills), policies=sources.policies)


def _list(conversation: Conversation) -> str:
    from hermes.skills.overview import overview, setting_of

    rows = overview(_library(conversation), setting_of(conversation.agent.sources.config))
    lines = [f"{row.state:<9} {row.name:<28} {row.detail or row.description}" for row in rows]
    return "\n".join(lines) or "There are no skills."


def _use(conversation: Conversation, name: str) -> str:
    """Load a skill by the person's word, also one that only a person may start."""
    from hermes.skills.offer import why_off
    from hermes.skills.overview import find_skill, setting_of

    agent = conversation.agent
    skill = find_skill(_library(conversation), name)
    reason = why_off(skill, setting_of(agent.sources.config))
    if reason and not skill.conditions.by_person_only:
        raise UsageError(f"The skill {skill.name} is off: {reason}.")
    overlay = started(skill, agent.sources.policies)
    agent.bring(overlay)
    return f"{skill.name} goes with your next message ({len(overlay.annex.text):,} characters)."


def _switch(conversation: Conversation, name: str, on: bool) -> str:
    from hermes.skills.overview import switch

    agent = conversation.agent
    disabled = switch(agent.sources.home, load_config(agent.sources.home), _library(conversation), name, on)
    config = agent.sources.config
    config = replace(config, skills=replace(config.skills, disabled=disabled))
    agent.sources = replace(agent.sources, config=config)
    return (
        f"{name} is {'on' if on else 'off'}, in config.yaml too. The frozen prompt stays as it is; "
        "the model is told with your next message."
    )


def skill_words(conversation: Conversation) -> list[tuple[str, str]]:
    """What can stand behind /skills."""
    return [
        ("use", "follow one with the next message"),
        ("show", "read one"),
        ("on", "switch one on"),
        ("off", "switch one off"),
    ]
