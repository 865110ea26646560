"""The skills that come with Hermes: sound, short, there for everyone, and never in the way of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.config.records import SkillsConfig
from hermes.paths import Home
from hermes.security.gate import findings_in
from hermes.skills.budget import TOKEN, weight
from hermes.skills.index import skills_index
from hermes.skills.known import BUNDLED, directories
from hermes.skills.library import load_library

from .conftest import SkillHome

FILES = sorted(Path(BUNDLED).rglob("SKILL.md"))
DOCS = Path(__file__).parents[2] / "docs" / "skills.md"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_each_is_short_and_nothing_is_found_in_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert findings_in(text) == ()
    assert len(text.splitlines()) <= 100
    assert len(text) < 5_000
    assert path.parent.name in DOCS.read_text(encoding="utf-8")


def test_all_load_without_a_word_and_cost_little(tmp_path: Path) -> None:
    library = load_library(Home(str(tmp_path)), (BUNDLED,))
    assert [s.path for s in library.skills] == [str(p) for p in FILES]
    assert (library.shadowed, library.broken, library.notices) == ((), (), ())
    assert {s.trust for s in library.skills} == {"package"}
    index = skills_index(library, tools=frozenset({"skill_view"}))
    assert index.notices == ()
    assert weight(index) < 600 * TOKEN


def test_they_are_the_last_place_and_can_be_left_out() -> None:
    assert directories(SkillsConfig(dirs=("/team",))) == ("/team", BUNDLED)
    assert directories(SkillsConfig(dirs=("/team",), bundled=False)) == ("/team",)


def test_ones_own_of_the_same_name_stands_in_their_place(skills: SkillHome, tmp_path: Path) -> None:
    skills.put("mine/debugging", "My way")
    skills.put("team/code-review", "Our way", root="../team")
    library = skills.library(str(tmp_path / "team"), BUNDLED)
    ways = {s.name: s.description for s in library.skills}
    assert (ways["debugging"], ways["code-review"]) == ("My way", "Our way")
    assert [s.address for s in library.shadowed] == [
        "bundled:software-development/code-review",
        "bundled:software-development/debugging",
    ]
    assert library.notices == (), "nobody need do anything about that"


def test_a_directory_called_bundled_has_a_label_of_its_own(skills: SkillHome, tmp_path: Path) -> None:
    skills.put("debugging", "Theirs", root="../bundled")
    library = skills.library(str(tmp_path / "bundled"), BUNDLED)
    theirs = library.resolve("bundled-2:debugging")
    assert theirs == next(s for s in library.skills if s.name == "debugging")
    ours = library.resolve("bundled:software-development/debugging")
    assert ours in library.shadowed
