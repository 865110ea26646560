"""Many sessions beside each other: which share the beginning of their prompts, and what parts the others."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from hermes.contracts import ModelProfile
from hermes.frozen import frozen
from hermes.prompt import SystemPrompt
from hermes.provenance import digest_of
from hermes.providers.accounting import common_length
from hermes.providers.tokens import count_each
from hermes.sessions.records import SessionRecord
from hermes.wire.economics import MILLION, Rates
from hermes.wire.review import ProfileFor

LONGEST = 48
"""So many characters of a difference are shown."""


@frozen
class Piece:
    """One tool or section of a session's prompt. `source` says of a character where it comes from."""

    kind: str
    name: str
    tokens: int
    digest: str
    text: str
    at: int = 0
    prompt: SystemPrompt | None = None

    def source(self, offset: int) -> str:
        """Where a character of it comes from, as `path:line` where there is one."""
        if self.prompt is None or not self.prompt.spans:
            return f"tool {self.name}" if self.kind == "tool" else ""
        place = min(self.at + offset, max(len(self.prompt.text) - 1, 0))
        span, line = self.prompt.span_at(place), self.prompt.passage.line_at(place)
        return f"{span.origin.path}:{line}" if span.origin.path and line else span.origin.place


@frozen
class Member:
    """A session with the pieces of its prompt, in the order in which a provider reads them."""

    session: str
    title: str
    pieces: tuple[Piece, ...]

    @property
    def tokens(self) -> int:
        return sum(p.tokens for p in self.pieces)


@frozen
class Split:
    """What parts the sessions of a group: the piece, where its text differs first, and the texts there.

    `behind` are tokens that stand after it and are the same in all of them; with the piece moved behind
    those they would be shared. `saving` is what that is worth in US dollars, each time one of these sessions
    but the first begins while the cache lives.
    """

    section: str
    source: str
    texts: tuple[str, ...]
    tokens: int
    behind: int
    saving: float | None


@frozen
class Group:
    """Sessions of one model whose prompts begin alike: `shared` tokens of `whole`, the longest of them.

    `cached` are those that the provider can share: to the last whole tier, or in its steps, and none below
    its minimum. `sessions` are their ids.
    """

    model: str
    provider: str
    sessions: tuple[str, ...]
    shared: int
    cached: int
    whole: int
    split: Split | None


def member(record: SessionRecord, profile: ModelProfile) -> Member:
    """A stored session as a member of the fleet."""
    prompt = SystemPrompt.from_json(record.prompt_json)
    tools = [
        ("tool", str(name), f"{name} {words} {schema}") for name, words, schema in json.loads(record.tools)
    ]
    places = [(at, section) for at, section in prompt.places() if section.text]
    texts = [text for *_, text in tools] + [section.text for _, section in places]
    sizes = [count.tokens for count in count_each(texts, profile)]
    pieces = [
        Piece(kind, name, size, digest_of(text), text)
        for (kind, name, text), size in zip(tools, sizes[: len(tools)], strict=True)
    ]
    pieces += [
        Piece(section.tier.value, section.slot, size, digest_of(section.text), section.text, at, prompt)
        for (at, section), size in zip(places, sizes[len(tools) :], strict=True)
    ]
    return Member(record.id, record.title, tuple(pieces))


def fleet(records: Iterable[SessionRecord], profile_for: ProfileFor) -> tuple[Group, ...]:
    """The groups of sessions of each model, the largest first; one that splits is followed by its parts."""
    by_model: dict[tuple[str, str], list[Member]] = defaultdict(list)
    for record in records:
        if record.prompt_json:
            profile = profile_for(record.model, record.provider)
            by_model[record.model, record.provider].append(member(record, profile))
    found: list[Group] = []
    for (model, provider), members in sorted(by_model.items(), key=lambda item: (-len(item[1]), item[0])):
        found += _groups(members, 0, profile_for(model, provider), (model, provider))
    return tuple(found)


def _groups(
    members: Sequence[Member], start: int, profile: ModelProfile, asked: tuple[str, str]
) -> Iterator[Group]:
    """The group of these members, which are alike up to a piece, and then the groups within it."""
    at = start
    while len({_digest(m, at) for m in members}) == 1 and at < len(members[0].pieces):
        at += 1
    parts: dict[str, list[Member]] = defaultdict(list)
    for one in members:
        parts[_digest(one, at)].append(one)
    shared = sum(p.tokens for p in members[0].pieces[:at])
    yield Group(
        *asked,
        tuple(m.session for m in members),
        shared,
        _cached(members[0], at, profile),
        max(m.tokens for m in members),
        _split(members, list(parts.values()), at, profile) if len(parts) > 1 else None,
    )
    if len(parts) > 1:
        for part in sorted(parts.values(), key=len, reverse=True):
            if len(part) > 1:
                yield from _groups(part, at, profile, asked)


def _digest(one: Member, at: int) -> str:
    return one.pieces[at].digest if at < len(one.pieces) else ""


def _cached(one: Member, at: int, profile: ModelProfile) -> int:
    """Tokens of the first pieces that a provider's cache can share."""
    rules, pieces = profile.cache, one.pieces
    if rules.kind in ("none", "unknown"):
        return 0
    if rules.kind == "marks" or rules.max_marks:  # a mark stands at the end of each tier
        while at and at < len(pieces) and pieces[at].kind == pieces[at - 1].kind:
            at -= 1
        if at and pieces[at - 1].kind == "tool":
            at = 0  # none stands behind the tools alone
    tokens = sum(p.tokens for p in pieces[:at])
    step = rules.step or 1
    return tokens // step * step if tokens >= (rules.minimum_tokens or 0) else 0


def _split(
    members: Sequence[Member], parts: Sequence[Sequence[Member]], at: int, profile: ModelProfile
) -> Split:
    """What parts them. The two largest parts are compared."""
    first, second = sorted(parts, key=len, reverse=True)[:2]
    a, b = (_piece(part[0], at) for part in (first, second))
    offset = common_length(a.text if a else "", b.text if b else "")
    one = a or b
    assert one is not None  # two that have both ended are alike
    behind = _alike(members, at)
    rates = Rates.of(profile)
    saving = None
    if rates.write is not None and rates.read is not None:
        saving = behind * (len(members) - 1) * (rates.write - rates.read) / MILLION
    name = one.name if not (a and b) or a.name == b.name else f"{a.name} / {b.name}"
    begin = max(offset - 12, 0)
    texts = tuple(p.text[begin : begin + LONGEST] if p else "(nothing)" for p in (a, b))
    longest = max((p.tokens for m in members if (p := _piece(m, at))), default=0)
    return Split(name, one.source(offset), texts, longest, behind, saving)


def _piece(one: Member, at: int) -> Piece | None:
    return one.pieces[at] if at < len(one.pieces) else None


def _alike(members: Sequence[Member], at: int) -> int:
    """Tokens of the pieces behind a place that all members have, the same."""
    later = [{p.digest: p.tokens for p in m.pieces[at:]} for m in members]
    common = set(later[0]).intersection(*later[1:])
    return sum(later[0][digest] for digest in common)
