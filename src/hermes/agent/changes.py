"""What has changed outside since a prompt was frozen, as words for the tail of the conversation."""

from __future__ import annotations

from hermes.agent.overlays import fenced
from hermes.messages import Annex
from hermes.prompt import PromptKey, SystemPrompt
from hermes.prompts import prompt_text
from hermes.text import many
from hermes.turns import EphemeralOverlay

MAX_LINES = 60
MAX_CHARS = 6_000

_WATCHED = {
    "identity": "identity changed",
    "memory": "memory changed",
    "user profile": "memory changed",
    "skills index": "skills changed",
    "project context": "context changed",
    "platform hint": "surface changed",
    "system message": "system message changed",
}
"""Slots whose change the model is told of, and the kind of overlay that tells it."""


def changed_since(frozen: SystemPrompt, current: SystemPrompt) -> tuple[EphemeralOverlay, ...]:
    """An overlay for each kind of change between the frozen prompt and the one a new session would get.

    The frozen prompt does not move: the model reads what was there and, at the tail, what is different now.
    """
    told: dict[str, list[str]] = {}
    before = {s.slot: s.text for s in frozen.sections}
    for section in current.sections:
        kind = _WATCHED.get(section.slot)
        if section.slot == "identity" and all(s.origin.trust == "package" for s in section.spans):
            continue  # a SOUL.md that is gone, empty or kept out does not change who speaks in mid-session
        if kind and section.text != before.get(section.slot, ""):
            told.setdefault(kind, []).append(_difference(before.get(section.slot, ""), section.text))
    found = tuple(_overlay(kind, "\n".join(parts)) for kind, parts in told.items())
    return (*found, *_model_changed(frozen.key, current.key))


def _model_changed(frozen: PromptKey, current: PromptKey) -> tuple[EphemeralOverlay, ...]:
    """A word that another model answers than the session line in the frozen prompt says."""
    if (frozen.model, frozen.provider) == (current.model, current.provider) or not current.model:
        return ()
    name = f"{current.model} of {current.provider}" if current.provider else current.model
    text = prompt_text("notes/model").format(name=name)
    return (EphemeralOverlay(Annex("model changed", fenced("model changed", text)), "standing"),)


def _overlay(kind: str, difference: str) -> EphemeralOverlay:
    text = prompt_text("notes/changed").format(kind=kind)
    return EphemeralOverlay(Annex(kind, fenced(kind, f"{text}\n{difference}")), "standing")


def _difference(before: str, after: str) -> str:
    """The changed lines, `-` was and `+` is now; the whole text of a section that is new."""
    if not before:
        return _capped(after)
    import difflib  # most turns find nothing changed

    lines = list(difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=1))[2:]
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"[… {many(len(lines) - MAX_LINES, 'more changed line')}]"]
    return _capped("\n".join(lines))


def _capped(text: str) -> str:
    if len(text) <= MAX_CHARS:
        return text
    return f"{text[:MAX_CHARS]}\n[… {many(len(text) - MAX_CHARS, 'more character')}]"
