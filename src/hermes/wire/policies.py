"""Ways to use a cache: where marks stand, for how long, what is told at the tail, which model answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from hermes.contracts import CacheRules, Codec, ModelProfile
from hermes.fragments import Fragments
from hermes.messages import ToolSpec
from hermes.prompt import SystemPrompt
from hermes.provenance import digest_of
from hermes.providers.cache_marks import Frame, MarkPolicy, Marks, mark_places, place_marks
from hermes.providers.canonical import json_bytes, json_text
from hermes.providers.tokens import estimate_tokens
from hermes.wire.blocks import head_blocks, is_mark, lifetime_of
from hermes.wire.past import Past
from hermes.wire.request import Wire

Where = Literal["sent", "none", "all", "prompt", "newest"]

Delta = Callable[[SystemPrompt, SystemPrompt], str]
"""What is told at the tail when a prompt has changed: from one that was frozen to one that is true now."""


class Other(NamedTuple):
    """Another model, and how it is spoken to."""

    profile: ModelProfile
    codec: Codec


class Policy(NamedTuple):
    """One way. `where` marks stand (`sent`: as they did) and with which lifetimes; `pings` to keep the cache
    warm between two calls, at most. `rewrites`: what is told at the tail rewrites the prompt instead; with a
    `delta`, what a refresh changed is told at the tail. An `other` model answers. `set` is what to write in
    config.yaml to have it, "" where that is not offered.
    """

    name: str
    where: Where = "sent"
    prompt_ttl: str = ""
    ttl: str = ""
    pings: int = 0
    rewrites: bool = False
    delta: Delta | None = None
    other: Other | None = None
    set: str = ""


AS_SENT = Policy("as it was sent")


def policies(rules: CacheRules, pings: int) -> tuple[Policy, ...]:
    """The ways to mark and to keep warm that these rules leave; first of all what was sent."""
    if rules.kind != "marks" or not rules.ttls:
        return (AS_SENT,)
    short, long = rules.ttls[0].name, rules.ttls[-1].name
    found = [
        AS_SENT,
        Policy("no marks", "none", set="cache.marks: false"),
        Policy("marks on the prompt alone", "prompt"),
        Policy("a mark on the newest alone", "newest"),
        Policy(f"all marks, {short}", "all", set=f"cache.ttl: {short}"),
    ]
    if long != short:
        found += [
            Policy(f"prompt {long}, messages {short}", "all", long, short, set=f"cache.prompt_ttl: {long}"),
            Policy(f"all marks, {long}", "all", long, long, set=f"cache.ttl: {long}"),
        ]
    if pings:
        found.append(Policy(f"keep-warm, {short}", "all", pings=pings, set="cache.keep_warm: true"))
    return tuple(found)


def marks_for(policy: Policy, wire: Wire, profile: ModelProfile) -> tuple[tuple[int, str], ...]:
    """Where a request is marked under a policy, as offsets in its body without marks."""
    if policy.where == "none":
        return ()
    lifetimes = MarkPolicy(True, policy.prompt_ttl, policy.ttl)
    if policy.where == "sent":
        if not (policy.rewrites or policy.delta) or not wire.marks:
            return wire.marks
        lifetimes = _lifetimes(wire)  # other bytes stand elsewhere
    frame = frame_of(wire.head, profile)
    fragments = Fragments.of(wire.fragments)
    marks = place_marks(frame, fragments, profile, lifetimes)
    if policy.where == "prompt":
        marks = Marks(marks.blocks, ())
    elif policy.where == "newest":
        marks = Marks((), marks.fragments[-1:])
    return mark_places(frame, fragments, marks)


def _lifetimes(wire: Wire) -> MarkPolicy:
    """The lifetimes with which a call was marked."""
    named = [lifetime_of(text).replace("default", "") for _, text in sorted(wire.marks) if is_mark(text)]
    return MarkPolicy(bool(named), named[0], named[-1]) if named else MarkPolicy(False)


@lru_cache(maxsize=32)
def frame_of(head: bytes, profile: ModelProfile) -> Frame:
    """The frame of a stored head: the places at which it may be marked, and the tokens up to each."""
    total, ends, tokens = 0, [], []
    for block in head_blocks(head):
        own: Any = json.loads(block.own)
        if block.kind == "tool":
            spec = own.get("function", own)
            schema = spec.get("input_schema", spec.get("parameters", {}))
            told = ToolSpec(spec.get("name", ""), spec.get("description", ""), json_text(schema))
            total += estimate_tokens(told.name + told.description + told.parameters, profile)
        elif isinstance(own, dict):
            total += estimate_tokens(str(own.get("text", "")).removeprefix("\n\n"), profile)
            ends.append(block.end - 1)
            tokens.append(total)
    return Frame((head,), tuple(ends), tuple(tokens))


# -- other bodies -----------------------------------------------------------------------------------------

_END_OF_SYSTEM = re.compile(rb'"(?:\}\],"messages":\[|\}\]\},|\},)$')


def rewritten(past: Past) -> tuple[Wire, ...]:
    """The calls as if all that was said at the tail had been put into the system text in place of that."""
    stand: dict[str, str] = {}
    gone: list[bytes] = []
    made = []
    for wire in past.calls:
        for annex in past.said.get(wire.n, ()):
            gone.append(json_bytes(annex.text)[1:-1])
            if annex.text.startswith("<added"):
                stand[annex.kind] = annex.text
            else:
                stand.pop(annex.kind, None)
        added = "".join(f"\n\n{stand[kind]}" for kind in sorted(stand))
        found = _END_OF_SYSTEM.search(wire.head)
        head = wire.head
        if added and found:
            head = head[: found.start()] + json_bytes(added)[1:-1] + head[found.start() :]
        fragments = wire.fragments
        for text in gone:
            fragments = tuple(f.replace(text, b"") if text in f else f for f in fragments)
        made.append(replace(wire, head=head, head_id=digest_of(head), fragments=fragments))
    return tuple(made)


def told_at_the_tail(past: Past, delta: Delta) -> tuple[Wire, ...]:
    """The calls as if no refresh had been made, and what it changed had been said before the next message."""
    made: list[Wire] = []
    head, head_id, prompt = b"", "", None
    inserted: list[tuple[int, bytes]] = []
    before: Wire | None = None
    for wire in past.calls:
        now = past.prompts.get(wire.n)
        if wire.epoch == "refresh" and before is not None and prompt is not None and now is not None:
            note = delta(prompt, now)
            if note:
                inserted.append((len(before.fragments), _note(wire, note)))
        elif not head or wire.head_id != (before.head_id if before else ""):
            head, head_id, inserted = wire.head, wire.head_id, []
        fragments = list(wire.fragments)
        for at, fragment in reversed(inserted):
            fragments.insert(min(at, len(fragments)), fragment)
        made.append(replace(wire, head=head, head_id=head_id, fragments=tuple(fragments)))
        before, prompt = (wire, now) if not wire.aside else (before, prompt)
    return tuple(made)


def _note(wire: Wire, text: str) -> bytes:
    parts = b'"content":[' in b"".join(wire.fragments[:1])
    content: object = [{"type": "text", "text": text}] if parts else text
    return json_bytes({"role": "user", "content": content})
