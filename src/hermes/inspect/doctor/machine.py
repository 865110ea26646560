"""Checks of what Hermes runs on."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata

from hermes.inspect.doctor.records import Patient, Problem
from hermes.version import __version__

_PACKAGE = "hermes-lucid"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:>=\s*([\d.]+))?")
_UTF8 = frozenset(("utf-8", "utf8", "utf_8"))


def versions(_: Patient) -> Iterator[Problem]:
    """Python, Hermes, what Hermes needs, git."""
    yield Problem("info", f"Hermes {__version__}, Python {platform.python_version()} ({sys.executable})")
    try:
        required = metadata.requires(_PACKAGE) or []
    except metadata.PackageNotFoundError:
        yield Problem("info", f"{_PACKAGE} is not installed as a package, so what it needs is not known")
        required = []
    for requirement in required:
        if ";" not in requirement:
            yield from _dependency(requirement)
    if shutil.which("git") is None:
        text = "git was not found; blame and comparisons with revisions are not possible"
        yield Problem("warning", text, "install git, or let it be")


def _dependency(requirement: str) -> Iterator[Problem]:
    found = _REQUIREMENT.match(requirement)
    if found is None:
        return
    name, least = found.groups()
    remedy = f"install it again: pip install --upgrade {_PACKAGE}"
    try:
        there = metadata.version(name)
    except metadata.PackageNotFoundError:
        yield Problem("error", f"{name} is not installed, and Hermes needs it", remedy)
        return
    if least and _numbers(there) < _numbers(least):
        yield Problem("error", f"{name} is {there}; Hermes needs {least} or newer", remedy)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:4])


def terminal(patient: Patient) -> Iterator[Problem]:
    """Can every character be shown?"""
    here = patient.terminal
    if here.encoding.lower() not in _UTF8:
        text = (
            f"output is encoded as {here.encoding}; characters it does not have are shown as escapes or fail"
        )
        yield Problem("warning", text, "set PYTHONUTF8=1, or a UTF-8 locale such as LC_ALL=C.UTF-8")
    elif here.locale_encoding.lower() not in _UTF8:
        text = f"the locale's encoding is {here.locale_encoding}; other programs may not show every character"
        yield Problem("info", text)
