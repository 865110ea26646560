"""The whole prompt: golden texts, the freeze, the tiers, the same bytes everywhere."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hermes
from hermes.agent.prompt_builder import DEFAULT_AGENT_IDENTITY
from hermes.agent.system_prompt import build_system_prompt, default_slots
from hermes.errors import PromptError
from hermes.paths import Home
from hermes.prompt import PromptFacts, Switches, SystemPrompt, Tier, WorkDir
from hermes.provenance import Passage
from hermes.tool_names import TOOL_NAMES
from tests.world import (
    EXAMPLE_TOOLS,
    NOW,
    build,
    facts,
    make_home,
    make_project,
    sources,
    torture_home,
    write,
)

Golden = Callable[[str, str], None]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path / "home")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "atlas")


def shown(prompt: SystemPrompt, tmp_path: Path) -> str:
    """The prompt with the temporary folder named the same in every run."""
    return prompt.text.replace(os.path.realpath(tmp_path), "/tmp/example") + "\n"


def common(a: str, b: str) -> str:
    """The common head of two texts."""
    return a[: next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))]


def test_the_worked_example_of_the_documents(
    home: Home, project: Path, tmp_path: Path, golden: Golden
) -> None:
    given = replace(facts(project), system_message="[User-configured system message override]")
    prompt = build(home, given, "[Honcho personality/context data]")
    golden("worked_example.txt", shown(prompt, tmp_path))
    assert [s.slot for s in prompt.sections if s.text] == [
        "identity",
        "tool guidance",
        "model guidance",
        "skills index",
        "environment",
        "platform hint",
        "system message",
        "project context",
        "working directory",
        "memory",
        "user profile",
        "external memory",
        "session line",
    ]
    assert "error" not in {n.level for n in prompt.notices}


@pytest.mark.parametrize(
    "passage",
    [
        "You value correctness, clarity, and efficiency.\n",
        "You have persistent memory across sessions. Save durable facts using\nthe memory tool: user",
        "When the user references something from a past conversation or you\nsuspect relevant",
        "You MUST use your tools to take action — do not describe what you would do",
        "## Persistent Memory\n- User prefers Python 3.12, uses pyproject.toml\n- Default editor is nvim\n"
        '- Working on project "atlas" in ~/code/atlas\n- Timezone: US/Pacific\n\n'
        "## User Profile\n- Name: Alice\n- GitHub: alice-dev\n\n",
        "## Skills (mandatory)\nBefore replying, scan the skills below. If one clearly matches\nyour",
        "<available_skills>\n  research:\n    - arxiv: Search and summarize arXiv papers\n"
        "  software-development:\n    - code-review: Structured code review workflow\n"
        "    - test-driven-development: TDD methodology\n</available_skills>",
        "# Project Context\n\nThe following project context files have been loaded and should be followed:\n"
        "\n## AGENTS.md\n\nThis is the atlas project. Use pytest for testing. The main\n",
        "You are a CLI AI Agent. Try not to use markdown but simple text renderable inside a terminal.\n",
        "Current time: 2026-03-30T14:30:00-07:00\nSession: abc123\n",
    ],
)
def test_the_documents_literal_passages_are_there(home: Home, project: Path, passage: str) -> None:
    assert passage in build(home, facts(project)).text


PLATFORMS = ("cli", "telegram", "api", "cron", "nowhere")
MODELS = ("", "claude-sonnet-4-5", "gpt-5", "gemini-2.5-pro", "qwen3-coder", "made-up-model")
TOOLS = {"all": frozenset(TOOL_NAMES), "none": frozenset[str](), "example": EXAMPLE_TOOLS}


def test_golden_platform_model_tools_home(home: Home, project: Path, tmp_path: Path, golden: Golden) -> None:
    """Every combination as a table of section digests; a change shows exactly which sections move."""
    bare = Home(str(tmp_path / "bare"))
    rows = []
    for name, where in (("example", home), ("bare", bare)):
        for platform in PLATFORMS:
            for model in MODELS:
                for tools, names in TOOLS.items():
                    given = facts(project, model=model, tools=names, platform=platform)
                    prompt = build(where, given)
                    stable = [
                        f"{s.slot}={_digest(s.text)}" for s in prompt.layer(Tier.STABLE).sections if s.text
                    ]
                    rows.append(f"{name} {platform} {model or '-'} {tools}: {' '.join(stable)}")
    golden("stable_matrix.txt", "\n".join(rows) + "\n")


def _digest(text: str) -> str:
    from hermes.provenance import digest_of

    return digest_of(text)[:8]


@pytest.mark.parametrize("platform", ["cli", "telegram"])
@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gpt-5"])
@pytest.mark.parametrize("tools", ["all", "none"])
def test_golden_prompts(
    home: Home, project: Path, tmp_path: Path, golden: Golden, platform: str, model: str, tools: str
) -> None:
    prompt = build(home, facts(project, model=model, tools=TOOLS[tools], platform=platform))
    golden(f"prompt_{platform}_{model}_{tools}.txt", shown(prompt, tmp_path))


def test_the_stable_tier_stays_when_clock_session_directory_and_git_move(home: Home, tmp_path: Path) -> None:
    first = make_project(tmp_path / "one")
    second = make_project(tmp_path / "two")
    write(second / ".git" / "HEAD", "ref: refs/heads/other\n")
    write(second / "AGENTS.md", "Other rules.\n")
    a = build(home, facts(first))
    later = replace(facts(second), now=NOW + timedelta(days=3), session_id="zzz")
    b = build(home, later)
    assert a.layer(Tier.STABLE) == b.layer(Tier.STABLE)
    stable = a.layer(Tier.STABLE).text
    assert a.text.startswith(stable)
    assert b.text.startswith(stable)
    assert a.text != b.text


def test_in_two_worktrees_the_project_files_lie_in_the_common_prefix(home: Home, tmp_path: Path) -> None:
    first, second = make_project(tmp_path / "one"), make_project(tmp_path / "two")
    write(second / ".git" / "HEAD", "ref: refs/heads/other\n")
    a, b = build(home, facts(first)), build(home, facts(second))
    shared = common(a.text, b.text)
    assert "committing." in shared


def test_memory_moves_nothing_before_it(home: Home, project: Path) -> None:
    before = build(home, facts(project))
    write(Path(home.memories) / "MEMORY.md", "Something else\n")
    after = build(home, facts(project))
    assert before.layer(Tier.CONTEXT) == after.layer(Tier.CONTEXT)
    assert before.key != after.key
    shared = common(before.text, after.text)
    assert shared.endswith("## Persistent Memory\n- ")


def test_the_switches_are_three(home: Home, project: Path) -> None:
    def slots(switches: Switches) -> list[str]:
        prompt = build(home, replace(facts(project), switches=switches))
        wanted = {"identity", "project context", "memory", "user profile"}
        found = [s.slot for s in prompt.sections if s.slot in wanted and s.text]
        return [
            "default" if s == "identity" and prompt.text.startswith(DEFAULT_AGENT_IDENTITY) else s
            for s in found
        ]

    assert slots(Switches()) == ["identity", "project context", "memory", "user profile"]
    assert slots(Switches(identity=False)) == ["default", "project context", "memory", "user profile"]
    assert slots(Switches(project_context=False)) == ["identity", "memory", "user profile"]
    assert slots(Switches(memory=False)) == ["identity", "project context"]
    assert slots(Switches.skipping_context_files()) == ["default", "memory", "user profile"]


def test_a_directory_without_authority_gives_no_project_files(home: Home, project: Path) -> None:
    given = replace(facts(project), cwd=WorkDir(str(project), "process", authority=False))
    prompt = build(home, given)
    assert "atlas project" not in prompt.text
    assert [str(d) for d in prompt.decisions if d.kind == "project"] == ["not trusted chosen by the process"]


class Broken:
    """A slot that fails."""

    name = "broken"
    tier = Tier.CONTEXT

    def passage(self, facts: PromptFacts) -> Passage:
        raise RuntimeError("the disk is gone")


class NoIdentity(Broken):
    name = "identity"
    tier = Tier.STABLE


def test_a_slot_that_fails_is_left_out_with_a_notice(home: Home, project: Path) -> None:
    prompt = build_system_prompt((*default_slots(sources(home)), Broken()), facts(project))
    whole = build(home, facts(project))
    assert prompt.text == whole.text
    assert [n.text for n in prompt.notices] == [
        "prompt section broken failed and was left out (RuntimeError: the disk is gone); "
        "the log has the details"
    ]


def test_a_prompt_is_never_without_an_identity(project: Path) -> None:
    prompt = build_system_prompt((NoIdentity(),), facts(project))
    assert prompt.text == DEFAULT_AGENT_IDENTITY
    assert [n.level for n in prompt.notices] == ["error"]


def test_spans_cover_the_prompt(home: Home, project: Path) -> None:
    prompt = build(home, facts(project, tools=frozenset(TOOL_NAMES)), "block")
    at = 0
    for span in prompt.spans:
        assert span.start == at < span.end
        at = span.end
    assert at == len(prompt.text)
    assert "".join(prompt.text[s.start : s.end] for s in prompt.spans) == prompt.text
    offset = prompt.text.index("entry point is")
    assert prompt.span_at(offset).origin.path == str(project / "AGENTS.md")
    assert prompt.passage.line_at(offset) == 2
    for start, section in prompt.places():
        assert prompt.text[start : start + len(section.text)] == section.text


def test_an_export_reads_back_equal(home: Home, project: Path) -> None:
    prompt = build(home, facts(project))
    assert SystemPrompt.from_json(prompt.to_json()) == prompt


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "not an exported prompt"), ("[]", "not an exported prompt"), ('{"format": 99}', "has format 99")],
)
def test_what_is_no_export_is_refused(text: str, message: str) -> None:
    with pytest.raises(PromptError, match=message):
        SystemPrompt.from_json(text)


def test_a_changed_export_is_refused(home: Home, project: Path) -> None:
    changed = build(home, facts(project)).to_json().replace("atlas project", "other project")
    with pytest.raises(PromptError, match="changed after it was saved"):
        SystemPrompt.from_json(changed)


@settings(max_examples=40, deadline=None)
@given(
    system=st.text(max_size=60),
    session=st.text(max_size=20),
    platform=st.text(max_size=10),
    model=st.text(max_size=20),
)
def test_no_text_of_a_caller_breaks_the_build(system: str, session: str, platform: str, model: str) -> None:
    given_facts = PromptFacts(
        WorkDir("/"), NOW, session, platform, replace(facts(Path("/")).model, name=model)
    )
    prompt = build(Home("/nowhere"), replace(given_facts, system_message=system))
    prompt.text.encode("utf-8")
    assert SystemPrompt.from_json(prompt.to_json()) == prompt


# -- the same bytes everywhere ---------------------------------------------------------------------------


def run_elsewhere(
    root: Path, *, python: str = sys.executable, seed: int = 0, shuffle: bool = False, **environ: str
) -> bytes:
    """The torture prompt as another process builds it."""
    here = Path(__file__).parents[2]
    packages = [p for p in sys.path if p.endswith("site-packages")]
    path = os.pathsep.join([str(Path(hermes.__file__).parents[1]), str(here), *packages])
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "PYTHONHASHSEED": str(seed), **environ}
    command = [
        python,
        "-P",
        str(here / "tests" / "world.py"),
        str(root),
        str(seed),
        "shuffle" if shuffle else "plain",
    ]
    done = subprocess.run(command, env=variables, capture_output=True, timeout=60, cwd=root, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module")
def torture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    root = tmp_path_factory.mktemp("torture")
    torture_home(root, random.Random(1))
    first = run_elsewhere(root)
    assert len(json.loads(first)["sections"]) == 13
    return root, first


def test_under_twenty_hash_seeds_and_shuffled_directories(torture: tuple[Path, bytes]) -> None:
    root, first = torture
    for seed in range(1, 21):
        shutil.rmtree(root / "cache", ignore_errors=True)
        assert run_elsewhere(root, seed=seed, shuffle=True) == first


def test_with_another_locale_time_zone_and_encoding(torture: tuple[Path, bytes]) -> None:
    root, first = torture
    c_locale = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert run_elsewhere(root, TZ="Asia/Kolkata", **c_locale) == first


def test_when_files_were_made_in_another_order(torture: tuple[Path, bytes], tmp_path: Path) -> None:
    root, first = torture
    aside = tmp_path / "aside"
    root.rename(aside)
    try:
        torture_home(root, random.Random(99))
        assert run_elsewhere(root) == first
    finally:
        shutil.rmtree(root)
        aside.rename(root)


def other_pythons() -> list[str]:
    """The interpreters beside this one that can run Hermes, as far as this machine has them."""
    found = []
    for minor in range(11, 15):
        python = shutil.which(f"python3.{minor}")
        if python and minor != sys.version_info.minor:
            works = (
                subprocess.run([python, "-c", "import json"], capture_output=True, check=False).returncode
                == 0
            )
            found += [python] if works else []
    return found


def test_under_every_python_of_this_machine(torture: tuple[Path, bytes]) -> None:
    root, first = torture
    for python in [sys.executable, *other_pythons()]:
        assert run_elsewhere(root, python=python) == first
