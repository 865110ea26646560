"""docs/chat.md says what is so: its commands, its events, its examples."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.cli.ask import EVENT_NAMES, EXIT_CODES
from hermes.commands import COMMANDS
from hermes.messages import ToolCall
from tests.cli.served import Served
from tests.providers.loopback import Reply

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "chat.md").read_text(encoding="utf-8")


def test_every_command_is_described() -> None:
    assert set(re.findall(r"`/(\w+)", PAGE)) - {"expand"} == set(COMMANDS)


def test_every_ending_has_its_word_and_code() -> None:
    assert all(f"`{reason}`" in PAGE for reason in EXIT_CODES)
    assert {0, 3, 4, 5, 130} == set(EXIT_CODES.values())


def test_the_events_have_the_fields_that_are_promised(serve: Callable[..., Served]) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE.partition("| `event`")[2], re.M))
    promised = {name: set(re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", row))) for name, row in rows.items()}
    assert set(promised) == set(EVENT_NAMES.values())
    for name in ("tool_progress", "tool_finished"):
        promised[name] |= promised["tool_started"]
    call = ToolCall("1", "terminal", '{"command":"true"}')
    served = serve(Reply(calls=(call,), thinking="hm"), Reply(status=500, body={}), "Yes.")
    lines = served.chat("-q", "x", "--json").out.splitlines()
    events = {e.pop("event"): set(e) for e in map(json.loads, lines)}
    assert {name: promised[name] for name in events} == events
    assert {"text", "tool_started", "tool_finished", "ended"} <= events.keys()


@pytest.mark.parametrize("page", ["help.txt", "cli.md"])
def test_what_is_made_from_the_commands_is_as_they_are(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    sys.modules.pop("update_help", None)
    import update_help  # type: ignore[import-not-found]

    made = {
        "help.txt": (update_help.HELP, update_help.quick_help),
        "cli.md": (update_help.REFERENCE, update_help.reference),
    }
    path, make = made[page]
    assert path.read_text(encoding="utf-8") == make()
