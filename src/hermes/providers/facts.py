"""The data files on models, and the shape of a fact, in models.toml as in config.yaml.

Facts are flat: the parts of `cache` and `prices` stand under dotted names, `cache.minimum_tokens`.
People write models.toml; `python -m hermes.providers.facts` puts the same into models.json, which is read
ten times as quickly and which every start reads. A test keeps both in step.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, get_args

from hermes.contracts import CacheKind, CacheTtl, InstructionRole
from hermes.files import read_file, replace_file

ENCODINGS = ("cl100k_base", "o200k_base", "o200k_harmony", "qwen3.5")
"""The tokenizers that are here, exact and offline."""


class Family(NamedTuple):
    """Models of one make; `maker` is the provider whose rules hold when none is named."""

    name: str
    match: str
    maker: str = ""
    guidance: tuple[str, ...] = ()


class Rule(NamedTuple):
    """Facts for the models that meet every condition; an empty condition is met by all."""

    facts: tuple[tuple[str, object], ...]
    family: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()
    match: str = ""


class Registry(NamedTuple):
    """models.toml, read."""

    source: str
    aliases: Mapping[str, str]
    local: frozenset[str]
    families: tuple[Family, ...]
    rules: tuple[Rule, ...]


@lru_cache(maxsize=1)
def registry() -> Registry:
    import json

    data = json.loads(_data("models.json"))
    providers = data["provider"]
    return Registry(
        source=f"models.toml of {data['as_of']}",
        aliases={a: p["name"] for p in providers for a in (p["name"], *p.get("aliases", ()))},
        local=frozenset(p["name"] for p in providers if p.get("local")),
        families=tuple(_family(f) for f in data["family"]),
        rules=tuple(_rule(r) for r in data["rule"]),
    )


def compile_models() -> str:
    """The text of models.json for models.toml as it stands."""
    import json
    import tomllib

    data = tomllib.loads(_data("models.toml"))
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str) + "\n"


def _family(data: dict[str, Any]) -> Family:
    return Family(data["name"], data["match"], data.get("maker", ""), tuple(data.get("guidance", ())))


def _rule(data: dict[str, Any]) -> Rule:
    conditions = {k: data.pop(k) for k in ("family", "provider", "match") if k in data}
    facts, problems = checked(data)
    if problems:
        raise ValueError(f"models.toml: {problems[0]}")
    return Rule(
        facts,
        tuple(conditions.get("family", ())),
        tuple(conditions.get("provider", ())),
        conditions.get("match", ""),
    )


def listed(host: str, maker: str, keys: tuple[str, ...]) -> Iterator[tuple[str, object, str]]:
    """What models.tsv says of the first of `keys` it knows: fact, value, source.

    A provider's own row goes before the maker's; prices are the maker's only where the maker is asked.
    """
    table, sources = _table()
    rows: list[tuple[list[str], bool]] = []
    for key in keys:
        if not key.isprintable():
            continue
        for name, priced in ((f"{host}/{key}", True), (key, maker != "" and host == maker)):
            if (at := table.find(f"\n{name}\t")) >= 0:
                cells = table[at + 1 : table.index("\n", at + 1)].split("\t")
                rows.append((cells + [""] * (10 - len(cells)), priced))
    for cells in (c for c, _ in rows if c[1]):
        yield "context_window", int(cells[1]), sources[cells[8]]
        break
    for cells in (c for c, _ in rows if c[2]):
        yield "output_limit", int(cells[2]), sources["m"]
        break
    for cells in (c for c, priced in rows if priced and c[3]):
        for fact, cell in zip(("input", "output", "cache_read", "cache_write"), cells[3:7], strict=True):
            if cell:
                yield f"prices.{fact}", float(cell), sources[cells[9]]
        if cells[7]:
            yield "prices.tiered", True, sources[cells[9]]
        break


@lru_cache(maxsize=1)
def _table() -> tuple[str, dict[str, str]]:
    """models.tsv as text (it is searched, never parsed), and what its source letters stand for."""
    text = _data("models.tsv")
    head = (line[2:].split("\t") for line in text[:1000].splitlines() if line.startswith("# "))
    named = {cells[0]: cells[1] for cells in head if len(cells) == 2}
    return text, {k: v for k, v in named.items() if len(k) == 1}


def known_names() -> tuple[str, ...]:
    """Every model of models.tsv by its bare name, sorted."""
    rows = _table()[0].splitlines()
    return tuple(sorted({r.partition("\t")[0].rpartition("/")[2] for r in rows if not r.startswith("#")}))


def table_date() -> str:
    """The day of the limits and prices in models.tsv."""
    head = _table()[0][:200]
    return head.partition("as_of\t")[2].partition("\n")[0]


def _data(name: str) -> str:
    return read_file(_path(name)).data.decode("utf-8")


def _path(name: str) -> str:
    return os.path.join(os.path.dirname(__file__), name)


AS_OF = "as_of"
"""The day on which facts of one's own were true; it is told with their source."""


