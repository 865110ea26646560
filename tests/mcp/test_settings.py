"""The entries of mcp.servers: what is wrong is said, what is secret is not."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.config.records import McpConfig
from hermes.mcp.settings import Server, servers
from hermes.paths import Home

VARIABLES = {"TOKEN": "tok-12345", "LONG": "tok-12345-and-more"}


def read(**entries: dict[str, Any]) -> tuple[tuple[Server, ...], list[str]]:
    found, notices = servers(McpConfig(entries), Home("/home"), lambda name: VARIABLES.get(name, ""))
    return found, [n.text for n in notices]


def test_both_kinds() -> None:
    found, told = read(
        web={
            "url": "https://host/mcp?key=abc",
            "headers": {"Authorization": "Bearer ${TOKEN}"},
            "enabled": False,
        },
        files={"command": "npx", "args": ("-y", "x"), "env": {"A": "${TOKEN}", "API_KEY": "plain-secret"}},
    )
    assert told == []
    assert found == (
        Server(
            "files",
            "npx",
            ("-y", "x"),
            {"A": "tok-12345", "API_KEY": "plain-secret"},
            secrets=("plain-secret", "tok-12345"),
        ),
        Server(
            "web",
            url="https://host/mcp?key=abc",
            headers={"Authorization": "Bearer tok-12345"},
            enabled=False,
            secrets=("tok-12345", "Bearer"),
        ),
    )
    assert [(s.kind, s.place) for s in found] == [("stdio", "npx -y x"), ("http", "https://host/mcp?key=***")]
    assert "tok-12345" not in repr(found)


@pytest.mark.parametrize(
    ("name", "entry", "reason"),
    [
        ("a b", {"command": "x"}, "is no name for a server"),
        ("a__b", {"command": "x"}, "is no name for a server"),
        ("a_", {"command": "x"}, "is no name for a server"),
        ("a" * 33, {"command": "x"}, "is no name for a server"),
        ("s", {"enabled": True}, "has neither a command nor a url; expected one of them"),
        ("s", {"command": "x", "url": "https://h"}, "has both a command and a url; expected one of them"),
        ("s", {"url": "https://h", "env": {}}, "has env, which does not go with url"),
        ("s", {"command": "x", "headers": {}}, "has headers, which does not go with command"),
        ("s", {"url": "https://"}, "has the url 'https://' without a host"),
        ("s", {"command": "x", "env": {"A": "${NO}"}}, "names the variable NO in env.A, which is not set"),
    ],
)
def test_what_is_wrong_is_said(name: str, entry: dict[str, Any], reason: str) -> None:
    found, (text,) = read(**{name: entry, "good": {"command": "y"}})
    assert [s.name for s in found] == ["good"]
    assert text.startswith(f"mcp.servers.{name} {reason}")
    assert text.endswith("; the server is left out")


def test_the_longer_secret_is_hidden_first() -> None:
    (server,), _ = read(s={"command": "x", "env": {"A": "${TOKEN}", "B": "${LONG}"}})
    assert server.hide("tok-12345-and-more tok-12345") == "*** ***"
