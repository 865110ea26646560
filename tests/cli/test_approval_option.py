"""`hermes chat` and the approval policy, where nobody sits at the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from hermes.messages import ToolCall
from tests.cli.served import Served
from tests.providers.loopback import Reply

Serve = Callable[..., Served]
WRITE = Reply(calls=(ToolCall("1", "write_file", '{"path":"new.txt","content":"x"}'),))
DELETE = Reply(calls=(ToolCall("1", "terminal", '{"command":"rm -rf src; touch done"}'),))


def told(served: Served) -> str:
    content: str = json.loads(served.provider.calls[1].body)["messages"][-1]["content"]
    return content


def test_without_a_person_a_change_is_refused_with_a_way_out(serve: Serve) -> None:
    served = serve(WRITE, "I could not.")
    assert served.chat("-q", "write").code == 0
    assert told(served).startswith(
        "[not run: this needs a person's approval (the policy asks a person first)"
    )
    assert "`tools.approval`" in told(served)
    assert not (served.project / "new.txt").exists()


@pytest.mark.parametrize("option", [("--approval", "auto"), ("--yes",), ("--approval", "yolo")])
def test_an_option_lets_it_be_done(serve: Serve, option: tuple[str, ...]) -> None:
    served = serve(WRITE, "Done.")
    assert served.chat("-q", "write", *option).code == 0
    assert told(served) == "wrote new.txt: 1 line, 1 byte"
    assert (served.project / "new.txt").read_text() == "x"


def test_auto_lets_nothing_dangerous_be_done_and_yes_does(serve: Serve) -> None:
    served = serve(DELETE, "No.", DELETE, "Done.")
    served.chat("-q", "delete", "--approval", "auto")
    assert "it deletes folders with everything in them" in told(served)
    assert not (served.project / "done").exists()
    served.chat("-q", "delete", "--yes")
    assert (served.project / "done").exists()


def test_another_mode_is_a_mistake(serve: Serve) -> None:
    done = serve("x").chat("-q", "x", "--approval", "never")
    assert done.code == 2
    assert "'ask', 'auto', 'yolo'" in done.err
