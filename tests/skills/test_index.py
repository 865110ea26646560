"""The index: its form, its budget, what it tells of its cuts."""

from __future__ import annotations

from pathlib import Path

from hermes.paths import Home
from hermes.prompts import prompt_text
from hermes.skills.index import skills_index
from hermes.skills.library import load_library

TOOLS = frozenset({"skill_view", "skills_list"})

WORKED_EXAMPLE = """\
<available_skills>
  research:
    - arxiv: Search and summarize arXiv papers
  software-development:
    - code-review: Structured code review workflow
    - test-driven-development: TDD methodology
</available_skills>"""


def put(root: Path, where: str, description: str) -> Path:
    path = root / "skills" / where / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nname: {path.parent.name}\ndescription: {description}\n---\n\n# Steps\n", "utf-8")
    return path


def test_worked_example(tmp_path: Path) -> None:
    put(tmp_path, "software-development/code-review", "Structured code review workflow")
    put(tmp_path, "software-development/test-driven-development", "TDD methodology")
    put(tmp_path, "research/arxiv", "Search and summarize arXiv papers")
    index = skills_index(load_library(Home(str(tmp_path))), tools=TOOLS)
    assert str(index) == f"{prompt_text('skills_index')}\n{WORKED_EXAMPLE}"
    assert index.startswith(
        "## Skills (mandatory)\n"
        "Before replying, scan the skills below. If one clearly matches\n"
        "your task, load it with skill_view(name) and follow its instructions.\n"
    )
    assert index.notices == ()
