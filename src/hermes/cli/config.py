"""`hermes config`: what the configuration is, where each value comes from, and how to change it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain
from hermes.errors import WrongSetting
from hermes.paths import get_hermes_home
from hermes.text import many

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from hermes.config.load import Reading
    from hermes.provenance import Notice


def _complete(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from hermes.config.schema import KEYS

    return [CompletionItem(key.name, help=key.meaning) for key in KEYS if key.name.startswith(typed)]


@click.group("config")
def group() -> None:
    """Show, check and change config.yaml."""


@group.command("show", short_help="The values that hold, and whence.")
@click.argument("key", required=False, shell_complete=_complete)
@as_json_option
def show(key: str | None, as_json: bool) -> None:
    """Show the values that hold, and where each comes from; of all keys, or of KEY and those below it."""
    from hermes.config.load import read_config

    home = get_hermes_home()
    reading = read_config(home)
    rows = {name: row for name, row in _rows(reading).items() if key is None or _under(name, key)}
    if not rows:
        from hermes.config.schema import unknown_text

        raise WrongSetting(unknown_text(str(key)))
    if as_json:
        notices = [_told(notice) for notice in reading.config.notices]
        print_json({"path": home.config, "digest": reading.config.digest, "values": rows, "notices": notices})
        return
    width = max(len(name) for name in rows)
    for name, row in rows.items():
        value = json.dumps(row["value"], ensure_ascii=False)
        source = f"{row['source']} line {row['line']}" if row["line"] else row["source"]
        click.echo(f"{name:<{width}}  {value}  ({source})")
    _warn(reading.config.notices)


def _rows(reading: Reading) -> dict[str, dict[str, Any]]:
    from hermes.config.masking import masked
    from hermes.config.records import plain
    from hermes.config.schema import KEYS

    rows: dict[str, dict[str, Any]] = {}
    for key in KEYS:
        value: object = reading.config
        for part in key.name.split("."):
            value = getattr(value, part)
        line = reading.lines.get(key.name)
        rows[key.name] = _row(masked(plain(value), key.name.rpartition(".")[2]), line)
    for name, value in reading.config.free.items():
        rows[name] = _row(masked(plain(value), name), reading.document.lines.get((name,), 0))
    return rows


def _row(value: object, line: int | None) -> dict[str, Any]:
    return {"value": value, "source": "default" if line is None else "config.yaml", "line": line or None}


def _under(name: str, key: str) -> bool:
    from hermes.config.schema import BY_NAME

    known = BY_NAME.get(key)
    key = known.name if known else key
    return name == key or name.startswith(f"{key}.")


def _told(notice: Notice) -> dict[str, Any]:
    line = notice.origin.first_line if notice.origin else 0
    return {"level": notice.level, "line": line or None, "text": notice.text}


def _warn(notices: tuple[Notice, ...]) -> None:
    for notice in notices:
        click.echo(f"{notice.level}: {notice.text}", err=True)


@group.command("set", short_help="Set one value.")
@click.argument("key", shell_complete=_complete)
@click.argument("value")
@as_json_option
def set_(key: str, value: str, as_json: bool) -> None:
    """Set KEY to VALUE, which is read as YAML where the key is not a text.

    \b
    hermes config set agent.max_turns 40
    hermes config set skills.disabled '[arxiv, jira]'
    hermes config set platform_hints.slack.append 'Keep it short.'
    hermes config set 'models."gpt-4.1".context_window' 1000000

    Comments, order and line ends of the file stay as they are. Nothing is written unless the value is right.
    """
    from hermes.config.edit import set_key

    home = get_hermes_home()
    change = set_key(home, key, value)
    if as_json:
        print_json(
            {"path": home.config, "key": change.name, "value": change.value, "created": change.created}
        )
        return
    click.echo(f"{change.name} is {json.dumps(change.value, ensure_ascii=False)} in {plain(home.config)}")


@group.command("unset", short_help="Back to the default of one key.")
@click.argument("key", shell_complete=_complete)
@as_json_option
def unset(key: str, as_json: bool) -> None:
    """Remove KEY from the file, so that its default stands."""
    from hermes.config.edit import unset_key

    home = get_hermes_home()
    removed = unset_key(home, key)
    if as_json:
        print_json({"path": home.config, "key": key, "removed": removed})
        return
    click.echo(
        f"{key} was removed from {home.config}" if removed else f"{key} does not stand in {home.config}"
    )


@group.command("path", short_help="Where config.yaml is.")
@as_json_option
def path(as_json: bool) -> None:
    """Print where config.yaml is, whether or not it exists."""
    from os.path import lexists

    where = get_hermes_home().config
    if as_json:
        print_json({"path": where, "exists": lexists(where)})
        return
    click.echo(where)


@group.command("check", short_help="All that is wrong; exit 1 on an error.")
@as_json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """List everything that is wrong with config.yaml; exit 1 when a value cannot be used."""
    from hermes.config import load_config

    home = get_hermes_home()
    notices = load_config(home).notices
    errors = sum(notice.level == "error" for notice in notices)
    if as_json:
        problems = [_told(notice) for notice in notices]
        print_json({"path": home.config, "ok": not errors, "problems": problems})
    else:
        for notice in notices:
            click.echo(f"{notice.level}: {notice.text}")
        click.echo(f"{plain(home.config)}: {_tally(errors, len(notices) - errors)}")
    ctx.exit(1 if errors else 0)


def _tally(errors: int, others: int) -> str:
    if not errors and not others:
        return "nothing is wrong"
    parts = [many(errors, "error")] if errors else []
    return ", ".join([*parts, many(others, "other notice")] if others else parts)


@group.command("keys", short_help="Every key, its form and meaning.")
@click.option("--markdown", is_flag=True, help="Print the table of the documentation.")
@as_json_option
def keys(markdown: bool, as_json: bool) -> None:
    """List every key there is: what is expected, the default, and what it means."""
    from hermes.config.records import plain
    from hermes.config.reference import reference_table
    from hermes.config.schema import KEYS

    if markdown:
        click.echo(reference_table(), nl=False)
        return
    if as_json:
        print_json(
            [
                {
                    "key": key.name,
                    "alias": key.alias or None,
                    "expected": key.form.words,
                    "default": plain(key.default),
                    "meaning": key.meaning,
                }
                for key in KEYS
            ]
        )
        return
    for key in KEYS:
        default = json.dumps(plain(key.default), ensure_ascii=False)
        click.echo(f"{key.name}\n    {key.meaning}\n    Expected: {key.form.words}. Default: {default}")
