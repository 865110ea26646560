"""`hermes prompt` as a person uses it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from hermes.prompt import SystemPrompt
from tests.cli.runner import Done, hermes
from tests.conftest import GOLDEN
from tests.world import make_home, make_project, write

TIME = ("--at-time", "2026-03-30T14:30:00-07:00", "--session", "abc123")


class Terminal:
    """A home, a project, and commands run there."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        make_home(self.home)
        self.project = make_project(root / "atlas")

    def prompt(self, *arguments: str) -> Done:
        return hermes("prompt", *arguments, home=self.home, cwd=self.project)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def test_show_prints_the_exact_bytes_and_nothing_else(terminal: Terminal) -> None:
    assert "first time in this project: 1 context file" in terminal.prompt("show", *TIME).err
    plain = terminal.prompt("show", *TIME)
    exported = SystemPrompt.from_json(terminal.prompt("show", "--json", *TIME).out)
    assert (plain.code, plain.err) == (0, "")
    assert plain.out == exported.text
    assert plain.out.split("\n\n")[-1].splitlines()[1] == "Session: abc123"


def test_tiers_put_together_are_the_prompt(terminal: Terminal) -> None:
    tiers = [terminal.prompt("show", "--tier", tier, *TIME).out for tier in ("stable", "context", "volatile")]
    assert "\n\n".join(tiers) == terminal.prompt("show", *TIME).out


def test_show_takes_the_facts_it_is_given(terminal: Terminal) -> None:
    out = terminal.prompt(
        "show", "--model", "openrouter:openai/gpt-5", "--platform", "slack", "--tools", "memory", *TIME
    ).out
    assert "Model: openai/gpt-5\nProvider: openrouter" in out
    assert "You MUST use your tools" in out
    assert "Slack" in out
    assert "session_search" not in out
    assert "available_skills" not in out


def test_notices_go_to_stderr(terminal: Terminal) -> None:
    write(terminal.project / "CLAUDE.md", "C")
    (terminal.project / "AGENTS.override.md").mkdir()
    done = terminal.prompt("show")
    assert "warning: AGENTS.override.md was not loaded: it is a directory, not a regular file\n" in done.err
    assert "info: CLAUDE.md is not loaded: AGENTS.md stands before it\n" in done.err
    assert "info:" not in terminal.prompt("show", "--quiet").err


def test_explain_shows_the_table(terminal: Terminal, tmp_path: Path) -> None:
    done = terminal.prompt("explain", "--model", "gpt-5", *TIME)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == ["tier", "/", "section", "chars", "tokens", "share"]
    assert lines[-1] == "tokens: o200k_base, exact"
    names = [
        line[2:].split("  ")[0] for line in lines if line.startswith("  ") and not line.startswith("   ")
    ]
    assert names[:3] == ["identity", "tool guidance", "model guidance"]
    assert any("AGENTS.md:1-4" in line or "AGENTS.md:1-3" in line for line in lines)


def test_explain_as_json_adds_up(terminal: Terminal) -> None:
    body = json.loads(terminal.prompt("explain", "--json", *TIME).out)
    text = terminal.prompt("show", *TIME).out
    assert body["chars"] == len(text)
    assert sum(r["chars"] for r in body["rows"]) + 2 * (
        len([r for r in body["rows"] if r["chars"]]) - 1
    ) == len(text)
    assert abs(sum(r["share"] for r in body["rows"]) - 1) < 0.01
    assert [d["verdict"] for d in body["decisions"] if d["path"].endswith("AGENTS.md")] == ["loaded"]


