"""Asked once, where no model is set and a provider's key is at hand: shall it answer?"""

from __future__ import annotations

import click

from hermes.cli.models_own import use_model
from hermes.cli.screen import plain
from hermes.config import load_config
from hermes.paths import get_hermes_home
from hermes.providers.offers import offers


def choose() -> None:
    """Offer the first provider whose key is in the environment, and write down what was said."""
    home = get_hermes_home()
    config = load_config(home)
    found = [offer for offer in offers(config) if offer.model]
    if config.model.default or not found:
        return
    offer = found[0]
    text = f"No model is set. {offer.variable} is here: shall {offer.name} answer from now on, at its price?"
    yes = click.confirm(plain(text), default=False, err=True)
    told = use_model(home, config, offer.name if yes else "local")
    click.echo(plain(f"{told['model']} answers. To change that: hermes setup"), err=True)
