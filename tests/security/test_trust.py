"""What the owner accepted, in `trust.json`."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from hermes.errors import TrustError
from hermes.paths import Home
from hermes.security.trust import (
    KEPT_CHARS,
    Acceptance,
    KnownProject,
    Trusted,
    accept,
    accepted_text,
    forget_project,
    know_project,
    load_trust,
    revoke,
)

A = Acceptance("a" * 64, "/p/AGENTS.md", "2026-03-30T14:30:00+00:00", ("prompt_injection",), ("c" * 64,))
B = Acceptance("b" * 64, "/p/AGENTS.md", "2026-03-31T14:30:00+00:00")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path / "home"))


def stored(home: Home) -> Path:
    return Path(home.path("trust.json"))


def test_nothing_is_accepted_in_a_new_home(home: Home) -> None:
    assert load_trust(home) == Trusted()


def test_what_is_accepted_is_remembered(home: Home) -> None:
    assert accept(home, A, "the text") == ()
    accept(home, B, "newer")
    assert load_trust(home) == Trusted((A, B))
    assert load_trust(home).digests == {"a" * 64, "b" * 64, "c" * 64}
    assert load_trust(home).of_path("/p/AGENTS.md") == (A, B)
    assert (accepted_text(home, A.digest), accepted_text(home, B.digest)) == ("the text", "newer")


def test_twice_is_once(home: Home) -> None:
    accept(home, A, "x")
    accept(home, A, "x")
    assert load_trust(home) == Trusted((A,))


def test_it_can_be_taken_back_and_the_text_goes_too(home: Home) -> None:
    accept(home, A, "x")
    accept(home, B, "y")
    revoke(home, (A,))
    assert load_trust(home) == Trusted((B,))
    assert (accepted_text(home, A.digest), accepted_text(home, B.digest)) == (None, "y")


def test_projects(home: Home) -> None:
    first, later = KnownProject("/p", "2026-03-30", ("a" * 64,)), KnownProject("/p", "2026-03-31")
    know_project(home, first)
    know_project(home, later)
    assert load_trust(home) == Trusted((), (later,))
    assert load_trust(home).knows("/p")
    forget_project(home, "/p")
    assert not load_trust(home).knows("/p")


def test_files_are_for_the_owner_alone(home: Home) -> None:
    accept(home, A, "x")
    for path in (stored(home), Path(home.path("trust", f"{A.digest}.txt"))):
        assert path.stat().st_mode & 0o077 == 0


def test_a_long_text_is_kept_in_part(home: Home) -> None:
    accept(home, A, "x" * (KEPT_CHARS + 1))
    assert accepted_text(home, A.digest) == "x" * KEPT_CHARS


@pytest.mark.parametrize(
    "damage",
    ["{", "", "[]", "null", '{"format": 9, "accepted": []}', "\xff\xfe", '{"format": 1, "accepted": 3}'],
)
def test_a_damaged_file_is_told_of_and_never_lost(home: Home, damage: str) -> None:
    stored(home).parent.mkdir()
    stored(home).write_text(damage, encoding="latin-1")
    stored(home).chmod(0o600)
    known = load_trust(home)
    assert (known.accepted, len(known.notices)) == ((), 1)
    notices = accept(home, A, "x")
    assert load_trust(home) == Trusted((A,))
    (kept,) = stored(home).parent.glob("trust.json.damaged-*")
    assert kept.read_text(encoding="latin-1") == damage
    assert any(str(kept) in n.text for n in notices)


def test_one_damaged_entry_takes_no_other_with_it(home: Home) -> None:
    accept(home, A, "x")
    body = json.loads(stored(home).read_text())
    body["accepted"] += [{"digest": "", "path": "/x", "date": ""}, {"digest": "g" * 64}, 7]
    stored(home).write_text(json.dumps(body))
    known = load_trust(home)
    assert known.accepted == (A,)
    (notice,) = known.notices
    assert "damaged entries count for nothing: 3" in notice.text


def test_a_file_that_others_may_write_counts_for_nothing(home: Home) -> None:
    accept(home, A, "x")
    stored(home).chmod(0o666)
    known = load_trust(home)
    assert known.digests == frozenset()
    assert "chmod 600" in known.notices[0].text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_counts_for_nothing(home: Home) -> None:
    accept(home, A, "x")
    os.chown(stored(home), 65533, -1)
    assert load_trust(home).digests == frozenset()


def test_a_home_that_is_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(TrustError, match="nothing was changed"):
        accept(Home(str(tmp_path / "home")), A, "x")


def test_an_acceptance_stands_without_its_text_and_says_so(home: Home) -> None:
    Path(home.root).mkdir()
    Path(home.path("trust")).write_text("in the way")
    (notice,) = accept(home, A, "x")
    assert notice.level == "warning"
    assert notice.text == (
        f"{home.path('trust', f'{A.digest}.txt')} could not be written (File exists); "
        "a later change cannot be shown as a diff"
    )
    assert load_trust(home) == Trusted((A,))


def test_a_text_that_cannot_be_deleted_is_told_of(home: Home) -> None:
    accept(home, A, "x")
    kept = Path(home.path("trust", f"{A.digest}.txt"))
    kept.unlink()
    kept.mkdir()
    (notice,) = revoke(home, (A,))
    assert notice.level == "warning"
    assert notice.text == f"{kept} could not be deleted (Is a directory); the accepted text is still in it"
    assert load_trust(home) == Trusted()


def test_concurrent_writers_lose_nothing(home: Home) -> None:
    entries = [Acceptance(f"{n:064x}", f"/p/{n}", "2026-03-30") for n in range(24)]
    threads = [threading.Thread(target=accept, args=(home, e, "x")) for e in entries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert load_trust(home) == Trusted(tuple(entries[n] for n in sorted(range(24), key=lambda n: f"/p/{n}")))
