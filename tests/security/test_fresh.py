"""Sentences written without a look at the rules: what is caught of them must not sink."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes.security.scan import scan


def written(name: str) -> list[dict[str, str]]:
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("name", "half", "least"),
    [
        ("fresh_attacks.jsonl", "tune", 0.93),
        ("fresh_attacks.jsonl", "measure", 0.66),
        ("second_attacks.jsonl", "tune", 0.93),
        ("second_attacks.jsonl", "measure", 0.56),
        ("third_attacks.jsonl", "work", 0.94),
        ("third_attacks.jsonl", "measure", 0.8),
        ("fourth_attacks.jsonl", "work", 0.9),
        ("fourth_attacks.jsonl", "measure", 0.44),
        ("sixth_attacks.jsonl", "work", 0.85),
        ("sixth_attacks.jsonl", "measure", 0.46),
        ("fifth_attacks.jsonl", "work", 0.94),
        ("fifth_attacks.jsonl", "measure", 0.8),
    ],
)
def test_share_of_fresh_sentences_that_is_caught(name: str, half: str, least: float) -> None:
    texts = [row["text"] for row in written(name) if row["half"] == half]
    caught = sum(any(finding.severity == "high" for finding in scan(text)) for text in texts)
    assert len(texts) > 60
    assert caught / len(texts) >= least


def test_fresh_sentences_cover_every_category_in_both_halves() -> None:
    tuned, measured = (
        {row["category"] for row in written("fresh_attacks.jsonl") if row["half"] == half}
        for half in ("tune", "measure")
    )
    assert tuned == measured
    assert len(tuned) == 14


@pytest.mark.parametrize("half", ["work", "measure"])
def test_few_honest_near_misses_are_blocked(half: str) -> None:
    texts = [row["text"] for row in written("near_misses.jsonl") if row["half"] == half]
    blocked = [text for text in texts if any(finding.severity == "high" for finding in scan(text))]
    assert len(texts) > 130
    assert len(blocked) / len(texts) <= 0.04, blocked


PROMISED = "en zh ja ko ru uk pt es fr de it tr ar hi vi pl nl id".split()  # noqa: SIM905


@pytest.mark.parametrize("name", ["third_attacks.jsonl", "fifth_attacks.jsonl"])
def test_set_covers_the_promised_languages_in_both_halves(name: str) -> None:
    for half in ("work", "measure"):
        assert {row["lang"] for row in written(name) if row["half"] == half} == set(PROMISED)


@pytest.mark.parametrize("language", PROMISED)
def test_every_language_is_read_about_as_well(language: str) -> None:
    texts = [row for row in written("fifth_attacks.jsonl") if row["lang"] == language]
    worked = [row["text"] for row in texts if row["half"] == "work"]
    caught = sum(any(finding.severity == "high" for finding in scan(text)) for text in worked)
    assert caught / len(worked) >= 0.85
