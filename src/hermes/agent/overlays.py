"""What is added at the time of a call: gathered in one order, sent once, never taken back.

A *standing* overlay (a personality, an ephemeral prompt, who is in the chat) is sent when it begins or
changes, and taken back in words when it ends; the text that was sent stays where it was sent. A *turn*
overlay (the clock, recall) is of its moment and is sent each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from hermes.frozen import frozen
from hermes.messages import Annex, Message, Place
from hermes.provenance import Notice, Origin, Passage, Trust, digest_of
from hermes.security.gate import admit
from hermes.security.policy import Policies
from hermes.turns import EphemeralOverlay

ORDER = (
    "recall",
    "gateway",
    "skill",
    "personality",
    "ephemeral",
    "identity changed",
    "memory changed",
    "skills changed",
    "context changed",
    "system message changed",
    "model changed",
    "surface changed",
    "plugin",
    "pressure",
    "budget",
    "clock",
)
"""Every kind of overlay, in the order in which they stand on a message."""

_ENDED = {
    "personality": "The personality set earlier no longer applies; answer in your own voice again.",
    "ephemeral": "The additional instructions given earlier no longer apply.",
    "gateway": "What was said earlier of the chat no longer applies.",
}
_CURRENT = (
    "What was said under {kind!r} no longer counts: the instructions at the start are up to date in that."
)
_REPLACES = "This replaces what was said earlier under the same name."


PRESSURE, DAY = "once: pressure", "once: day"
"""What was said once and need not be taken back: that the window fills, which day it is."""

TRUSTED = frozenset({"personality", "ephemeral", "model changed", "surface changed"})
"""Kinds whose text comes from the owner: where a model takes system messages later on, they may be one."""


@frozen
class Sources:
    """Where the overlays of one turn come from; "" and None are: nothing of that kind.

    `changed` are those of `changes.changed_since`; `given` those that the face and plugins bring; `day` is
    the last one that was said.
    """

    policies: Policies
    personality: str = ""
    ephemeral: str = ""
    given: tuple[EphemeralOverlay, ...] = ()
    changed: tuple[EphemeralOverlay, ...] = ()
    now: datetime | None = None
    day: str = ""


def gather_overlays(sources: Sources) -> tuple[tuple[EphemeralOverlay, ...], tuple[Notice, ...]]:
    """All that is added to a person's message at the call, and what a person should know of it."""
    found: list[EphemeralOverlay] = [*sources.given]
    notices: list[Notice] = []
    for kind, text in (("personality", sources.personality), ("ephemeral", sources.ephemeral)):
        if text:
            made, told = overlay(kind, text, policies=sources.policies, standing=True)
            found.append(made)
            notices += told
    found += sources.changed
    if sources.now is not None:
        found.append(clock(sources.now, sources.day))
    return tuple(found), tuple(notices)


def clock(now: datetime, said: str = "") -> EphemeralOverlay:
    """A short stamp of the present time; the day with it unless it is the one that was `said` last."""
    day = "" if day_of(now) == said else f"{day_of(now)} "
    return EphemeralOverlay(Annex("clock", f"[now: {day}{now.strftime('%H:%M')}]", "before"))


def day_of(now: datetime) -> str:
    """A day with its time zone, as the clock says it."""
    return now.strftime("%a %Y-%m-%d (%z)")


def overlay(
    kind: str,
    text: str,
    *,
    policies: Policies,
    trust: Trust = "caller",
    standing: bool = False,
    place: Place = "after",
) -> tuple[EphemeralOverlay, tuple[Notice, ...]]:
    """An overlay of a text from outside, which passes the gate like every other."""
    passage = Passage.quote(text, Origin(kind, digest=digest_of(text), trust=trust))
    admitted = admit(passage, name=kind, policy=policies.of(trust))
    annex = Annex(kind, fenced(kind, admitted.passage), place)
    return EphemeralOverlay(annex, "standing" if standing else "turn"), admitted.passage.notices


_CLOSING = re.compile(r"<\s*/(?=\s*added)", re.IGNORECASE)


def fenced(kind: str, text: str, source: str = "") -> str:
    """A text with its name around it, which cannot be closed from inside."""
    if not text:
        return ""
    inner = _CLOSING.sub(r"<\\/", text)
    named = f' from="{source}"' if source else ""
    return f'<added kind="{kind}"{named}>\n{inner}\n</added>'


def place(
    overlays: Iterable[EphemeralOverlay], standing: Mapping[str, str]
) -> tuple[tuple[Annex, ...], dict[str, str]]:
    """The annexes for the newest message, and what stands after it.

    `standing` maps a kind to the digest of the text that stands, as the last call left it. Of a standing
    kind that is not given any more, the end is said once.
    """
    given = sorted(overlays, key=_order)
    after = dict(standing)
    annexes: list[Annex] = []
    for one in given:
        if one.lasts == "turn":
            annexes += [one.annex] if one.annex.text else []
            continue
        digest = digest_of(one.annex.text) if one.annex.text else ""
        if digest == after.get(one.annex.kind, ""):
            continue
        annexes.append(_changed(one.annex, after.get(one.annex.kind, "")))
        after[one.annex.kind] = digest
    named = {one.annex.kind for one in given if one.lasts == "standing"}
    once = {PRESSURE, DAY}
    for kind in sorted(k for k, digest in standing.items() if digest and k not in named | once):
        annexes.append(_changed(Annex(kind, ""), standing[kind]))
        after[kind] = ""
    return tuple(sorted(annexes, key=_order_of_annex)), {k: v for k, v in after.items() if v}


def _changed(annex: Annex, before: str) -> Annex:
    if not annex.text:
        usual = f"What was said earlier under {annex.kind!r} no longer applies."
        current = _CURRENT.format(kind=annex.kind)
        ended = current if annex.kind.endswith(" changed") else _ENDED.get(annex.kind, usual)
        return Annex(annex.kind, f"[{ended}]", annex.place)
    return Annex(annex.kind, f"{annex.text}\n[{_REPLACES}]", annex.place) if before else annex


def _order(one: EphemeralOverlay) -> tuple[int, str]:
    return _order_of_annex(one.annex)


def _order_of_annex(annex: Annex) -> tuple[int, str]:
    return (ORDER.index(annex.kind) if annex.kind in ORDER else len(ORDER), annex.kind)


def said(text: str, annexes: tuple[Annex, ...], apart: bool) -> tuple[Message, ...]:
    """A person's message with its annexes.

    `apart`: the model takes system messages in mid-conversation, so what the owner says stands in one behind
    the person's words; what anyone else says never does.
    """
    if not apart:
        return (Message("user", text, annexes),)
    owners = tuple(a for a in annexes if a.kind in TRUSTED)
    rest = tuple(a for a in annexes if a.kind not in TRUSTED)
    message = Message("user", text, rest)
    return (message, Message("system", annex=owners)) if owners else (message,)
