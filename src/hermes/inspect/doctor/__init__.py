"""The doctor: small checks in a table, each behind the bulkhead, each problem with its remedy."""

from __future__ import annotations

import os
from collections.abc import Iterable

from hermes.bulkhead import behind_bulkhead
from hermes.files import is_inside
from hermes.inspect.doctor.home import (
    caches,
    home,
    left_overs,
    old_places,
    other_implementation,
)
from hermes.inspect.doctor.machine import terminal, versions
from hermes.inspect.doctor.models import engine, model
from hermes.inspect.doctor.records import Check, Patient, Problem, Result, Terminal
from hermes.inspect.doctor.sessions import sessions
from hermes.inspect.doctor.texts import configuration, identity, memory, project, skills, trust

__all__ = ["CHECKS", "Patient", "Problem", "Result", "Terminal", "examine", "remove"]

CHECKS: tuple[tuple[str, Check], ...] = (
    ("versions", versions),
    ("terminal", terminal),
    ("home", home),
    ("configuration", configuration),
    ("model", model),
    ("engine", engine),
    ("identity", identity),
    ("memory", memory),
    ("project context", project),
    ("skills", skills),
    ("accepted files", trust),
    ("sessions", sessions),
    ("caches", caches),
    ("left-over files", left_overs),
    ("old places", old_places),
    ("other programs", other_implementation),
)


def examine(patient: Patient, checks: Iterable[tuple[str, Check]] = CHECKS) -> tuple[Result, ...]:
    """Run every check; one that fails is a problem of its own, and the others go on."""
    return tuple(_run(name, check, patient) for name, check in checks)


def _run(name: str, check: Check, patient: Patient) -> Result:
    none: tuple[Problem, ...] = ()
    problems, notices = behind_bulkhead(f"the check of {name}", lambda: tuple(check(patient)), none)
    failed = (Problem(n.level, n.text, "report this as a bug, with the log") for n in notices)
    return Result(name, (*problems, *failed))


def remove(patient: Patient, results: Iterable[Result]) -> tuple[tuple[str, str], ...]:
    """Delete what may be deleted; pairs of a path and why it could not be, or ""."""
    roots = (patient.sources.home.root, patient.project.root)
    done = []
    for path in (p.removable for result in results for p in result.problems if p.removable):
        folder = os.path.realpath(os.path.dirname(path))
        if not any(is_inside(folder, os.path.realpath(root)) for root in roots):
            done.append((path, "it lies outside the home and the project"))
            continue
        try:
            os.unlink(path)
            done.append((path, ""))
        except OSError as error:
            done.append((path, (error.strerror or str(error)).lower()))
    return tuple(done)
