"""From a name, `provider:model`, to a model that can be called."""

from __future__ import annotations

from hermes.config.records import Config, secret
from hermes.contracts import Model, ModelProfile
from hermes.paths import Home, get_hermes_home
from hermes.provenance import Notice
from hermes.providers.cache_marks import mark_policy
from hermes.providers.client import HttpModel
from hermes.providers.keys import Lookup, find_key
from hermes.providers.profiles import override_notices
from hermes.providers.resolve import resolve
from hermes.providers.wrappers import Fallback, Retrying


def connect(
    name: str,
    config: Config,
    *,
    environment: Lookup = secret,
    keyring: Lookup | None = None,
    home: Home | None = None,
) -> Model:
    """The model of a name, or the configured one for "", with retries. Nothing is sent.

    Without either it is the model that runs on this machine, in the engine of `home`. Several names with
    commas, given or configured, are a fallback chain. ConfigError when a name or its
    provider makes no sense, ModelError when there is no key.
    """
    models = [
        Retrying(connect_one(one.strip(), config, environment=environment, keyring=keyring, home=home))
        for one in (name or ("" if config.model.provider else config.model.default)).split(",")
    ]
    return models[0] if len(models) == 1 else Fallback(models)


def connect_one(
    name: str,
    config: Config,
    *,
    environment: Lookup = secret,
    keyring: Lookup | None = None,
    home: Home | None = None,
) -> HttpModel:
    """One model without retries; see `connect`."""
    endpoint, profile = resolve(name, config, home)
    if endpoint.gguf:
        from hermes.providers.local.model import LocalModel, local_engine
        from hermes.providers.local.weights import find_weights

        home = home or get_hermes_home()
        engine = local_engine(find_weights(endpoint.gguf, config, home), config, home, profile)
        return LocalModel(endpoint, profile, engine, config.local.states_mb)
    policy, _ = mark_policy(config.cache, profile.cache)
    return HttpModel(endpoint, profile, find_key(endpoint, environment, keyring), policy)


def connect_notices(config: Config, profile: ModelProfile) -> tuple[Notice, ...]:
    """What is wrong with what config.yaml says of a model and of its cache."""
    return (*override_notices(config.models), *mark_policy(config.cache, profile.cache)[1])
