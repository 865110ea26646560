from __future__ import annotations

import pytest

from hermes.contracts import ModelProfile
from hermes.providers.profiles import context_limit_chars, enforcement_needed, profile_for


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-sonnet-4-5-20250929", "claude"),
        ("gpt-5.5-codex", "codex"),
        ("gpt-5.5", "gpt"),
        ("qwen3-coder:30b", "qwen"),
        ("codegemma-7b", "gemma"),
        ("no-such-model", "unknown"),
    ],
)
def test_family(model: str, family: str) -> None:
    assert profile_for(model).family == family


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


@pytest.mark.parametrize(
    ("model", "setting", "needed"),
    [
        ("gpt-5.5", "auto", True),
        ("claude-opus-5", "auto", False),
        ("no-such-model", "auto", False),
        ("claude-opus-5", True, True),
        ("gpt-5.5", False, False),
        ("Claude-Opus-5", ["OPUS"], True),
        ("gpt-5.5", ["opus", "sonnet"], False),
        ("gpt-5.5", [], False),
    ],
)
def test_enforcement(model: str, setting: bool | str | list[str], needed: bool) -> None:
    assert enforcement_needed(profile_for(model), setting) is needed
