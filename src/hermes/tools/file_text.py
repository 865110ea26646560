"""A text file as it stands on disk, so that a change leaves alone everything it does not mean to change.

Marks, encoding, line ends and bytes that are no text are kept; lines are seen with `\\n` alone.
"""

from __future__ import annotations

import contextlib
import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hermes.errors import FileRefused
from hermes.files import read_file, replace_file
from hermes.frozen import frozen
from hermes.one_writer import Busy, only_writer, state_of
from hermes.provenance import digest_of
from hermes.text import BOMS
from hermes.tooling import ToolError

MAX_BYTES = 64 * 1024 * 1024
_ERRORS = {"utf-8": "surrogateescape"}  # elsewhere a bad byte has no place to stay in
_FOREIGN = re.compile("[\udc80-\udcff]")
_ENDS = re.compile("\r\n|\r|\n")


@frozen
class FileText:
    """The text of a file. `raw` has its own line ends; bytes that are no UTF-8 stand in it as surrogates.

    `digest` is that of its bytes, "" for a file that is not there.
    """

    path: str
    raw: str
    encoding: str = "utf-8"
    bom: bytes = b""
    exists: bool = True
    digest: str = ""

    @property
    def text(self) -> str:
        """The text with `\\n` line ends; what is not text shows as U+FFFD, as `read_file` shows it."""
        return _shown(_ENDS.sub("\n", self.raw))

    @property
    def has_foreign_bytes(self) -> bool:
        """Whether some of it is not valid UTF-8."""
        return _FOREIGN.search(self.raw) is not None

    @property
    def newline(self) -> str:
        """The line end that a new line gets: the one the file has most."""
        crlf = self.raw.count("\r\n")
        counts = {"\n": self.raw.count("\n") - crlf, "\r\n": crlf, "\r": self.raw.count("\r") - crlf}
        return max(counts, key=lambda end: counts[end])

    def replaced(self, changes: Sequence[tuple[int, int, str]]) -> str:
        """The raw text with parts of `text` replaced; each is a start, an end and a text with `\\n`.

        All else stays byte for byte, whatever line ends it has.
        """
        ends = [m for m in _ENDS.finditer(self.raw) if len(m[0]) == 2]
        # A pair of characters counts as one in `text`: each one before a place moves it by one.
        pairs = [m.start() - i for i, m in enumerate(ends)]
        parts, at = [], 0
        for start, end, new in changes:
            first, last = (n + bisect_left(pairs, n) for n in (start, end))
            here = _ENDS.search(self.raw, first, last)
            parts += [self.raw[at:first], new.replace("\n", here[0] if here else self.newline)]
            at = last
        return "".join([*parts, self.raw[at:]])

    def save(self, raw: str) -> bytes:
        """Write the file with another text, whole or not at all; its bytes.

        ToolError when that cannot be done, or somebody changed the file since it was loaded.
        """
        try:
            data = self.bom + raw.encode(self.encoding, _ERRORS.get(self.encoding, "strict"))
            folder = os.path.dirname(os.path.realpath(self.path))
            if state_of(self.path, MAX_BYTES) != self.digest:
                raise ToolError(changed_meanwhile(self.path))
            replace_file(self.path, data, mode=_usual_mode(folder) if not self.exists else 0o600)
        except (OSError, ValueError) as error:
            raise ToolError(f"{self.path} cannot be written: {_why(error)}") from None
        return data


@contextmanager
def only_writer_of(path: str) -> Iterator[None]:
    """Be the only one of all Hermes processes who changes a file; its folder is made. ToolError."""
    folder = os.path.dirname(os.path.realpath(path))
    try:
        os.makedirs(folder, exist_ok=True)
        with only_writer(folder):
            yield
    except Busy:
        raise ToolError(
            f"{path} is being changed by another process; nothing was written, try again"
        ) from None
    except OSError as error:
        raise ToolError(f"{path} cannot be written: {_why(error)}") from None


def changed_meanwhile(path: str) -> str:
    """What is told about a file that is no longer what a change was made from."""
    return (
        f"{path} was changed by somebody else since you saw it, so nothing was written. Read it again and "
        "make your change to what stands there now; patch changes a passage and leaves all else as it is"
    )


def load(path: str) -> FileText:
    """The file as it is now; an empty text for one that is missing. ToolError for what is no text file."""
    try:
        data = read_file(path, max_bytes=MAX_BYTES).data
    except FileRefused as error:
        if error.verdict == "missing":
            return FileText(path, "", exists=False)
        raise ToolError(f"{path} cannot be changed: {error}") from None
    bom, encoding = next(((b, e) for b, e in BOMS if data.startswith(b)), (b"", "utf-8"))
    if encoding == "utf-8" and b"\0" in data:
        raise ToolError(f"{path} cannot be changed: it is binary")
    try:
        raw = data[len(bom) :].decode(encoding, _ERRORS.get(encoding, "strict"))
    except UnicodeDecodeError:
        raise ToolError(f"{path} cannot be changed: it is not valid {encoding.upper()}") from None
    return FileText(path, raw, encoding, bom, digest=digest_of(data))


def _shown(raw: str) -> str:
    return raw if raw.isascii() else _FOREIGN.sub("\ufffd", raw)


def _usual_mode(folder: str) -> int:
    """The mode that a new file gets here, as the system would give it."""
    probe = os.path.join(folder, f".hermes-{os.getpid()}-{os.urandom(4).hex()}.tmp")
    fd = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        return os.fstat(fd).st_mode & 0o777
    finally:
        os.close(fd)
        with contextlib.suppress(OSError):
            os.unlink(probe)


def _why(error: OSError | ValueError) -> str:
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
