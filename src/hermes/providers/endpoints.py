"""Where a provider is reached and how it is spoken to: endpoints.json, and `providers:` of config.yaml."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from hermes.errors import ConfigError, UnknownModel
from hermes.files import read_file
from hermes.frozen import frozen
from hermes.providers.facts import registry
from hermes.providers.names import is_this_machine

Wire = Literal["openai-chat", "anthropic-messages"]


@frozen
class Endpoint:
    """One provider, as endpoints.json and `providers:` of config.yaml have it.

    `keys` are environment variables that may hold the key, the first that is set counts; none: no key is
    needed. `cache_key`: it takes `prompt_cache_key`, which sends equal prompts to the same machine. `usage`
    is false where `stream_options` is refused. `limit` names the field for the most tokens of an answer.
    `reasoning`: it wants the model's reasoning back. `start` is what starts a local server. `timeout` in
    seconds, for each wait. `gguf` is a model file, in place of an address: it is served by an engine of ours.
    `progress`: it tells, when asked, how much of a prompt it has read. `model` is one
    to begin with.
    """

    name: str
    base_url: str = ""
    wire: Wire = "openai-chat"
    keys: tuple[str, ...] = ()
    cache_key: bool = False
    usage: bool = True
    limit: str = "max_tokens"
    reasoning: bool = False
    start: str = ""
    timeout: float = 600.0
    gguf: str = ""
    progress: bool = False
    model: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def identity(self) -> str:
        """What sessions and the ledger know it by: its name, with the address unless that is the usual one.

        Two servers have two caches, whatever they are called and wherever one name leads at another time.
        """
        usual = builtin().get(self.name)
        if self.gguf or (usual is not None and usual.base_url == self.base_url):
            return self.name
        return f"{self.name}@{self.host}{urlsplit(self.base_url).path.removesuffix('/v1')}"

    @property
    def is_local(self) -> bool:
        """Whether it is this machine."""
        return bool(self.gguf) or is_this_machine(self.host)


@lru_cache(maxsize=1)
def builtin() -> Mapping[str, Endpoint]:
    """The endpoints that come with Hermes, by name."""
    path = os.path.join(os.path.dirname(__file__), "endpoints.json")
    data = json.loads(read_file(path).data.decode("utf-8"))
    return {name: _merged(Endpoint(name), row) for name, row in data.items() if isinstance(row, dict)}


def endpoint_for(provider: str, configured: object = None, base_url: str = "") -> Endpoint:
    """The endpoint of a provider. `configured` is `providers:` of config.yaml; `base_url` goes before all.

    UnknownModel when the provider is not known and no address is given; ConfigError when what is configured
    makes no sense.
    """
    known = builtin()
    canonical = registry().aliases.get(provider.lower(), provider.lower())
    found = (
        known.get(provider.lower())
        or (known.get(canonical) if canonical != "local" else None)
        or Endpoint(provider)
    )
    given = configured if isinstance(configured, Mapping) else {}
    own = given.get(provider, given.get(provider.lower()))
    if own is not None:
        found = _merged(found, own)
    if base_url:
        found = _merged(found, base_url)
    if not found.base_url and not found.gguf:
        names = sorted({*known, *map(str, given)})
        raise UnknownModel(
            f"there is no address for the provider {provider!r}{_nearest(provider, names, '.')}"
            f" Known are {', '.join(names)}. For another one put its base_url below providers.{provider} "
            "in config.yaml."
        )
    return found


def _merged(endpoint: Endpoint, row: object) -> Endpoint:
    """An endpoint with the fields of a row; ConfigError names the first that cannot be used."""
    at = f"providers.{endpoint.name}"
    if isinstance(row, str):
        row = {"base_url": row}
    if not isinstance(row, Mapping):
        raise ConfigError(f"{at} of config.yaml must be an address or a mapping, not {row!r}")
    given = {str(name): value for name, value in row.items()}
    if "key" in given:
        given["keys"] = (given.pop("key"),)
    values: dict[str, Any] = {name: _field(at, name, value) for name, value in given.items()}
    return replace(endpoint, **values)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        # A password in an address would be shown with it: a key belongs elsewhere.
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        return sound and parts.port != 0
    except ValueError:
        return False


def _is_model_file(text: str) -> bool:
    path = os.path.expanduser(text)
    return text == "embedded" or (os.path.isabs(path) and path.lower().endswith(".gguf"))


def _field(at: str, name: str, value: object) -> object:
    defaults = {f.name: f.default for f in fields(Endpoint) if f.name != "name"}
    if name not in defaults:
        hint = _nearest(name, (*defaults, "key"), f"; known are {', '.join(sorted(defaults))}")
        raise ConfigError(f"{at}.{name} of config.yaml is not known{hint}")
    if name == "keys" and isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return tuple(value)
    if name == "base_url" and isinstance(value, str) and _is_address(value):
        return value.rstrip("/")
    if name == "wire" and value in get_args(Wire):
        return value
    if name == "timeout" and isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    if name == "gguf" and isinstance(value, str) and _is_model_file(value):
        return value
    if name not in ("keys", "base_url", "wire", "timeout", "gguf") and type(value) is type(defaults[name]):
        return value
    expected = {
        "keys": "names of environment variables",
        "base_url": "an address that begins with http:// or https:// and holds no password",
        "wire": f"one of {', '.join(get_args(Wire))}",
        "timeout": "seconds, above 0",
        "gguf": "the absolute path of a file that ends in .gguf",
    }.get(name, "true or false" if isinstance(defaults[name], bool) else "a text")
    shown = "what it is" if name == "base_url" and "@" in str(value) else repr(value)
    raise ConfigError(f"{at}.{name} of config.yaml must be {expected}, not {shown}")


def _nearest(name: str, names: Iterable[str], otherwise: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(names), 1, 0.5)
    return f"; did you mean {near[0]}?" if near else otherwise
