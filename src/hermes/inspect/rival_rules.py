"""What is known of other agents: dated rules, from rivals.toml."""

from __future__ import annotations

import os
import tomllib
from functools import cache
from typing import Any, Literal

from hermes.files import read_file
from hermes.frozen import frozen

State = Literal["loaded", "on demand", "ignored"]


@frozen
class Rule:
    """One place where an agent looks; see the head of rivals.toml."""

    where: str
    files: tuple[str, ...]
    take: str = "all"
    reads: str = "plain"
    state: State | None = None
    note: str = ""
    unless: tuple[str, ...] = ()
    chars: int = 0


@frozen
class Agent:
    """An agent and its rules, as they were documented at `source` on the day `as_of`."""

    name: str
    product: str
    as_of: str
    source: str
    rules: tuple[Rule, ...] = ()
    imports: bool = False
    project_bytes: int = 0
    settings: tuple[str, ...] = ()
    names_key: str = ""
    names: tuple[str, ...] = ()
    bytes_key: str = ""


@cache
def agents() -> tuple[Agent, ...]:
    """The agents of rivals.toml."""
    path = os.path.join(os.path.dirname(__file__), "rivals.toml")
    table = tomllib.loads(read_file(path).data.decode("utf-8"))
    return tuple(_agent(name, row) for name, row in table.items())


def _agent(name: str, row: dict[str, Any]) -> Agent:
    rules = tuple(Rule(**{k: _frozen(v) for k, v in rule.items()}) for rule in row.pop("rules"))
    row["as_of"] = row["as_of"].isoformat()
    return Agent(name, rules=rules, **{k: _frozen(v) for k, v in row.items()})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
