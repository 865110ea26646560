"""`hermes plugins`: which there are, which are on, and what each brings."""

from __future__ import annotations

from typing import Any

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain, show_notices


@click.group()
def group() -> None:
    """Plugins: which there are, and what each brings."""


@group.command("list")
@as_json_option
def listing(as_json: bool) -> None:
    """Every plugin in the home or installed, and which hooks those that are on implement.

    A plugin that is off is not imported; plugins.enabled in config.yaml switches it on.
    """
    from hermes.agent.system_prompt import load_sources
    from hermes.config import load_config
    from hermes.paths import get_hermes_home
    from hermes.plugins.find import candidates

    home = get_hermes_home()
    config = load_config(home)
    sources = load_sources(home, config)
    loaded = {p.name: p for p in sources.plugins.plugins} if sources.plugins else {}
    found, notices = candidates(home)
    rows: list[dict[str, Any]] = []
    for candidate in found:
        plugin = loaded.get(candidate.name)
        state = "on" if plugin else "failed" if candidate.name in config.plugins.enabled else "off"
        hooks = list(plugin.impls) if plugin else []
        rows.append({"name": candidate.name, "state": state, "place": candidate.place, "hooks": hooks})
    told = dict.fromkeys((*config.notices, *sources.notices, *notices))
    if as_json:
        said = [{"level": n.level, "text": n.text} for n in told]
        print_json({"plugins": rows, "notices": said})
        return
    show_notices(tuple(told))
    if not rows and not any(n.level == "error" for n in notices):
        click.echo(f"No plugins: {home.path('plugins')} has none, and none is installed.")
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        click.echo(plain(f"{row['name']:{width}}  {row['state']:6}  {row['place']}"))
        if row["hooks"]:
            click.echo(f"{'':{width}}          {', '.join(row['hooks'])}")
