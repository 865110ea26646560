"""Which provider a model's name means, and what is known of it. Nothing here can send anything."""

from __future__ import annotations

from collections.abc import Mapping

from hermes.config.records import Config
from hermes.contracts import ModelProfile
from hermes.errors import UnknownModel
from hermes.paths import Home, get_hermes_home
from hermes.providers.endpoints import Endpoint, builtin, endpoint_for
from hermes.providers.facts import registry
from hermes.providers.names import UNNAMED, parse_name
from hermes.providers.profiles import profile_for

EMBEDDED = "local"
"""The model that is used when none is set."""


def resolve(name: str, config: Config, home: Home | None = None) -> tuple[Endpoint, ModelProfile]:
    """Where a model is served and what is known of it. UnknownModel when nobody goes by the name."""
    provider, model = _named(name, config)
    is_default = (provider, model) == _named("", config) if config.model.default else False
    base_url = config.model.base_url if is_default else ""
    window = config.model.context_window if is_default else None
    if not provider and not base_url:
        provider = _maker(model)
    if not provider and not base_url:
        raise UnknownModel(
            f"who serves {model} is not known; name the provider too, as in openrouter:{model}"
        )
    endpoint = endpoint_for(provider or UNNAMED, config.free.get("providers"), base_url)
    if endpoint.gguf:
        from hermes.providers.local.weights import find_weights, local_profile

        path = find_weights(endpoint.gguf, config, home or get_hermes_home())
        return endpoint, local_profile(path, config, window)
    return endpoint, profile_for(model, endpoint.identity, config.models, window)


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
