"""Model names as people and providers write them, brought to keys that facts can be looked up by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

# Compiled by the first name that is read.
_REGION = (
    r"^(?:(?:us|eu|au|jp|apac|ca|us-gov|global|regional)\.)?"
    r"(?:ai21|amazon|anthropic|cohere|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|zai)\."
)
_REGION_VERSION = r"-v\d+(?::\d+)?$|:\d+$|-1:0$"
_SIZE_TAG = r":(?:\d+x)?\d+(?:\.\d+)?[bm](?:-[\w.]+)?$"
_DATE = r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d|\d\d-20\d\d)$"
_TAG = r"latest$|instruct|text|v?\d"
_JOINTS = r"[.:@_ ]+"

UNNAMED = "custom"
"""The provider of whom only an address is told."""


class ModelName(NamedTuple):
    """`name` is what the provider is sent, `host` the provider as the data file names it.

    `keys` go from the most exact to the barest: without variant, without date. `local`: the name is that
    of a file or of a sized local model, whose window is set by the server that runs it.
    """

    name: str
    provider: str
    host: str
    keys: tuple[str, ...]
    local: bool = False


def parse_name(model: str, provider: str, aliases: Mapping[str, str]) -> ModelName:
    """Take `provider:name`, `provider/name` or a bare name apart; an explicit provider leaves it whole."""
    name = model.strip()
    named = provider.strip()
    if not named:
        named, name = _split(name, aliases)
    host = _host(named.lower(), aliases)
    base = _base(name)
    if not host and re.match(_REGION, base):
        host = "bedrock"
    local = not host and (base.endswith(".gguf") or bool(re.search(_SIZE_TAG, base)))
    return ModelName(name, named, host, keys_of(name), local)


def _host(named: str, aliases: Mapping[str, str]) -> str:
    """The provider as the data file names it; of an identity, `name@address`, by its name or its address."""
    known, joint, address = named.partition("@")
    if known in aliases or not joint:
        return aliases.get(known, known)
    if is_this_machine(address.partition("/")[0]):
        return "local"
    return "" if known == UNNAMED else known


def is_this_machine(host: str) -> bool:
    """Whether a host, with or without its port, is the machine that this runs on."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name in ("localhost", "::1") or name.startswith("127.")


def keys_of(name: str) -> tuple[str, ...]:
    """The keys of a name, from the most exact to the barest; the barest is what patterns match."""
    base = _base(name).removesuffix(".gguf")
    if (bare := re.sub(_REGION, "", base)) != base:
        base = re.sub(_REGION_VERSION, "", bare)
    plain = base if re.search(_SIZE_TAG, base) else base.partition(":")[0]
    undated = re.sub(_DATE, "", plain.removesuffix("-latest"))
    keys = (re.sub(_JOINTS, "-", text) for text in (base, plain, undated))
    return tuple(dict.fromkeys(keys))


def _base(name: str) -> str:
    return name.replace("\\", "/").rsplit("/", 1)[-1].strip().lower()


def _split(name: str, aliases: Mapping[str, str]) -> tuple[str, str]:
    """The provider a name begins with, if it is a known one, and the rest."""
    for joint in (":", "/"):
        first, found, rest = name.partition(joint)
        if joint == ":" and re.match(_TAG, rest):
            continue  # `mistral:7b` is a model and its tag
        if found and rest and first.lower() in aliases:
            # An aggregator's own models keep its name: `openrouter/auto` is sent whole.
            whole = joint == "/" and first.lower() == "openrouter" and "/" not in rest
            return first, name if whole else rest
    return "", name
