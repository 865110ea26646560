"""Getting skills from a folder, an archive or a repository into files in memory: bounded, no links."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import tempfile
import zlib
from dataclasses import dataclass, field

from hermes.errors import FileRefused, SkillError, UnknownSkill
from hermes.files import is_inside, read_file

MAX_FILES = 2_000
MAX_FOLDERS = 20_000
MAX_BYTES = 32 * 1024 * 1024
"""The most that is taken from one source, unpacked."""

_GIT = re.compile(r"(https|ssh|git|file)://|[\w.-]+@[\w.-]+:")
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_LEFT_OUT = frozenset((".git", ".hg", ".svn", "__pycache__", "node_modules", ".DS_Store", "__MACOSX"))
_GIT_SECONDS = 180
_BROKEN = (EOFError, ValueError, zlib.error)


@dataclass(slots=True)
class Fetched:
    """The files of a source by their paths. `programs` are those marked to be run.

    `links` are what is no file: links and devices. They are not followed, and what has one in it is no skill.
    """

    source: str
    files: dict[str, bytes] = field(default_factory=dict)
    programs: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    size: int = 0
    _names: set[str] = field(default_factory=set)  # as a file system has them that does not tell A from a

    def add(self, name: str, data: bytes, program: bool) -> None:
        """Take in a file. SkillError when its path is not plain, it is there already, or all is too much."""
        parts = name.split("/")
        bad = "\\" in name or ":" in name or "\0" in name or any(p in ("", ".", "..") for p in parts)
        if bad or not name.isprintable():
            raise SkillError(
                f"{self.source} was refused: the path {name[:120]!a} leads out of it or is not plain"
            )
        if name.lower() in self._names:
            raise SkillError(f"{self.source} was refused: it holds {name} twice")
        self.size += len(data)
        if len(self.files) >= MAX_FILES or self.size > MAX_BYTES:
            raise SkillError(f"{self.source} was refused: {_too_much()}")
        self.files[name] = data
        self._names.add(name.lower())
        if program:
            self.programs.add(name)


def _too_much() -> str:
    return f"it has more than {MAX_FILES:,} files or {MAX_BYTES // 2**20} MB unpacked"


def fetch(source: str) -> Fetched:
    """The files of a .zip or .tar.* archive; of a folder or a git repository those in folders of skills.

    SkillError when the source is refused.
    """
    if _GIT.match(source):
        return _from_git(source)
    path = os.path.abspath(os.path.expanduser(source))
    if os.path.isdir(path):
        return _from_folder(path, Fetched(path))
    if not os.path.exists(path):
        raise UnknownSkill(
            f"there is no {source}; give a folder, an archive ({', '.join(_ARCHIVES[:3])} …) or the URL of a "
            "git repository (https://…, ssh://…, git@…, file://…)"
        )
    if not path.lower().endswith(_ARCHIVES):
        raise SkillError(f"{source} is neither a folder nor an archive ({', '.join(_ARCHIVES)})")
    try:
        return _from_zip(path) if path.lower().endswith(".zip") else _from_tar(path)
    except OSError as error:
        raise SkillError(f"{source} cannot be read: {error.strerror or error}") from None


def _from_folder(path: str, found: Fetched) -> Fetched:
    def stop(error: OSError) -> None:
        raise SkillError(f"{error.filename} cannot be read: {(error.strerror or str(error)).lower()}")

    skills: list[str] = []
    for count, (at, folders, names) in enumerate(os.walk(path, onerror=stop)):
        if count > MAX_FOLDERS:
            raise SkillError(f"{found.source} has more than {MAX_FOLDERS:,} folders; name that of a skill")
        folders[:] = sorted(f for f in folders if f not in _LEFT_OUT)
        if not any(is_inside(at, skill) for skill in skills):
            if not any(name.lower() == "skill.md" for name in names):
                continue
            skills.append(at)
        for name in [*folders, *sorted(names)]:
            full = os.path.join(at, name)
            shown = os.path.relpath(full, path).replace(os.sep, "/")
            if os.path.islink(full):
                found.links.append(shown)
            elif name not in folders and name not in _LEFT_OUT:
                _take(full, shown, found)
    return found


def _take(path: str, shown: str, found: Fetched) -> None:
    try:
        data = read_file(path, max_bytes=MAX_BYTES).data
        program = bool(os.stat(path).st_mode & stat.S_IXUSR)
    except (FileRefused, OSError) as error:
        raise SkillError(f"{found.source} was refused: {shown}: {error}") from None
    found.add(shown, data, program)


def _from_zip(path: str) -> Fetched:
    import zipfile

    found = Fetched(path)
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                mode = entry.external_attr >> 16
                if stat.S_ISLNK(mode):
                    found.links.append(entry.filename)
                    continue
                if entry.is_dir() or _left_out(entry.filename):
                    continue
                with archive.open(entry) as file:
                    data = file.read(MAX_BYTES + 1 - found.size)  # whatever size it claims to have
                found.add(entry.filename, data, bool(mode & stat.S_IXUSR))
    except (*_BROKEN, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise SkillError(f"{path} cannot be read as a .zip: {error}") from None
    return found


def _from_tar(path: str) -> Fetched:
    import lzma
    import tarfile

    found = Fetched(path)
    try:
        with tarfile.open(path) as archive:
            for count, entry in enumerate(archive):
                if count > 4 * MAX_FILES:
                    raise SkillError(f"{path} was refused: {_too_much()}")
                if entry.isdir() or _left_out(entry.name):
                    continue
                if not entry.isreg():
                    found.links.append(entry.name.removeprefix("./"))
                    continue
                if entry.size > MAX_BYTES - found.size:
                    raise SkillError(f"{path} was refused: {_too_much()}")
                file = archive.extractfile(entry)
                data = file.read(MAX_BYTES + 1 - found.size) if file else b""
                found.add(entry.name.removeprefix("./"), data, bool(entry.mode & stat.S_IXUSR))
    except (*_BROKEN, tarfile.TarError, lzma.LZMAError) as error:
        raise SkillError(f"{path} cannot be read as an archive: {error}") from None
    return found


def _left_out(name: str) -> bool:
    return not _LEFT_OUT.isdisjoint(name.split("/"))


def _from_git(url: str) -> Fetched:
    """A repository's newest state. Nothing in it is run: no hooks, no filters, no submodules."""
    with tempfile.TemporaryDirectory(prefix="hermes-skills-") as folder:
        # A session of its own has no terminal to ask for a password at.
        options = ["core.hooksPath=/dev/null", "core.sshCommand=ssh -oBatchMode=yes", "core.askPass="]
        options += ["protocol.ext.allow=never", "filter.lfs.smudge=", "filter.lfs.required=false"]
        command = ["git", *(word for option in options for word in ("-c", option))]
        command += ["clone", "--quiet", "--depth", "1", "--no-tags", "--template=", "--", url, folder]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_GIT_SECONDS,
                check=False,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise SkillError(
                "there is no git on this machine; download an archive and install that"
            ) from None
        except subprocess.TimeoutExpired:
            raise SkillError(f"git gave no answer from {url} in {_GIT_SECONDS} s") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
            raise SkillError(f"git could not fetch {url}: {said[-1]}")
        return _from_folder(folder, Fetched(url))
