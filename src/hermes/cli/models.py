"""`hermes models`: who serves models, what is known of one, and whether it answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.models_own import add, fetch, offered, use
from hermes.cli.screen import plain, show_notices
from hermes.config import Config, load_config
from hermes.contracts import ModelProfile
from hermes.errors import ModelError
from hermes.messages import Completed, Message, ModelRequest, Usage
from hermes.paths import get_hermes_home
from hermes.providers.client import HttpModel, codec_for
from hermes.providers.connect import connect_notices, connect_one
from hermes.providers.endpoints import Endpoint, builtin, endpoint_for
from hermes.providers.keys import find_key
from hermes.providers.resolve import resolve

QUESTION = "Answer with the one word: ready"
_FACTS = (
    ("family", "family"),
    ("context window", "context_window"),
    ("longest answer", "output_limit"),
    ("tokenizer", "tokenizer"),
    ("instructions as", "instruction_role"),
    ("strict template", "strict_template"),
    ("cache", "cache.kind"),
    ("cached from", "cache.minimum_tokens"),
    ("cache marks", "cache.max_marks"),
    ("cache lifetimes", "cache.ttls"),
    ("price of input", "prices.input"),
    ("price of output", "prices.output"),
    ("price of a hit", "prices.cache_read"),
)


@click.group()
def group() -> None:
    """Models that can be used, and what is known of them.

    A MODEL is named provider:name, as in anthropic:claude-sonnet-4-5 or ollama:qwen3:8b.
    """


@group.command("list")
@click.argument("provider", required=False)
@as_json_option
def listing(provider: str | None, as_json: bool) -> None:
    """The providers, or with PROVIDER the models that it offers now."""
    config = _config()
    if provider:
        names = asyncio.run(offered(endpoint_for(provider, config.free.get("providers"))))
        return _print(list(names), (plain(name) for name in names), as_json)
    rows = [_row(endpoint) for endpoint in _endpoints(config)]
    name, key = (max(len(row[column]) for row in rows) for column in ("provider", "key"))
    lines = (f"{row['provider']:{name}}  {row['key']:{key}}  {row['base_url']}" for row in rows)
    return _print(rows, map(plain, lines), as_json)


group.add_command(add)
group.add_command(use)
group.add_command(fetch)


@group.command("show")
@click.argument("model", required=False, default="")
@as_json_option
def show(model: str, as_json: bool) -> None:
    """What is known of MODEL, and where each fact comes from; the configured one when none is named."""
    config = _config()
    endpoint, profile = resolve(model, config)
    show_notices(connect_notices(config, profile))
    facts = list(_facts(endpoint, profile))
    width = max(len(name) for name, _, _ in facts)
    lines = (
        f"{name:{width}}  {value}" + (f"  ({source})" if source else "") for name, value, source in facts
    )
    _print([{"fact": n, "value": v, "source": s} for n, v, s in facts], map(plain, lines), as_json)


@group.command("test")
@click.argument("model", required=False, default="")
@as_json_option
def test(model: str, as_json: bool) -> None:
    """Ask MODEL one thing, and tell how long it took and what it counted."""
    config = _config()
    asked = connect_one(model, config)
    show_notices(connect_notices(config, asked.profile))
    told, usage = asyncio.run(_ask(asked))
    lines = (
        f"answer    {told['answer'] or '(none)'}",
        f"time      {told['first']:.2f} s to the first word, {told['seconds']:.2f} s in all",
        f"tokens    {_tokens(usage)}",
        f"model     {told['model']} at {told['host']}",
    )
    _print({**told, "usage": asdict(usage)}, map(plain, lines), as_json)


async def _ask(model: HttpModel) -> tuple[dict[str, Any], Usage]:
    request = ModelRequest(model.profile.name, (), (), (Message("user", QUESTION),), max_tokens=2048)
    begun = time.monotonic()
    first, done = 0.0, None
    try:
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                first = first or time.monotonic() - begun
                done = event if isinstance(event, Completed) else done
    finally:
        await model.close()
    if done is None:
        raise ModelError(f"{model.endpoint.name}: there was no answer")
    told = {
        "answer": done.message.text.strip(),
        "first": round(first, 3),
        "seconds": round(time.monotonic() - begun, 3),
        "model": done.model or model.profile.name,
        "host": model.endpoint.host,
    }
    return told, done.usage


def _tokens(usage: Usage) -> str:
    if usage == Usage():
        return "not told"
    return f"{usage.input:,} in ({usage.cache_read:,} from the cache), {usage.output:,} out"


def _endpoints(config: Config) -> Iterator[Endpoint]:
    """The built-in endpoints and those of config.yaml, which go before them."""
    own = config.free.get("providers")
    names = {*builtin(), *(str(name) for name in (own if isinstance(own, Mapping) else ()))}
    for name in sorted(names):
        yield endpoint_for(name, own)


def _row(endpoint: Endpoint) -> dict[str, str]:
    return {
        "provider": endpoint.name,
        "identity": endpoint.identity,
        "key": _key(endpoint),
        "base_url": endpoint.base_url or _file(endpoint),
        "wire": endpoint.wire,
    }


def _file(endpoint: Endpoint) -> str:
    """The model file of an endpoint."""
    from hermes.providers.local.weights import EMBEDDED, embedded_weights, engine_is_here

    if endpoint.gguf != EMBEDDED:
        return endpoint.gguf
    path = embedded_weights(get_hermes_home(), _config().local.model_path)
    return path if path and engine_is_here() else "not installed"


def _key(endpoint: Endpoint) -> str:
    try:
        found = find_key(endpoint).found_in
    except ModelError:
        return f"no key ({endpoint.keys[0]})"
    return found or "no key needed"


def _facts(endpoint: Endpoint, profile: ModelProfile) -> Iterator[tuple[str, str, str]]:
    """Name, value and source of each fact; what is not known is said too."""
    yield "model", profile.name, ""
    yield "provider", f"{endpoint.name}, {endpoint.base_url or _file(endpoint)}", ""
    yield "known as", profile.provider, ""
    yield "key", _key(endpoint), ""
    yield "wire", codec_for(endpoint).name, ""
    for name, fact in _FACTS:
        source = profile.source_of(fact)
        yield name, _value(profile, fact) if source else "not known", source


def _value(profile: ModelProfile, fact: str) -> str:
    section, _, last = fact.rpartition(".")
    value = getattr(getattr(profile, section) if section else profile, last)
    if last == "ttls":
        return ", ".join(ttl.name for ttl in value)
    if section == "prices":
        return f"${value:g} a million tokens"
    if isinstance(value, bool):
        return "yes" if value else "no"
    unit = {"context_window": " tokens", "output_limit": " tokens", "minimum_tokens": " tokens"}.get(last, "")
    return f"{value:,}{unit}" if isinstance(value, int) else str(value)


def _print(data: object, lines: Iterator[str], as_json: bool) -> None:
    if as_json:
        print_json(data)
        return
    for line in lines:
        click.echo(line.rstrip())


def _config() -> Config:
    config = load_config(get_hermes_home())
    show_notices(config.notices, quiet=True)
    return config
