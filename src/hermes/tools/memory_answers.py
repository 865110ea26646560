"""What the memory tool answers: what was done, what is there, when it will be seen and what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hermes.contracts import ModelProfile
from hermes.memory.operations import Outcome, View
from hermes.memory.scope import MemoryFile
from hermes.memory.store import MemoryStore, Report
from hermes.provenance import Origin, Passage
from hermes.providers.tokens import estimate_tokens
from hermes.security.gate import admit
from hermes.security.policy import Policies
from hermes.text import many
from hermes.tooling import ToolError

FULL = 85
"""From so many percent on, every answer warns that the memory will be full."""

_DONE = {"add": "added", "replace": "replaced", "remove": "removed"}
_PATIENCE = 3  # refusals for the same reason, then the model is told to let it be
_MOST_SHOWN = 8_000
_SEEN = "The prompt shows it from the next session, /refresh or compression on; read shows it now."


def shown(stores: Sequence[MemoryStore], policies: Policies) -> str:
    states = [_state(s.file, s.view(), policies) for s in stores]
    return "\n\n".join(states) or "there is no memory in this conversation"


def _state(file: MemoryFile, view: View, policies: Policies) -> str:
    """Every entry with its id, and how much is used."""
    lines = [f"{file.called}: {view.usage}"]
    room = _MOST_SHOWN
    for name, entry in zip(view.ids, view.entries, strict=True):
        if room <= 0:
            lines.append(
                f"[… {many(len(view.entries) - len(lines) + 1, 'more entry', 'more entries')}; "
                "remove some of these first]"
            )
            break
        origin = Origin("memory", trust="owner")
        admitted = admit(
            Passage.quote(entry, origin), name=f"{file.name} entry {name}", policy=policies.of("owner")
        )
        text, most = str(admitted.passage), max(min(room, file.limit), 80)
        cut = f"{text[:most]} [… {many(len(text) - most, 'more character')}]" if len(text) > most else text
        lines.append(f"[{name}] " + cut.replace("\n", "\n  "))
        room -= len(cut)
    return "\n".join(lines)


def answered(file: MemoryFile, report: Report, policies: Policies, refusals: Counter[str]) -> str:
    """What became of the operations; when none was done, an error that shows what is there."""
    outcomes = report.outcomes
    lines = [_line(i, o, len(outcomes)) for i, o in enumerate(outcomes, 1)]
    lines += [n.text for n in report.notices]
    for outcome in outcomes:
        if not outcome.done:
            refusals[outcome.why] += 1
            if refusals[outcome.why] >= _PATIENCE:
                lines.append(
                    f"Refused {many(refusals[outcome.why], 'time')}: leave it, and tell the person if it "
                    "matters."
                )
    if not all(o.done for o in outcomes):
        lines.append(_state(file, report.view, policies))
        if not any(o.done for o in outcomes):
            raise ToolError("\n".join(lines))
        return "\n".join(lines)
    lines.append(f"{file.called}: {report.view.usage}.")
    if any(o.changed for o in outcomes):
        lines.append(f"{_SEEN} {_cost(outcomes)}".rstrip())
    if report.view.percent >= FULL:
        lines.append(f"It is {report.view.percent} % full: merge or remove entries before it is.")
    return "\n".join(lines)


def _line(number: int, outcome: Outcome, of: int) -> str:
    place = f"{number}. " if of > 1 else ""
    action = outcome.operation.action
    if not outcome.done:
        return f"{place}{action} was not done: {outcome.why}"
    if not outcome.changed:
        return f"{place}[{outcome.id}] stands there already"
    return f"{place}{_DONE[action]} [{outcome.id}]"


def _cost(outcomes: Sequence[Outcome]) -> str:
    """What the change costs in each call from then on."""
    profile = ModelProfile()
    tokens = sum(estimate_tokens(o.new, profile) - estimate_tokens(o.old, profile) for o in outcomes)
    if tokens > 0:
        return f"It costs about {tokens:,} tokens in each call."
    return f"It saves about {-tokens:,} tokens in each call." if tokens else ""
