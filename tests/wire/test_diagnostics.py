"""What a provider says itself, beside what we find."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes.providers.cache_marks import MarkPolicy
from hermes.sessions.replay import request_body
from hermes.wire.diagnostics import Told, read_told
from hermes.wire.words import explained
from tests.wire.rig import CLAUDE, Rig


@pytest.mark.parametrize(
    ("text", "told", "words"),
    [
        ("", None, ""),
        ("{", None, ""),
        ("[]", None, ""),
        ("{}", None, ""),
        ("null", Told("same"), "nothing differs from the request before"),
        ('{"cache_miss_reason":null}', Told("pending"), "it has not finished comparing"),
        (
            '{"cache_miss_reason":{"type":"tools_changed","cache_missed_input_tokens":4200}}',
            Told("changed", "tools", 4200),
            "tools changed, 4,200 tokens missed",
        ),
        (
            '{"cache_miss_reason":{"type":"previous_message_not_found"}}',
            Told("not found"),
            "it does not know the request before",
        ),
        ('{"cache_miss_reason":{"type":"unavailable"}}', Told("unavailable"), "it cannot tell"),
        ('{"type":"hit"}', Told("same"), "nothing differs from the request before"),
        (
            '{"type":"miss","reason":"model_changed","cache_missed_tokens":7,"comparison_reusable_tokens":9}',
            Told("changed", "model", 7),
            "model changed, 7 tokens missed",
        ),
        ('{"type":"not_found"}', Told("not found"), "it does not know the request before"),
        ('{"type":"unavailable"}', Told("unavailable"), "it cannot tell"),
    ],
)
def test_both_forms_are_read(text: str, told: Told | None, words: str) -> None:
    assert read_told(text) == told
    assert told is None or str(told) == words


def test_the_provider_is_asked_when_config_says_so(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        await rig.use(rig.model(CLAUDE, MarkPolicy(ask=True)))
        await rig.say()
        await rig.say()
        rig.edit("project/AGENTS.md", "make lint", "make all")
        await rig.agent.refresh()
        await rig.say()
        asked = [json.loads(call.body)["diagnostics"] for call in rig.server.calls]
        assert asked == [{"previous_message_id": name} for name in (None, "msg_1", "msg_2")]
        for number, call in enumerate(rig.server.calls, 1):
            assert await request_body(rig.store, rig.agent.session_id, number) == call.body

    entries = Rig(tmp_path).play(scene)
    assert [e.verdict.told for e in entries[:2]] == ["null", "null"]
    assert [e.verdict.cause for e in entries] == ["first", "hit", "changed"]
    assert "  the provider says: system changed, 2,000 tokens missed" in explained(entries[-1])


def test_nobody_is_asked_otherwise(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        await rig.say()
        assert "diagnostics" not in json.loads(rig.server.calls[0].body)
        for number, call in enumerate(rig.server.calls, 1):
            assert await request_body(rig.store, rig.agent.session_id, number) == call.body

    (entry,) = Rig(tmp_path).play(scene)
    assert entry.verdict.told == ""
