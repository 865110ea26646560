"""Skills that people published load, with the verdicts that are right for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hermes.paths import Home
from hermes.skills.known import BUNDLED
from hermes.skills.library import Library, load_library
from hermes.text import decode, front_matter

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "context-files" / "benign"


def published() -> Iterator[tuple[str, bytes]]:
    """Place and bytes: of the corpus beside the checkout, or, without it, of the skills in it."""
    if not CORPUS.exists():
        for path in Path(BUNDLED).rglob("SKILL.md"):
            yield str(path.parent.relative_to(BUNDLED)), path.read_bytes()
        return
    for line in (CORPUS / "index.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["kind"] == "SKILL.md":
            name = Path(entry["path"]).parent.name or entry["repo"].rpartition("/")[2]
            yield f"{entry['id']}/{name}", (CORPUS / entry["file"]).read_bytes()


@dataclass(frozen=True)
class Shelf:
    files: frozenset[str]
    library: Library


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    home = tmp_path_factory.mktemp("home")
    files = set()
    for place, data in published():
        path = home / "skills" / place / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        files.add(str(path))
    return Shelf(frozenset(files), load_library(Home(str(home))))


def test_every_one_is_accounted_for(shelf: Shelf) -> None:
    library = shelf.library
    told = {s.path for s in (*library.skills, *library.shadowed)} | {d.path for d in library.decisions}
    assert shelf.files <= told
    assert len(shelf.files) >= 8


def test_what_stays_out_has_no_usable_front_matter(shelf: Shelf) -> None:
    """No good skill is lost: what is broken lacks what a skill needs, and none is blocked."""
    assert {d.verdict for d in shelf.library.decisions} <= {"shadowed", "broken", "off"}
    for broken in shelf.library.broken:
        yaml = front_matter(decode(Path(broken.path).read_bytes()).text).yaml
        assert yaml is None or "description:" not in yaml, broken


def test_each_loads_by_the_name_it_is_listed_under(shelf: Shelf) -> None:
    everyone = (*shelf.library.skills, *shelf.library.shadowed)
    assert [shelf.library.resolve(shelf.library.called(s)) for s in everyone] == list(everyone)