def checked(raw: object) -> tuple[tuple[tuple[str, object], ...], list[str]]:
    """The usable facts of a map, flat and typed, and what is wrong with the others."""
    facts: dict[str, object] = {}
    problems: list[str] = []
    for name, value in _flat(raw, problems):
        if name == AS_OF:
            continue
        check = _CHECKS.get(name)
        if check is None:
            problems.append(f"{name} is not a fact about models{_nearest(name)}")
            continue
        try:
            facts[name] = check(value)
        except ValueError as error:
            problems.append(f"{name} must be {error}, not {value!r}")
    return tuple(sorted(facts.items(), key=lambda fact: fact[0])), problems


def _flat(raw: object, problems: list[str]) -> Iterator[tuple[str, object]]:
    if not isinstance(raw, Mapping):
        problems.append(f"facts must be a map such as `context_window: 200000`, not {raw!r}")
        return
    for key, value in raw.items():
        if key in ("cache", "prices"):
            if isinstance(value, Mapping):
                yield from ((f"{key}.{part}", v) for part, v in value.items())
            else:
                problems.append(f"{key} must be a map, not {value!r}")
        else:
            yield str(key), value


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, _CHECKS, 1)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(sorted(_CHECKS))}"


def _count(value: object) -> int:
    if type(value) is int and value > 0:
        return value
    raise ValueError("a whole number above 0")


def _least(value: object) -> int:
    if type(value) is int and value >= 0:
        return value
    raise ValueError("a whole number, 0 or more")


def _amount(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    raise ValueError("a number, 0 or more")


def _positive(value: object) -> float:
    if amount := _amount(value):
        return amount
    raise ValueError("a number above 0")


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError("true or false")


def _word(value: object) -> str:
    if isinstance(value, str) and value:
        return value
    raise ValueError("a name")


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return tuple(value)
    raise ValueError("a list of names")


def _one_of(*known: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        if isinstance(value, str) and value in known:
            return value
        raise ValueError("one of " + ", ".join(w or '""' for w in known))

    return check


def _weights(value: object) -> tuple[float, ...]:
    if isinstance(value, list | tuple) and len(value) == 6:
        return tuple(_positive(v) for v in value)
    raise ValueError(
        "six numbers: the weights of letters, other ASCII, two bytes, Cyrillic, three bytes, four"
    )


def _ttls(value: object) -> tuple[CacheTtl, ...]:
    expected = 'a list such as [{name: "5m", seconds: 300, write: 1.25}]'
    if not isinstance(value, list | tuple) or not all(isinstance(v, Mapping) for v in value):
        raise ValueError(expected)
    if any(v.keys() - {"name", "seconds", "write"} or "write" not in v for v in value):
        raise ValueError(expected)
    return tuple(
        CacheTtl(
            _word(v.get("name")),
            _amount(v["write"]),
            _count(v["seconds"]) if v.get("seconds") is not None else None,
        )
        for v in value
    )


_CHECKS: dict[str, Callable[[object], object]] = {
    "family": _word,
    "context_window": _count,
    "output_limit": _count,
    "guidance": _words,
    "tokenizer": _one_of("", *ENCODINGS),
    "chars_per_token": _positive,
    "char_weights": _weights,
    "instruction_role": _one_of(*get_args(InstructionRole)),
    "system_mid_conversation": _flag,
    "strict_template": _flag,
    "small": _flag,
    "cache.kind": _one_of(*get_args(CacheKind)),
    "cache.minimum_tokens": _count,
    "cache.step": _count,
    "cache.max_marks": _count,
    "cache.look_back": _count,
    "cache.ttls": _ttls,
    "cache.read": _amount,
    "cache.answers": _flag,
    "cache.ping": _least,
    "prices.input": _amount,
    "prices.output": _amount,
    "prices.cache_read": _amount,
    "prices.cache_write": _amount,
    "prices.tiered": _flag,
}


def main() -> int:
    """Write models.json."""
    replace_file(_path("models.json"), compile_models().encode(), mode=0o644)
    return 0


if __name__ == "__main__":
    sys.exit(main())
