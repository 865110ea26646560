"""The conversation at a real terminal, driven by keys and read from its screen."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

import pytest

from hermes.contracts import CacheRules
from hermes.messages import ToolCall
from tests.cli.served import Served
from tests.cli.terminal import Terminal
from tests.providers.loopback import Reply

Serve = Callable[..., Served]


def terminal(served: Served, *arguments: str, columns: int = 80, rows: int = 24, **environ: str) -> Terminal:
    return Terminal(*arguments, home=served.home, cwd=served.project, columns=columns, rows=rows, **environ)


def idle(at: Terminal) -> None:
    """Wait for the status line of a conversation in which no turn runs."""
    at.wait_until(lambda shown: bool(re.match("scripted-1 ·", shown.rpartition("\n")[2])), "no turn")


def test_a_first_conversation(serve: Serve) -> None:
    served = serve("**Good** day.\n\n- one\n- two\n", "Again.")
    with terminal(served) as at:
        at.wait_for("/help lists commands and keys")
        at.say("hello")
        shown = at.wait_for("two")
        assert "› hello\n\nGood day.\n\n • one\n • two" in shown
        at.say("and?")
        at.wait_for("Again.")
        at.type("\x04")
        assert at.end() == 0


def test_a_tool_is_shown_in_a_line_and_expanded_on_demand(serve: Serve) -> None:
    command = "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done"
    call = ToolCall("1", "terminal", json.dumps({"command": command}))
    served = serve(Reply(calls=(call,)), "Nine lines.")
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.say("count")
        shown = at.wait_for("Nine lines.")
        assert "● terminal for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done" in shown
        assert "  line 3\n  … 6 more lines (Ctrl-O, or /expand 1)" in shown
        assert "line 4" not in shown
        at.type("\x0f")
        at.wait_for("line 9")
        at.say("/expand 7")
        at.wait_for("Say /expand N with a number from 1 to 1.")


def test_control_c_stops_the_turn_and_twice_leaves(serve: Serve) -> None:
    served = serve(Reply("I begin", hold=True), "Here.")
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.say("talk")
        at.wait_for("I begin")
        at.type("queued words\r")
        at.wait_for("queued: queued words")
        at.type("\x03")
        shown = at.wait_for("Stopped; what was said is kept.")
        at.wait_for("› queued words")  # back in the input
        assert "I begin" in shown
        at.type("\x03")
        at.wait_for("› queued words", gone=True)
        at.say("still there?")
        at.wait_for("Here.")
        idle(at)
        at.type("\x03")
        at.wait_for("Ctrl-C again leaves")
        at.type("\x03")
        assert at.end() == 0


def test_control_c_stops_a_tool(serve: Serve) -> None:
    call = ToolCall("1", "terminal", '{"command":"echo begun; sleep 60"}')
    served = serve(Reply(calls=(call,)), "Back.")
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.say("sleep")
        at.wait_for("○ terminal echo begun; sleep 60")
        at.type("\x03")
        at.wait_for("Stopped; what was said is kept.")
        at.say("go on")
        at.wait_for("Back.")
    assert "[interrupted: this call was stopped" in served.provider.calls[1].body.decode()


def test_what_is_typed_meanwhile_waits_its_turn_or_steers(serve: Serve) -> None:
    call = ToolCall("1", "terminal", '{"command":"until test -e go; do sleep 0.05; done"}')
    served = serve(Reply(calls=(call,)), "First.", "Second.")
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.say("begin")
        at.wait_for("○ terminal")
        at.say("next please")
        at.wait_for("1 queued")
        at.say(">> look at the docs only")
        at.wait_for("1 queued")
        (served.project / "go").write_text("")
        shown = at.wait_for("Second.")
        assert shown.index("First.") < shown.index("› next please") < shown.index("Second.")
    heard = json.loads(served.provider.calls[1].body)["messages"][-1]
    assert heard["content"] == "look at the docs only"


def test_a_long_paste_is_folded_on_the_screen_and_whole_for_the_model(serve: Serve) -> None:
    served = serve("Read.")
    lines = "".join(f"line {n}\n" for n in range(5000))
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.type("see ")
        at.paste(lines)
        at.wait_for("› see [pasted 5,000 lines #1]")
        at.type("\r")
        at.wait_for("Read.")
    said = json.loads(served.provider.calls[0].body)["messages"][-1]["content"]
    assert said.endswith("see " + lines)


def test_nothing_that_a_model_says_is_obeyed_by_the_terminal(serve: Serve) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J a&#x9b;31mb \x9b31m &#x202e;txt\u202e [click](http://evil.test/\x1b[31m)"
    call = ToolCall("1", "terminal", json.dumps({"command": "printf '\\033]0;owned\\007\\033[8mhid\\r\\n'"}))
    served = serve(Reply(calls=(call,)), f"Before {evil}\n\n```\n{evil}\n```\nEND")
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.say("go")
        shown = at.wait_for("END")
        assert "Before" in shown
        assert at.screen.title == ""
        for sequence in (b"\x1b]0", b"\x1b[8m", b"\x1b[2J", b"\x9b31m", "\u202e".encode(), b"\x1b]8;"):
            assert sequence not in at.raw.replace("\u201b".encode(), b""), sequence


def test_lines_may_be_broken_and_typed_ones_come_back(serve: Serve) -> None:
    served = serve("Two.", "Two again.")
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.type("one\x1b\rtwo\nthree")
        at.wait_for("three")
        at.type("\r")
        at.wait_for("Two.")
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.type("\x1b[A")
        at.wait_for("three")
        at.type("\r")
        at.wait_for("Two again.")
    assert oct((served.home / "history").stat().st_mode)[-3:] == "600"
    said = [json.loads(c.body)["messages"][-1]["content"] for c in served.provider.calls]
    assert [s.endswith("one\ntwo\nthree") for s in said] == [True, True]


def test_commands_are_completed_and_mistyped_ones_answered(serve: Serve) -> None:
    served = serve()
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.type("/pers")
        at.wait_for("Show or change the personality")
        at.type("\t pir")
        at.wait_for("a good-humoured captain")
        at.type("\t\r")
        at.wait_for("Personality: pirate, for this session")
        at.wait_for("· pirate")
        at.say("/promt")
        at.wait_for("There is no command /promt. Did you mean /prompt?")
        at.type("see @AGE")
        at.wait_for("AGENTS.md")


def test_a_session_is_gone_on_with_after_kill(serve: Serve) -> None:
    served = serve("I remember.", Reply("half", hold=True), "Still.")
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.say("remember 42")
        at.wait_for("I remember.")
        at.say("and then")
        at.wait_for("half")
        at.kill()
    with terminal(served, "chat", "--continue") as at:
        at.wait_for("scripted-1")
        at.wait_for("› and then\n\n[interrupted]")
        at.say("are you there?")
        shown = at.wait_for("Still.")
        assert "the last turn was interrupted" in shown
    said = [m["content"] for m in json.loads(served.provider.calls[2].body)["messages"][1:]]
    assert [s.rpartition("\n")[2] for s in said] == [
        "remember 42",
        "I remember.",
        "and then",
        "[interrupted]",
        "are you there?",
    ]


def test_a_tiny_terminal(serve: Serve) -> None:
    served = serve("A longer answer than twenty columns.")
    with terminal(served, columns=20, rows=6) as at:
        at.wait_for("scripted-1")
        at.say("hi")
        at.wait_for("columns.")
        at.resize(60, 10)
        at.type("wide again")
        at.wait_for("› wide again")


def test_wide_and_right_to_left_text(serve: Serve) -> None:
    served = serve("日本語のテキストです。שלום עולם 👩 end")
    with terminal(served, columns=200, rows=12) as at:
        at.wait_for("scripted-1")
        at.say("漢字")
        shown = at.wait_for("end")
        assert "שלום עולם" in shown


def test_without_colours(serve: Serve) -> None:
    served = serve("# Title\n\n`code` and\n\n```python\nx = 1\n```\n")
    with terminal(served, NO_COLOR="1") as at:
        at.wait_for("scripted-1")
        at.say("hi")
        at.wait_for("x = 1")
        at.type("\x04")
        at.end()
        codes = {c for run in re.findall(rb"\x1b\[([0-9;]*)m", at.raw) for c in run.split(b";")}
        assert codes <= {b"", b"0", b"1", b"2", b"3", b"4", b"7"}


@pytest.mark.parametrize(("arguments", "environ"), [(("chat", "--plain"), {}), ((), {"TERM": "dumb"})])
def test_a_dumb_terminal_and_plain_get_lines(
    serve: Serve, arguments: tuple[str, ...], environ: dict[str, str]
) -> None:
    look = ToolCall("c1", "read_file", json.dumps({"path": "AGENTS.md"}))
    served = serve(Reply("Let me look.", calls=(look,)), "Plain **text**.")
    if environ:  # notices are without colours too
        config = served.home / "config.yaml"
        config.write_text(config.read_text() + "zebra: 1\n")
    with terminal(served, *arguments, **environ) as at:
        at.wait_for("/help lists the commands")
        at.type("hi\r")
        at.wait_for("Let me look.\n· read_file {")
        at.wait_for("Plain **text**.\n>")
        at.type("\x04")
        assert at.end() == 0
        spared = rb"\x1b\[\?2004[hl]" if environ else rb"\x1b\[(2|0|\?2004[hl])m?"
        assert b"\x1b[" not in re.sub(spared, b"", at.raw)


def test_errors_are_told_in_words(serve: Serve) -> None:
    served = serve(Reply(status=401, body={"error": {"message": "bad key"}}), "Fine.")
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.say("hi")
        assert "key" in at.wait_for("error: ").partition("error: ")[2]
        at.say("again")
        at.wait_for("Fine.")


def test_the_prompt_is_ready_soon(serve: Serve) -> None:
    served = serve()
    with terminal(served) as at:
        at.wait_for("scripted-1")
    began = time.monotonic()
    with terminal(served) as at:
        at.wait_for("scripted-1")
        assert time.monotonic() - began < 10  # a guard against a hang; docs/performance.md has the figure


ASKING = """
import asyncio, sys
from hermes.providers.scripted import ScriptedModel, Step, call
from hermes.run_agent import AIAgent
from hermes.tooling import Tool
from hermes.messages import ToolSpec
from hermes.turns import Question
from hermes.cli.repl.talk import converse

