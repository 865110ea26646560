"""A system prompt is data: sections in three tiers, each knowing, span by span, where it came from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, Protocol, Self, TypeVar

from hermes.contracts import ModelProfile
from hermes.errors import PromptError
from hermes.frozen import frozen
from hermes.provenance import Decision, Notice, Origin, Passage, Span, digest_of, span_at
from hermes.text import well_formed

__all__ = [
    "Decision",
    "Notice",
    "Origin",
    "Passage",
    "PromptFacts",
    "PromptKey",
    "PromptLayer",
    "PromptSlot",
    "Section",
    "Span",
    "Switches",
    "SystemPrompt",
    "Tier",
    "WorkDir",
]

T = TypeVar("T")
SEPARATOR = "\n\n"
FORMAT = 1


class Tier(StrEnum):
    """The three tiers, in their order in the prompt: what moves less stands before what moves more."""

    STABLE = "stable"
    CONTEXT = "context"
    VOLATILE = "volatile"


@frozen
class WorkDir:
    """The working directory, decided once. Without `authority` its project files are not instructions."""

    path: str
    chosen_by: str = "argument"
    authority: bool = True


@frozen
class Switches:
    """Which of the outside texts a prompt takes in."""

    identity: bool = True
    project_context: bool = True
    memory: bool = True

    @classmethod
    def skipping_context_files(cls) -> Self:
        """What a sub-agent gets: the default identity, no project context."""
        return cls(identity=False, project_context=False)


@frozen
class PromptFacts:
    """All that a slot may know. `now` carries its time zone; `tools` are the names of the enabled tools."""

    cwd: WorkDir
    now: datetime
    session_id: str = ""
    platform: str = "cli"
    model: ModelProfile = field(default_factory=ModelProfile)
    tools: frozenset[str] = frozenset()
    switches: Switches = field(default_factory=Switches)
    system_message: str = ""


_kept: Callable[[Hashable], Any] = lru_cache(maxsize=256)(lambda value: value)


def shared(value: T) -> T:
    """The value; where one of the last ones was equal to it, that very object.

    Of many sessions in a process most have the same prompt but for a line, and the same tools: they are kept
    once.
    """
    return _kept(value)  # type: ignore[no-any-return]


@frozen
class Section:
    """One part of the prompt, as one slot gave it."""

    slot: str
    tier: Tier
    text: str
    spans: tuple[Span, ...] = ()
    notices: tuple[Notice, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @classmethod
    def of(cls, slot: str, tier: Tier, passage: Passage) -> Self:
        return cls(slot, tier, str(passage), passage.spans, passage.notices, passage.decisions)

    @property
    def passage(self) -> Passage:
        return Passage(self.text, self.spans, self.notices, self.decisions)


class PromptSlot(Protocol):
    """A place in the prompt. It holds its own source and gives its passage for a set of facts."""

    @property
    def name(self) -> str: ...
    @property
    def tier(self) -> Tier: ...
    def passage(self, facts: PromptFacts) -> Passage: ...


@frozen
class PromptLayer:
    """The sections of one tier and their text."""

    tier: Tier
    sections: tuple[Section, ...]

    @property
    def text(self) -> str:
        return SEPARATOR.join(s.text for s in self.sections if s.text)

    @property
    def digest(self) -> str:
        return digest_of(self.text)


@frozen
class PromptKey:
    """What a stored prompt was built from; while it is equal, the stored prompt is still good."""

    model: str
    provider: str
    platform: str
    config: str
    inputs: tuple[tuple[str, str], ...]


@frozen
class SystemPrompt:
    """A built prompt. It never changes; `spans` cover `text` without a gap.

    It holds its sections; what follows from them is made when asked for.
    """

    layers: tuple[PromptLayer, ...]
    key: PromptKey
    digest: str

    @classmethod
    def assemble(cls, sections: Iterable[Section], facts: PromptFacts, config_digest: str) -> Self:
        """Put sections in order of their tiers, freeze them, and say what they were built from."""
        model = facts.model
        key = PromptKey(model.name, model.provider, facts.platform, config_digest, ())
        return cls.of(sections, key)

    @classmethod
    def of(cls, sections: Iterable[Section], key: PromptKey) -> Self:
        """Sections in order of their tiers, and what they were built from; the inputs are named here."""
        given = tuple(sections)
        layers = tuple(PromptLayer(tier, tuple(s for s in given if s.tier is tier)) for tier in Tier)
        said = [s for layer in layers for s in layer.sections if s.text]
        inputs = tuple((s.slot, digest_of(s.text)) for s in said)
        key = PromptKey(key.model, key.provider, key.platform, key.config, inputs)
        return cls(layers, key, digest_of(SEPARATOR.join(s.text for s in said)))

    def shared(self) -> Self:
        """An equal prompt, of whose sections those that other sessions have too are the same objects."""
        layers = (PromptLayer(one.tier, tuple(map(shared, one.sections))) for one in self.layers)
        return type(self)(tuple(map(shared, layers)), self.key, self.digest)

    @property
    def text(self) -> str:
        return SEPARATOR.join(s.text for s in self.sections if s.text)

    @property
    def spans(self) -> tuple[Span, ...]:
        return self.passage.spans

    @property
    def sections(self) -> tuple[Section, ...]:
        return tuple(s for layer in self.layers for s in layer.sections)

    @property
    def notices(self) -> tuple[Notice, ...]:
        return tuple(n for s in self.sections for n in s.notices)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(d for s in self.sections for d in s.decisions)

    @property
    def passage(self) -> Passage:
        return Passage.joined(SEPARATOR, (s.passage for s in self.sections))

    def layer(self, tier: Tier) -> PromptLayer:
        return next(layer for layer in self.layers if layer.tier is tier)

    def span_at(self, offset: int) -> Span:
        """The span that holds character `offset`; IndexError outside the text."""
        return span_at(self.spans, offset)

    def places(self) -> tuple[tuple[int, Section], ...]:
        """Each non-empty section with the offset at which it starts."""
        found, at = [], 0
        for section in self.sections:
            if section.text:
                found.append((at, section))
                at += len(section.text) + len(SEPARATOR)
        return tuple(found)

    def to_json(self, indent: int | None = None) -> str:
        """A form that `from_json` turns into an equal prompt; equal prompts give equal bytes.

        With an indent it is for people to read; without, it is all ASCII, so that one ideograph does not
        double what it takes in memory. So it is, too, where a file's name is no text that can be encoded.
        """
        if indent is None:
            return b"".join(self.json_pieces()).decode("ascii")
        body = {"format": FORMAT, "key": self.key, "digest": self.digest, "sections": self.sections}
        text = _json(body, indent=indent)
        return text if well_formed(text) == text else _json(body, indent=indent, ascii_only=True)

    def json_pieces(self) -> tuple[bytes, ...]:
        """The form without an indent, in pieces. What many prompts have is the same piece."""
        opening = _json({"digest": self.digest, "format": FORMAT, "key": self.key})[:-1] + ',"sections":['
        pieces = [opening.encode("ascii")]
        for number, section in enumerate(self.sections):
            pieces += (b",", _section_json(section)) if number else (_section_json(section),)
        return (*pieces, b"]}")

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read an exported prompt; PromptError when it is not one or was changed."""
        import json

        try:
            body = json.loads(text)
            if body["format"] != FORMAT:
                raise PromptError(
                    f"this prompt has format {body['format']}; this Hermes reads format {FORMAT}"
                )
            sections = [_section(s) for s in body["sections"]]
            key = PromptKey(**{**body["key"], "inputs": tuple((a, b) for a, b in body["key"]["inputs"])})
            digest = body["digest"]
        except KeyError as error:
            raise PromptError(f"not an exported prompt: it has no {error}") from None
        except (ValueError, TypeError, RecursionError) as error:
            raise PromptError(f"not an exported prompt: {error}") from None
        layers = tuple(PromptLayer(tier, tuple(s for s in sections if s.tier is tier)) for tier in Tier)
        prompt = cls(layers, key, digest)
        if digest_of(prompt.text) != digest:
            raise PromptError(
                "the exported prompt does not match its digest; it was changed after it was saved"
            )
        return prompt


