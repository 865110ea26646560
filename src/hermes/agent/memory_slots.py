"""The slots of what is remembered: the memory files, and the block of an external provider."""

from __future__ import annotations

import os
from dataclasses import field
from typing import TYPE_CHECKING

from hermes.agent.workdir import find_project
from hermes.frozen import frozen
from hermes.memory.scope import OWNER, MemoryScope, Target, memory_files
from hermes.memory.snapshot import snapshot
from hermes.paths import Home
from hermes.prompt import PromptFacts, Tier, WorkDir
from hermes.provenance import Passage
from hermes.security.gate import admit
from hermes.security.policy import Policies

if TYPE_CHECKING:
    from hermes.agent.prompt_builder import Sources


def memory_project(home: Home, cwd: WorkDir, *, new: bool = False) -> str:
    """The root of the project whose memory counts, "" for none.

    Before anything was remembered of any project there is none to read; `new` asks all the same, to write.
    """
    if not cwd.authority or not (new or os.path.isdir(home.path("memories", "projects"))):
        return ""
    return find_project(cwd.path).root


@frozen
class MemorySlot:
    """The snapshots of the memory files of one kind that a conversation may see."""

    sources: Sources
    target: Target
    name: str
    scope: MemoryScope = OWNER
    tier: Tier = Tier.VOLATILE

    def passage(self, facts: PromptFacts) -> Passage:
        if not facts.switches.memory:
            return Passage()
        sources = self.sources
        files = memory_files(sources.config.memory, self.scope, memory_project(sources.home, facts.cwd))
        shown = [
            snapshot(sources.home, f, sources.policies.of("owner")) for f in files if f.target == self.target
        ]
        return shown[0] if len(shown) == 1 else Passage.joined("\n\n", shown)


@frozen
class ExternalMemorySlot:
    """The static block of the active external memory provider."""

    block: Passage = field(default_factory=Passage)
    policies: Policies = field(default_factory=Policies)
    name: str = "external memory"
    tier: Tier = Tier.VOLATILE

    def passage(self, facts: PromptFacts) -> Passage:
        if not facts.switches.memory:
            return Passage()
        policy = self.policies.of("third_party")
        return admit(self.block, name="external memory", policy=policy).passage
