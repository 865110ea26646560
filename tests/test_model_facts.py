"""`models:` of config.yaml: every fact of a profile can be told, and a slip is named where it stands."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import get_args

from hermes.config import Config, load_config
from hermes.config.forms import Form
from hermes.config.model_facts import CACHE, MODEL_FACTS, PRICES, TOKENIZERS
from hermes.contracts import CacheKind, CacheRules, CacheTtl, InstructionRole, ModelProfile, Prices
from hermes.paths import Home
from hermes.providers.facts import AS_OF, ENCODINGS
from hermes.providers.profiles import override_notices, profile_for
from tests.world import write

WHOLE = """\
models:
  mine:
    as_of: 2026-11-30
    family: claude
    context_window: 1000
    output_limit: 100
    guidance: [verify]
    tokenizer: o200k_base
    chars_per_token: 3
    char_weights: [1, 2, 3, 4, 5, 6.5]
    instruction_role: developer
    system_mid_conversation: true
    strict_template: yes
    small: true
    cache:
      kind: marks
      minimum_tokens: 512
      step: 128
      max_marks: 3
      look_back: 10
      ttls: [{name: 10m, seconds: 600, write: 1.5}, {name: day, write: 2}]
      read: 0.2
      answers: true
      ping: 0
    prices: {input: 1, output: 4, cache_read: 0.2, cache_write: 1.5, tiered: true}
"""


def config(home: Path, text: str) -> Config:
    write(home / "config.yaml", text)
    return load_config(Home(str(home)))


def test_the_whole_profile_can_be_told(tmp_path: Path) -> None:
    read = config(tmp_path, WHOLE)
    assert (read.notices, override_notices(read.models)) == ((), ())
    profile = profile_for("mine-7b", "house", read.models)
    source = "models.mine of config.yaml as of 2026-11-30"
    assert {s for _, s in profile.sources} == {source}
    assert profile == ModelProfile(
        name="mine-7b",
        provider="house",
        family="claude",
        context_window=1000,
        output_limit=100,
        guidance=("verify",),
        tokenizer="o200k_base",
        chars_per_token=3.0,
        char_weights=(1.0, 2.0, 3.0, 4.0, 5.0, 6.5),
        source=source,
        instruction_role="developer",
        system_mid_conversation=True,
        strict_template=True,
        cache=CacheRules(
            "marks", 512, 128, 3, 10, (CacheTtl("10m", 1.5, 600), CacheTtl("day", 2.0)), 0.2, True, 0
        ),
        prices=Prices(1.0, 4.0, 0.2, 1.5, True),
        sources=profile.sources,
        small=True,
    )


def test_the_schema_has_every_fact_of_a_profile() -> None:
    own = {f.name for f in fields(ModelProfile)} - {"name", "provider", "source", "sources"}
    assert names(MODEL_FACTS.words) == own | {AS_OF}
    assert names(CACHE.words) == {f.name for f in fields(CacheRules)}
    assert names(PRICES.words.partition(", in US")[0]) == {f.name for f in fields(Prices)}
    assert (TOKENIZERS[0], TOKENIZERS[1:]) == ("", ENCODINGS)
    assert told_of(CACHE, "kind") == "one of " + ", ".join(get_args(CacheKind))
    assert told_of(MODEL_FACTS, "instruction_role") == "one of " + ", ".join(get_args(InstructionRole))


def names(words: str) -> set[str]:
    return set(words.removeprefix("a mapping of ").split(", "))


def told_of(form: Form, name: str) -> str:
    """What is expected of a fact, as a slip in it is answered."""
    told: list[str] = []
    form.read({name: "?", "small": True, "step": 1}, lambda _place, _given, expected: told.append(expected))
    return next(words for words in told if words.startswith("one of"))


def test_a_slip_is_named_with_its_line_and_the_rest_stands(tmp_path: Path) -> None:
    text = (
        "models:\n  mine:\n    cache:\n      kind: mark\n      step: 128\n      minimun_tokens: 5\n"
        "    tokenizer: o200k\n    as_of: soon\n    strict_template: maybe\n    char_weights: [1]\n"
        "    small: true\n"
        "  other: {cache: {ttls: [{name: 5m}], step: 1}}\n"
    )
    read = config(tmp_path, text)
    assert [n.text.removeprefix("config.yaml line ") for n in read.notices] == [
        f"{said}; it was left out"
        for said in (
            "4: models.mine.cache.kind is 'mark'; expected one of marks, prefix, none, unknown "
            "(nearest: marks)",
            "6: models.mine.cache.minimun_tokens is 5; expected a known name; did you mean minimum_tokens?",
            "7: models.mine.tokenizer is 'o200k'; expected one of cl100k_base, o200k_base, o200k_harmony, "
            "qwen3.5 (nearest: o200k_base)",
            "8: models.mine.as_of is 'soon'; expected the day they were true, such as 2026-11-30",
            "9: models.mine.strict_template is 'maybe'; expected true or false",
            "10: models.mine.char_weights is [1]; expected 6 numbers above 0 and at most 100",
            '12: models.other.cache.ttls is [{"name": "5m"}]; expected a list such as [{name: 5m, seconds: '
            "300, write: 1.25}]",
        )
    ]
    assert read.models == {"mine": {"cache": {"step": 128}, "small": True}, "other": {"cache": {"step": 1}}}
    assert override_notices(read.models) == ()
