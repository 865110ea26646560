"""Plugins written to a home, as their authors would write them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from hermes.agent.prompt_builder import Sources
from hermes.agent.system_prompt import load_sources
from hermes.config import load_config
from hermes.paths import Home
from tests.world import make_home

HEAD = "from hermes.plugins.hooks import Asked, PluginSection, hook\n"


def put(home: Path, name: str, code: str) -> None:
    """A plugin in a home; the import of the hooks is written for it."""
    path = home / "plugins" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + textwrap.dedent(code), encoding="utf-8")


def enable(home: Path, *names: str, more: str = "", timeout: float = 5) -> Sources:
    """The sources of a home with these plugins on."""
    make_home(home)
    listed = ", ".join(names)
    (home / "config.yaml").write_text(f"plugins:\n  enabled: [{listed}]\n  timeout: {timeout}\n{more}")
    bound = Home(str(home))
    return load_sources(bound, load_config(bound))
