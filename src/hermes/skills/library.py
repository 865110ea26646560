"""The library of skills: loaded once, and again only when the disk does not prove it unchanged.

The list, the index and the view of a skill all go through `Library`, so what is advertised is what loads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from hermes.paths import Home
from hermes.provenance import digest_of
from hermes.security.policy import Policies
from hermes.security.scan import scanner_version
from hermes.skills import snapshot
from hermes.skills.records import Library, Root, Skill, Unresolved
from hermes.skills.snapshot import Remembered
from hermes.skills.stamps import Stamp, stamps_of
from hermes.version import __version__

__all__ = [
    "Library",
    "Skill",
    "Unresolved",
    "forget",
    "known_digest",
    "library_key",
    "load_library",
    "roots_of",
]

_UNSETTLED_NS = 2_000_000_000
"""A file changed this shortly before it was read proves nothing: a second change may leave the same time."""

_remembered: dict[tuple[str, str], Remembered] = {}
_LIMIT = 8


def load_library(
    home: Home,
    extra_roots: tuple[str, ...] = (),
    *,
    policies: Policies | None = None,
    clock: Callable[[], int] = time.time_ns,
) -> Library:
    """The skills of a home and of more directories (`skills.dirs`), which count as third-party.

    Never raises on anything that lies there. An unchanged library is proved so, not read again. `clock` gives
    the nanoseconds that file times are compared with.
    """
    policies = policies or Policies()
    roots = roots_of(home, extra_roots)
    key = _key(roots, policies)
    known = _proved(home, key)
    if known and (library := known.library(policies)):
        return library
    from hermes.skills.build import build_library  # an unchanged library needs neither walk nor parser
    from hermes.skills.find import find

    started = clock()
    found = find(roots)
    watched = tuple(found.watched)
    stamps = stamps_of(watched)
    library = build_library(found, roots, policies)
    if _settled(stamps, started, clock()):
        _keep(home, key, Remembered(library.digest, watched, stamps, library))
        snapshot.write(home, key, library, watched, stamps)
    return library


def known_digest(home: Home, extra_roots: tuple[str, ...] = (), *, policies: Policies | None = None) -> str:
    """The digest of what `load_library` would give now, without making it; empty when not known unread."""
    known = _proved(home, library_key(home, extra_roots, policies))
    return known.digest if known else ""


def library_key(home: Home, extra_roots: tuple[str, ...] = (), policies: Policies | None = None) -> str:
    """Everything but the disk that a library depends on."""
    return _key(roots_of(home, extra_roots), policies or Policies())


def _proved(home: Home, key: str) -> Remembered | None:
    """What is remembered in the process or on disk, if the disk proves it unchanged."""
    known = _remembered.get((home.root, key))
    if known and known.holds():
        return known
    stored = snapshot.read(home, key)
    return _keep(home, key, stored) if stored and stored.holds() else None


def forget(home: Home, *, disk: bool = False) -> None:
    """Drop what this process remembers of a home; with `disk`, the snapshot too."""
    for key in [key for key in _remembered if key[0] == home.root]:
        del _remembered[key]
    if disk:
        snapshot.remove(home)


def _keep(home: Home, key: str, remembered: Remembered) -> Remembered:
    if len(_remembered) >= _LIMIT:
        _remembered.clear()
    _remembered[home.root, key] = remembered
    return remembered


def _key(roots: tuple[Root, ...], policies: Policies) -> str:
    """Everything but the disk that the library depends on."""
    rules = [
        (trust, policy.high, policy.medium, sorted(policy.accepted))
        for trust in sorted({root.trust for root in roots})
        for policy in (policies.of(trust),)
    ]
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    return digest_of(repr((__version__, scanner_version(), user, roots, rules)))


def _settled(stamps: tuple[Stamp, ...], started: int, ended: int) -> bool:
    """Whether nothing was changed so shortly before, or while, it was read that a later change could hide."""
    first, last = started - _UNSETTLED_NS, ended + _UNSETTLED_NS
    return not any(first <= s[0] <= last or first <= s[1] <= last for s in stamps)


def roots_of(home: Home, extra_roots: tuple[str, ...]) -> tuple[Root, ...]:
    """The roots in order of precedence, each with a label of its own."""
    roots = [Root(home.skills, "home", "owner")]
    labels = {"home"}
    for path in dict.fromkeys(os.path.abspath(path) for path in extra_roots):
        base = label = os.path.basename(path) or "root"
        number = 1
        while label in labels:
            number += 1
            label = f"{base}-{number}"
        labels.add(label)
        roots.append(Root(path, label, "third_party"))
    return tuple(roots)
