"""What the owner has accepted: files by the digest of their bytes, projects by their root.

The digest is that of the bytes on disk, as `Origin.digest` has it: what the owner saw is what is accepted, in
any place, and an edit voids it. A file brought in by `@path` is accepted by itself. An entry may also name
the digests of `parts`, texts that pass the gate alone, so that a memory entry stays accepted when another is
added. The accepted text is kept beside it, for the diff that a changed file is shown with.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from hermes.errors import FileRefused, TrustError
from hermes.files import read_file, replace_file
from hermes.frozen import frozen
from hermes.paths import Home
from hermes.provenance import Notice, Origin

FORMAT = 1
KEPT_CHARS = 200_000
"""How much of an accepted text is kept for a later diff."""


@frozen
class Acceptance:
    """One accepted file: the digest of its bytes, when, and what had been found in it. `date` is ISO 8601."""

    digest: str
    path: str
    date: str
    findings: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


@frozen
class KnownProject:
    """A project whose context files the owner knows of: its root, since when, the digests of its files."""

    root: str
    date: str
    digests: tuple[str, ...] = ()


@frozen
class Trusted:
    """All that `trust.json` says. `notices` tell what in it cannot be used."""

    accepted: tuple[Acceptance, ...] = ()
    projects: tuple[KnownProject, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def digests(self) -> frozenset[str]:
        """What the gate lets in."""
        return frozenset(d for entry in self.accepted for d in (entry.digest, *entry.parts))

    def of_path(self, path: str) -> tuple[Acceptance, ...]:
        """What was accepted under a path, the newest last."""
        return tuple(sorted((a for a in self.accepted if a.path == path), key=lambda a: a.date))

    def knows(self, root: str) -> bool:
        return any(project.root == root for project in self.projects)


def trust_file(home: Home) -> str:
    return home.trust


def load_trust(home: Home) -> Trusted:
    """What the owner accepted. Never raises: what cannot be used counts for nothing, with a notice."""
    path = trust_file(home)
    try:
        data = read_file(path).data
        problem = _not_private(path, home)
    except FileRefused as error:
        return Trusted() if error.verdict == "missing" else _unusable(path, str(error))
    except OSError as error:
        return _unusable(path, (error.strerror or str(error)).lower())
    if problem:
        return _unusable(path, problem)
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        return _unusable(path, f"it is damaged ({error})")
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        found = body.get("format") if isinstance(body, dict) else None
        return _unusable(path, f"it has format {found}; this Hermes reads format {FORMAT}")
    return _trusted(path, body)


def accept(home: Home, entry: Acceptance, text: str) -> tuple[Notice, ...]:
    """Store an acceptance, and the text for a later diff. TrustError when it cannot be written."""

    def change(known: Trusted) -> Trusted:
        others = tuple(a for a in known.accepted if (a.digest, a.path) != (entry.digest, entry.path))
        return replace(known, accepted=(*others, entry))

    notices = _change(home, change)
    kept = _kept(home, entry.digest)
    try:
        os.makedirs(home.path("trust"), mode=0o700, exist_ok=True)
        replace_file(kept, text[:KEPT_CHARS].encode("utf-8", "replace"))
    except OSError as error:
        lost = f"{kept} could not be written ({error.strerror}); a later change cannot be shown as a diff"
        return (*notices, Notice("warning", lost, Origin("trust", kept)))
    return notices


def revoke(home: Home, entries: tuple[Acceptance, ...]) -> tuple[Notice, ...]:
    """Forget acceptances and their texts. TrustError when it cannot be written."""

    def change(known: Trusted) -> Trusted:
        return replace(known, accepted=tuple(a for a in known.accepted if a not in entries))

    notices = _change(home, change)
    left = load_trust(home).digests
    for entry in entries:
        if entry.digest not in left:
            kept = _kept(home, entry.digest)
            try:
                os.unlink(kept)
            except FileNotFoundError:
                continue
            except OSError as error:
                stays = f"{kept} could not be deleted ({error.strerror}); the accepted text is still in it"
                notices = (*notices, Notice("warning", stays, Origin("trust", kept)))
    return notices


def accepted_text(home: Home, digest: str) -> str | None:
    """The text that was accepted, or its first part; None when it was not kept."""
    try:
        return read_file(_kept(home, digest)).data.decode("utf-8", "replace")
    except FileRefused:
        return None


def know_project(home: Home, project: KnownProject) -> tuple[Notice, ...]:
    """Record a project as known. TrustError when it cannot be written."""

    def change(known: Trusted) -> Trusted:
        others = tuple(p for p in known.projects if p.root != project.root)
        return replace(known, projects=(*others, project))

    return _change(home, change)


def forget_project(home: Home, root: str) -> tuple[Notice, ...]:
    """Forget a project. TrustError when it cannot be written."""

    def change(known: Trusted) -> Trusted:
        return replace(known, projects=tuple(p for p in known.projects if p.root != root))

    return _change(home, change)


def _change(home: Home, change: Callable[[Trusted], Trusted]) -> tuple[Notice, ...]:
    """Read, change and write the file while nobody else does; a damaged one is set aside, never lost."""
    path = trust_file(home)
    try:
        os.makedirs(home.root, mode=0o700, exist_ok=True)
        with _locked(path + ".lock"):
            known = load_trust(home)
            aside = _set_aside(path) if known.notices and os.path.lexists(path) else ()
            changed = change(known)
            body = {
                "format": FORMAT,
                "accepted": [asdict(a) for a in sorted(changed.accepted, key=lambda a: (a.path, a.date))],
                "projects": [asdict(p) for p in sorted(changed.projects, key=lambda p: p.root)],
            }
            text = json.dumps(body, ensure_ascii=False, indent=1) + "\n"
            replace_file(path, text.encode("utf-8", "surrogatepass"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TrustError(f"{path} cannot be written ({reason}); nothing was changed") from None
    return (*known.notices, *aside)


def _set_aside(path: str) -> tuple[Notice, ...]:
    """Keep a file that could not be read in full under another name."""
    import tempfile  # it brings in a good deal, and few homes ever need it

    fd, kept = tempfile.mkstemp(prefix="trust.json.damaged-", dir=os.path.dirname(path))
    os.close(fd)
    os.replace(path, kept)
    return (Notice("warning", f"{path} was kept as {kept}; what was still readable stands in the new one"),)


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold a lock file; another process waits here."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(fd)
        yield
    finally:
        os.close(fd)


def _lock(fd: int) -> None:
    if os.name == "nt":
        import msvcrt

        # Called by name, since a type checker sees the module of one system only.
        getattr(msvcrt, "locking")(fd, getattr(msvcrt, "LK_LOCK"), 1)  # noqa: B009
    else:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX)


def _kept(home: Home, digest: str) -> str:
    return home.path("trust", f"{digest}.txt")


def _not_private(path: str, home: Home) -> str:
    """Why someone other than the owner of the home may have written a file; "" when nobody can."""
    if not hasattr(os, "geteuid"):
        return ""
    status = os.stat(path)
    if status.st_uid not in {os.geteuid(), os.stat(home.root).st_uid}:
        return f"it belongs to user {status.st_uid}, not to the owner of the home"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to it; mend that with: chmod 600 {path}"
    return ""


def _unusable(path: str, reason: str) -> Trusted:
    text = f"{path} cannot be used, so nothing counts as accepted: {reason}"
    return Trusted(notices=(Notice("error", text, Origin("trust", path)),))


def _trusted(path: str, body: dict[str, Any]) -> Trusted:
    accepted, bad = _entries(body.get("accepted", []), _acceptance)
    projects, worse = _entries(body.get("projects", []), _project)
    if not bad + worse:
        return Trusted(accepted, projects)
    text = f"{path}: damaged entries count for nothing: {bad + worse}; see: hermes trust list"
    return Trusted(accepted, projects, (Notice("warning", text, Origin("trust", path)),))


def _entries(given: Any, read: Callable[[Any], Any]) -> tuple[tuple[Any, ...], int]:
    """The entries that can be read, and how many cannot."""
    if not isinstance(given, list):
        return (), 1
    kept, bad = [], 0
    for item in given:
        try:
            kept.append(read(item))
        except (KeyError, TypeError, ValueError):
            bad += 1
    return tuple(kept), bad


def _acceptance(item: Any) -> Acceptance:
    return Acceptance(
        _digest(item["digest"]),
        _text(item["path"]),
        _text(item["date"]),
        tuple(map(_text, item.get("findings", ()))),
        tuple(map(_digest, item.get("parts", ()))),
    )


def _project(item: Any) -> KnownProject:
    return KnownProject(
        _text(item["root"]), _text(item["date"]), tuple(map(_digest, item.get("digests", ())))
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _digest(value: Any) -> str:
    if len(_text(value)) != 64 or not set(value) <= set("0123456789abcdef"):
        raise ValueError("not a digest")
    return str(value)
