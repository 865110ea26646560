"""The working directory is decided once, and a project ends where its repository does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hermes
from hermes.agent.workdir import Project, find_project, main_checkout, resolve_cwd
from hermes.errors import UsageError
from hermes.prompt import WorkDir


@pytest.fixture
def real(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def test_the_argument_comes_before_the_configuration_before_the_process(
    real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("argument", "configured", "process"):
        (real / name).mkdir()
    monkeypatch.chdir(real / "process")
    argument, configured = str(real / "argument"), str(real / "configured")
    assert resolve_cwd(argument, configured) == (WorkDir(argument, "argument"), ())
    assert resolve_cwd("", configured) == (WorkDir(configured, "config"), ())
    assert resolve_cwd() == (WorkDir(str(real / "process"), "process"), ())


def test_an_argument_that_is_no_directory_is_an_error(real: Path) -> None:
    with pytest.raises(UsageError, match="no such directory: /no/where"):
        resolve_cwd("/no/where")


def test_a_configured_directory_that_is_gone_is_passed_over(
    real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(real)
    workdir, notices = resolve_cwd("", "/no/where")
    assert workdir == WorkDir(str(real), "process")
    assert [n.text for n in notices] == ["agent.cwd is no directory: /no/where; it was passed over"]


def test_a_deleted_directory_falls_back_to_the_users_own(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = real / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    workdir, notices = resolve_cwd()
    assert workdir.chosen_by == "fallback"
    assert workdir.path == os.path.realpath(os.path.expanduser("~"))
    assert notices[0].level == "warning"


def test_the_install_tree_has_authority_only_when_it_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    package = os.path.dirname(os.path.realpath(hermes.__file__))
    monkeypatch.chdir(package)
    workdir, notices = resolve_cwd()
    assert workdir == WorkDir(package, "process", authority=False)
    assert [n.text for n in notices] == [
        f"no project context is active: {package} is Hermes' own install tree and was not chosen; "
        "choose a directory with --cwd or agent.cwd"
    ]
    assert resolve_cwd(package) == (WorkDir(package, "argument"), ())
    if sys.prefix != sys.base_prefix:
        monkeypatch.chdir(sys.prefix)
        assert not resolve_cwd()[0].authority


def test_a_link_to_a_directory_is_resolved(real: Path) -> None:
    (real / "a").mkdir()
    (real / "link").symlink_to("a")
    assert resolve_cwd(str(real / "link"))[0].path == str(real / "a")


def test_a_project_is_the_repository_around_a_directory(real: Path) -> None:
    (real / ".git").mkdir()
    inner = real / "a" / "b"
    inner.mkdir(parents=True)
    project = find_project(str(inner))
    assert project == Project(str(inner), str(real), True)
    assert project.chain == (str(real), str(real / "a"), str(inner))
    assert project.shown(str(real / "AGENTS.md")) == "../../AGENTS.md"
    assert project.shown(str(inner / "x" / "y.md")) == "x/y.md"


def test_a_git_file_ends_the_project_too(real: Path) -> None:
    (real / ".git").mkdir()
    tree = real / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../.git/worktrees/tree\n")
    assert find_project(str(tree)).root == str(tree)


def test_a_repository_of_another_user_above_is_not_trusted(real: Path) -> None:
    if os.geteuid() != 0:
        pytest.fail("this test plants a folder of another user, which only root can")
    (real / ".git").mkdir()
    os.chown(real / ".git", 65534, 65534)
    inner = real / "mine"
    inner.mkdir()
    project = find_project(str(inner))
    assert (project.root, project.in_git) == (str(inner), False)
    assert [n.text for n in project.notices] == [
        f"{real} is a repository of another user; files above {inner} are not read"
    ]
    os.chown(inner, 65534, 65534)  # a mounted checkout: the directory belongs to that user as well
    assert find_project(str(inner)).root == str(real)


# --- worktrees ---


def git(*words: str, cwd: Path) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "main"
    root.mkdir()
    git("init", "-q", cwd=root)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=root)
    return root


def test_a_worktree_belongs_to_its_main_checkout(checkout: Path, tmp_path: Path) -> None:
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=checkout)
    assert main_checkout(str(tmp_path / "tree")) == str(checkout)
    assert main_checkout(str(checkout)) == str(checkout)
    assert main_checkout(str(tmp_path)) == str(tmp_path)


def test_a_git_file_that_its_repository_does_not_know_counts_for_nothing(
    checkout: Path, tmp_path: Path
) -> None:
    """Whoever makes a folder can write into its .git file what they want."""
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=checkout)
    planted = tmp_path / "planted"
    planted.mkdir()
    inner = checkout / ".git" / "worktrees" / "tree"
    own = tmp_path / "own"  # a pretended entry that names the planted folder, outside of the repository
    own.mkdir()
    (own / "gitdir").write_text(f"{planted}/.git\n")
    (own / "commondir").write_text(f"{checkout}/.git\n")
    for text in (
        f"gitdir: {inner}",
        f"gitdir: {checkout}/.git",
        f"gitdir: {own}",
        "gitdir: \0",
        "",
        "x" * 9000,
    ):
        (planted / ".git").write_text(text)
        assert main_checkout(str(planted)) == str(planted), text[:60]
