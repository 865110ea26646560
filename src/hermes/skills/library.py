"""The library of skills: loaded once, and again only when the disk does not prove it unchanged.

The list, the index and the view of a skill all go through `Library`, so what is advertised is what loads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from hermes.paths import Home
from hermes.security.policy import Policies
from hermes.skills import snapshot
from hermes.skills.known import forget, keep, library_key, proved, roots_of
from hermes.skills.records import Library, Skill, Unresolved
from hermes.skills.stamps import Stamp

__all__ = ["Library", "Skill", "Unresolved", "forget", "load_library"]

_UNSETTLED_NS = 2_000_000_000
"""A file changed this shortly before it was read proves nothing: a second change may leave the same time."""


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
    key = library_key(home, extra_roots, policies)
    known = proved(home, key)
    if known and (library := known.library(home, policies)):
        return library
    from hermes.skills.build import build_library  # an unchanged library needs neither walk nor parser
    from hermes.skills.find import find

    started = clock()
    found = find(roots)
    library = build_library(found, roots, policies)
    if _settled(found.watched.values(), started, clock()):
        known = snapshot.remembered(key, library, found.watched)
        snapshot.write(home, keep(home, known), library)
    return library


def _settled(stamps: Iterable[Stamp], started: int, ended: int) -> bool:
    """Whether nothing was changed so shortly before, or while, it was read that a later change could hide."""
    first, last = started - _UNSETTLED_NS, ended + _UNSETTLED_NS
    return not any(first <= s[0] <= last or first <= s[1] <= last for s in stamps)
