"""Where no model is set: the providers whose keys are at hand, named with the command that takes each.

A key is never used unasked: what it pays for is its owner's money.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hermes.config.records import Config, secret
from hermes.provenance import Notice
from hermes.providers.endpoints import builtin, endpoint_for
from hermes.providers.keys import Lookup


class Offer(NamedTuple):
    """A provider whose key stands in the environment, under `variable`. `model` is one to begin with."""

    provider: str
    variable: str
    model: str

    @property
    def name(self) -> str:
        """`provider:model`, as `hermes models use` takes it."""
        return f"{self.provider}:{self.model or 'MODEL'}"

    @property
    def command(self) -> str:
        listed = "" if self.model else f"  (hermes models list {self.provider} names them)"
        return f"hermes models use {self.name}{listed}"


def offers(config: Config, environment: Lookup = secret) -> tuple[Offer, ...]:
    """The providers whose keys are in the environment; the owner's own first."""
    own = config.free.get("providers")
    named = [str(name) for name in own] if isinstance(own, Mapping) else []
    found = []
    for name in dict.fromkeys((*named, *builtin())):
        endpoint = endpoint_for(name, own)
        variable = next((key for key in endpoint.keys if environment(key).strip()), "")
        if variable:
            found.append(Offer(name, variable, endpoint.model))
    return tuple(found)


def offer_notices(config: Config, environment: Lookup = secret) -> tuple[Notice, ...]:
    """What is said where no model is set and the one on this machine answers."""
    if config.model.default:
        return ()
    found = offers(config, environment)
    if not found:
        text = "no model is set, so the small one on this machine answers; hermes setup names others"
        return (Notice("info", text),)
    text = "no model is set, so the small one on this machine answers, though "
    text += "; ".join(f"{offer.variable} is here: {offer.command}" for offer in found[:3])
    return (Notice("warning", f"{text}. To stay with this one: hermes models use local"),)
