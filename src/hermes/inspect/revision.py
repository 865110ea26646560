"""A project as it was at a git revision, with its context files only."""

from __future__ import annotations

import os
import subprocess
from fnmatch import fnmatchcase

from hermes.agent.context_kinds import KINDS
from hermes.errors import UsageError
from hermes.files import is_inside
from hermes.inspect.explain import GIT_OPTIONS

_PATTERNS = tuple(dict.fromkeys(file.lower() for kind in KINDS for file in kind.files))


def check_out(root: str, revision: str, target: str) -> int:
    """Write the context files of `revision` of the repository at `root` below `target`; how many there were.

    `target` becomes the root of a repository of its own. UsageError when git does not know the revision.
    """
    listing = _git(root, "ls-tree", "-r", "-z", "--full-tree", f"{revision}^{{tree}}")
    os.makedirs(os.path.join(target, ".git"), exist_ok=True)
    with open(os.path.join(target, ".git", "HEAD"), "wb") as head:  # the branch is no difference
        head.write(_git(root, "rev-parse", "HEAD") if _detached(root) else b"ref: " + _branch(root))
    found = 0
    for entry in listing.decode("utf-8", "surrogateescape").split("\0"):
        facts, _, path = entry.partition("\t")
        mode = facts.partition(" ")[0]
        place = os.path.join(target, path)
        if not path or mode == "160000" or not _wanted(path) or not _stays_below(target, place):
            continue
        os.makedirs(os.path.dirname(place), exist_ok=True)
        data = _git(root, "cat-file", "blob", facts.split(" ")[2])
        if mode == "120000":
            os.symlink(data.decode("utf-8", "surrogateescape"), place)
        else:
            with open(place, "wb") as out:
                out.write(data)
        found += 1
    return found


def is_revision(root: str, name: str) -> bool:
    """Whether git knows that name as a commit."""
    try:
        _git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    except UsageError:
        return False
    return True


def _stays_below(target: str, place: str) -> bool:
    """A tree made by hand may name what git would not: a parent folder, or what lies behind a link."""
    folder = os.path.dirname(place)
    real = os.path.realpath(folder)
    return folder == os.path.normpath(folder) and is_inside(real, os.path.realpath(target))


def _branch(root: str) -> bytes:
    return _git(root, "symbolic-ref", "HEAD")


def _detached(root: str) -> bool:
    try:
        _branch(root)
    except UsageError:
        return True
    return False


def _wanted(path: str) -> bool:
    lower = path.lower()
    return any(
        lower == p or lower.endswith("/" + p) or fnmatchcase(lower, p) or fnmatchcase(lower, "*/" + p)
        for p in _PATTERNS
    )


def _git(root: str, *arguments: str) -> bytes:
    if any(a.startswith("-") for a in arguments[-1:]):
        raise UsageError(f"{arguments[-1]!r} is no revision")
    try:
        command = ["git", *GIT_OPTIONS, "-C", root, *arguments]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    except FileNotFoundError:
        raise UsageError("git was not found; install it to compare revisions") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"git {arguments[0]} took too long") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise UsageError(f"git {arguments[0]} failed: {reason or 'no such revision'}")
    return done.stdout
