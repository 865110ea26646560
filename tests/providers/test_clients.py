"""Models over real HTTP, against a server on this machine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

import pytest

from hermes.contracts import CacheRules, ModelProfile
from hermes.errors import ModelError
from hermes.messages import Completed, Message, ModelEvent, ModelRequest, TextDelta, ToolCall, Usage
from hermes.providers.cache_marks import unmarked
from hermes.providers.client import HttpModel
from hermes.providers.endpoints import Endpoint, Wire
from hermes.providers.keys import Key
from tests.providers.loopback import Loopback, Reply
from tests.providers.mark_rules import Rules
from tests.providers.talks import CLAUDE, ROUTED, TALK, request

SECRET = "sk-verysecret-0123456789"
KEY = Key(SECRET, "LAB_KEY")
PLAIN = ModelProfile(name="scripted-1", provider="lab")
WIRES: tuple[Wire, ...] = ("openai-chat", "anthropic-messages")
LONG = ("S" * 9000, "C" * 4000, "V" * 900)


def run(
    server: Loopback,
    use: Callable[[HttpModel], Awaitable[None]],
    wire: Wire = "openai-chat",
    profile: ModelProfile = PLAIN,
    **fields: object,
) -> None:
    async def within() -> None:
        async with server.running():
            endpoint = Endpoint("lab", server.base_url, wire, ("LAB_KEY",))
            model = HttpModel(replace(endpoint, **fields), profile, KEY)  # type: ignore[arg-type]
            try:
                await use(model)
            finally:
                await model.close()

    asyncio.run(within())


async def heard(model: HttpModel, asked: ModelRequest | None = None) -> list[ModelEvent]:
    async with aclosing(model.stream(asked or request())) as events:
        return [event async for event in events]


async def done(model: HttpModel, asked: ModelRequest | None = None) -> Completed:
    last = (await heard(model, asked))[-1]
    assert isinstance(last, Completed)
    return last


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("piece", [0, 1, 5])
def test_an_answer_in_any_pieces(wire: Wire, newline: str, piece: int) -> None:
    calls = (ToolCall("c1", "read", '{"p": "é😀"}'), ToolCall("c2", "run", '{"bad'))
    server = Loopback([Reply("Wörds 漢字 😀", calls, "hmm", piece=piece, newline=newline)])

    async def use(model: HttpModel) -> None:
        events = await heard(model)
        assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Wörds 漢字 😀"
        last = events[-1]
        assert isinstance(last, Completed)
        said = last.message
        assert (said.text, said.tool_calls, said.reasoning) == ("Wörds 漢字 😀", calls, "hmm")
        assert (last.stop, last.model) == ("tool_calls", "scripted-1")

    run(server, use, wire)
    (call,) = server.calls
    assert call.path == {"openai-chat": "/chat/completions", "anthropic-messages": "/messages"}[wire]
    named = {
        "openai-chat": ("authorization", f"Bearer {SECRET}"),
        "anthropic-messages": ("x-api-key", SECRET),
    }
    header, value = named[wire]
    assert call.headers[header] == value
    assert SECRET.encode() not in call.body


@pytest.mark.parametrize("wire", WIRES)
def test_one_connection_for_many_calls(wire: Wire) -> None:
    server = Loopback(["a", "b", "c"])

    async def use(model: HttpModel) -> None:
        for text in "abc":
            assert (await done(model)).message.text == text

    run(server, use, wire)
    assert (server.connections, len(server.calls)) == (1, 3)


def test_a_new_event_loop_is_no_trouble() -> None:
    models: list[HttpModel] = []

    async def use(model: HttpModel) -> None:
        models.append(model)
        kept = models[0]
        kept.http.endpoint = model.http.endpoint
        assert (await done(kept)).message.text == "x"
        await kept.close()

    for _ in range(2):
        run(Loopback(["x"]), use)


def test_stored_fragments_are_sent_word_for_word() -> None:
    server = Loopback(["a"])
    fragments = (b'{"role":"user","content":"as it was  sent"}',)

    async def use(model: HttpModel) -> None:
        await done(model, request(fragments=fragments))

    run(server, use)
    assert b'"},' + fragments[0] + b"]," in server.calls[0].body


@pytest.mark.parametrize(
    ("wire", "profile"),
    [("anthropic-messages", CLAUDE), ("openai-chat", ROUTED)],
)
def test_a_marked_session_over_the_wire(wire: Wire, profile: ModelProfile) -> None:
    server = Loopback([Reply("ok", (ToolCall("c1", "read", "{}"),)) for _ in range(10)], CLAUDE.cache)
    used: list[Usage] = []

    async def use(model: HttpModel) -> None:
        said: tuple[Message, ...] = (Message("user", "go"),)
        for _ in range(10):
            last = await done(model, request(said, system=LONG))
            used.append(last.usage)
            said += (last.message, Message("tool", "result " * 9, call_id="c1"))

    run(server, use, wire, profile)
    rules = Rules(CLAUDE.cache.minimum_tokens or 0)
    before = b""
    for call, usage in zip(server.calls, used, strict=True):
        assert replace(call.usage, output=5) == usage
        body = unmarked(call.body)
        assert body.startswith(before)
        before = body[: body.rindex(b'],"model":')]
        rules.check(call.body)
    assert [u.cache_read for u in used[1:]] == [u.input for u in used[:-1]]


def test_cached_tokens_of_equal_prefixes() -> None:
    server = Loopback(["a", "b"], CacheRules(kind="prefix", minimum_tokens=1024, step=128))

    async def use(model: HttpModel) -> None:
        first = await done(model, request(TALK, system=LONG))
        second = await done(model, request((*TALK, Message("user", "more")), system=LONG))
        assert (first.usage.cache_read, second.usage.cache_read > 3400) == (0, True)
        assert second.usage.cache_read % 128 == 0

    run(server, use)


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_that_breaks_off(wire: Wire) -> None:
    async def use(model: HttpModel) -> None:
        got: list[str] = []
        with pytest.raises(ModelError) as caught:
            async with aclosing(model.stream(request())) as events:
                async for event in events:
                    got.append(event.text if isinstance(event, TextDelta) else "?")
        assert caught.value.kind == "network"
        assert got == ["some wo", "rds tha"]
        assert (await done(model)).message.text == "again"

    cut = {"openai-chat": 4, "anthropic-messages": 5}[wire]
    run(Loopback([Reply("some words that are cut", drop_after=cut), "again"]), use, wire)


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_that_ends_too_early_but_in_good_order(wire: Wire) -> None:
    """A proxy may end the stream as if all were said."""

    async def use(model: HttpModel) -> None:
        with pytest.raises(ModelError, match="broke off") as caught:
            await done(model)
        assert caught.value.kind == "network"

    empty = {"openai-chat": {"object": "x"}, "anthropic-messages": {"type": "ping"}}[wire]
    run(Loopback([Reply("some words", drop_after=3, error=empty)]), use, wire)


@pytest.mark.parametrize(
    ("wire", "error"),
    [
        ("openai-chat", {"error": {"code": 503, "message": "Provider overloaded"}}),
        (
            "anthropic-messages",
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        ),
    ],
)
def test_an_error_in_the_stream(wire: Wire, error: object) -> None:
    async def use(model: HttpModel) -> None:
        with pytest.raises(ModelError, match="verloaded") as caught:
            await done(model)
        assert caught.value.kind == "overloaded"

    run(Loopback([Reply("some words", drop_after=4, error=error)]), use, wire)


@pytest.mark.parametrize("wire", WIRES)
def test_leaving_in_the_middle_hangs_up(wire: Wire) -> None:
    server = Loopback([Reply("some words", drop_after=4, hold=True), "again"])

    async def use(model: HttpModel) -> None:
        async with aclosing(model.stream(request())) as events:
            await anext(events)
        assert (await done(model)).message.text == "again"

    run(server, use, wire)
    assert (server.hung_up, server.connections) == (1, 2)


def test_cancelling_the_task_hangs_up() -> None:
    server = Loopback([Reply("some words", drop_after=4, hold=True), "again"])

    async def use(model: HttpModel) -> None:
        begun = asyncio.Event()

        async def listen() -> None:
            async with aclosing(model.stream(request())) as events:
                async for _ in events:
                    begun.set()

        task = asyncio.create_task(listen())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await done(model)).message.text == "again"

    run(server, use)
    assert (server.hung_up, server.connections) == (1, 2)


def test_refusals_name_what_to_do_and_never_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    body = {"error": {"message": f"Incorrect API key provided: {SECRET}"}}
    server = Loopback(
        [Reply(status=401, body=body), Reply(status=429, body={}, headers={"retry-after": "3"})]
    )

    async def use(model: HttpModel) -> None:
        with pytest.raises(ModelError, match="the key in LAB_KEY was refused") as caught:
            await done(model)
        assert caught.value.kind == "auth"
        shown = f"{caught.value!r} {model!r} {vars(model)} {vars(model.http)} {model.http.key}"
        assert SECRET not in shown + caplog.text
        with pytest.raises(ModelError) as caught:
            await done(model)
        assert (caught.value.kind, caught.value.retry_after) == ("rate", 3.0)

    run(server, use)
    assert server.connections == 1


def test_a_model_that_is_not_there_and_the_nearest_that_are() -> None:
    body = {"error": {"message": "The model `scripted-2` does not exist", "code": "model_not_found"}}
    server = Loopback([Reply(status=404, body=body)], models=("other", "scripted-1"))

    async def use(model: HttpModel) -> None:
        with pytest.raises(ModelError, match="no model scripted-2; did you mean scripted-1"):
            await done(model, request(model="scripted-2"))
        assert await model.http.names() == ("other", "scripted-1")

    run(server, use)


@pytest.mark.parametrize("body", ["<html>no</html>", {"error": {"message": "down"}}])
def test_a_failing_gateway(body: object) -> None:
    async def use(model: HttpModel) -> None:
        with pytest.raises(ModelError, match="try again") as caught:
            await done(model)
        assert (caught.value.kind, caught.value.status) == ("overloaded", 502)

    run(Loopback([Reply(status=502, body=body)]), use)


def test_nobody_there() -> None:
    async def use(model: HttpModel) -> None:
        await model.close()
        model.http.endpoint = replace(
            model.http.endpoint, base_url="http://127.0.0.1:9/v1", start="lab serve"
        )
        with pytest.raises(ModelError, match="start it \\(lab serve\\)") as caught:
            await done(model)
        assert caught.value.kind == "network"
        with pytest.raises(ModelError, match="running"):
            await model.http.names()

    run(Loopback([]), use)


def test_a_server_that_does_not_stream() -> None:
    """Some answer with one JSON document, whatever they are asked."""
    answers: dict[Wire, object] = {
        "openai-chat": {
            "id": "x",
            "choices": [{"message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1},
        },
        "anthropic-messages": {
            "id": "x",
            "type": "message",
            "content": [{"type": "text", "text": "whole"}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 3, "output_tokens": 1},
        },
    }

    async def use(model: HttpModel) -> None:
        last = await done(model)
        assert (last.message.text, last.usage, last.stop) == ("whole", Usage(3, 0, 0, 1), "end")
        with pytest.raises(ModelError, match="boom"):
            await done(model)
        with pytest.raises(ModelError, match="not JSON"):
            await done(model)

    for wire in WIRES:
        wrong = {"error": {"message": "boom"}}
        server = Loopback([Reply(body=answers[wire]), Reply(body=wrong), Reply(body=[])])
        run(server, use, wire)
        assert server.connections == 1


def test_no_key_no_header() -> None:
    server = Loopback(["x"])

    async def use(model: HttpModel) -> None:
        bare = HttpModel(model.endpoint, PLAIN, Key("", ""))
        await done(bare)
        await bare.close()

    run(server, use)
    assert "authorization" not in server.calls[0].headers


@pytest.mark.parametrize(
    ("body", "headers", "says"),
    [
        ("<html>Log in</html>", {}, "answers with a page for people; put the address"),
        ({}, {"content-encoding": "gzip"}, "its answers are packed (gzip), which was not asked for"),
    ],
)
def test_a_page_is_no_answer_and_is_not_asked_for_again(
    body: object, headers: dict[str, str], says: str
) -> None:
    async def use(model: HttpModel) -> None:
        with pytest.raises(ModelError) as failed:
            await heard(model)
        assert (failed.value.kind, says in str(failed.value)) == ("request", True)

    run(Loopback([Reply(body=body, headers=headers)]), use)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "body",
    [
        [1],
        "text",
        {"choices": {"0": 1}, "content": 5},
        {"choices": ["x"], "content": ["x"]},
        {"choices": [{"message": {"tool_calls": [7]}}], "content": [{"type": "text", "text": 5}]},
        {"choices": [{"message": {"content": 5}}], "usage": "many", "content": None},
    ],
    ids=str,
)
def test_an_answer_of_another_form_is_a_failure_of_the_model(wire: Wire, body: object) -> None:
    async def use(model: HttpModel) -> None:
        with pytest.raises(ModelError, match="lab: "):
            await heard(model)

    run(Loopback([Reply(body=body)]), use, wire)
