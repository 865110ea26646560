"""Tools that others describe: what a model is told of them passes the gate, in one canonical form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hermes.messages import ToolSpec
from hermes.provenance import Notice, Origin, Passage, digest_of
from hermes.security.gate import admit
from hermes.security.policy import Policy

MAX_DESCRIPTION = 4_000
MAX_SCHEMA = 30_000
"""Characters. What is longer costs more than it can be worth."""


def admitted_spec(
    spec: ToolSpec, *, owner: str, policy: Policy
) -> tuple[ToolSpec | None, tuple[Notice, ...]]:
    """The tool as a model may be told of it; None when it may not, with a notice that says why.

    `owner` names who brought it. A long description is cut; a poisoned schema has no safe part.
    """
    name = f"the tool {spec.name} of {owner}"
    origin = Origin(owner, digest=digest_of(spec.description + spec.parameters), trust="third_party")
    try:
        schema = json.loads(spec.parameters)
    except ValueError as error:
        return None, (Notice("error", f"{name} was left out: its parameters are not JSON ({error})", origin),)
    parameters = json.dumps(schema, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if len(parameters) > MAX_SCHEMA:
        text = (
            f"{name} was left out: its parameters take {len(parameters):,} characters, {MAX_SCHEMA:,} at most"
        )
        return None, (Notice("error", text, origin),)
    notices: list[Notice] = []
    description = spec.description
    if len(description) > MAX_DESCRIPTION:
        kept = f"{description[:MAX_DESCRIPTION]} […]"
        sizes = f"{MAX_DESCRIPTION:,} of {len(description):,} characters"
        text = f"the description of {name} was cut: {sizes} are sent"
        notices.append(Notice("warning", text, origin))
        description = kept
    said = admit(Passage.quote(description, origin), name=f"the description of {name}", policy=policy)
    inner = "\n".join(_texts(schema))
    told = admit(Passage.quote(inner, origin), name=f"the parameters of {name}", policy=policy)
    notices += (*said.passage.notices, *told.passage.notices)
    if "blocked" in (said.outcome, told.outcome) or told.redacted:
        return None, (*notices, Notice("error", f"{name} was left out", origin))
    return ToolSpec(spec.name, str(said.passage), parameters), tuple(notices)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a schema, names too: a model reads all of it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name in sorted(value):
            yield name
            yield from _texts(value[name])
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
