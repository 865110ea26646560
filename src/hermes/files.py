"""Reading and replacing files without surprises.

Only regular files are read, of bounded size, never through a link that leaves its root; a pipe or a
device is refused before it can block. Every refusal is a `FileRefused` with a verdict and a reason.
"""

from __future__ import annotations

import contextlib
import os
import stat as stat_of
from typing import NamedTuple

from hermes.errors import FileRefused

MAX_BYTES = 4 * 1024 * 1024
"""The largest file that is read for a prompt."""

# O_NONBLOCK: should a path turn into a pipe between stat and open, the open still returns.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
_KINDS = {
    stat_of.S_IFDIR: "a directory",
    stat_of.S_IFIFO: "a pipe",
    stat_of.S_IFCHR: "a device",
    stat_of.S_IFBLK: "a device",
    stat_of.S_IFSOCK: "a socket",
}


class Contents(NamedTuple):
    """The bytes of a file; `torn` says that it changed while being read.

    `real_path` is free of links where the file had to lie inside a directory.
    """

    data: bytes
    real_path: str
    torn: bool = False


def read_file(
    path: str, *, inside: str | None = None, folder: str = "", max_bytes: int = MAX_BYTES
) -> Contents:
    """The bytes of a regular file.

    `inside` is the real path of a directory that links must not leave; `folder` the real path of the one
    the file is in, from a caller that has just resolved it. Raises `FileRefused` with the verdict `missing`,
    `outside project`, `too large` or `unreadable`.
    """
    real = path if inside is None else _inside(path, inside, folder)
    data, torn = read_regular(real, max_bytes)
    if torn:  # someone wrote meanwhile: one more try sees the finished file in nearly every case
        data, torn = read_regular(real, max_bytes)
    return Contents(data, real, torn)


def _inside(path: str, inside: str, folder: str) -> str:
    """The real path of a file, which lies inside a directory."""
    try:
        real = os.path.join(folder, os.path.basename(path)) if folder else path
        if not folder or os.path.islink(real):
            real = os.path.realpath(path, strict=True)
    except OSError as error:
        raise _refused(error, path) from None
    except ValueError as error:
        raise _bad_path(error) from None
    if not is_inside(real, inside):
        raise FileRefused("outside project", f"it is a link to {real}, outside {inside}")
    return real


def read_regular(path: str, max_bytes: int = MAX_BYTES) -> tuple[bytes, bool]:
    """The bytes of a regular file, and whether it changed while being read.

    For a caller that has judged links itself and reads many files: no path is resolved. Raises `FileRefused`
    like `read_file`.
    """
    try:
        _check(os.stat(path), max_bytes)
        fd = os.open(path, _FLAGS)
    except OSError as error:
        raise _refused(error, path) from None
    except ValueError as error:
        raise _bad_path(error) from None
    try:
        before = os.fstat(fd)
        _check(before, max_bytes)
        data = _read_all(fd, before.st_size, max_bytes)
        after = os.fstat(fd)
    except OSError as error:
        raise _refused(error, path) from None
    finally:
        os.close(fd)
    torn = (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size) or len(
        data
    ) != after.st_size
    return data, torn


def read_seen(path: str, seen: os.stat_result) -> bytes | None:
    """The bytes of a file of which `stat` has just said this, with the least calls that can be.

    None when it is no regular file of bearable size, cannot be read, or is no longer what it was:
    `read_regular` tells why.
    """
    if not stat_of.S_ISREG(seen.st_mode) or seen.st_size > MAX_BYTES:
        return None
    try:
        fd = os.open(path, _FLAGS)
        try:
            data = os.read(fd, seen.st_size + 1)
            now = os.fstat(fd)
        finally:
            os.close(fd)
    except OSError:
        return None
    unchanged = now.st_mtime_ns == seen.st_mtime_ns and now.st_ino == seen.st_ino
    return data if unchanged and len(data) == now.st_size == seen.st_size else None


def _read_all(fd: int, expected: int, max_bytes: int) -> bytes:
    data = os.read(fd, expected + 1)
    if len(data) == expected:
        return data
    chunks = [data]
    size = len(data)
    while chunk := os.read(fd, 65536):
        chunks.append(chunk)
        size += len(chunk)
        if size > max_bytes:
            raise _too_large(size, max_bytes)
    return b"".join(chunks)


def _check(status: os.stat_result, max_bytes: int) -> None:
    if not stat_of.S_ISREG(status.st_mode):
        what = _KINDS.get(stat_of.S_IFMT(status.st_mode), "not a regular file")
        raise FileRefused("unreadable", f"it is {what}, not a regular file")
    if status.st_size > max_bytes:
        raise _too_large(status.st_size, max_bytes)


def _too_large(size: int, max_bytes: int) -> FileRefused:
    return FileRefused("too large", f"{size:,} bytes; at most {max_bytes:,} are read")


def _bad_path(error: ValueError) -> FileRefused:
    return FileRefused("unreadable", f"bad path: {error}")


def _refused(error: OSError, path: str) -> FileRefused:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return FileRefused("missing", f"no such file: {path}")
    return FileRefused("unreadable", (error.strerror or str(error)).lower())


def is_inside(real: str, root: str) -> bool:
    """Whether one real path is another or lies below it."""
    return real == root or real.startswith(root if root.endswith(os.sep) else root + os.sep)


def only_ours(path: str) -> bool:
    """Whether it is a regular file that nobody but this user can have written. Raises OSError."""
    status = os.lstat(path)
    if not stat_of.S_ISREG(status.st_mode):
        return False
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o077)


def list_directory(path: str) -> tuple[str, ...]:
    """The names in a directory, sorted; empty when it is missing. FileRefused when it cannot be listed."""
    try:
        return tuple(sorted(os.listdir(path)))
    except OSError as error:
        refused = _refused(error, path)
        if refused.verdict == "missing":
            return ()
        raise refused from None


def replace_file(path: str, data: bytes, *, mode: int = 0o600, lasting: bool = True) -> None:
    """Write a file whole or not at all: temporary file beside it, synced, renamed, directory synced.

    An existing file keeps its mode; a link is followed, so that a linked file stays linked. What can be made
    again and proves itself when read need not be `lasting`: a power cut may spoil it. Raises OSError.
    """
    import tempfile  # it brings in a good deal, and most runs write nothing

    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    with contextlib.suppress(FileNotFoundError):
        mode = stat_of.S_IMODE(os.stat(target).st_mode)
    fd, temporary = tempfile.mkstemp(dir=folder, prefix=".hermes-", suffix=".tmp")
    try:
        with os.fdopen(fd, "wb") as out:
            out.write(data)
            out.flush()
            if lasting:
                os.fsync(out.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    finally:
        with contextlib.suppress(OSError):  # once renamed, nothing bears that name
            os.unlink(temporary)
    if lasting:
        sync_directory(folder)


def sync_directory(folder: str) -> None:
    """Make lasting what was renamed in a directory. Raises OSError."""
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
