"""`hermes prompt refresh` builds for the model that the session is with."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.cli.served import Served
from tests.world import write


def test_a_server_of_ones_own_is_found_again(serve: Callable[..., Served]) -> None:
    served = serve("one")
    assert served.chat("-q", "hello").code == 0
    session = json.loads(served.hermes("sessions", "list", "--json").out)[0]["id"]
    unchanged = served.hermes("prompt", "refresh", session)
    assert (unchanged.code, unchanged.out) == (0, "Nothing in the prompt has changed.\n")
    write(served.home / "SOUL.md", "You are Ada.\n")
    told = json.loads(served.hermes("prompt", "refresh", session, "--json").out)
    assert [told["session"], told["refreshed"]] == [session, False]
    assert [(s["section"], s["change"]) for s in told["changed"]] == [("identity", "changed")]
    assert served.hermes("prompt", "refresh", session).code == 2
    assert json.loads(served.hermes("prompt", "refresh", session, "--json", "--yes").out)["refreshed"]
    shown = served.hermes("sessions", "show", session).out
    address = served.provider.base_url.removeprefix("http://").removesuffix("/v1")
    assert shown.splitlines()[1] == f"custom@{address}:scripted-1 on cli"
    assert shown.splitlines()[3].endswith(": refresh")


def test_what_is_shown_is_what_that_server_gets(serve: Callable[..., Served]) -> None:
    served = serve("one")
    served.chat("-q", "hello")
    sent = json.loads(served.provider.calls[-1].body)["messages"][0]["content"]
    shown = served.hermes("prompt", "show").out
    ends = [text.split("Current time: ")[0] for text in (sent, shown)]
    assert ends[0] == ends[1]
    assert sent.splitlines()[-2:] == ["Model: scripted-1", "Provider: custom"] == shown.splitlines()[-2:]
