"""Two servers of one's own are two endpoints, in the store and in the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.served import Served
from tests.world import write


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    """One server under two addresses, so that it counts as two."""
    served = serve("one", "two", "three")
    port = served.provider.base_url.rpartition(":")[2]
    servers = f"providers:\n  desk: http://127.0.0.1:{port}\n  rack: http://localhost:{port}\n"
    write(served.home / "config.yaml", servers)
    return served


def epochs(served: Served) -> list[str]:
    session = json.loads(served.hermes("sessions", "list", "--json").out)[0]["id"]
    return [
        e["reason"] for e in json.loads(served.hermes("sessions", "show", session, "--json").out)["epochs"]
    ]


def test_a_conversation_does_not_go_on_with_another_server_unrecorded(served: Served) -> None:
    port = served.provider.base_url.rpartition(":")[2].removesuffix("/v1")
    assert served.chat("-q", "a", "--model", "desk:scripted-1").code == 0
    assert served.chat("-q", "b", "--continue", "--model", "desk:scripted-1").code == 0
    assert epochs(served) == ["new session"]
    assert served.chat("-q", "c", "--continue", "--model", "rack:scripted-1").code == 0
    assert epochs(served) == ["new session", f"rack@localhost:{port} takes over"]
    spent = json.loads(served.hermes("cache", "cost", "--by", "model", "--json").out)
    text = json.dumps(spent)
    assert f"desk@127.0.0.1:{port}:scripted-1" in text
    assert f"rack@localhost:{port}:scripted-1" in text


def test_they_are_listed_as_two(served: Served) -> None:
    port = served.provider.base_url.rpartition(":")[2].removesuffix("/v1")
    rows = json.loads(served.hermes("models", "list", "--json").out)
    own = {row["provider"]: row["identity"] for row in rows if row["provider"] in ("desk", "rack", "ollama")}
    assert own == {"desk": f"desk@127.0.0.1:{port}", "rack": f"rack@localhost:{port}", "ollama": "ollama"}
