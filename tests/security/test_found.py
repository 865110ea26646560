"""Findings kept across starts, by content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes.security.found import NAME, STORED_AT_MOST, Found
from hermes.security.scan import Finding

HIT = Finding("prompt_injection", "override", "high", 0, 3, 1, 1, "ign\u2026", "asks")


class Scanner:
    """A scanner that counts; texts with `bad` in them have one finding."""

    def __init__(self, version: str = "1") -> None:
        self.version = version
        self.scanned: list[str] = []

    def __call__(self, text: str) -> tuple[Finding, ...]:
        self.scanned.append(text)
        return (HIT,) if "bad" in text else ()

    def found(self, folder: Path) -> Found:
        made = Found(self, lambda: self.version)
        made.keep_in(str(folder))
        return made


def test_a_text_is_scanned_once_in_a_process_and_once_across_starts(tmp_path: Path) -> None:
    first, second = Scanner(), Scanner()
    found = first.found(tmp_path)
    assert [found.of(t) for t in ("good", "bad", "good")] == [(), (HIT,), ()]
    found.save()
    again = second.found(tmp_path)
    assert [again.of(t) for t in ("good", "bad", "new")] == [(), (HIT,), ()]
    assert (first.scanned, second.scanned) == (["good", "bad"], ["new"])


def test_it_is_written_only_when_there_is_news(tmp_path: Path) -> None:
    found = Scanner().found(tmp_path)
    found.of("good")
    found.save()
    (tmp_path / NAME).unlink()
    found.of("good")
    found.save()
    assert not (tmp_path / NAME).exists()


def test_another_scanner_scans_anew(tmp_path: Path) -> None:
    old, new = Scanner("1").found(tmp_path), Scanner("2")
    old.of("bad")
    old.save()
    assert new.found(tmp_path).of("bad") == (HIT,)
    assert new.scanned == ["bad"]


@pytest.mark.parametrize("damage", [b"", b"\xff", b"hermes found 1 1 x\nabc", b"\n\n"])
def test_damage_is_passed_over(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / NAME).write_bytes(damage)
    (tmp_path / NAME).chmod(0o600)
    assert Scanner().found(tmp_path).of("bad") == (HIT,)


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    found = Scanner().found(tmp_path)
    found.of("bad")
    found.save()
    text = (tmp_path / NAME).read_text()
    (tmp_path / NAME).write_text(text.replace('[["prompt', '[]#"prompt'))
    again = Scanner()
    assert again.found(tmp_path).of("bad") == (HIT,)
    assert again.scanned == ["bad"]


@pytest.mark.parametrize("how", ["others may read", "of another user", "a link"])
def test_a_file_that_may_not_be_ours_is_not_believed(tmp_path: Path, how: str) -> None:
    found = Scanner().found(tmp_path)
    found.of("bad")
    found.save()
    path = tmp_path / NAME
    if how == "others may read":
        path.chmod(0o640)
    elif how == "of another user":
        if os.geteuid() != 0:
            pytest.skip("only root can give a file away")
        os.chown(path, 65533, -1)
    else:
        path.rename(tmp_path / "else")
        path.symlink_to(tmp_path / "else")
    again = Scanner()
    found = again.found(tmp_path)
    assert found.of("bad") == (HIT,)
    assert again.scanned == ["bad"]
    found.save()
    assert path.stat().st_mode & 0o077 == 0
    assert not path.is_symlink()


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    found = Scanner().found(tmp_path / "missing")
    assert found.of("good") == ()
    found.save()


def test_the_file_stays_small(tmp_path: Path) -> None:
    found = Scanner().found(tmp_path)
    for number in range(STORED_AT_MOST + 50):
        found.of(f"good {number}")
    found.save()
    assert len((tmp_path / NAME).read_text().splitlines()) == STORED_AT_MOST + 1
    again = Scanner()
    again.found(tmp_path).of(f"good {STORED_AT_MOST + 49}")
    assert again.scanned == []  # the newest are kept


def test_what_is_known_of_one_home_does_not_reach_another(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    found = Scanner().found(tmp_path / "a")
    found.of("bad of a")
    found.keep_in(str(tmp_path / "b"))
    found.of("bad of b")
    found.save()
    assert len((tmp_path / "a" / NAME).read_text().splitlines()) == 2
    assert len((tmp_path / "b" / NAME).read_text().splitlines()) == 2
