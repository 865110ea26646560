"""`hermes chat` as a person and as a script use it, with a provider on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.messages import ToolCall
from tests.cli.runner import hermes
from tests.cli.served import Served
from tests.providers.loopback import Reply
from tests.world import write

Serve = Callable[..., Served]


def test_one_question_one_answer(serve: Serve) -> None:
    served = serve("Good day.")
    done = served.chat("-q", "hello")
    assert (done.code, done.out) == (0, "Good day.\n")
    body = json.loads(served.provider.calls[0].body)
    assert body["model"] == "scripted-1"
    assert body["messages"][-1]["content"].endswith("]\n\nhello")
    assert "This is the atlas project." in body["messages"][0]["content"]


def test_the_question_may_come_from_standard_input(serve: Serve) -> None:
    served = serve("Seen.")
    assert served.chat(stdin="a long\nquestion\n").out == "Seen.\n"
    empty = served.chat(stdin=" \n")
    assert empty.code == 2
    assert "standard input is empty" in empty.err


def test_a_tool_is_run_and_shown_beside_the_answer(serve: Serve) -> None:
    served = serve(
        Reply(calls=(ToolCall("1", "terminal", '{"command":"cat AGENTS.md"}'),)), "It uses pytest."
    )
    done = served.chat("-q", "what tests?")
    assert (done.code, done.out.strip()) == (0, "It uses pytest.")
    assert '· terminal {"command":"cat AGENTS.md"}' in done.err
    result = json.loads(served.provider.calls[1].body)["messages"][-1]
    assert result["content"].startswith("This is the atlas project.")
    assert served.provider.connections == 1


def test_a_session_is_gone_on_with(serve: Serve) -> None:
    served = serve("first", "second")
    served.chat("-q", "one")
    listed = json.loads(served.hermes("sessions", "list", "--json").out)
    session_id = (listed if isinstance(listed, list) else listed["sessions"])[0]["id"]
    assert served.chat("-q", "two", "--resume", session_id).out == "second\n"
    one, two = (call.body for call in served.provider.calls)
    assert two.startswith(one.partition(b'],"model"')[0])
    replayed = served.hermes("sessions", "replay", session_id, "2")
    assert replayed.out.encode() == two
    same = served.hermes(
        "prompt", "diff", f"session:{session_id}", "here", "--at-time", "2026-03-30T14:30:00Z"
    )
    assert same.code == 1
    assert "volatile / session line: changed" in same.out


def test_a_receiver_of_telemetry_that_is_away_is_told_in_a_line(serve: Serve) -> None:
    served = serve("Hi.")
    config = served.home / "config.yaml"
    away = "telemetry:\n  enabled: true\n  endpoint: http://127.0.0.1:9\n"
    config.write_text(config.read_text() + away)
    done = served.chat("-q", "hello")
    assert (done.code, done.out) == (0, "Hi.\n")
    assert done.err.splitlines() == [
        "warning: telemetry: spans could not be sent to http://127.0.0.1:9/v1/traces",
        "warning: telemetry: metrics could not be sent to http://127.0.0.1:9/v1/metrics",
    ]


def test_events_as_json_lines(serve: Serve) -> None:
    served = serve("ok")
    events = [json.loads(line) for line in served.chat("-q", "x", "--json").out.splitlines()]
    assert [e["event"] for e in events] == ["text", "ended"]
    assert events[-1] == {
        "event": "ended",
        "text": "ok",
        "reason": "done",
        "calls": 1,
        "session": events[-1]["session"],
        "model": "scripted-1",
        "usage": events[-1]["usage"],
        "dollars": None,
    }


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(status=401, body={"error": {"message": "bad key"}}), "key"),
        (Reply(status=404, body={"error": {"message": "no such model"}}), "scripted-1"),
        (Reply(status=400, body={"error": {"message": "maximum context length"}}), "context"),
    ],
)
def test_what_a_provider_refuses_is_told_in_words(serve: Serve, reply: Reply, said: str) -> None:
    served = serve(reply, reply, reply, reply)
    done = served.chat("-q", "x")
    assert done.code == 5
    assert "error: " in done.err
    assert said in done.err


def test_without_a_model_the_error_says_what_to_do(tmp_path: Path) -> None:
    write(tmp_path / "home" / "config.yaml", "local:\n  model_path: /nowhere/model.gguf\n")
    done = hermes("chat", "-q", "x", home=tmp_path / "home", cwd=tmp_path)
    assert done.code == 1
    assert "no model file /nowhere/model.gguf; local.model_path of config.yaml must" in done.err


def test_without_a_network_the_error_says_so(tmp_path: Path) -> None:
    write(tmp_path / "home" / "config.yaml", "model:\n  default: m\n  base_url: http://127.0.0.1:9/v1\n")
    done = hermes("chat", "-q", "x", home=tmp_path / "home", cwd=tmp_path)
    assert done.code == 5
    assert "127.0.0.1:9" in done.err


def test_a_personality_for_one_question(serve: Serve) -> None:
    served = serve("Aye.")
    assert served.chat("-q", "x", "--personality", "pirate").out == "Aye.\n"
    assert "good-humoured pirate" in json.loads(served.provider.calls[0].body)["messages"][-1]["content"]
    assert served.chat("-q", "x", "--personality", "nobody").code == 2


def test_the_ephemeral_prompt_of_the_environment(serve: Serve) -> None:
    served = serve("Oui.")
    served.chat("-q", "x", HERMES_EPHEMERAL_SYSTEM_PROMPT="Answer in French.")
    messages = json.loads(served.provider.calls[0].body)["messages"]
    assert "Answer in French." in messages[-1]["content"]
    assert "Answer in French." not in messages[0]["content"]


def test_what_is_piped_stands_behind_the_question(serve: Serve) -> None:
    served = serve("Short.", "Seen.")
    assert served.chat("-q", "sum this up", stdin="a long text\n").code == 0
    assert served.chat("-q", "-", stdin="from the pipe").code == 0
    said = [json.loads(c.body)["messages"][-1]["content"] for c in served.provider.calls]
    assert said[0].endswith("sum this up\n\na long text\n")
    assert said[1].endswith("from the pipe")


def test_the_last_session_of_a_directory_is_gone_on_with(serve: Serve) -> None:
    served = serve("here", "there", "again")
    elsewhere = served.project / "sub"
    elsewhere.mkdir()
    assert served.chat("-q", "x", "--continue").code == 2
    served.chat("-q", "remember apples")
    served.chat("-q", "remember pears", "--cwd", str(elsewhere))
    assert served.chat("-q", "what was it?", "--continue").out == "again\n"
    messages = json.loads(served.provider.calls[2].body)["messages"]
    assert [m["content"].rpartition("\n")[2] for m in messages[1:]] == [
        "remember apples",
        "here",
        "what was it?",
    ]


def test_tools_and_turns_are_limited_for_one_question(serve: Serve) -> None:
    served = serve("ok", "ok", Reply(calls=(ToolCall("1", "terminal", '{"command":"true"}'),)), "Enough.")
    served.chat("-q", "x", "--tools", "read_file, terminal")
    served.chat("-q", "x", "--tools", "none")
    first, second = (json.loads(call.body) for call in served.provider.calls)
    assert sorted(t["function"]["name"] for t in first["tools"]) == ["read_file", "terminal"]
    assert not second.get("tools")
    assert "there is no tool 'x'" in served.chat("-q", "x", "--tools", "x").err
    served.chat("-q", "x", "--max-turns", "1")
    assert "what is left to do" in served.provider.calls[3].body.decode()


def test_the_whole_turn_as_one_object(serve: Serve) -> None:
    served = serve(Reply(calls=(ToolCall("1", "terminal", '{"command":"echo hi"}'),)), "Hi.")
    body = json.loads(served.chat("-q", "x", "--output-format", "json").out)
    assert body == {
        "text": "Hi.",
        "reason": "done",
        "tools": [
            {
                "id": "1",
                "name": "terminal",
                "arguments": '{"command":"echo hi"}',
                "result": body["tools"][0]["result"],
                "error": False,
                "seconds": body["tools"][0]["seconds"],
            }
        ],
        "notices": [],
        "usage": body["usage"],
        "calls": 2,
        "dollars": None,
        "session": body["session"],
        "model": "scripted-1",
    }


def test_an_answer_in_a_pipe_is_every_character_of_it(serve: Serve) -> None:
    served = serve("a\x1b[31mb")
    assert served.chat("-q", "x").out == "a\x1b[31mb\n"


def test_a_program_does_not_get_an_answer_that_broke_off(serve: Serve) -> None:
    at = serve(Reply("Half an answer that", drop_after=2), "Whole.")
    done = at.chat("-q", "hello")
    assert (done.code, done.out) == (0, "Whole.\n")
    assert "the answer begins anew" in done.err


def test_a_failure_leaves_nothing_on_stdout_and_silence_is_told(serve: Serve) -> None:
    at = serve(Reply(status=401, body={"error": {"message": "no"}}), "")
    assert (failed := at.chat("-q", "hello")).code == 5
    assert failed.out == ""
    silent = at.chat("-q", "hello")
    assert (silent.code, silent.out) == (0, "")
    assert "(the model said nothing)" in silent.err
