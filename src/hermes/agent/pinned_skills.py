"""The skills of `skills.pinned`: each new session begins with them, as if a person had started them."""

from __future__ import annotations

from hermes.agent.overlays import fenced
from hermes.agent.prompt_builder import Sources
from hermes.errors import HermesError
from hermes.messages import Annex
from hermes.prompts import prompt_text
from hermes.provenance import Notice, Origin
from hermes.security.gate import safe_name
from hermes.security.policy import Policies
from hermes.skills.records import Skill
from hermes.turns import EphemeralOverlay


def started(skill: Skill, policies: Policies) -> EphemeralOverlay:
    """A skill that rides on the next message. ToolError when it cannot be read."""
    from hermes.tools.skill_tools import instructions

    told = prompt_text("notes/skill_started").format(name=safe_name(skill.name))
    text = fenced("skill", f"{told}\n{instructions(skill, policies)}")
    return EphemeralOverlay(Annex("skill", text, "before"))


def pinned(sources: Sources) -> tuple[tuple[EphemeralOverlay, ...], tuple[Notice, ...]]:
    """The pinned skills in their order, and a notice for each that is not there or is off."""
    settings = sources.config.skills
    if not settings.pinned:
        return (), ()
    from hermes.skills.known import directories
    from hermes.skills.library import load_library
    from hermes.skills.offer import why_off
    from hermes.skills.overview import find_skill, setting_of

    library = load_library(sources.home, directories(settings), policies=sources.policies)
    overlays: list[EphemeralOverlay] = []
    notices: list[Notice] = []
    for name in settings.pinned:
        try:
            skill = find_skill(library, name)
            reason = why_off(skill, setting_of(sources.config))
            if reason and not skill.conditions.by_person_only:
                notices.append(_missing(name, reason))
            else:
                overlays.append(started(skill, sources.policies))
        except HermesError as error:
            notices.append(_missing(name, str(error)))
    return tuple(overlays), tuple(notices)


def _missing(name: str, reason: str) -> Notice:
    text = f"the pinned skill {safe_name(name)} was not loaded: {reason}; see skills.pinned in config.yaml"
    return Notice("warning", text, Origin("config"))
