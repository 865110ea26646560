"""What is known of a library without reading it: where it lies, and what is remembered and proved unchanged.

Nothing here needs the records of a library, which a start with an index that is kept never makes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from hermes.paths import Home
from hermes.provenance import Trust, digest_of
from hermes.security.policy import Policies
from hermes.security.scan import scanner_version
from hermes.skills import snapshot
from hermes.skills.snapshot import Remembered
from hermes.version import __version__

if TYPE_CHECKING:
    from hermes.config.records import SkillsConfig

BUNDLED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bundled_skills")
"""The skills that come with Hermes: read where they are installed, so that an update reaches everyone."""

LOADED = "[loaded above] "
"""How an answer of skill_view begins that only points to one that can still be read."""

_remembered: dict[tuple[str, str], Remembered] = {}
_LIMIT = 8


class Root(NamedTuple):
    """A directory of skills, the label it is addressed by, and who vouches for it."""

    path: str
    label: str
    trust: Trust


def directories(settings: SkillsConfig) -> tuple[str, ...]:
    """Where skills lie beside the home: in `skills.dirs`, and last those that come with Hermes."""
    return (*settings.dirs, BUNDLED) if settings.bundled else tuple(settings.dirs)


def roots_of(home: Home, extra_roots: tuple[str, ...]) -> tuple[Root, ...]:
    """The roots in order of precedence, each with a label of its own."""
    roots = [Root(home.skills, "home", "owner")]
    labels = {"home", "bundled"}
    for path in dict.fromkeys(os.path.abspath(path) for path in extra_roots):
        if path == BUNDLED:
            roots.append(Root(path, "bundled", "package"))
            continue
        base = label = os.path.basename(path) or "root"
        number = 1
        while label in labels:
            number += 1
            label = f"{base}-{number}"
        labels.add(label)
        roots.append(Root(path, label, "third_party"))
    return tuple(roots)


def library_key(home: Home, extra_roots: tuple[str, ...] = (), policies: Policies | None = None) -> str:
    """Everything but the disk that a library depends on."""
    roots, policies = roots_of(home, extra_roots), policies or Policies()
    rules = [
        (trust, policy.high, policy.medium, sorted(policy.accepted))
        for trust in sorted({root.trust for root in roots})
        for policy in (policies.of(trust),)
    ]
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    return digest_of(repr((__version__, scanner_version(), user, roots, rules)))


def proved(home: Home, key: str) -> Remembered | None:
    """The library of a key, as it is remembered in the process or on disk, if the disk proves it unchanged.

    It is not made for that.
    """
    known = _remembered.get((home.root, key))
    if known and known.holds():
        return known
    stored = snapshot.read(home, key)
    return keep(home, stored) if stored and stored.holds() else None


def keep(home: Home, known: Remembered) -> Remembered:
    """Remember a library in this process."""
    if len(_remembered) >= _LIMIT:
        _remembered.clear()
    _remembered[home.root, known.key] = known
    return known


def forget(home: Home, *, disk: bool = False) -> None:
    """Drop what this process remembers of a home; with `disk`, the snapshot too."""
    for key in [key for key in _remembered if key[0] == home.root]:
        del _remembered[key]
    if disk:
        snapshot.remove(home, snapshot.PROOF, snapshot.RECORDS)
