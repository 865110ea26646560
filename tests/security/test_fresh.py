"""Sentences written without a look at the rules: what is caught of them must not sink."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes.security.scan import scan

TEXTS = [
    json.loads(line)
    for line in Path(__file__).with_name("fresh_attacks.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(("half", "least"), [("tune", 0.93), ("measure", 0.66)])
def test_share_of_fresh_sentences_that_is_caught(half: str, least: float) -> None:
    texts = [row["text"] for row in TEXTS if row["half"] == half]
    caught = sum(any(finding.severity == "high" for finding in scan(text)) for text in texts)
    assert len(texts) > 200
    assert caught / len(texts) >= least


def test_fresh_sentences_cover_every_category_in_both_halves() -> None:
    tuned, measured = (
        {row["category"] for row in TEXTS if row["half"] == half} for half in ("tune", "measure")
    )
    assert tuned == measured
    assert len(tuned) == 14