def test_who_put_this_here(terminal: Terminal) -> None:
    run = ["git", "-c", "user.name=Alice", "-c", "user.email=a@example.org", "-C", str(terminal.project)]
    (terminal.project / ".git" / "HEAD").unlink()
    subprocess.run([*run, "init", "-q", "-b", "main"], check=True)
    subprocess.run([*run, "add", "."], check=True)
    subprocess.run([*run, "commit", "-qm", "Add the rules"], check=True)
    done = terminal.prompt("explain", "--text", "Always run `make lint`")
    first, *rest = done.out.splitlines()
    assert first == f"{terminal.project}/AGENTS.md:2"
    assert rest[1] == "  vouched for   project"
    assert rest[-1].endswith("Alice: Add the rules")
    offset = str(terminal.prompt("show").out.index("GitHub: alice-dev"))
    assert terminal.prompt("explain", "--offset", offset).out.startswith(
        f"{terminal.home}/memories/USER.md:3\n"
    )
    missing = terminal.prompt("explain", "--text", "no such words")
    assert (missing.code, missing.out) == (2, "")
    assert "does not contain 'no such words'" in missing.err
    assert terminal.prompt("explain", "--offset", "99999999").code == 2


def test_where_follows_a_line(terminal: Terminal) -> None:
    done = terminal.prompt("where", "AGENTS.md:2")
    assert done.code == 0
    assert done.out.splitlines()[0] == "AGENTS.md:2 reached the model: it was loaded"
    assert done.out.splitlines()[2].strip().startswith("entry point is src/atlas/main.py.")


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("CLAUDE.md", "it is shadowed by AGENTS.md"),
        ("README.md", "it was not looked at: it is no context file of this working directory (looked for: "),
        ("gone.md", "there is no such file"),
        ("AGENTS.md:99", "the file ends with line 3"),
        ("docs", "it is a directory"),
    ],
)
def test_where_says_what_kept_it_out(terminal: Terminal, file: str, reason: str) -> None:
    write(terminal.project / "CLAUDE.md", "C")
    write(terminal.project / "README.md", "R")
    (terminal.project / "docs").mkdir()
    done = terminal.prompt("where", file)
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith(f"{file} did not reach the model: {reason}")


def test_where_knows_what_was_cut_and_what_is_front_matter(terminal: Terminal) -> None:
    write(terminal.home / "config.yaml", "context_file_max_chars: 1000\n")
    write(
        terminal.project / ".hermes.md",
        "---\nkey: value\n---\n" + "".join(f"Rule {n}.\n" for n in range(400)),
    )
    assert "line 2 is front matter" in terminal.prompt("where", ".hermes.md:2").out
    assert (
        "line 200 was cut out: the file is over its limit" in terminal.prompt("where", ".hermes.md:200").out
    )
    assert "reached the model" in terminal.prompt("where", ".hermes.md:402").out


def test_the_clock_is_no_difference(terminal: Terminal) -> None:
    assert terminal.prompt("save", "before", *TIME).code == 0
    assert terminal.prompt("diff", "before").code == 0
    assert terminal.prompt("diff", "cwd:.", "here").code == 0
    later = terminal.prompt("diff", "before", "--at-time", "2026-04-01T00:00:00+00:00")
    assert (later.code, "they part in volatile/session line" in later.out) == (1, True)


def test_diff_names_the_cause(terminal: Terminal) -> None:
    assert terminal.prompt("save", "before", *TIME).out == f"{terminal.home}/prompts/before.json\n"
    same = terminal.prompt("diff", "before", "here", *TIME)
    assert (same.code, same.out.startswith("before and here are equal: ")) == (0, True)
    write(terminal.project / "AGENTS.md", "Use spaces.\n")
    changed = terminal.prompt("diff", "before", *TIME)
    assert changed.code == 1
    assert "they part in context/project context" in changed.out
    assert "  because ./AGENTS.md changed\n" in changed.out
    assert "\n+Use spaces.\n" in changed.out
    body = json.loads(terminal.prompt("diff", "saved:before", "--json", *TIME).out)
    assert [s["section"] for s in body["sections"] if s["change"] != "same"] == ["project context"]


