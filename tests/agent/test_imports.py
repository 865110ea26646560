"""`@path` imports: where they count, how deep, and what they may reach."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.agent.imports import importer
from hermes.agent.workdir import find_project
from hermes.provenance import Origin, Passage
from tests.world import write


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = Path(os.path.realpath(tmp_path)) / "repo"
    (root / ".git").mkdir(parents=True)
    return root


def expand(repo: Path, text: str, consented: tuple[str, ...] = ()) -> Passage:
    path = write(repo / "AGENTS.md", text)
    origin = Origin("agents", str(path), trust="project")
    return importer(find_project(str(repo)), consented)(Passage.quote(text, origin), str(path))


def texts(passage: Passage) -> list[str]:
    return [n.text for n in passage.notices]


def test_a_line_is_replaced_by_the_file(repo: Path) -> None:
    write(repo / "docs" / "style.md", "\nStyle.\n\n")
    done = expand(repo, "Before.\n@docs/style.md\nAfter.\n")
    assert done == "Before.\nStyle.\nAfter.\n"
    at = done.index("Style")
    assert done.span_at(at).origin == Origin(
        "import", str(repo / "docs" / "style.md"), done.span_at(at).origin.digest, 2, 2, "project"
    )
    assert done.span_at(at).transforms == ("imported by AGENTS.md:2",)
    assert [str(d) for d in done.decisions] == ["loaded by AGENTS.md:2"]
    assert done.line_at(done.index("After")) == 3


def test_inside_a_sentence_the_path_stays_and_the_file_follows(repo: Path) -> None:
    write(repo / "README.md", "Read me.")
    assert expand(repo, "See @README.md, then go.") == "See @README.md, then go.\n\n### README.md\n\nRead me."


@pytest.mark.parametrize(
    "text",
    ["`@a.md`", "```\n@a.md\n```\n", "mail me@a.md now", "~~~\n@a.md\n~~~", "``x @a.md y``", "a @ b", "@"],
)
def test_code_and_addresses_are_no_imports(repo: Path, text: str) -> None:
    write(repo / "a.md", "imported")
    done = expand(repo, text)
    assert done == text
    assert done.notices == ()


@pytest.mark.parametrize(
    "mention", ["ask @team about it", "use @scope/package here", "the @dataclass decorator"]
)
def test_a_mention_of_nothing_is_left_alone(repo: Path, mention: str) -> None:
    assert expand(repo, mention) == mention
    assert expand(repo, mention).notices == ()


def test_digits_lists_spaces_and_punctuation_are_understood(repo: Path) -> None:
    write(repo / "0-rules.md", "zero")
    write(repo / "my notes.md", "notes")
    assert expand(repo, "- @0-rules.md\n@my\\ notes.md\n") == "zero\nnotes\n"
    assert expand(repo, "(see @0-rules.md).").endswith("### 0-rules.md\n\nzero")


def test_imports_go_four_files_deep(repo: Path) -> None:
    for n in range(1, 7):
        write(repo / f"{n}.md", f"level {n}\n@{n + 1}.md\n")
    done = expand(repo, "@1.md\n")
    assert done == "level 1\nlevel 2\nlevel 3\nlevel 4\n@5.md\n"
    assert texts(done) == ["@5.md in 4.md:2 was not imported: imports go 4 files deep at most"]


def test_a_circle_ends(repo: Path) -> None:
    write(repo / "a.md", "a\n@b.md\n")
    write(repo / "b.md", "b\n@a.md\n")
    done = expand(repo, "@a.md\n")
    assert done == "a\nb\n@a.md\n"
    assert texts(done) == ["@a.md in b.md:2 was not imported: it is being imported already (a circle)"]


def test_a_missing_file_is_told_of(repo: Path) -> None:
    assert texts(expand(repo, "@gone.md\n")) == [
        f"@gone.md in AGENTS.md:1 was not imported: no such file: {repo / 'gone.md'}"
    ]
    assert expand(repo, "see @gone.md").decisions[0].verdict == "missing"


def test_outside_the_project_only_with_consent(repo: Path) -> None:
    outside = write(repo.parent / "shared" / "rules.md", "shared rules")
    link = repo / "link.md"
    link.symlink_to(outside)
    for name in ("../shared/rules.md", str(outside), "link.md"):
        refused = expand(repo, f"@{name}\n")
        assert refused == f"@{name}\n"
        assert [d.verdict for d in refused.decisions] == ["outside project"]
        assert expand(repo, f"@{name}\n", (str(outside.parent),)) == "shared rules\n"


def test_a_binary_file_is_not_imported(repo: Path) -> None:
    (repo / "x.md").write_bytes(b"a\0b")
    done = expand(repo, "@x.md\n")
    assert (done, done.decisions[0].verdict) == ("@x.md\n", "binary")


@given(st.text(alphabet=st.sampled_from("@a./~\\`\n *_-()é"), max_size=60))
def test_any_text_expands_and_keeps_its_spans(text: str) -> None:
    passage = Passage.quote(text, Origin("agents", "/nowhere/at/all/AGENTS.md", trust="project"))
    done = importer(find_project("/"), ())(passage, "/nowhere/at/all/AGENTS.md")
    assert done == text
    assert sum(s.end - s.start for s in done.spans) == len(done)
