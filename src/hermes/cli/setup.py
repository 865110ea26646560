"""`hermes setup`: which model answers, asked step by step. Enter alone leaves things as they are."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from hermes.agent.prompt_builder import DEFAULT_AGENT_IDENTITY
from hermes.cli.as_json import print_json
from hermes.cli.models_own import use_model
from hermes.cli.screen import plain, show_notices
from hermes.config import Config, load_config
from hermes.errors import ConfigError, HermesError, ModelError
from hermes.paths import Home, ensure_home, get_hermes_home
from hermes.providers.endpoints import builtin, endpoint_for
from hermes.providers.keys import SERVICE, find_key
from hermes.providers.local.weights import embedded_weights, engine_is_here
from hermes.providers.offers import offers
from hermes.providers.resolve import resolve


@click.command("setup")
@click.option("--json", "as_json", is_flag=True, help="Tell how things stand, and ask nothing.")
def command(as_json: bool) -> None:
    """Choose a model, step by step. Without a terminal it tells how things stand, and asks nothing."""
    home = get_hermes_home()
    notices = ensure_home(home, DEFAULT_AGENT_IDENTITY + "\n")
    config = load_config(home)
    state = _state(home, config)
    if as_json:
        print_json(state)
        return
    show_notices(notices)
    for line in _told(state):
        click.echo(plain(line))
    if sys.stdin.isatty() and sys.stdout.isatty():
        _ask(home, config)
    elif not state["ready"]:
        click.echo("To choose: hermes models use NAME, or hermes setup at a terminal.")


def _state(home: Home, config: Config) -> dict[str, Any]:
    """How things stand. `ready`: a question can be asked now."""
    state: dict[str, Any] = {"home": home.root, "set": config.model.default, "ready": False, "problem": ""}
    try:
        endpoint, profile = resolve("", config, home)
        state |= {"model": profile.name, "provider": endpoint.name, "window": profile.context_window}
        find_key(endpoint)
        state["ready"] = True
    except (ConfigError, ModelError) as error:
        state["problem"] = str(error)
    state["offers"] = [
        {"provider": o.provider, "key": o.variable, "command": f"hermes models use {o.name}"}
        for o in offers(config)
    ]
    state["local"] = {"engine": engine_is_here(), "weights": embedded_weights(home, config.local.model_path)}
    return state


def _told(state: dict[str, Any]) -> list[str]:
    lines = [f"home     {state['home']}"]
    if "model" in state:
        chosen = "" if state["set"] else " (none is set; this one is on this machine)"
        lines.append(f"model    {state['model']} of {state['provider']}{chosen}")
    lines.append("ready    yes" if state["ready"] else f"ready    no: {state['problem']}")
    return lines + [f"key      {offer['key']} is here: {offer['command']}" for offer in state["offers"]]


def _ask(home: Home, config: Config) -> None:
    """The questions. Everything that is written goes through `use_model`, so remarks in config.yaml stay."""
    found = offers(config)
    choices = [f"{offer.name} (its key is in {offer.variable})" for offer in found]
    choices += ["the small model on this machine, local", "another provider", "a server of yours"]
    click.echo("\nWhich model shall answer?")
    for number, choice in enumerate(choices, 1):
        click.echo(f"  {number}. {choice}")
    number = click.prompt(
        "Number, or Enter to leave it", default=0, show_default=False, type=click.IntRange(0)
    )
    if not 0 < number <= len(choices):
        click.echo("Nothing was changed.")
        return
    if number <= len(found):
        _use(home, config, _with_model(found[number - 1].name))
    elif number == len(found) + 1:
        _use(home, config, "local")
    elif number == len(found) + 2:
        _another(home, config)
    else:
        _server(home)


def _with_model(name: str) -> str:
    provider, _, model = name.partition(":")
    model = click.prompt(f"Model of {provider}", default="" if model == "MODEL" else model)
    return f"{provider}:{model}"


def _another(home: Home, config: Config) -> None:
    known = sorted(name for name, endpoint in builtin().items() if endpoint.keys)
    provider = click.prompt("Provider", type=click.Choice(known), show_choices=True)
    endpoint = endpoint_for(provider, config.free.get("providers"))
    try:
        find_key(endpoint)
    except ModelError:
        _key(provider, endpoint.keys[0])
    _use(home, config, _with_model(f"{provider}:{endpoint.model or 'MODEL'}"))


def _key(provider: str, variable: str) -> None:
    """Ask for a key and put it into the system's keyring; it is written nowhere else."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        click.echo(f"Put the key into {variable}, as in: export {variable}=…")
        return
    value = click.prompt(f"Key of {provider} (Enter to leave it out)", default="", hide_input=True)
    if value.strip():
        try:
            keyring.set_password(SERVICE, provider, value.strip())
        except KeyringError as error:
            click.echo(f"The keyring did not take it ({error}). Put it into {variable} instead.", err=True)


def _server(home: Home) -> None:
    from hermes.config.edit import set_key

    name = click.prompt("A name for it", default="mine")
    url = click.prompt("Its address", default="http://127.0.0.1:8080/v1")
    key = click.prompt("The variable that holds its key (Enter for none)", default="")
    row = {"base_url": url} | ({"key": key} if key else {})
    endpoint_for(name, {name: row})
    set_key(home, f"providers.{name}", json.dumps(row))
    model = click.prompt("Its model (Enter to ask the server)", default="")
    _use(home, load_config(home), f"{name}:{model}" if model else name)


def _use(home: Home, config: Config, name: str) -> None:
    try:
        told = use_model(home, config, name)
    except HermesError as error:
        click.echo(plain(f"Nothing was changed: {error}"), err=True)
        return
    click.echo(plain(f"{told['model']} of {told['provider']} answers from now on ({home.config})."))
    click.echo(plain(f"But {told['missing']}." if told["missing"] else "To talk: hermes chat"))
