"""From a name, `provider:model`, to a model that can be called."""

from __future__ import annotations

from collections.abc import Mapping

from hermes.config.records import Config, secret
from hermes.contracts import Model, ModelProfile
from hermes.errors import ConfigError
from hermes.paths import Home, get_hermes_home
from hermes.provenance import Notice
from hermes.providers.cache_marks import mark_policy
from hermes.providers.client import HttpModel
from hermes.providers.endpoints import Endpoint, builtin, endpoint_for
from hermes.providers.facts import registry
from hermes.providers.keys import Lookup, find_key
from hermes.providers.names import parse_name
from hermes.providers.profiles import override_notices, profile_for
from hermes.providers.wrappers import Fallback, Retrying

EMBEDDED = "local"
"""The model that is used when none is set."""


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


def resolve(name: str, config: Config, home: Home | None = None) -> tuple[Endpoint, ModelProfile]:
    """Where a model is served and what is known of it. ConfigError when a name makes no sense."""
    provider, model = _named(name, config)
    is_default = (provider, model) == _named("", config) if config.model.default else False
    base_url = config.model.base_url if is_default else ""
    window = config.model.context_window if is_default else None
    if not provider and not base_url:
        provider = _maker(model)
    if not provider and not base_url:
        raise ConfigError(f"who serves {model} is not known; name the provider too, as in openrouter:{model}")
    endpoint = endpoint_for(provider or "custom", config.free.get("providers"), base_url)
    if endpoint.gguf:
        from hermes.providers.local.weights import find_weights, local_profile

        path = find_weights(endpoint.gguf, config, home or get_hermes_home())
        return endpoint, local_profile(path, config, window)
    # A server on this machine is known by what it is, whatever its owner calls it.
    known = "local" if endpoint.is_local and provider.lower() not in registry().aliases else provider
    return endpoint, profile_for(model, known, config.models, window)


def _named(name: str, config: Config) -> tuple[str, str]:
    """Provider and model; what a name leaves out is as configured. ConfigError when there is no name."""
    configured = config.model
    if name in ("", configured.default):
        if not configured.default:
            return EMBEDDED, ""
        if configured.provider:
            return configured.provider, configured.default
        name = configured.default
    own = config.free.get("providers")
    names = (*builtin(), *(own if isinstance(own, Mapping) else ()))
    if name in names and endpoint_for(name, own).gguf:  # a model file needs no second name
        return name, ""
    parsed = parse_name(name, "", {**registry().aliases, **{n.lower(): n for n in names}})
    return parsed.provider, parsed.name


def _maker(model: str) -> str:
    """The provider that makes a model, by its bare name; "" when it is not known, or others serve it."""
    family = profile_for(model).family
    return "" if "/" in model else next((f.maker for f in registry().families if f.name == family), "")
