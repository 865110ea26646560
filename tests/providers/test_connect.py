"""From a name to a model: providers, addresses, keys."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace

import pytest

from hermes.config.records import CacheConfig, Config, ModelConfig
from hermes.errors import ConfigError, ModelError
from hermes.providers.cache_marks import MarkPolicy
from hermes.providers.client import HttpModel, codec_for
from hermes.providers.connect import connect, connect_notices, connect_one
from hermes.providers.endpoints import Endpoint, builtin, endpoint_for
from hermes.providers.facts import registry
from hermes.providers.keys import Key, find_key
from hermes.providers.openai_chat import OpenAiChat
from hermes.providers.profiles import profile_for
from hermes.providers.resolve import resolve
from hermes.providers.wrappers import Fallback, Retrying

KEYS = {
    "OPENAI_API_KEY": "sk-1",
    "ANTHROPIC_API_KEY": "sk-2",
    "OPENROUTER_API_KEY": "sk-3",
    "LAB_KEY": "sk-4",
}


def nothing(_: str) -> str:
    return ""


def environment(name: str) -> str:
    return KEYS.get(name, "")


def configured(providers: Mapping[str, object] | None = None, **model: object) -> Config:
    free = {"providers": providers} if providers is not None else {}
    return Config(model=ModelConfig(**model), free=free)  # type: ignore[arg-type]


def one(name: str, config: Config | None = None) -> HttpModel:
    return connect_one(name, config or configured(), environment=environment, keyring=nothing)


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("openai:gpt-5", "openai", "gpt-5"),
        ("anthropic/claude-sonnet-4.5", "anthropic", "claude-sonnet-4.5"),
        ("openrouter/anthropic/claude-sonnet-4.5", "openrouter", "anthropic/claude-sonnet-4.5"),
        ("openrouter:qwen/qwen3-8b", "openrouter", "qwen/qwen3-8b"),
        ("ollama:qwen3:8b", "ollama", "qwen3:8b"),
        ("llama.cpp:smollm2-135m", "llama.cpp", "smollm2-135m"),
        ("gemini:gemini-2.5-pro", "google", "gemini-2.5-pro"),
        ("claude-opus-4-5", "anthropic", "claude-opus-4-5"),
        ("gpt-4o", "openai", "gpt-4o"),
    ],
)
def test_names(name: str, provider: str, model: str) -> None:
    endpoint, profile = resolve(name, configured())
    assert (endpoint.name, profile.name) == (provider, model)


def test_the_configured_model_is_the_one_of_no_name() -> None:
    config = configured(default="gpt-5", provider="openrouter", context_window=4096)
    endpoint, profile = resolve("", config)
    assert (endpoint.name, profile.name, profile.context_window) == ("openrouter", "gpt-5", 4096)
    assert resolve("openai:gpt-5", config)[1].context_window != 4096
    assert resolve("gpt-5", config)[0].name == "openrouter"


def test_a_base_url_alone_is_enough() -> None:
    config = configured(default="my-model", base_url="http://10.0.0.5:8000/v1/")
    endpoint, profile = resolve("", config)
    assert (endpoint.name, endpoint.base_url, profile.name) == (
        "custom",
        "http://10.0.0.5:8000/v1",
        "my-model",
    )
    assert find_key(endpoint, nothing, nothing) == Key("", "")


def test_a_provider_of_ones_own() -> None:
    lab = {
        "base_url": "https://lab.example/v1/",
        "key": "LAB_KEY",
        "reasoning": True,
        "limit": "max_completion_tokens",
    }
    model = one("lab:big-1", configured({"lab": lab}))
    assert model.endpoint == Endpoint(
        "lab", "https://lab.example/v1", keys=("LAB_KEY",), reasoning=True, limit="max_completion_tokens"
    )
    assert model.codec == OpenAiChat(reasoning=True, limit="max_completion_tokens")
    assert model.http.key == Key("sk-4", "LAB_KEY")


def test_a_known_provider_elsewhere() -> None:
    endpoint = endpoint_for("anthropic", {"anthropic": {"base_url": "https://proxy.example/v1"}})
    assert endpoint == Endpoint(
        "anthropic",
        "https://proxy.example/v1",
        "anthropic-messages",
        ("ANTHROPIC_API_KEY",),
        model="claude-sonnet-5",
    )
    assert endpoint_for("lab", {"lab": "http://lab:1/v1"}) == Endpoint("lab", "http://lab:1/v1")


@pytest.mark.parametrize(
    ("name", "address", "identity"),
    [
        ("mine", "http://localhost:9000/v1", "mine@localhost:9000"),
        ("other", "http://127.0.0.1:9000/v1", "other@127.0.0.1:9000"),
        ("mine", "http://[::1]:9000/a/v1", "mine@[::1]:9000/a"),
        ("ollama", "http://127.0.0.1:11434/v1", "ollama"),
        ("ollama", "http://desk.lan:11434/v1", "ollama@desk.lan:11434"),
    ],
)
def test_every_server_of_ones_own_has_the_rules_of_a_local_one_and_a_name_of_its_own(
    name: str, address: str, identity: str
) -> None:
    endpoint, profile = resolve(f"{name}:qwen3-8b", configured({name: address}))
    assert (endpoint.identity, profile.provider) == (identity, identity)
    assert (profile.strict_template, profile.cache.kind) == (True, "prefix")
    assert profile_for("qwen3-8b", identity) == profile, "the store and the ledger know it by that alone"


def test_a_proxy_is_another_endpoint_with_the_same_rules() -> None:
    usual, proxied = (
        resolve("anthropic:claude-sonnet-4-5", configured({"anthropic": address}))[1]
        for address in ("https://api.anthropic.com/v1", "https://proxy.lan/anthropic/v1")
    )
    assert (usual.provider, proxied.provider) == ("anthropic", "anthropic@proxy.lan/anthropic")
    assert usual == replace(proxied, provider="anthropic")


@pytest.mark.parametrize(
    ("name", "config", "words"),
    [
        ("org/thing", configured(), "who serves org/thing is not known"),
        ("azure:gpt-4o", configured(), "no address for the provider 'azure'"),
        ("lab:x", configured({"lab": {"key": "LAB_KEY"}}), "no address for the provider 'lab'"),
        (
            "lab:x",
            configured({"lab": {"url": "http://x"}}),
            "providers.lab.url of config.yaml is not known; did you",
        ),
        ("lab:x", configured({"lab": {"base_url": "ftp://x"}}), "holds no password, not 'ftp://x'"),
        ("lab:x", configured({"lab": {"base_url": "http://me:pw@x"}}), "holds no password, not what it is"),
        ("lab:x", configured({"lab": {"base_url": "http://["}}), "begins with http"),
        ("lab:x", configured({"lab": {"wire": "soap"}}), "one of openai-chat, anthropic-messages"),
        ("lab:x", configured({"lab": {"timeout": 0}}), "seconds, above 0"),
        ("lab:x", configured({"lab": {"reasoning": "yes"}}), "true or false, not 'yes'"),
        ("lab:x", configured({"lab": {"keys": "LAB"}}), "names of environment variables"),
        ("lab:x", configured({"lab": 7}), "must be an address or a mapping"),
    ],
)
def test_what_makes_no_sense_is_told(name: str, config: Config, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(name, config)
    assert words in str(caught.value)


def test_keys_in_order_environment_then_keyring() -> None:
    google = endpoint_for("google")
    both = {"GOOGLE_API_KEY": " second ", "GEMINI_API_KEY": "first"}
    assert find_key(google, lambda n: both.get(n, ""), nothing) == Key("first", "GEMINI_API_KEY")
    assert find_key(google, nothing, lambda n: f"ring-{n}") == Key("ring-google", "the keyring")
    assert find_key(endpoint_for("ollama"), nothing, nothing) == Key("", "")
    with pytest.raises(
        ModelError, match="no key for google; put it into GEMINI_API_KEY, or into the keyring"
    ) as caught:
        find_key(google, nothing, nothing)
    assert caught.value.kind == "auth"


@pytest.mark.parametrize("value", ["sk-\n1", "sk 1", "sk-é", "sk-\x00"])
def test_a_key_that_cannot_be_one_is_told_of_but_not_shown(value: str) -> None:
    with pytest.raises(ModelError, match="the key in OPENAI_API_KEY holds characters") as caught:
        find_key(endpoint_for("openai"), lambda _: value, nothing)
    assert value not in str(caught.value)


def test_a_key_shows_itself_to_nobody() -> None:
    key = Key("sk-secret", "LAB_KEY")
    assert f"{key} {key!r} {[key]}" == "Key('LAB_KEY') Key('LAB_KEY') [Key('LAB_KEY')]"
    assert key.hidden_in("it was sk-secret.") == "it was …."


def test_one_name_is_tried_again_several_are_a_chain() -> None:
    config = configured()
    single = connect("openai:gpt-4o", config, environment=environment, keyring=nothing)
    chain = connect(
        "openai:gpt-4o, anthropic:claude-sonnet-4-5", config, environment=environment, keyring=nothing
    )
    assert isinstance(single, Retrying)
    assert isinstance(chain, Fallback)
    assert [m.profile.name for m in chain.models] == ["gpt-4o", "claude-sonnet-4-5"]
    default = configured(default="openai:gpt-4o,anthropic:claude-sonnet-4-5")
    assert isinstance(connect("", default, environment=environment, keyring=nothing), Fallback)
    assert [m.codec.name for m in chain.models] == ["openai-chat/1", "anthropic-messages/1"]


def test_the_cache_settings_reach_the_model() -> None:
    config = Config(cache=CacheConfig(ttl="1h", prompt_ttl="9h"), models={"x": {"context": 1}})
    model = one("anthropic:claude-sonnet-4-5", config)
    assert model.policy == MarkPolicy(True, "1h", "1h")
    told = [n.text for n in connect_notices(config, model.profile)]
    assert len(told) == 2
    assert "cache.prompt_ttl: 9h is not a lifetime" in told[1]


def test_every_builtin_endpoint_is_sound() -> None:
    for name, endpoint in builtin().items():
        assert endpoint.name == name
        assert endpoint.base_url.startswith("https://") or endpoint.is_local
        assert bool(endpoint.keys) != endpoint.is_local
        assert bool(endpoint.start) == (endpoint.is_local and not endpoint.gguf)
        assert codec_for(endpoint).name.split("/")[0] == endpoint.wire
    known = set(registry().aliases)
    assert set(builtin()) - known == {"nous"}


def test_openai_gets_its_fields() -> None:
    assert codec_for(endpoint_for("openai")) == OpenAiChat(limit="max_completion_tokens", cache_key=True)
    assert codec_for(endpoint_for("mistral")) == OpenAiChat(usage=False)


@pytest.mark.parametrize("module", ["openai_chat", "anthropic", "scripted", "wrappers", "connect", "client"])
def test_importing_brings_in_no_http(module: str) -> None:
    heavy = {"httpx2", "anyio", "keyring", "truststore", "urllib.request", "http.client"}
    code = f"import sys, hermes.providers.{module}; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_profiles_and_endpoints_name_the_same_provider() -> None:
    assert resolve("dashscope:qwen-max", configured())[0].name == "alibaba"
    assert profile_for("qwen-max", "dashscope").cache.kind == "marks"
