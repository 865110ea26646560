"""`hermes skills`: what skills there are, and how they come and go."""

from __future__ import annotations

import click

from hermes.cli.lazy import LazyGroup
from hermes.cli.screen import show_notices
from hermes.config import Config, load_config
from hermes.frozen import frozen
from hermes.paths import Home, get_hermes_home
from hermes.security.found import keep_found
from hermes.security.policy import Policies
from hermes.security.trust import load_trust
from hermes.skills.known import directories
from hermes.skills.library import Library, load_library

SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "check": ("hermes.cli.skills_look:check", "Say what is wrong with skills, and which were changed."),
    "disable": ("hermes.cli.skills_keep:disable", "Leave a skill out, in config.yaml."),
    "enable": ("hermes.cli.skills_keep:enable", "Take a disabled skill back in."),
    "install": ("hermes.cli.skills_install:install", "Install from a folder, an archive or a repository."),
    "list": ("hermes.cli.skills_look:listing", "Every skill, and what becomes of it."),
    "remove": ("hermes.cli.skills_keep:remove", "Move a skill of the home into the archive."),
    "restore": ("hermes.cli.skills_keep:restore", "Bring a removed skill back."),
    "show": ("hermes.cli.skills_look:show", "One skill: its instructions, files and origin."),
}


@click.group(cls=LazyGroup, table=SUBCOMMANDS)
def group() -> None:
    """See, install and manage skills."""


@frozen
class Shelf:
    """The skills of the home with its configuration, as they are now."""

    home: Home
    config: Config
    library: Library


def open_shelf() -> Shelf:
    """The shelf of the home that is in use; what is wrong with the configuration is told."""
    home = get_hermes_home()
    config, trusted = load_config(home), load_trust(home)
    show_notices((*config.notices, *trusted.notices), quiet=True)
    keep_found(home.cache)
    policies = Policies.from_config(config.security.scan, trusted.digests)
    return Shelf(home, config, load_library(home, directories(config.skills), policies=policies))
