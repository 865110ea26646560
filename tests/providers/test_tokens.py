from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes.contracts import ModelProfile
from hermes.providers.profiles import profile_for
from hermes.providers.tokens import TokenCount, count_each, count_tokens, counting_method, estimate_tokens

SAMPLES = {
    "english": "The quick brown fox jumps over the lazy dog. It's 10:45, isn't it?\n",
    "code": "def f(x: int) -> dict[str, int]:\n\treturn {str(i): i ** 2 for i in range(x)}  # squares\n",
    "portuguese": "A configuração não é só uma opção: é uma decisão sobre coerência.\n",
    "russian": "Промпт собирается один раз и больше не меняется.\n",
    "chinese": "提示词只构建一次,之后永不改变。缓存前缀保持不变。\n",
    "japanese": "システムプロンプトは一度だけ組み立てられます。\n",
    "korean": "시스템 프롬프트는 한 번만 만들어집니다.\n",
    "hindi": "यह संकेत केवल एक बार बनाया जाता है।\n",
    "emoji": "👩‍💻🚀✨ done ✅\n",
    "spaces": " " * 100 + "\n\n\n\t\tx\n",
    "special": "<|endoftext|><|im_start|>system\n",
    "digits": "1234567890 3.14159 2026-11-29\n",
}
SAMPLES["all"] = "".join(SAMPLES.values()) * 3

# Counted by two tokenizers that share no code with the one under test, bpe-openai 0.1.4 and quicktok-v1
# 0.4.0, which agree.
O200K = dict(zip(SAMPLES, (19, 31, 15, 14, 20, 18, 14, 9, 11, 6, 14, 17, 564), strict=True))
CL100K = dict(zip(SAMPLES, (21, 31, 19, 20, 28, 23, 22, 36, 16, 6, 14, 17, 759), strict=True))
# Reconstructed by ctok 1.3.0 for Claude up to 4.6, and from 4.7 on.
CLAUDE = dict(zip(SAMPLES, (22, 37, 19, 18, 28, 20, 24, 22, 17, 10, 14, 17, 767), strict=True))
CLAUDE_47 = dict(zip(SAMPLES, (30, 43, 25, 18, 27, 20, 23, 22, 16, 10, 15, 16, 830), strict=True))


@pytest.mark.parametrize(
    ("model", "encoding", "golden"),
    [
        ("gpt-5.5", "o200k_base", O200K),
        ("gpt-4", "cl100k_base", CL100K),
        ("gpt-oss-20b", "o200k_harmony", O200K),
    ],
)
def test_exact_counts_agree_with_other_tokenizers(model: str, encoding: str, golden: dict[str, int]) -> None:
    counts = count_each(SAMPLES.values(), profile_for(model))
    assert counts == tuple(TokenCount(n, f"{encoding}, exact", True) for n in golden.values())
    assert counts[0] == count_tokens(SAMPLES["english"], profile_for(model))


@pytest.mark.parametrize(
    ("model", "golden"),
    [("claude-sonnet-4-5", CLAUDE), ("claude-opus-4-7", CLAUDE_47), ("claude-opus-5-5", CLAUDE_47)],
)
def test_estimates_for_claude_are_near(model: str, golden: dict[str, int]) -> None:
    profile = profile_for(model)
    for name in ("english", "code", "portuguese", "russian", "chinese", "japanese", "korean", "all"):
        assert estimate_tokens(SAMPLES[name], profile) == pytest.approx(golden[name], rel=0.35), name


@pytest.mark.parametrize("name", ["chinese", "japanese", "korean"])
def test_no_estimate_takes_cjk_for_four_characters_a_token(name: str) -> None:
    text = SAMPLES[name]
    for model in ("claude-opus-5", "claude-haiku-4-5", "gpt-4", "gemini-3-pro-preview", "no-such-model"):
        assert estimate_tokens(text, profile_for(model)) > len(text) / 2


@pytest.mark.parametrize(
    ("model", "overrides", "method"),
    [
        ("gpt-5.5", {}, "o200k_base, exact"),
        ("claude-sonnet-4-5", {}, "estimate: 3.6 characters of English a token for claude"),
        ("claude-opus-5", {}, "estimate: 2.6 characters of English a token for claude"),
        ("gpt-6-astra", {}, "estimate: 3.6 characters of English a token, not calibrated for this model"),
        ("gemini-2.5-pro", {}, "estimate: 3.6 characters of English a token, not calibrated for this model"),
        ("no-such-model", {}, "estimate: 3.6 characters of English a token, not calibrated for this model"),
        (
            "ours",
            {"ours": {"chars_per_token": 5}},
            "estimate: 5.0 characters of English a token, set in config.yaml",
        ),
        ("ours", {"ours": {"tokenizer": "o200k_base"}}, "o200k_base, named in config.yaml"),
    ],
)
def test_the_method_is_named(model: str, overrides: dict[str, dict[str, object]], method: str) -> None:
    profile = profile_for(model, "", overrides)
    count = count_tokens("some text", profile)
    assert (counting_method(profile), count.method, count.exact) == (method, method, method.endswith("exact"))


def test_characters_are_weighed_by_kind() -> None:
    profile = ModelProfile(chars_per_token=2.0, char_weights=(1.0, 10.0, 100.0, 1e3, 1e4, 1e5))
    assert estimate_tokens("a 1éи中🚀" * 2, profile) == 111112
    assert estimate_tokens("ab, c", profile) == 7
    assert estimate_tokens("", profile) == 0
    assert estimate_tokens("\ud83d", profile) == 5000


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=60))
@example("half a pair \ud83d")
def test_any_text_can_be_counted(text: str) -> None:
    unit = ModelProfile(chars_per_token=1.0, char_weights=(1.0,) * 6)
    assert estimate_tokens(text, unit) == len(text)
    exact = count_tokens(text, profile_for("gpt-4"))
    assert (exact.tokens == 0) == (text == "")
