"""Honcho over its own SDK, against a server on this machine that speaks its API."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes.config.records import MemoryConfig
from hermes.contracts import Exchange, Recalled, Whose
from hermes.errors import ConfigError
from hermes.lane import Lane
from hermes.memory.active import ActiveMemory
from hermes.memory.honcho import Honcho
from hermes.memory.outbox import Outbox
from hermes.security.policy import Policies
from hermes.tooling import ToolContext
from tests.memory.honcho_server import KEY, Service, honcho_server

ME = Whose("s1")
AT = "2026-03-30T14:30:00+00:00"


@pytest.fixture
def service() -> Iterator[Service]:
    with honcho_server() as made:
        yield made


def honcho(service: Service, key: str = KEY) -> Honcho:
    return Honcho({"base_url": service.url, "workspace": "w", "user": "ana"}, 0.5, key)


def active(service: Service, tmp_path: Path, key: str = KEY) -> ActiveMemory:
    lane = Lane("the memory honcho", together=True)
    outbox = Outbox(str(tmp_path / "outbox"))
    return ActiveMemory(
        "honcho", honcho(service, key), MemoryConfig(recall_timeout=10), Policies(), lane, outbox
    )


def test_what_is_known_of_the_user_stands_in_the_prompt(service: Service, tmp_path: Path) -> None:
    service.card, service.said = ["Name: Ana", "Lives in Lima"], ["Ana drinks tea."]

    async def run() -> str:
        memory = active(service, tmp_path)
        try:
            return await memory.block(ME)
        finally:
            await memory.close()

    assert asyncio.run(run()) == (
        "## What Is Known of the User\n\n- Name: Ana\n- Lives in Lima\n\nAna drinks tea."
    )
    assert ("GET", "/v3/workspaces/w/peers/ana/context") in service.calls


def test_nothing_known_is_no_block(service: Service, tmp_path: Path) -> None:
    assert asyncio.run(_once(honcho(service), "block")) == ""


async def _once(provider: Honcho, what: str) -> object:
    try:
        if what == "block":
            return await provider.static_block(ME)
        return await provider.recall("Does Ana drink tea?", ME)
    finally:
        await provider.close()


def test_conclusions_near_enough_are_recalled(service: Service) -> None:
    service.said = ["Ana does drink tea.", "The build is green."]
    assert asyncio.run(_once(honcho(service), "recall")) == [
        Recalled("Ana does drink tea.", 1.0, "2026-03-30, of the user")
    ]


def test_both_sides_of_a_turn_are_recorded_with_their_time(service: Service, tmp_path: Path) -> None:
    async def run() -> None:
        memory = active(service, tmp_path)
        memory.remember(Exchange(ME, "Tea?", "Yes.", AT))
        memory.remember(Exchange(ME, "x" * 24_001, "", AT))
        await memory.close()

    asyncio.run(run())
    told = [(m["session_id"], m["peer_id"], m["content"][:4], m["created_at"]) for m in service.messages]
    assert told == [
        ("s1", "ana", "Tea?", AT),
        ("s1", "hermes", "Yes.", AT),
        ("s1", "ana", "xxxx", AT),
        ("s1", "ana", "x", AT),
    ]


def test_another_user_is_another_peer(service: Service) -> None:
    async def run() -> None:
        provider = honcho(service)
        await provider.record(Exchange(Whose("s2", "telegram", "telegram:7"), "Hi", "", AT))
        await provider.close()

    asyncio.run(run())
    assert [m["peer_id"] for m in service.messages] == ["telegram-7"]


def test_the_tool_asks_about_the_user(service: Service, tmp_path: Path) -> None:
    async def run() -> str:
        memory = active(service, tmp_path)
        (tool,) = memory.tools(ME)
        assert (tool.spec.name, memory.told()) == ("honcho_ask", ())
        try:
            return await tool.call('{"question": "What does she drink?"}', ToolContext())
        finally:
            await memory.close()

    assert asyncio.run(run()) == "about ana: What does she drink?"


@pytest.mark.parametrize("down", [True, False])
def test_one_that_is_down_or_refuses_loses_nothing(service: Service, tmp_path: Path, down: bool) -> None:
    service.fail = 400 if down else 0

    async def run() -> tuple[str, str]:
        memory = active(service, tmp_path, KEY if down else "wrong")
        try:
            found = await memory.block(ME), await memory.recall("Does Ana drink tea?", ME)
            memory.remember(Exchange(ME, "Tea?", "Yes.", AT))
            return found
        finally:
            await memory.close()
            told = [n.text for n in memory.told()]
            assert len(told) == 3
            assert all("out of order" in t or "no such key" in t for t in told)
            assert KEY not in str(told)

    assert asyncio.run(run()) == ("", "")
    service.fail = 0

    async def later() -> None:
        memory = active(service, tmp_path)
        memory.send_waiting()
        await memory.close()

    asyncio.run(later())
    assert [m["content"] for m in service.messages] == ["Tea?", "Yes."]


def test_without_a_key_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HONCHO_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="HONCHO_API_KEY is not set"):
        Honcho.from_config(MemoryConfig(provider="honcho"))
    monkeypatch.setenv("HONCHO_API_KEY", KEY)
    assert Honcho.from_config(MemoryConfig(provider="honcho")).workspace == "hermes"
