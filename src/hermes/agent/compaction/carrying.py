"""What of the cut messages is said again beside the account: skills, rules, hints, what still stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hermes.agent.compaction.selection import LOADS_SKILLS, SUMMARY, Selection
from hermes.agent.overlays import DAY, PRESSURE, fenced
from hermes.messages import Annex, Message
from hermes.prompts import prompt_text
from hermes.skills.known import LOADED

KEPT = ("skill", "hint", "pinned")
"""Kinds of annex that are kept word for word, whatever becomes of the message they came with."""

_OF_THEIR_MOMENT = frozenset(
    {*KEPT, SUMMARY, "budget", "clock", "hint pointer", "pressure", "recall", "repeated failure", "shortened"}
)


def carried(
    selection: Selection, visible: Sequence[Message], standing: Mapping[str, str]
) -> tuple[Annex, ...]:
    """The annexes for the account: of each standing kind the last word, and every rule that was cut."""
    return (*_standing(selection, visible, standing), *_kept(selection, visible))


def still_standing(
    standing: Mapping[str, str], messages: Iterable[Message], annexes: Iterable[Annex]
) -> dict[str, str]:
    """What stands on after the cut: only what can still be read, so that the rest is said again."""
    read = {a.kind for m in messages for a in m.annex} | {a.kind for a in annexes}
    return {kind: digest for kind, digest in standing.items() if kind in read and kind not in (PRESSURE, DAY)}


def _standing(
    selection: Selection, visible: Sequence[Message], standing: Mapping[str, str]
) -> Iterator[Annex]:
    """The last annex of a kind when it was cut and matters: it stands, or takes back what the head says.

    Changes against the frozen prompt are left out: the prompt after the cut is the current one.
    """
    cut = _ids(selection.cut)
    last = {a.kind: (a, id(m) in cut) for m in visible for a in m.annex if a.kind not in _OF_THEIR_MOMENT}
    early = {a.kind for m in selection.head for a in m.annex}
    for kind in sorted(last):
        annex, was_cut = last[kind]
        if was_cut and not kind.endswith(" changed") and kind in early | standing.keys():
            yield annex


def _kept(selection: Selection, visible: Sequence[Message]) -> Iterator[Annex]:
    arguments = {call.id: call.arguments for m in visible for call in m.tool_calls}
    present = {a.text for m in selection.kept for a in _rules(m, arguments)}
    found: dict[tuple[str, str], Annex] = {}
    for message in selection.cut:
        for annex in _rules(message, arguments):
            key = annex.kind, _name(annex)
            found.pop(key, None)  # what was loaded again stands where it was loaded last
            found[key] = annex
    yield from (annex for annex in found.values() if annex.text not in present)


def _rules(message: Message, arguments: Mapping[str, str]) -> Iterator[Annex]:
    yield from (annex for annex in message.annex if annex.kind in KEPT)
    if _loads_a_skill(message):
        told = prompt_text("compaction_skill").format(arguments=arguments.get(message.call_id, "{}"))
        yield Annex("skill", fenced("skill", f"{told}\n{message.text}"))


def _loads_a_skill(message: Message) -> bool:
    """Whether it holds the text of a skill; an answer that only points to it would take its place."""
    loads = message.role == "tool" and message.name == LOADS_SKILLS and not message.error
    return loads and bool(message.text) and not message.text.startswith(LOADED)


def _name(annex: Annex) -> str:
    """A skill goes by what it was loaded with; anything else is the same only when its text is."""
    return "\n".join(annex.text.split("\n")[:2]) if annex.kind == "skill" else annex.text


def _ids(messages: Iterable[Message]) -> set[int]:
    return {id(m) for m in messages}