def test_diff_against_a_model_a_surface_and_a_directory(terminal: Terminal) -> None:
    model = terminal.prompt("diff", "here", "model:gpt-5", *TIME).out
    assert "stable / model guidance: added" in model
    assert "  model: SmolLM2-135M-Instruct.Q4_1 → gpt-5\n" in model
    assert (
        "stable / platform hint: changed" in terminal.prompt("diff", "here", "platform:telegram", *TIME).out
    )
    assert (
        "./AGENTS.md is no longer a source" in terminal.prompt("diff", "here", str(terminal.home), *TIME).out
    )


@pytest.mark.parametrize("name", ["nonsense", "rev:nonsense", "saved:nonsense", "--output", "rev:--output=x"])
def test_diff_with_something_that_is_not(terminal: Terminal, name: str) -> None:
    done = terminal.prompt("diff", "--", name)
    assert done.code in (1, 2)
    assert done.err.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize("option", [("--cwd", "/no/where"), ("--at-time", "noon"), ("--tier", "top")])
def test_a_wrong_option_says_what_was_expected(terminal: Terminal, option: tuple[str, str]) -> None:
    done = terminal.prompt("show", *option)
    assert done.code in (1, 2)
    assert done.out == ""
    assert done.err.splitlines()[-1].startswith("Error: ")


def test_a_saved_prompt_cannot_leave_its_folder(terminal: Terminal) -> None:
    done = terminal.prompt("save", "../escape")
    assert done.code == 2
    assert not (terminal.home / "escape.json").exists()


def test_a_reader_that_stops_early_is_no_error(terminal: Terminal) -> None:
    write(terminal.project / "AGENTS.md", "line\n" * 100_000)
    write(terminal.home / "config.yaml", "context_file_max_chars: 400000\n")
    command = (
        f"HERMES_HOME={terminal.home} {__import__('sys').executable} -c "
        "'import sys; from hermes.cli.entry import main; sys.exit(main())' prompt show | head -c 10"
    )
    done = subprocess.run(
        ["bash", "-c", command], cwd=terminal.project, capture_output=True, text=True, check=True
    )
    assert done.stdout == "You are He"
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_the_golden_folder_is_there() -> None:
    assert (GOLDEN / "worked_example.txt").exists()


def test_while_no_model_is_set_the_prompt_is_that_of_the_one_that_answers(terminal: Terminal) -> None:
    plain, local = terminal.prompt("show", *TIME).out, terminal.prompt("show", "--model", "local", *TIME).out
    assert plain == local
    assert "Model: SmolLM2-135M-Instruct.Q4_1\nProvider: local" in plain
    write(terminal.home / "config.yaml", "model:\n  default: anthropic:claude-sonnet-4-5\n")
    assert "Provider: anthropic" in terminal.prompt("show", *TIME).out


def test_names_that_nothing_goes_by_are_told(terminal: Terminal) -> None:
    done = terminal.prompt("explain", "--platform", "telegrm", "--tools", "memory,mcp__a__b,zebra", *TIME)
    assert done.code == 0
    assert "warning: no surface is called 'telegrm', so it has no hint; did you mean telegram?" in done.err
    assert "warning: no tool is called 'zebra', so it brings no guidance; known are clarify" in done.err
    assert "mcp__a__b" not in done.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("openai:gpt-5", ""),
        (
            "gpt-55",
            "no context window, only the family gpt, is known of a model 'gpt-55'; did you mean gpt-5",
        ),
        ("claude-sonet-4-5", "is known of a model 'claude-sonet-4-5'; did you mean claude-sonnet-4-5?"),
        ("zzzz:x", "nothing is known of a model 'zzzz:x'; models in config.yaml can tell more"),
    ],
)
def test_a_model_that_is_not_known_is_told(terminal: Terminal, name: str, said: str) -> None:
    done = terminal.prompt("explain", "--model", name, *TIME)
    assert done.code == 0
    assert said in done.err if said else "is known of a model" not in done.err
