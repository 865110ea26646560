"""Other agents' rules, each on a small tree that shows what it does and does not load."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes.agent.workdir import find_project
from hermes.contracts import ModelProfile
from hermes.inspect.rival_rules import agents
from hermes.inspect.rivals import Load, Row, names, survey
from hermes.paths import Home
from tests.world import build, facts, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return tmp_path / "repo"


def look(agent: str, cwd: Path) -> list[tuple[str, str, str]]:
    """Path, state and reason of every file that the agent has anything to do with."""
    user = cwd.parent / "user" if (cwd / ".git").exists() else cwd.parents[1] / "user"
    real = os.path.realpath(cwd)
    prompt = build(Home(str(user / ".hermes")), facts(cwd))
    found = survey([agent], find_project(real), os.path.realpath(user), prompt, ModelProfile())
    return [(row.path, row.loads[0].state, row.loads[0].reason) for row in found.rows]


def test_every_rule_names_a_known_place_and_reader() -> None:
    from hermes.inspect.rival_files import _READERS

    places = {"system", "user", "up", "chain", "root", "cwd", "below"}
    assert {rule.where for a in agents() for rule in a.rules} <= places
    assert {rule.reads for a in agents() for rule in a.rules} <= set(_READERS)
    assert all(a.source.startswith("https://") and a.as_of >= "2026-11-29" for a in agents())
    assert names() == ("hermes", "codex", "claude", "gemini", "cursor", "copilot", "cline", "windsurf")


def test_codex_walks_down_takes_one_a_folder_and_stops_at_32_kib(root: Path) -> None:
    write(root.parent / "user" / ".codex" / "AGENTS.md", "me\n")
    write(root / "AGENTS.md", "x" * 30_000)
    write(root / "pkg" / "AGENTS.override.md", " \n")
    write(root / "pkg" / "AGENTS.md", "é" * 2_000)
    write(root / "pkg" / "sub" / "AGENTS.md", "sub\n")
    assert look("codex", root / "pkg") == [
        ("../AGENTS.md", "loaded", ""),
        ("AGENTS.md", "loaded", "only its first 2,768 of 4,000 bytes: no more room for project files"),
        ("AGENTS.override.md", "ignored", "empty"),
        ("~/.codex/AGENTS.md", "loaded", ""),
    ]


def test_codex_takes_the_names_and_the_room_of_its_settings(root: Path) -> None:
    write(
        root.parent / "user" / ".codex" / "config.toml",
        'project_doc_fallback_filenames = ["TEAM.md", "../../x", "*"]\nproject_doc_max_bytes = 4\n',
    )
    write(root / "TEAM.md", "12345678")
    assert look("codex", root) == [
        ("TEAM.md", "loaded", "only its first 4 of 8 bytes: no more room for project files")
    ]


def test_claude_reads_ancestors_imports_rules_and_agents_md_only_alone(root: Path) -> None:
    write(root.parent / "CLAUDE.md", "above the repository\n")
    write(root.parent / "user" / ".claude" / "CLAUDE.md", "me\n")
    write(root.parent / "other.md", "o\n")
    write(root / "CLAUDE.md", "@docs/x.md\n\n@../other.md\n")
    write(root / "CLAUDE.local.md", "mine\n")
    write(root / "docs" / "x.md", "x\n")
    write(root / "AGENTS.md", "a\n")
    write(root / ".claude" / "rules" / "deep" / "py.md", '---\npaths: "src/**, tests/**"\n---\nx\n')
    write(root / ".claude" / "rules" / "all.md", "---\npaths: [\n---\nx\n")
    write(root / "lib" / "CLAUDE.md", "lib\n")
    assert look("claude", root) == [
        (".claude/rules/all.md", "loaded", ""),
        (".claude/rules/deep/py.md", "on demand", "for files matching src/**, tests/**"),
        ("AGENTS.md", "ignored", "CLAUDE.md stands before it"),
        ("CLAUDE.local.md", "loaded", ""),
        ("CLAUDE.md", "loaded", ""),
        ("docs/x.md", "loaded", "imported by CLAUDE.md:1"),
        ("lib/CLAUDE.md", "on demand", "when a file below it is read"),
        (f"{root.parent}/CLAUDE.md", "loaded", ""),
        (f"{root.parent}/other.md", "on demand", "imported from outside the project: asks first"),
        ("~/.claude/CLAUDE.md", "loaded", ""),
    ]
    os.unlink(root / "CLAUDE.md")
    assert ("AGENTS.md", "loaded", "no CLAUDE.md there (by a setting; older versions never read it)") in look(
        "claude", root
    )


def test_gemini_reads_the_names_of_its_settings(root: Path) -> None:
    write(root / "GEMINI.md", "g\n")
    write(root / "sub" / "GEMINI.md", "s\n")
    assert look("gemini", root) == [
        ("GEMINI.md", "loaded", ""),
        ("sub/GEMINI.md", "on demand", "when a file below it is touched"),
    ]
    write(root / "AGENTS.md", "a\n")
    write(root / ".gemini" / "settings.json", '{"context": {"fileName": ["AGENTS.md"]}}')
    assert look("gemini", root) == [("AGENTS.md", "loaded", "")]
    write(root / ".gemini" / "settings.json", '{"context": {"fileName": "../../etc/passwd"}}')
    assert look("gemini", root) == []


def test_cursor_knows_four_modes(root: Path) -> None:
    rules = root / ".cursor" / "rules"
    write(rules / "always.mdc", "---\nalwaysApply: true\n---\nx\n")
    write(rules / "glob.mdc", "---\nglobs: *.py, *.pyi\n---\nx\n")
    write(rules / "described.mdc", "---\ndescription: d\n---\nx\n")
    write(rules / "manual.mdc", "x\n")
    write(rules / "bad.mdc", "---\nglobs: x\n")
    write(rules / "plain.md", "x\n")
    assert look("cursor", root) == [
        (".cursor/rules/always.mdc", "loaded", ""),
        (".cursor/rules/bad.mdc", "ignored", "its front matter is never closed"),
        (".cursor/rules/described.mdc", "on demand", "when its description fits"),
        (".cursor/rules/glob.mdc", "on demand", "for files matching *.py, *.pyi"),
        (".cursor/rules/manual.mdc", "on demand", "only when named"),
        (".cursor/rules/plain.md", "ignored", "a rule must end in .mdc"),
    ]


def test_windsurf_cuts_long_rules_and_asks_for_a_trigger(root: Path) -> None:
    rules = root / ".windsurf" / "rules"
    write(rules / "long.md", "---\ntrigger: always_on\n---\n" + "x" * 12_000)
    write(rules / "glob.md", "---\ntrigger: glob\nglobs: '*.py'\n---\nx\n")
    write(rules / "none.md", "x\n")
    assert look("windsurf", root) == [
        (".windsurf/rules/glob.md", "on demand", "for files matching *.py"),
        (".windsurf/rules/long.md", "loaded", "only its first 12,000 of 12,027 characters"),
        (".windsurf/rules/none.md", "on demand", "it names no trigger; taken for manual"),
    ]


def test_cline_and_copilot(root: Path) -> None:
    write(root / ".clinerules" / "01.md", "x\n")
    write(root / ".clinerules" / "02.md", "---\npaths:\n  - 'src/**'\n---\nx\n")
    write(root / ".cursor" / "rules" / "a.mdc", "x\n")
    write(root / ".github" / "instructions" / "ts.instructions.md", '---\napplyTo: "**/*.ts"\n---\nx\n')
    write(root / ".github" / "instructions" / "all.instructions.md", '---\napplyTo: "**"\n---\nx\n')
    assert look("cline", root) == [
        (".clinerules/01.md", "loaded", ""),
        (".clinerules/02.md", "on demand", "for files matching src/**"),
        (".cursor/rules/a.mdc", "ignored", ".clinerules stands before it"),
    ]
    assert look("copilot", root) == [
        (".github/instructions/all.instructions.md", "loaded", ""),
        (".github/instructions/ts.instructions.md", "on demand", "for files matching **/*.ts"),
    ]


def test_side_by_side_with_hermes(root: Path) -> None:
    write(root / ".hermes.md", "---\nx: 1\n---\nH\n")
    write(root / "AGENTS.md", "A\n")
    prompt = build(Home(str(root.parent / "home")), facts(root))
    project = find_project(os.path.realpath(root))
    found = survey(["hermes", "codex"], project, str(root.parent / "user"), prompt, ModelProfile())
    assert found.rows == (
        Row(".hermes.md", (Load("loaded", "", 1, 1), Load())),
        Row("AGENTS.md", (Load("ignored", "shadowed by .hermes.md"), Load("loaded", "", 2, 1))),
    )
    assert [(c.name, c.files, c.bytes, c.tokens) for c in found.columns] == [
        ("hermes", 1, 1, 1),
        ("codex", 1, 2, 1),
    ]


def test_nothing_hangs_or_raises(root: Path) -> None:
    os.mkfifo(root / "AGENTS.md")
    os.symlink("CLAUDE.md", root / "CLAUDE.md")
    (root / "GEMINI.md").write_bytes(b"\0\1")
    os.symlink("/dev/zero", root / ".cursorrules")
    os.symlink(root, root / "loop")
    (root / ".codex").mkdir()
    write(root / ".gemini" / "settings.json", "[" * 100_000)
    verdicts = {agent: [(p, s) for p, s, _ in look(agent, root)] for agent in names()[1:]}
    assert verdicts == {
        "codex": [("AGENTS.md", "ignored")],
        "claude": [("AGENTS.md", "ignored"), ("CLAUDE.md", "ignored")],
        "gemini": [("GEMINI.md", "ignored")],
        "cursor": [(".cursorrules", "ignored"), ("AGENTS.md", "ignored"), ("CLAUDE.md", "ignored")],
        "copilot": [("AGENTS.md", "ignored"), ("CLAUDE.md", "ignored"), ("GEMINI.md", "ignored")],
        "cline": [(".cursorrules", "ignored"), ("AGENTS.md", "ignored")],
        "windsurf": [("AGENTS.md", "ignored")],
    }
