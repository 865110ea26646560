"""Recall over past sessions: what is relevant comes, what is not never does, and of others nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.contracts import Recalled, Whose
from hermes.memory.recall import EXCERPT, SessionRecall, excerpt, relevance, telling
from hermes.sessions.sqlite import SqliteStore
from tests.sessions.said import told

DEPLOY = "We deploy the billing service to Hetzner with Ansible every Friday evening."
ME = Whose("now")


def recalled(
    tmp_path: Path, asked: str, *sessions: tuple[str, ...], whose: Whose = ME, **states: str
) -> Sequence[Recalled]:
    """What is recalled for a message after these sessions, s1, s2 and so on."""

    async def run() -> Sequence[Recalled]:
        store = SqliteStore(str(tmp_path / "sessions.db"))
        try:
            for number, texts in enumerate(sessions, 1):
                record, step = told(*texts, name=f"s{number}", day=number)
                state = states.get(f"s{number}", record.state)
                await store.create(type(record)(**{**_fields(record), "state": state}), step)
            return await SessionRecall(store).recall(asked, whose)
        finally:
            await store.close()

    return asyncio.run(run())


def _fields(record: object) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__slots__}  # type: ignore[attr-defined]


def test_what_was_said_about_the_same_is_found(tmp_path: Path) -> None:
    found = recalled(tmp_path, "How do we deploy the billing service?", (DEPLOY, "Noted."), ("Bread", "Yes."))
    assert found == [Recalled(DEPLOY, 1.0, "2026-03-02, the user, in session s1")]


@pytest.mark.parametrize(
    "asked",
    [
        "Thanks, that is great!",
        "What should I do next?",
        "Can you help me with something?",
        "Which service has the best coffee on Friday?",
        "What is the capital of Peru?",
        "и что теперь делать?",
        "谢谢你",
        "",
        "???",
        "service",
    ],
)
def test_what_is_irrelevant_never_steers(tmp_path: Path, asked: str) -> None:
    found = recalled(tmp_path, asked, (DEPLOY, "Thanks, that is great! What should I do next? Help me."))
    assert [r for r in found if r.relevance >= 0.5] == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("What did INV-20931 say?", "The invoice INV-20931 was paid twice."),
        ("как мы разворачиваем биллинг сервис", "биллинг сервис разворачиваем через Ansible"),
        ("我们怎么部署计费服务", "每周五部署计费服务到服务器"),
        (
            "¿Cómo desplegamos el servicio de facturación?",
            "El servicio de facturación se despliega los viernes",
        ),
    ],
)
def test_other_tongues_and_identifiers(tmp_path: Path, asked: str, said: str) -> None:
    (found,) = recalled(tmp_path, asked, (said, "Noted."))
    assert found.text == said
    assert found.relevance >= 0.5


def test_the_session_itself_is_not_recalled(tmp_path: Path) -> None:
    assert recalled(tmp_path, DEPLOY, (DEPLOY, "Noted."), whose=Whose("s1")) == []


def test_nobody_is_told_what_another_has_said(tmp_path: Path) -> None:
    theirs = '{"whose": "telegram:7"}'
    sessions = ((DEPLOY, "Noted."), (DEPLOY, "Noted."))
    assert [r.source[-2:] for r in recalled(tmp_path / "a", DEPLOY, *sessions, s1=theirs)] == ["s2"]
    other = Whose("now", "telegram", "telegram:7")
    assert [r.source[-2:] for r in recalled(tmp_path / "b", DEPLOY, *sessions, whose=other, s1=theirs)] == [
        "s1"
    ]
    third = Whose("now", "telegram", "telegram:8")
    assert recalled(tmp_path / "c", DEPLOY, *sessions, whose=third, s1=theirs) == []


def test_results_of_tools_are_not_recalled(tmp_path: Path) -> None:
    assert recalled(tmp_path, DEPLOY, ("Look.", "Yes.", f"tool: {DEPLOY}")) == []


def test_one_of_each_session_the_best_first(tmp_path: Path) -> None:
    less = "The billing service is written in Go."
    found = recalled(tmp_path, "deploy billing service hetzner", (less, less), (DEPLOY, DEPLOY))
    assert [(r.source[-2:], r.relevance) for r in found] == [("s2", 1.0), ("s1", 0.333)]


class TestWords:
    def test_common_words_tell_nothing(self) -> None:
        assert telling("What should we do about it, please?") == {}
        assert telling("the Kubernetes cluster at 10.0.0.7") == {"kubernetes": 2.0, "cluster": 1.0}

    def test_of_many_the_weightiest(self) -> None:
        words = telling(" ".join(f"word{'x' * (n % 3)}{'abcdefghijklmnopqrstuvwxyz'[n]}" for n in range(26)))
        assert len(words) == 16

    @given(st.text(), st.text())
    def test_relevance_is_a_part(self, asked: str, text: str) -> None:
        terms = telling(asked)
        if terms:
            assert 0 <= relevance(terms, text) <= 1

    @given(st.text(max_size=2000), st.text())
    def test_an_excerpt_is_short_and_on_one_line(self, text: str, asked: str) -> None:
        shown = excerpt(text, telling(asked))
        assert "\n" not in shown
        assert len(shown) <= EXCERPT + 60  # a last character is kept whole

    def test_an_excerpt_is_where_the_words_are(self) -> None:
        text = f"{'filler ' * 200}the Hetzner account is 77 {'filler ' * 200}"
        assert "the Hetzner account is 77" in excerpt(text, telling("hetzner"))
