"""What a person is told when a provider refuses: what it is, and what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes.errors import ModelError
from hermes.providers.endpoints import Endpoint
from hermes.providers.failures import broken_stream, refused, unreachable
from hermes.providers.http1 import SILENT, UNTRUSTED
from hermes.providers.keys import Key

LAB = Endpoint("lab", "https://lab.example/v1", keys=("LAB_KEY",))
SECRET = "sk-proj-verysecret1234567890"
KEY = Key(SECRET, "LAB_KEY")


def told(
    status: int, body: Any = "", headers: dict[str, str] | None = None, names: tuple[str, ...] = ()
) -> ModelError:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return refused(LAB, KEY, "big-1", status, data, headers or {}, names)


def error(message: str, **fields: object) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (
            401,
            error(f"Incorrect API key provided: {SECRET}."),
            "auth",
            "LAB_KEY was refused; put it into LAB_KEY",
        ),
        (403, error("no access"), "auth", "may not use big-1"),
        (402, error("Insufficient Balance"), "auth", "credit"),
        (429, error("You exceeded your current quota", code="insufficient_quota"), "auth", "credit"),
        (400, error("Your credit balance is too low"), "auth", "credit"),
        (429, error("slow down"), "rate", "too many requests"),
        (
            400,
            error("This model's maximum context length is 128000 tokens"),
            "context",
            "compress the session",
        ),
        (400, error("prompt is too long: 210000 tokens > 200000 maximum"), "context", "longer than big-1"),
        (400, error("n", type="exceed_context_size_error", n_ctx=8192), "context", "longer than big-1"),
        (
            413,
            {"type": "error", "error": {"type": "request_too_large", "message": "big"}},
            "context",
            "longer",
        ),
        (404, error("The model `big-1` does not exist"), "request", "there is no model big-1"),
        (400, error("big-1 is not a valid model ID", code="model_not_found"), "request", "there is no model"),
        (400, error("tools.0: bad"), "request", "refused the request (it says: tools.0: bad)"),
        (422, {"detail": [{"loc": ["body"], "msg": "extra"}]}, "request", "refused the request"),
        (500, error("internal"), "overloaded", "try again"),
        (
            529,
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            "overloaded",
            "try",
        ),
        (503, "<html><body>down</body></html>", "overloaded", "(status 503)"),
        (301, "", "request", "providers.lab.base_url"),
        (429, [error("quota", status="RESOURCE_EXHAUSTED")], "rate", "quota"),
        (400, '{"message": "plain"}', "request", "it says: plain"),
    ],
)
def test_kinds_and_words(status: int, body: Any, kind: str, words: str) -> None:
    made = told(status, body)
    assert (made.kind, made.status) == (kind, status)
    assert str(made).startswith("lab: ")
    assert words in str(made)
    assert SECRET not in str(made)


def test_a_server_of_ones_own_is_told_where_a_key_would_go() -> None:
    made = refused(Endpoint("mine", "http://127.0.0.1:1/v1", keys=()), Key("", ""), "m", 401, b"", {}, ())
    assert str(made) == (
        "mine: a call without a key was refused; put it into an environment variable and name that as "
        "providers.mine.key in config.yaml, or into the keyring: keyring set hermes mine (status 401)"
    )


def test_the_nearest_names() -> None:
    names = ("big-2", "big-11", "small", "org/big-1-long-name")
    assert "did you mean big-11 or big-2" in str(told(404, "", names=names))
    assert "hermes models list lab" in str(told(404, ""))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        (
            {"retry-after": "Sun, 29 Nov 2026 22:00:30 GMT", "date": "Sun, 29 Nov 2026 22:00:00 GMT"},
            30.0,
        ),
        ({"retry-after": "Sun, 29 Nov 2026 22:00:30 GMT"}, None),
        ({"retry-after": "soon", "date": "now"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert told(429, "", headers).retry_after == seconds


def test_strange_words_of_a_provider_stay_on_one_line_and_short() -> None:
    made = str(told(400, error("a\x1b[31m\n\u202eb" + "x" * 900)))
    assert made.isprintable()
    assert len(made) < 400


def test_a_key_that_a_provider_shows_in_part_is_not_shown_either() -> None:
    assert "sk-proj" not in str(told(401, error("Incorrect API key provided: sk-proj-****7890.")))


@pytest.mark.parametrize(
    ("inside", "kind"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, "overloaded"),
        ({"type": "rate_limit_error", "message": "slow"}, "rate"),
        ({"type": "invalid_request_error", "message": "prompt is too long"}, "context"),
        ({"code": 502, "message": "Provider disconnected"}, "overloaded"),
        ({"code": "server_error", "message": "x"}, "overloaded"),
        ("boom", "overloaded"),
    ],
)
def test_failures_in_the_midst_of_an_answer(inside: object, kind: str) -> None:
    assert broken_stream(LAB, KEY, "big-1", inside).kind == kind


def test_who_cannot_be_reached() -> None:
    local = Endpoint("ollama", "http://127.0.0.1:11434/v1", start="ollama serve")
    assert str(unreachable(local, "no connection could be made")) == (
        "ollama: no connection could be made; is the server at 127.0.0.1:11434 running? "
        "If not, start it (ollama serve)"
    )
    assert "does providers.lab name the right address, lab.example?" in str(unreachable(LAB, "x"))
    assert unreachable(LAB, "x").kind == "network"
    assert str(unreachable(local, SILENT)).endswith(
        "no answer came in time; it was silent for 600 s; providers.ollama.timeout sets how long is waited"
    )


def test_a_certificate_that_is_not_trusted_is_no_passing_fault() -> None:
    refusal = unreachable(LAB, UNTRUSTED)
    assert refusal.kind == "request"
    assert "SSL_CERT_FILE" in str(refusal)
