"""Homes and projects that tests build prompts from. Also run as a script, in other processes."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from hermes.agent.environment import Host
from hermes.agent.prompt_builder import Sources
from hermes.agent.system_prompt import build_system_prompt, default_slots
from hermes.config import load_config
from hermes.paths import Home
from hermes.prompt import PromptFacts, SystemPrompt, WorkDir
from hermes.provenance import Origin, Passage
from hermes.providers.profiles import profile_for
from hermes.security.trust import KnownProject, know_project
from hermes.tool_names import TOOL_NAMES

NOW = datetime.fromisoformat("2026-03-30T14:30:00-07:00")
HOST = Host(system="Linux", version="(Debian GNU/Linux 12)", arch="x86_64", shell="bash")
EXAMPLE_TOOLS = frozenset({"memory", "session_search", "skill_view", "skills_list"})

_SOUL = """\
You are Hermes, an AI assistant created by Nous Research.
You are an expert software engineer and researcher.
You value correctness, clarity, and efficiency.
"""
_MEMORY = """\
User prefers Python 3.12, uses pyproject.toml
§
Default editor is nvim
§
Working on project "atlas" in ~/code/atlas
§
Timezone: US/Pacific
"""
_USER = "Name: Alice\n§\nGitHub: alice-dev\n"
_AGENTS = """\
This is the atlas project. Use pytest for testing. The main
entry point is src/atlas/main.py. Always run `make lint` before
committing.
"""
_SKILLS = (
    ("software-development", "code-review", "Structured code review workflow"),
    ("software-development", "test-driven-development", "TDD methodology"),
    ("research", "arxiv", "Search and summarize arXiv papers"),
)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def make_home(root: Path, order: random.Random | None = None) -> Home:
    """The home of the documents' worked example; `order` shuffles the order in which files are made."""
    files = [
        (root / "SOUL.md", _SOUL),
        (root / "memories" / "MEMORY.md", _MEMORY),
        (root / "memories" / "USER.md", _USER),
    ]
    for category, name, description in _SKILLS:
        text = f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n"
        files.append((root / "skills" / category / name / "SKILL.md", text))
    if order is not None:
        order.shuffle(files)
    for path, text in files:
        write(path, text)
    return Home(str(root))


def make_project(root: Path) -> Path:
    """The project of the documents' worked example, on branch main."""
    write(root / ".git" / "HEAD", "ref: refs/heads/main\n")
    write(root / "AGENTS.md", _AGENTS)
    return root


def known(home: Home, project: Path) -> None:
    """Have the owner of a home know a project, so that nothing is said of the first time in it."""
    know_project(home, KnownProject(str(project), "2026-03-01", ()))


def facts(
    cwd: Path, *, model: str = "gpt-5", tools: frozenset[str] = EXAMPLE_TOOLS, platform: str = "cli"
) -> PromptFacts:
    return PromptFacts(
        cwd=WorkDir(os.path.realpath(cwd)),
        now=NOW,
        session_id="abc123",
        platform=platform,
        model=profile_for(model),
        tools=tools,
    )


def sources(home: Home) -> Sources:
    config = load_config(home)
    skills = replace(config.skills, bundled=False)  # the documents' example has only its own
    return Sources(home, replace(config, skills=skills), host=HOST)


def build(home: Home, given: PromptFacts, external: str = "") -> SystemPrompt:
    parts = sources(home)
    block = Passage.quote(external, Origin("external memory", trust="third_party"))
    return build_system_prompt(default_slots(parts, block), given, config_digest=parts.config.digest)


def torture_home(root: Path, order: random.Random) -> Home:
    """A home and a project with everything whose order could leak into the prompt."""
    home = make_home(root, order)
    names = [f"skill-{n:02d}" for n in range(30)]
    order.shuffle(names)
    for name in names:
        folder = root / "skills" / f"group-{int(name[-2:]) % 4}" / name
        write(folder / "SKILL.md", f"---\nname: {name}\ndescription: Text {name} é 缓存\n---\nbody\n")
    write(
        root / "config.yaml",
        "context:\n  kinds: [user, cursor, gemini]\nplatform_hints:\n  cli: Extra.\n  slack: {append: S}\n"
        "agent:\n  system_prompt: Be kind.\n  guidance: {todo: false}\n",
    )
    write(root / "AGENTS.md", "For all projects.\n")
    rules = [f"r{n}" for n in range(12)]
    order.shuffle(rules)
    for name in rules:
        mode = "alwaysApply: true" if name[-1] in "02468" else f"description: about {name}"
        write(
            root / "project" / ".cursor" / "rules" / f"{name}.mdc", f"---\n{mode}\n---\nRule {name} 👩‍💻.\n"
        )
    write(root / "project" / ".git" / "HEAD", "ref: refs/heads/main\n")
    write(root / "project" / ".cursorrules", "x é\n" * 9000)
    return home


def _main() -> None:
    """Build the torture prompt in a fresh process and print it with its whole export."""
    root, seed, shuffle = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "shuffle"
    order = random.Random(seed)
    if shuffle:
        _shuffle_directories(order)
    given = replace(facts(root / "project", tools=frozenset(TOOL_NAMES)), system_message="From the API.")
    prompt = build(Home(str(root)), given, "static block")
    sys.stdout.buffer.write(prompt.to_json().encode("utf-8"))


def _shuffle_directories(order: random.Random) -> None:
    """Directories of this process list their entries in any order, as other disks do."""
    listdir, scandir = os.listdir, os.scandir

    def shuffled_listdir(*args: object) -> list[str]:
        names = listdir(*args)  # type: ignore[call-overload]
        order.shuffle(names)
        return names  # type: ignore[no-any-return]

    class Shuffled:
        def __init__(self, *args: object) -> None:
            with scandir(*args) as entries:  # type: ignore[call-overload]
                self.entries = sorted(entries, key=lambda _: order.random())

        def __enter__(self) -> Shuffled:
            return self

        def __exit__(self, *error: object) -> None: ...

        def close(self) -> None: ...

        def __iter__(self) -> object:
            return iter(self.entries)

    os.listdir, os.scandir = shuffled_listdir, Shuffled  # type: ignore[assignment,misc]


if __name__ == "__main__":
    _main()
