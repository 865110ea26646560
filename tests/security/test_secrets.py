"""Hiding secrets: what they look like, what is left alone, and that no text takes long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.security.secrets import MARK, hide_secrets

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nq83v\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJxd2VydHkifQ.Qf3kP8zLw9vT2xN7bR4mJ6cH1dS5"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a ghp_k3Jd8sLq0ZxPw7VbNm2RtYu5HgFe9CaT1oXi b", "a [hidden secret: GitHub token] b"),
        ("AKIAQ7XPL2MVB8ZNTR4K", "[hidden secret: AWS access key]"),
        ("sk-ant-api03-Qm8ZrT5vXw2LpK9nJd4HsB", "[hidden secret: Anthropic key]"),
        ("db://bob:tr0ub4dor9q@db.in.net", "db://bob:[hidden secret: password in a URL]@db.in.net"),
        (f"x\n{PEM}\ny", "x\n[hidden secret: private key]\ny"),
        (f"Bearer {JWT}", "Bearer [hidden secret: JSON web token]"),
        ("-----BEGIN PRIVATE KEY-----\ncut off", "[hidden secret: private key]"),
    ],
)  # fmt: skip
def test_a_secret_gives_way_to_a_mark(text: str, hidden: str) -> None:
    shown, names = hide_secrets(text)
    assert shown == hidden
    assert names == (hidden.partition(MARK)[2].partition("]")[0],)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ghp_short",
        "api_key = os.environ['KEY']",
        'password = "your-password-goes-here-1"',
        "sk-xxxxxxxxxxxx" * 3,
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert hide_secrets(text) == (text, ())


def test_values_that_are_known_are_hidden_wherever_they_stand() -> None:
    shown, names = hide_secrets("a=hunter2hunter2;hunter2hunter2", ["hunter2hunter2", "elsewhere-12"])
    assert shown == f"a={MARK}value from the environment];{MARK}value from the environment]"
    assert names == ("value from the environment",)


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=5), max_size=3))
def test_no_known_value_is_left(text: str, values: list[str]) -> None:
    shown, names = hide_secrets(text, values)
    kept = shown.split(f"{MARK}value from the environment]")
    assert not any(value in part for value in values for part in kept)
    assert bool(names) == any(value in text for value in values)


@pytest.mark.parametrize(
    "piece", ["eyJ-", "eyJ-.", "-----BEGIN ", "://a:", "password:'", "SG.-", "sk-", "xoxb-", "1"]
)
def test_no_text_takes_long(piece: str) -> None:
    hide_secrets(piece * (200_000 // len(piece)))  # the time limit of a test would be far exceeded
