"""A disk that fills while an answer comes: the person is told, and a script sees it by the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.served import Served

Serve = Callable[..., Served]

ROOM = 400_000
"""Bytes a file may have: more than all that comes before the answer, less than the answer."""
LIMITED = (
    "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    f"resource.setrlimit(resource.RLIMIT_FSIZE, ({ROOM}, {ROOM})); "
    "from hermes.cli.entry import main; sys.exit(main())"
)
LOST = "the end of this conversation is not stored"


@pytest.fixture
def answer() -> str:
    return "".join(f"{n:07d} " for n in range(60_000))


def test_an_answer_that_could_not_be_stored_is_said_to_be_lost(serve: Serve, answer: str) -> None:
    served = serve(answer)
    done = served.chat("-q", "tell me all", program=LIMITED)
    assert (done.code, done.out.strip()) == (1, answer.strip())
    assert f"error: {LOST}" in done.err
    shown = json.loads(served.hermes("sessions", "show", "tell me all", "--json").out)
    assert [m["text"] for m in shown["messages"]] == ["tell me all"]


@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_programs_are_told_before_the_end(serve: Serve, answer: str, form: str) -> None:
    served = serve(answer)
    done = served.chat("-q", "tell me all", "--output-format", form, program=LIMITED)
    *before, last = map(json.loads, done.out.splitlines())
    told = last["notices"] if form == "json" else [e for e in before if e["event"] == "notice"]
    assert (done.code, last["reason"], told[-1]["level"]) == (1, "done", "error")
    assert told[-1]["text"].startswith(LOST)
