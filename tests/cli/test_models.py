"""`hermes models`, as a person uses it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.cli.runner import Done, hermes
from tests.providers.loopback import Loopback, Reply

SECRET = "sk-verysecret-0123456789"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def run(home: Path, server: Loopback, *arguments: str, **environ: str) -> Done:
    """The command beside a server that is configured as the provider `lab`."""

    async def within() -> Done:
        async with server.running():
            config = (
                "model: {default: scripted-1, provider: lab}\nproviders:\n  lab: {key: LAB_KEY, base_url: '"
            )
            config += server.base_url + "'}\n"
            (home / "config.yaml").write_text(config, encoding="utf-8")
            return await asyncio.to_thread(hermes, "models", *arguments, home=home, cwd=home, **environ)

    return asyncio.run(within())


def test_the_providers_and_whether_there_is_a_key(home: Path) -> None:
    done = run(home, Loopback([]), "list", LAB_KEY=SECRET)
    rows = {line.split()[0]: line for line in done.out.splitlines()}
    assert "LAB_KEY" in rows["lab"]
    assert "no key (ANTHROPIC_API_KEY)" in rows["anthropic"]
    assert "no key needed" in rows["ollama"]
    assert SECRET not in done.out + done.err
    told = json.loads(run(home, Loopback([]), "list", "--json").out)
    assert [row["provider"] for row in told] == sorted(rows)


def test_the_models_of_a_provider(home: Path) -> None:
    done = run(home, Loopback([], models=("b", "a")), "list", "lab", LAB_KEY=SECRET)
    assert (done.code, done.out) == (0, "a\nb\n")


def test_what_is_known_and_where_from(home: Path) -> None:
    done = run(home, Loopback([]), "show", "anthropic:claude-sonnet-4-5")
    assert "context window   200,000 tokens  (genai-prices" in done.out
    assert "cache lifetimes  5m, 1h  (models.toml" in done.out
    assert "tokenizer        not known\n" in done.out
    facts = json.loads(run(home, Loopback([]), "show", "--json").out)
    assert facts[0] == {"fact": "model", "value": "scripted-1", "source": ""}


def test_a_test_call(home: Path) -> None:
    server = Loopback(["ready"])
    done = run(home, server, "test", LAB_KEY=SECRET)
    assert done.code == 0
    assert done.out.splitlines()[0] == "answer    ready"
    assert "from the cache), 5 out" in done.out
    assert server.calls[0].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (
            Reply(status=401, body={"error": {"message": f"bad key {SECRET}"}}),
            "the key in LAB_KEY was refused",
        ),
        (
            Reply(status=404, body={"error": {"message": "no"}}),
            "no model scripted-1; did you mean scripted-1b?",
        ),
        (Reply(status=500, body="<html>"), "overloaded or failing"),
    ],
)
def test_a_test_call_that_fails(home: Path, reply: Reply, words: str) -> None:
    done = run(home, Loopback([reply], models=("scripted-1b",)), "test", LAB_KEY=SECRET)
    assert done.code == 1
    assert words in done.err
    assert SECRET not in done.out + done.err


def test_without_a_key_nothing_is_sent(home: Path) -> None:
    server = Loopback([])
    done = run(home, server, "test")
    assert (done.code, server.connections) == (1, 0)
    assert "there is no key for lab; put it into LAB_KEY" in done.err


def test_names_that_nobody_knows(home: Path) -> None:
    done = run(home, Loopback([]), "show", "org/nothing")
    assert (done.code, done.err.startswith("Error: who serves org/nothing is not known")) == (2, True)
    assert "did you mean openai?" in run(home, Loopback([]), "list", "opnai").err
