"""Homes with skills, made for a test."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hermes.paths import Home
from hermes.skills.kept_index import forget_indexes
from hermes.skills.library import Library, forget, load_library

NOBODY = 65534


@dataclass(frozen=True)
class SkillHome:
    """A home below `root` and the means to fill it; every `library()` is read anew."""

    root: Path

    @property
    def home(self) -> Home:
        return Home(str(self.root))

    def put(self, where: str, description: str = "", *, text: str | bytes = "", root: str = "skills") -> Path:
        """A SKILL.md at skills/`where`: whole from `text`, or with a description."""
        path = self.root / root / where / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not text:
            text = f"---\nname: {path.parent.name}\ndescription: {description}\n---\n\n# Steps\n"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def library(self, *extra: str) -> Library:
        forget(self.home, disk=True)
        forget_indexes()
        return load_library(self.home, extra)


@pytest.fixture
def skills(tmp_path: Path) -> SkillHome:
    return SkillHome(tmp_path / "home")


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that any user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        yield Path(made)


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Without the rights of root, for which no file is unreadable."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


def settle(root: Path, seconds: int = 100) -> None:
    """Make everything below `root` look as if it had not been touched for a while."""
    past = root.stat().st_mtime_ns - seconds * 10**9
    for path in (root, *root.rglob("*")):
        os.utime(path, ns=(past, past), follow_symlinks=False)
