"""Which instruction files other agents would load here, beside those that Hermes loads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hermes.agent.workdir import Project
from hermes.contracts import ModelProfile
from hermes.frozen import frozen
from hermes.inspect.rival_files import Disk, Look, Verdicts
from hermes.inspect.rival_rules import Agent, State, agents
from hermes.prompt import SystemPrompt
from hermes.providers.tokens import count_each, counting_method

NOT_ITS_OWN = "not one of its files"
_HERMES_STATES: Mapping[str, State] = {
    "loaded": "loaded",
    "cut": "loaded",
    "glob waits": "on demand",
    "described": "on demand",
    "manual": "on demand",
}
_OTHER_KINDS = ("guidance", "skill", "skill category")


@frozen
class Load:
    """What one agent does with one file. Sizes are of what it takes in at the start: 0 when not loaded."""

    state: State = "ignored"
    reason: str = NOT_ITS_OWN
    bytes: int = 0
    tokens: int = 0


@frozen
class Row:
    """One file, and what each agent does with it, in the order of the agents."""

    path: str
    loads: tuple[Load, ...]


@frozen
class Column:
    """One agent with what it takes in at the start."""

    name: str
    product: str
    as_of: str
    source: str
    files: int
    bytes: int
    tokens: int


@frozen
class Survey:
    """Files against agents. `method` says how tokens were counted."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    method: str


def names() -> tuple[str, ...]:
    """All agents that can be asked for, Hermes first."""
    return ("hermes", *(a.name for a in agents()))


def survey(
    wanted: Sequence[str], project: Project, user_home: str, prompt: SystemPrompt, profile: ModelProfile
) -> Survey:
    """What each agent would load in a project. `prompt` is what Hermes built there."""
    known = {a.name: a for a in agents()}
    disk = Disk(project, user_home)
    found = {
        name: _of_hermes(prompt) if name == "hermes" else Look(known[name], disk).loads() for name in wanted
    }
    texts = [(name, path, text) for name, loads in found.items() for path, (_, text) in loads.items()]
    counts = count_each([text for _, _, text in texts], profile)
    sized = {
        (name, path): Load(*found[name][path][0], len(text.encode("utf-8", "surrogatepass")), count.tokens)
        for (name, path, text), count in zip(texts, counts, strict=True)
    }
    shown = {path: disk.shown(path) for loads in found.values() for path in loads}
    paths = sorted(shown, key=lambda p: (shown[p].startswith(("~", "/")), shown[p]))
    rows = tuple(Row(shown[p], tuple(sized.get((n, p), Load()) for n in wanted)) for p in paths)
    columns = tuple(
        _column(name, known.get(name), [r.loads[at] for r in rows]) for at, name in enumerate(wanted)
    )
    return Survey(columns, rows, counting_method(profile))


def _column(name: str, agent: Agent | None, loads: Iterable[Load]) -> Column:
    loaded = [load for load in loads if load.state == "loaded"]
    sums = (len(loaded), sum(load.bytes for load in loaded), sum(load.tokens for load in loaded))
    if agent is None:
        return Column(name, "Hermes", "", "the prompt it builds here", *sums)
    return Column(name, agent.product, agent.as_of, agent.source, *sums)


def _of_hermes(prompt: SystemPrompt) -> Verdicts:
    """From the decisions of the build itself, so that it cannot be told otherwise than it is."""
    texts: dict[str, str] = {}
    for section in prompt.sections:
        for span in section.spans:
            if span.origin.path and span.origin.first_line:
                texts[span.origin.path] = (
                    texts.get(span.origin.path, "") + section.text[span.start : span.end]
                )
    found: Verdicts = {}
    for d in prompt.decisions:
        if d.kind in _OTHER_KINDS or d.verdict == "missing":
            continue
        state = _HERMES_STATES.get(d.verdict, "ignored")
        reason = "" if d.verdict == "loaded" and not d.detail else str(d)
        found[d.path] = ((state, reason), texts.get(d.path, "") if state == "loaded" else "")
    return found
