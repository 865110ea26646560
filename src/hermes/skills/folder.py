"""The skills folder of a home, written to: whole or not at all, never outside it, removals kept."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime

from hermes.errors import FileRefused, SkillError, UnknownSkill
from hermes.files import MAX_BYTES, is_inside, list_directory, read_file, replace_file
from hermes.frozen import frozen
from hermes.one_writer import only_writer, state_of
from hermes.paths import Home
from hermes.provenance import digest_of

ARCHIVE = ".archive"
"""Where removed skills and files are kept, below the skills folder: `.archive/WHEN/category/name/…`."""


@frozen
class Removed:
    """A removed skill or file: its path below the skills folder, where it is kept, since when."""

    name: str
    path: str
    when: str


def folder_of(home: Home, category: str, name: str) -> str:
    """Where a skill of this name lies, or would."""
    return (
        os.path.join(home.skills, *category.split("/"), name) if category else os.path.join(home.skills, name)
    )


def within(home: Home, path: str) -> str:
    """The real path, which must lie in the skills folder. SkillError otherwise."""
    try:
        real, root = os.path.realpath(path), os.path.realpath(home.skills)
    except ValueError as error:
        raise SkillError(f"bad path: {error}") from None
    if real == root or not is_inside(real, root):
        raise SkillError(f"{path} leads outside {home.skills}; what lies there is changed by hand")
    return real


def add_folder(
    home: Home, target: str, files: dict[str, bytes], programs: frozenset[str] = frozenset()
) -> None:
    """Make a folder with these files, all at once. `programs` are those that may be run. SkillError."""
    if os.path.lexists(target):
        raise SkillError(f"there is something at {target} already")
    with _failing(f"{target} was not made"):
        os.makedirs(home.skills, mode=0o700, exist_ok=True)
        within(home, target)
        made = tempfile.mkdtemp(dir=home.skills, prefix=".new-")
        try:
            for name, data in sorted(files.items()):
                path = os.path.join(made, *name.split("/"))
                os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
                replace_file(path, data, mode=0o700 if name in programs else 0o600)
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            os.rename(made, target)
        finally:
            shutil.rmtree(made, ignore_errors=True)


def put_file(home: Home, path: str, data: bytes, expected: str | None = None) -> None:
    """Write a file whole or not at all; with `expected`, only while that is its digest. SkillError."""
    real = within(home, path)
    with _failing(f"{path} was not written"):
        os.makedirs(os.path.dirname(real), mode=0o700, exist_ok=True)
        with only_writer(os.path.dirname(real)):
            if expected is not None and state_of(real) != expected:
                raise SkillError(
                    f"{path} was changed by somebody else meanwhile, so nothing was written; look at it "
                    "again with skill_view and make the change to what stands there now"
                )
            replace_file(real, data)


def remove(home: Home, path: str, now: datetime | None = None) -> Removed:
    """Take a skill's folder, or one file of it, into the archive. SkillError."""
    root = os.path.realpath(home.skills)
    parent = os.path.realpath(os.path.dirname(path))  # a link is removed itself, not what it leads to
    if not is_inside(parent, root):
        raise SkillError(f"{path} leads outside {home.skills}; what lies there is removed by hand")
    name = os.path.relpath(os.path.join(parent, os.path.basename(path)), root).replace(os.sep, "/")
    when = (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H.%M.%S.%f")
    with _failing(f"{path} was not removed"):
        os.makedirs(os.path.join(root, ARCHIVE), mode=0o700, exist_ok=True)
        kept = os.path.join(tempfile.mkdtemp(dir=os.path.join(root, ARCHIVE), prefix=f"{when}-"), name)
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        os.rename(os.path.join(parent, os.path.basename(path)), kept)
    return Removed(name, kept, when)


def removed(home: Home) -> tuple[Removed, ...]:
    """What the archive holds, the newest first. SkillError when it cannot be read."""
    archive = os.path.join(home.skills, ARCHIVE)
    found = []
    try:
        for stamp in reversed(list_directory(archive)):
            top = os.path.join(archive, stamp)
            found += [Removed(name, os.path.join(top, *name.split("/")), stamp[:19]) for name in _kept(top)]
    except FileRefused as refused:
        raise SkillError(f"what was removed is not known: {archive} cannot be read ({refused})") from None
    return tuple(found)


def restore(home: Home, name: str) -> Removed:
    """Put back what was removed last under a name: that of a skill, or a path below the skills folder."""
    kept = removed(home)
    found = next((r for r in kept if f"/{r.name}".endswith(f"/{name}")), None)
    if found is None:
        names = ", ".join(dict.fromkeys(r.name for r in kept)) or "nothing"
        raise UnknownSkill(f"nothing called {name[:80]!r} was removed; the archive holds {names}")
    target = os.path.join(home.skills, *found.name.split("/"))
    if os.path.lexists(target):
        raise SkillError(f"there is a {found.name} again; remove or rename it, then restore the old one")
    with _failing(f"{found.name} was not restored"):
        within(home, target)
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        os.rename(found.path, target)
        with contextlib.suppress(OSError):  # its stamp, unless something else is kept there
            os.removedirs(os.path.dirname(found.path))
    return found


def files_in(folder: str) -> Iterator[str]:
    """The files of a skill, relative and sorted; hidden ones and links left out."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for name in sorted(names):
            path = os.path.join(at, name)
            if not name.startswith(".") and not os.path.islink(path):
                yield os.path.relpath(path, folder).replace(os.sep, "/")


def digest_of_folder(folder: str) -> str:
    """One digest of all files of a skill, by name and bytes. FileRefused when one cannot be read."""
    parts = []
    for name in sorted(files_in(folder)):
        data = read_file(os.path.join(folder, *name.split("/")), max_bytes=8 * MAX_BYTES).data
        parts.append(f"{name}\0{digest_of(data)}")
    return digest_of("\n".join(parts))


def _kept(top: str) -> Iterator[str]:
    """The skills below a folder, and the files that lie in none, by their names relative to it."""
    for at, folders, names in os.walk(top):
        name = os.path.relpath(at, top).replace(os.sep, "/")
        if any(n.lower() == "skill.md" for n in names):
            folders.clear()
            yield name
            continue
        for linked in [f for f in folders if os.path.islink(os.path.join(at, f))]:
            yield f"{name}/{linked}".removeprefix("./")
        yield from (f"{name}/{n}".removeprefix("./") for n in sorted(names))


@contextlib.contextmanager
def _failing(what: str) -> Iterator[None]:
    try:
        yield
    except FileRefused as refused:
        raise SkillError(f"{what}: {refused}") from None
    except OSError as error:
        raise SkillError(f"{what}: {(error.strerror or str(error)).lower()}") from None
