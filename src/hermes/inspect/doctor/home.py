"""Checks of the home as a place: may it be used, and what lies in it that should not."""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Callable, Iterator

from hermes.errors import FileRefused
from hermes.files import list_directory, read_file
from hermes.inspect.doctor.records import Patient, Problem
from hermes.paths import SUBFOLDERS, Home
from hermes.provenance import digest_of
from hermes.sessions.open import FILE as SESSIONS
from hermes.skills.kept_index import rows_in

_PRIVATE = ("", "config.yaml", "SOUL.md", "memories", "memories/MEMORY.md", "memories/USER.md", "trust.json")
_OLD_ENOUGH = 3600.0
"""Seconds after which a temporary file has no writer any more."""
_FOREIGN_ENDINGS = (".db", ".sqlite", ".sqlite3")
_FOREIGN_NAMES = frozenset(
    ("auth.json", "checkpoints", "cron", "gateway_state.json", "hooks", "kanban", "profiles")
)


def home(patient: Patient) -> Iterator[Problem]:
    """Is it there, can it be read and written, can nobody else?"""
    place = patient.sources.home
    if not os.path.lexists(place.root):
        yield Problem("info", f"there is no home at {place.root} yet; the first start makes it")
        return
    if not os.path.isdir(place.root):
        what = "is a link to nothing" if os.path.islink(place.root) else "is no directory"
        yield Problem("error", f"the home {place.root} {what}", "move it away, or set HERMES_HOME elsewhere")
        return
    yield Problem("info", place.root)
    for path in (place.root, *(place.path(name) for name in SUBFOLDERS)):
        if os.path.isdir(path):
            yield from _access(path)
    if os.name != "nt":
        yield from _permissions(place)


def _access(path: str) -> Iterator[Problem]:
    if not _may(path, os.R_OK | os.X_OK):
        yield Problem("error", f"{path} cannot be read", f"chmod u+rx {path}")
    elif not _may(path, os.W_OK):
        text = f"{path} cannot be written; nothing will be remembered or kept there"
        yield Problem("warning", text, f"chmod u+w {path}, or mount it writable, if it is not meant to be so")


def _may(path: str, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _permissions(place: Home) -> Iterator[Problem]:
    for name in _PRIVATE:
        path = place.path(name) if name else place.root
        try:
            status = os.stat(path)
        except OSError:
            continue
        if status.st_uid not in (os.geteuid(), 0):
            text = f"{path} belongs to another user (number {status.st_uid})"
            yield Problem("warning", text, f"chown it to yourself: sudo chown -R $(id -u) {place.root}")
        if status.st_mode & 0o022:
            yield Problem("error", f"{path} can be changed by other users", f"chmod go-w {path}")
        elif not name and status.st_mode & 0o055:
            text = f"{path} can be read by other users, with your memory in it"
            yield Problem("warning", text, f"chmod 700 {path}")


def left_overs(patient: Patient) -> Iterator[Problem]:
    """Temporary files of writers that were killed."""
    place = patient.sources.home
    folders = [place.root, *(place.path(n) for n in (*SUBFOLDERS, "prompts")), patient.project.root]
    for folder in dict.fromkeys(folders):
        for name in _names(folder):
            path = os.path.join(folder, name)
            if name.startswith(".hermes-") and name.endswith(".tmp") and _is_old(path, patient.now):
                text = f"{path} was left by a writer that was killed"
                yield Problem("warning", text, "hermes doctor --fix deletes it", removable=path)


def _is_old(path: str, now: float) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and now - status.st_mtime > _OLD_ENOUGH


def _names(folder: str) -> tuple[str, ...]:
    try:
        return list_directory(folder)
    except FileRefused:
        return ()


def old_places(patient: Patient) -> Iterator[Problem]:
    """MEMORY.md and USER.md at the top of the home."""
    place = patient.sources.home
    for name in ("MEMORY.md", "USER.md"):
        old, new = place.path(name), place.path("memories", name)
        if not os.path.isfile(old):
            continue
        if os.path.lexists(new):
            text = f"{old} is not read: {new} stands before it"
            yield Problem("warning", text, f"move what you still want into {new}, then remove {old}")
        else:
            yield Problem("info", f"{old} is read from its old place; the first write moves it to {new}")


def other_implementation(patient: Patient) -> Iterator[Problem]:
    """What another program keeps in the same home: said, and never touched."""
    place = patient.sources.home
    names = [n for n in _names(place.root) if n != SESSIONS]
    found = [n for n in names if n.endswith(_FOREIGN_ENDINGS) or n in _FOREIGN_NAMES]
    if found:
        text = f"{place.root} is also the home of another program ({', '.join(found)}); its files are let be"
        yield Problem("info", text)


# --- caches: all are made anew when they are not believed, so none of this is grave ---


def caches(patient: Patient) -> Iterator[Problem]:
    """Caches that cost their place and are of no use."""
    place = patient.sources.home
    for name, probe in _PROBES.items():
        path = os.path.join(place.cache, name)
        try:
            data = read_file(path, max_bytes=64 * 1024 * 1024).data
        except FileRefused as refused:
            if refused.verdict != "missing" or os.path.islink(path):
                text = f"the cache {path} cannot be used: {refused}"
                yield Problem("warning", text, "hermes doctor --fix deletes it", removable=path)
            continue
        if reason := probe(data, place):
            text = f"the cache {path} is {reason}; it is passed over"
            yield Problem("warning", text, "hermes doctor --fix deletes it", removable=path)


def _config_cache(data: bytes, place: Home) -> str:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return "damaged"
    if not isinstance(body, dict) or "digest" not in body:
        return "damaged"
    try:
        current = digest_of(read_file(place.config).data)
    except FileRefused:
        return "of a config.yaml that is gone"
    return "" if body["digest"] == current else "of an earlier config.yaml"


def _skills_cache(data: bytes, _place: Home) -> str:
    head, _, body = data.partition(b"\n")
    words = head.split(b" ")
    sound = head.startswith(b"hermes skills ") and len(words) > 3 and words[3] == b"%08x" % zlib.crc32(body)
    return "" if sound else "damaged"


def _proof_cache(data: bytes, _place: Home) -> str:
    sound = data.startswith(b"hermes skills-proof ") and data.count(b"\n") >= _PROOF_LINES
    return "" if sound else "damaged"


def _indexes_cache(data: bytes, _place: Home) -> str:
    return "" if len(rows_in(data)) == data.count(b"\n") > 0 else "damaged"


def _found_cache(data: bytes, _place: Home) -> str:
    head, _, body = data.partition(b"\n")
    sound = head.startswith(b"hermes found ") and head.endswith(b" " + digest_of(body).encode())
    return "" if sound else "damaged"


_PROOF_LINES = 4

_PROBES: dict[str, Callable[[bytes, Home], str]] = {
    "config.json": _config_cache,
    "found.jsonl": _found_cache,
    "skill-indexes.json": _indexes_cache,
    "skills.json": _skills_cache,
    "skills.proof": _proof_cache,
}
