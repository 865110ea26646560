"""Two prompts side by side: where they part, which sections differ, and why."""

from __future__ import annotations

import difflib
from collections import Counter
from typing import Literal

from hermes.contracts import ModelProfile
from hermes.frozen import frozen
from hermes.prompt import Section, SystemPrompt, Tier
from hermes.providers.tokens import count_tokens

Change = Literal["same", "changed", "added", "removed"]


@frozen
class Side:
    """One of the two prompts, with the name a person gave it. Paths below `root` are shown relative to it."""

    name: str
    prompt: SystemPrompt
    root: str = ""


@frozen
class SectionDiff:
    """One section in both prompts: what changed, what it weighs, why, and a unified diff of its lines."""

    tier: str
    section: str
    change: Change
    tokens_before: int
    tokens_after: int
    causes: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


@frozen
class PromptDiff:
    """The comparison. `shared` characters at the head are equal, which a prompt cache can reuse."""

    a: str
    b: str
    shared: int
    total_a: int
    total_b: int
    parts_at: str
    causes: tuple[str, ...]
    sections: tuple[SectionDiff, ...]

    @property
    def equal(self) -> bool:
        return self.shared == self.total_a == self.total_b


def diff_prompts(a: Side, b: Side, profile: ModelProfile) -> PromptDiff:
    """Compare two prompts section by section."""
    text_a, text_b = _text(a), _text(b)
    shared = _common_prefix(text_a, text_b)
    sections = tuple(
        _section(tier, slot, a, b, profile) for tier in Tier for slot in _slots(tier, a.prompt, b.prompt)
    )
    parts_at = ""
    if text_a != text_b:
        longer = a if len(text_a) >= len(text_b) else b
        parts_at = _section_at(longer, shared)
    return PromptDiff(
        a.name,
        b.name,
        shared,
        len(text_a),
        len(text_b),
        parts_at,
        tuple(_facts(a.prompt, b.prompt)),
        sections,
    )


def _text(side: Side) -> str:
    return side.prompt.text.replace(side.root, ".") if side.root else side.prompt.text


def _common_prefix(a: str, b: str) -> int:
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle - 1)
    return low


def _section_at(side: Side, offset: int) -> str:
    at = 0
    for _, section in side.prompt.places():
        at += len(section.text.replace(side.root, ".") if side.root else section.text) + 2
        if offset < at:
            return f"{section.tier.value}/{section.slot}"
    return ""


def _slots(tier: Tier, *prompts: SystemPrompt) -> list[str]:
    names = [s.slot for prompt in prompts for s in prompt.layer(tier).sections if s.text]
    return list(dict.fromkeys(names))


def _find(prompt: SystemPrompt, slot: str) -> Section | None:
    return next((s for s in prompt.sections if s.slot == slot and s.text), None)


def _section(tier: Tier, slot: str, a: Side, b: Side, profile: ModelProfile) -> SectionDiff:
    old, new = _find(a.prompt, slot), _find(b.prompt, slot)
    before = _shown(old, a)
    after = _shown(new, b)
    size_a, size_b = (count_tokens(s.text, profile).tokens if s else 0 for s in (old, new))
    if before == after:
        return SectionDiff(tier.value, slot, "same", size_a, size_b)
    change: Change = "changed" if old and new else "added" if new else "removed"
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), a.name, b.name, lineterm="", n=2)
    causes = tuple(_causes(old, new, a, b))
    return SectionDiff(tier.value, slot, change, size_a, size_b, causes, tuple(lines))


def _shown(section: Section | None, side: Side) -> str:
    if section is None:
        return ""
    return section.text.replace(side.root, ".") if side.root else section.text


def _causes(old: Section | None, new: Section | None, a: Side, b: Side) -> list[str]:
    """Why a section differs, from its sources and decisions."""
    before, after = _sources(old, a), _sources(new, b)
    causes = [f"{path} is no longer a source" for path in before if path not in after]
    causes += [f"{path} is a new source" for path in after if path not in before]
    causes += [f"{path} changed" for path, digest in after.items() if before.get(path, digest) != digest]
    decided_before, decided_after = _decisions(old, a), _decisions(new, b)
    causes += [
        f"{path} was {decided_before[path]}, now {verdict}"
        for path, verdict in decided_after.items()
        if path in decided_before and decided_before[path] != verdict
    ]
    return causes


def _sources(section: Section | None, side: Side) -> dict[str, str]:
    if section is None:
        return {}
    return {_relative(s.origin.path, side): s.origin.digest for s in section.spans if s.origin.path}


def _decisions(section: Section | None, side: Side) -> dict[str, str]:
    return {_relative(d.path, side): str(d) for d in section.decisions} if section else {}


def _relative(path: str, side: Side) -> str:
    return "." + path[len(side.root) :] if side.root and path.startswith(side.root) else path


def _facts(a: SystemPrompt, b: SystemPrompt) -> list[str]:
    pairs = (
        ("model", a.key.model, b.key.model),
        ("provider", a.key.provider, b.key.provider),
        ("platform", a.key.platform, b.key.platform),
        ("configuration", a.key.config[:12], b.key.config[:12]),
    )
    return [f"{name}: {x or 'none'} → {y or 'none'}" for name, x, y in pairs if x != y]


def summary(diff: PromptDiff) -> Counter[str]:
    """How many sections changed in which way."""
    return Counter(s.change for s in diff.sections)
