"""The check of what was said before: can it be read, and by this Hermes?"""

from __future__ import annotations

import os
from collections.abc import Iterator

from hermes.errors import StoreError
from hermes.inspect.doctor.records import Patient, Problem
from hermes.sessions.open import FILE

_READ_AT_MOST = 64 * 1024 * 1024
"""Bytes of a store that are read for damage; to read all of a larger one is for `hermes sessions check`."""


def sessions(patient: Patient) -> Iterator[Problem]:
    """Is the store whole, ours, and of a form that is known? A server is not called."""
    if patient.sources.config.sessions.url:
        yield Problem("info", "on a server, which is not called; see: hermes sessions check")
        return
    path = patient.sources.home.path(FILE)
    if not os.path.exists(path):
        return
    from hermes.sessions.sqlite_file import look

    try:
        fault = look(path, _READ_AT_MOST)
    except StoreError as error:
        yield Problem("error", str(error), "do as it says; until then no conversation can be begun")
        return
    if fault:
        advice = "copy it and its -wal file to a safe place, then see: hermes sessions check"
        yield Problem("error", f"{path} is damaged: {fault}", advice)
    elif os.path.getsize(path) > _READ_AT_MOST:
        yield Problem("info", "large, so it was looked at from outside only; see: hermes sessions check")