def _json(value: object, *, indent: int | None = None, ascii_only: bool | None = None) -> str:
    import json

    return json.dumps(
        value,
        ensure_ascii=indent is None if ascii_only is None else ascii_only,
        sort_keys=True,
        indent=indent,
        separators=(",", ":") if indent is None else None,
        default=_fields,
    )


@lru_cache(maxsize=64)
def _section_json(section: Section) -> bytes:
    return _json(section).encode("ascii")


def _fields(record: Any) -> dict[str, Any]:
    """A record as JSON has it. Quicker than `as_data` for the thousands of spans of a prompt."""
    fields = {name: getattr(record, name) for name in record.__slots__}
    if isinstance(record, Section):
        fields["spans"] = [{**s._asdict(), "origin": s.origin._asdict()} for s in record.spans]
        fields["notices"] = [
            {**n._asdict(), "origin": n.origin._asdict() if n.origin else None} for n in record.notices
        ]
        fields["decisions"] = [d._asdict() for d in record.decisions]
    return fields


def _section(data: dict[str, Any]) -> Section:
    def notice(n: dict[str, Any]) -> Notice:
        return Notice(n["level"], n["text"], Origin(**n["origin"]) if n["origin"] else None)

    spans = tuple(
        Span(s["start"], s["end"], Origin(**s["origin"]), tuple(s["transforms"])) for s in data["spans"]
    )
    return Section(
        data["slot"],
        Tier(data["tier"]),
        data["text"],
        spans,
        tuple(notice(n) for n in data["notices"]),
        tuple(Decision(**d) for d in data["decisions"]),
    )
