"""Reading and replacing files; the home."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hermes.bulkhead import behind_bulkhead
from hermes.errors import FileRefused
from hermes.files import Contents, is_inside, list_directory, read_file, replace_file
from hermes.paths import Home, ensure_home, get_hermes_home
from hermes.provenance import Notice, Origin


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert read_file(str(path)) == Contents(b"abc", os.path.realpath(path))


@pytest.mark.parametrize("path", ["/proc/self/status", "/proc/version"])
def test_a_file_that_does_not_know_its_size_is_read_whole(path: str) -> None:
    assert read_file(path).data.endswith(b"\n")


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("gone", "missing"), ("a/b", "missing"), ("a\0b", "unreadable"), ("x" * 300, "unreadable")],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, name: str, verdict: str) -> None:
    with pytest.raises(FileRefused) as caught:
        read_file(str(tmp_path / name))
    assert caught.value.verdict == verdict


def test_the_bound_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 11)
    with pytest.raises(FileRefused, match="11 bytes; at most 10 are read"):
        read_file(str(path), max_bytes=10)


def test_a_link_may_not_leave_its_root(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path)) / "root"
    root.mkdir()
    (root.parent / "rooted").write_bytes(b"a neighbour with a like name")
    (root / "link").symlink_to("../rooted")
    with pytest.raises(FileRefused) as caught:
        read_file(str(root / "link"), inside=str(root))
    assert caught.value.verdict == "outside project"
    assert read_file(str(root / "link")).data == b"a neighbour with a like name"


def test_in_a_folder_that_is_resolved_only_the_file_itself_may_be_a_link(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path)) / "root"
    (root / "in").mkdir(parents=True)
    (root / "in" / "file").write_bytes(b"here")
    (root / "in" / "link").symlink_to("file")
    (root / "in" / "out").symlink_to("../../outside")
    (root.parent / "outside").write_bytes(b"outside")
    folder = str(root / "in")
    here = Contents(b"here", str(root / "in" / "file"))
    for name in ("file", "link"):
        assert read_file(str(root / "in" / name), inside=str(root), folder=folder) == here
    for name, verdict in (("out", "outside project"), ("gone", "missing"), ("a\0b", "unreadable")):
        with pytest.raises(FileRefused) as caught:
            read_file(str(root / "in" / name), inside=str(root), folder=folder)
        assert caught.value.verdict == verdict


def test_a_folder_that_was_resolved_to_outside_is_outside(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path)) / "root"
    root.mkdir()
    (root.parent / "other").mkdir()
    (root.parent / "other" / "file").write_bytes(b"x")
    (root / "linked").symlink_to("../other")
    with pytest.raises(FileRefused) as caught:
        read_file(str(root / "linked" / "file"), inside=str(root), folder=str(root.parent / "other"))
    assert caught.value.verdict == "outside project"


def test_inside() -> None:
    assert is_inside("/a/b", "/a")
    assert is_inside("/a", "/a")
    assert is_inside("/a", "/")
    assert not is_inside("/ab", "/a")


def test_a_directory_lists_sorted(tmp_path: Path) -> None:
    for name in "cab":
        (tmp_path / name).touch()
    assert list_directory(str(tmp_path)) == ("a", "b", "c")
    assert list_directory(str(tmp_path / "gone")) == ()
    assert list_directory(str(tmp_path / "a")) == ()


def test_replacing_keeps_mode_and_links_and_leaves_nothing_behind(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to("real")
    replace_file(str(link), b"new")
    assert (real.read_bytes(), link.is_symlink(), stat.S_IMODE(real.stat().st_mode)) == (b"new", True, 0o640)
    replace_file(str(tmp_path / "fresh"), b"x")
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o600
    with pytest.raises(OSError, match="directory"):
        replace_file(str(tmp_path), b"x")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fresh", "link", "real"]


def test_a_home_is_made_once_and_never_overwritten(tmp_path: Path) -> None:
    home = Home(str(tmp_path / "h"))
    made = ensure_home(home, "identity\n")
    assert [n.level for n in made] == ["info", "info"]
    assert Path(home.soul).read_text() == "identity\n"
    Path(home.soul).write_text("mine")
    assert ensure_home(home, "identity\n") == ()
    assert Path(home.soul).read_text() == "mine"
    assert sorted(os.listdir(home.root)) == ["SOUL.md", "cache", "memories", "skills"]


def test_a_soul_that_is_a_dangling_link_is_left_alone(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    os.symlink("nowhere", home.soul)
    ensure_home(home, "identity\n")
    assert not os.path.exists(home.soul)


def test_a_home_that_cannot_be_made_is_a_notice(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    notices = ensure_home(Home(str(tmp_path / "file" / "h")), "x")
    assert [n.level for n in notices] == ["warning"]
    assert "cannot be written (not a directory)" in notices[0].text


def test_the_home_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", "/somewhere/else")
    assert get_hermes_home() == Home("/somewhere/else")
    for unset in ("", "  "):
        monkeypatch.setenv("HERMES_HOME", unset)
        assert get_hermes_home() == Home(os.path.expanduser("~/.hermes"))


def test_a_failure_becomes_a_notice(caplog: pytest.LogCaptureFixture) -> None:
    assert behind_bulkhead("part", lambda: 1, 2) == (1, ())
    value, notices = behind_bulkhead("part", lambda: 1 // 0, 2)
    assert value == 2
    reason = "ZeroDivisionError: integer division or modulo by zero"
    text = f"part failed and was left out ({reason}); the log has the details"
    assert notices == (Notice("error", text, Origin("part")),)
    assert "Traceback" in caplog.text
