"""The words of a summary: how the model is asked for it, and how it stands in the conversation."""

from __future__ import annotations

import re

from hermes.agent.compaction.selection import SUMMARY
from hermes.agent.overlays import fenced
from hermes.messages import Annex, Message
from hermes.prompts import prompt_text

_FENCE = re.compile(r"^\s*</?added(?: kind=\"[^\"\n]*\")?>\s*$", re.M)
_HEADING = re.compile(r"^## .+$", re.M)


def question(template: str, focus: str) -> Message:
    """What the model is asked."""
    text = prompt_text("compaction").format(template=template or prompt_text("compaction_template"))
    if focus:
        text += "\n\n" + prompt_text("compaction_focus").format(focus=focus)
    return Message("user", text)


def missing_sections(account: str, template: str) -> tuple[tuple[str, ...], int]:
    """The headings that the template requires and the account lacks, and how many are required."""
    required = _HEADING.findall(template or prompt_text("compaction_template"))
    given = {heading.strip().casefold() for heading in _HEADING.findall(account)}
    return tuple(h for h in required if h.strip().casefold() not in given), len(required)


def told(account: str) -> Annex:
    """The account as it stands in the conversation: as history."""
    return Annex(SUMMARY, f"{prompt_text('compaction_history')}\n\n{fenced('history', account)}", "before")


def unwrapped(answer: str) -> str:
    """The account alone: what the model copied of an older one's wrapping is taken off."""
    return _FENCE.sub("", answer.replace(str(prompt_text("compaction_history")), "")).strip()