DIFF = "--- a/f\\n+++ b/f\\n@@ -1 +1 @@\\n-old\\n+new\\n"

async def ask(context, **arguments):
    kind = arguments["kind"]
    choices = ("yes, this once", "yes, always", "no") if kind == "approval" else ("tea", "coffee")
    return "answered: " + await context.ask(Question(kind, f"May I {kind}?", choices, DIFF))

schema = '{"type":"object","properties":{"kind":{"type":"string"}},"required":["kind"]}'
tool = Tool(ToolSpec("asker", "Asks.", schema), ask)

def step(kind):
    return Step(calls=(call("asker", '{"kind":"%s"}' % kind),))

script = []
for kind in sys.argv[1:]:
    script += [step(kind), f"Done with {kind}."]

async def main():
    agent = AIAgent(model=ScriptedModel(script), tools=[tool])
    try:
        return await converse(agent)
    finally:
        await agent.close()

sys.exit(asyncio.run(main()))
"""


def asking(served: Served, *kinds: str) -> Terminal:
    return Terminal(*kinds, home=served.home, cwd=served.project, program=ASKING)


def test_an_approval_shows_what_it_is_about_and_is_given_by_a_key(serve: Serve) -> None:
    served = serve()
    with asking(served, "approval", "approval", "approval") as at:
        at.wait_for("scripted-1")
        at.say("do it")
        shown = at.wait_for("May I approval?\n  1. yes, this once\n  2. yes, always\n  3. no")
        assert "  -old\n  +new" in shown
        assert b"\x1b[31m-old" in at.raw
        at.type("\r")
        at.wait_for("choose one of the answers")
        at.type("1")
        at.wait_for("› 1")
        at.type("\r")
        at.wait_for("answered: yes, this once")
        idle(at)
        at.say("again")
        at.wait_for("  1. yes, this once")
        at.type("not today")
        at.wait_for("› not today")
        at.type("\r")
        at.wait_for("answered: not today")
        idle(at)
        at.say("and again")
        at.wait_for("  1. yes, this once")
        at.type("\x1b[B")
        at.wait_for("❯ 1. yes, this once")
        at.type("\x1b[B\r")
        at.wait_for("answered: yes, always")


def test_a_question_takes_a_free_answer_or_none(serve: Serve) -> None:
    served = serve()
    with asking(served, "clarify", "clarify") as at:
        at.wait_for("scripted-1")
        at.say("ask me")
        at.wait_for("❯ 1. tea")
        at.type("neither, water")
        at.wait_for("› neither, water")
        at.type("\r")
        at.wait_for("answered: neither, water")
        idle(at)
        at.say("once more")
        at.wait_for("❯ 1. tea")
        at.type("\x03")
        at.wait_for("Stopped; what was said is kept.")
        at.wait_for("❯ 1. tea", gone=True)


def test_a_session_is_picked_and_gone_on_with(serve: Serve) -> None:
    served = serve("one", "two", "again")
    served.chat("-q", "about apples")
    served.chat("-q", "about pears")
    with terminal(served, "sessions") as at:
        shown = at.wait_for("Go on with which session?")
        assert shown.index("about pears") < shown.index("about apples")
        at.type("apples")
        at.wait_for("about pears", gone=True)
        at.type("\r")
        at.wait_for("/help lists commands and keys")
        at.say("more")
        at.wait_for("again")
    said = [m["content"] for m in json.loads(served.provider.calls[2].body)["messages"][1:]]
    assert said[0].endswith("about apples")


def test_the_clipboard_of_the_terminal_gets_the_answer(serve: Serve) -> None:
    served = serve("Copy me.")
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.say("hi")
        at.wait_for("Copy me.")
        at.say("/copy")
        at.wait_for("Copied 8 characters")
        assert b"\x1b]52;c;Q29weSBtZS4=\x07" in at.raw


def test_retry_says_it_again_at_the_terminal(serve: Serve) -> None:
    served = serve("First try.", "Second try.")
    with terminal(served) as at:
        at.wait_for("scripted-1")
        at.say("hi")
        at.wait_for("First try.")
        at.say("/retry")
        at.wait_for("Second try.")
        assert "Once more." in at.text()


def test_money_and_cache_are_in_the_status_line(serve: Serve) -> None:
    served = serve("a", "b")
    served.provider.cache.rules = CacheRules(kind="prefix", minimum_tokens=64, step=16)
    config = served.home / "config.yaml"
    prices = "models:\n  scripted-1:\n    prices: {input: 1.0, output: 10.0, cache_read: 0.1}\n"
    config.write_text(config.read_text() + prices)
    with terminal(served, columns=120) as at:
        at.wait_for("scripted-1")
        at.say("hi")
        at.wait_for("$0.00")
        at.say("more")
        at.wait_for("cache 9")
