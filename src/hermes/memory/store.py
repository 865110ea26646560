"""One memory on the disk: read, changed under a lock, replaced whole, never losing what others wrote."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from hermes.errors import FileRefused, MemoryRefused, UnknownMemory
from hermes.files import read_file, read_regular, replace_file, sync_directory
from hermes.frozen import frozen
from hermes.memory.archive import NAME, Record, last_change, read_records, write_records
from hermes.memory.entries import is_separated, parse, render, tidy
from hermes.memory.lock import Lock, locked, primitive
from hermes.memory.operations import Operation, Outcome, Plan, View, carry_out, merged
from hermes.memory.refusals import stopped, why_not
from hermes.memory.scope import MemoryFile, left_over
from hermes.memory.swap import make_ready, swap
from hermes.paths import Home
from hermes.provenance import Notice, Origin, digest_of
from hermes.security.policy import Policy
from hermes.text import decode, many

KEPT = "kept"
_SETTLING, _LONGEST = 0.02, 1.0  # seconds; an editor that writes in place empties the file first
_SHORT = 16


def _now() -> datetime:
    return datetime.now().astimezone()


@frozen
class Report:
    """What became of operations, and the memory after them."""

    outcomes: tuple[Outcome, ...]
    view: View
    notices: tuple[Notice, ...] = ()


class _Loaded(NamedTuple):
    """A file as it was read: its bytes, its entries, and why a copy of it is to be kept before a write."""

    data: bytes
    entries: list[str]
    keep: str = ""


class MemoryStore:
    """The memory of one file of a home. `policy` is the gate's for what is written.

    Many processes may have one each. `lock` is for a system whose locks are not the usual ones.
    """

    def __init__(
        self,
        home: Home,
        file: MemoryFile,
        policy: Policy,
        *,
        clock: Callable[[], datetime] = _now,
        lock: Lock | None = None,
    ) -> None:
        self.home = home
        self.file = file
        self.policy = policy
        self.clock = clock
        self.folder = home.path("memories", *file.folder)
        self.path = file.path(home)
        self._lock = lock

    @property
    def log(self) -> str:
        """Where every change is on record."""
        return os.path.join(self.folder, NAME)

    # -- read ---------------------------------------------------------------------------------------------

    def view(self) -> View:
        """The memory as it is on the disk now. MemoryRefused when it cannot be read."""
        return View(tuple(self._load(self._place()).entries), self.file.limit)

    def records(self) -> list[Record]:
        """Every change on record, oldest first. MemoryRefused when the log cannot be read."""
        try:
            return read_records(self.folder, self.file.name)
        except FileRefused as error:
            raise MemoryRefused(f"the log in {self.folder} cannot be read: {error}") from None

    # -- write --------------------------------------------------------------------------------------------

    def apply(
        self, operations: Sequence[Operation], *, by: str = "tool", session: str = "", undoes: str = ""
    ) -> Report:
        """Do operations to the memory as it is on the disk. MemoryRefused when it cannot be written.

        When this returns, what was done lasts.
        """
        judge = lru_cache(maxsize=None)(lambda text: stopped(text, self.policy))
        for text in map(tidy, (o.text for o in operations)):
            if not why_not(text, self.file.limit):
                judge(text)  # before others have to wait for it
        make_ready()
        with self._refusing(), self._held():
            notices = [*self._recover(), *self._move()]
            loaded = self._load(self.path, patient=True)
            plan = carry_out(loaded.entries, operations, self.file.limit, judge)
            entries, changed = plan.entries, any(o.changed for o in plan.outcomes)
            if changed:
                if loaded.keep:
                    notices.append(self._keep(loaded.data, loaded.keep))
                data = _encoded(entries)
                self._note(plan, loaded.data, data, by, session, undoes)
                entries, more = self._put(plan, data, loaded)
                notices += more
        if changed:
            with self._refusing():  # the next writer need not wait for this
                sync_directory(os.path.dirname(os.path.realpath(self.path)))
        return Report(plan.outcomes, View(entries, self.file.limit), tuple(notices))

    def undo(self, *, by: str = "person") -> Report:
        """Take back the last change that still stands. MemoryRefused when there is none."""
        records = last_change(self.records())
        if not records:
            raise MemoryRefused(f"there is no change of {self.file.name} to take back")
        back = [_reverse(r) for r in reversed(records)]
        return self.apply(back, by=by, undoes=records[0].change)

    def restore(self, name: str, *, by: str = "person") -> Report:
        """Bring back a removed or replaced text by the id it had. UnknownMemory when there is none."""
        wanted = name.strip().strip("[]").lower()
        for record in reversed(self.records()):
            if record.old and wanted and digest_of(record.old).startswith(wanted) and len(wanted) >= 4:
                return self.apply([Operation("add", record.old, at=record.at, returning=True)], by=by)
        raise UnknownMemory(f"no removed or replaced entry has the id {name}; see: hermes memory log")

    def recover(self) -> tuple[Notice, ...]:
        """Clear away what a killed writer left. MemoryRefused when that cannot be done."""
        if not os.path.lexists(left_over(self.path)):
            return ()
        with self._refusing(), self._held():
            return tuple(self._recover())

    # -- parts of a write ---------------------------------------------------------------------------------

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Be the only writer."""
        self._lock = self._lock or primitive()
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        with locked(self.folder, self._lock):
            yield

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """What the disk refuses is told as this memory's refusal."""
        try:
            yield
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            text = f"{self.path} cannot be written ({reason}); hermes memory list shows what stands"
            raise MemoryRefused(text) from None

    def _place(self) -> str:
        """The file, or the one at the top of the home where older homes keep it."""
        legacy = self.home.path(self.file.name)
        if not self.file.folder and not os.path.lexists(self.path) and os.path.isfile(legacy):
            return legacy
        return self.path

    def _move(self) -> Iterator[Notice]:
        """Bring a file from its old place."""
        legacy = self._place()
        if legacy != self.path:
            os.rename(legacy, self.path)
            yield Notice("info", f"{legacy} was moved to {self.path}", Origin("memory", self.path))

    def _load(self, path: str, *, patient: bool = False) -> _Loaded:
        try:
            data = read_file(path).data
            if not data and patient:
                data = _settled(path, b"\n")
            decoded = decode(data)
        except FileRefused as error:
            if error.verdict == "missing":
                return _Loaded(b"", [])
            raise MemoryRefused(
                f"{path} cannot be read: {error}; nothing was changed, mend it first"
            ) from None
        entries = parse(decoded.text)
        keep = f"is {decoded.problem}" if decoded.problem else ""
        if not keep and len(entries) > 1 and not is_separated(decoded.text):
            keep = f"was written without separators and became {many(len(entries), 'entry', 'entries')}"
        return _Loaded(data, entries, keep)

    def _keep(self, data: bytes, why: str) -> Notice:
        """Keep a copy of bytes, once, under a name made of them."""
        folder = os.path.join(self.folder, KEPT)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        stem, ending = os.path.splitext(self.file.name)
        path = os.path.join(folder, f"{stem}-{digest_of(data)[:12]}{ending}")
        if not os.path.exists(path):
            replace_file(path, data)
        return Notice("warning", f"{self.file.name} {why}; it is kept as {path}", Origin("memory", self.path))

    def _note(self, plan: Plan, before: bytes, after: bytes, by: str, session: str, undoes: str) -> None:
        change, moment = uuid.uuid4().hex[:8], self.clock().isoformat(timespec="seconds")
        digests = digest_of(before)[:_SHORT], digest_of(after)[:_SHORT]
        write_records(
            self.folder,
            (
                Record(
                    change, moment, self.file.name, o.operation.action, o.id, o.old, o.new, o.at, by, session,
                    *digests, undoes,
                )
                for o in plan.outcomes
                if o.changed
            ),
        )  # fmt: skip

    def _put(self, plan: Plan, data: bytes, loaded: _Loaded) -> tuple[tuple[str, ...], list[Notice]]:
        """Replace the file; when somebody else wrote it meanwhile, what they changed is taken in."""
        target, new = os.path.realpath(self.path), left_over(self.path)
        base, base_entries, entries = loaded.data, tuple(loaded.entries), plan.entries
        notices: list[Notice] = []
        while True:
            there = _bytes(target)
            if there is None or there == base:
                _write(new, data, _mode(target))
                if not swap(new, target) or _bytes(new) == base:
                    break
                swap(new, target)  # another program was quicker: its file goes back before anyone reads ours
                if _bytes(new) != data and swap(new, target):
                    notices.append(self._keep(_bytes(new) or b"", "was replaced twice in one moment"))
            there = _settled(target, base)
            theirs, notice = self._theirs(there, base_entries)
            notices.append(notice)
            entries = merged(base_entries, entries, theirs)
            base, base_entries, data = there, theirs, _encoded(entries)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)
        return entries, notices

    def _theirs(self, data: bytes, known: tuple[str, ...]) -> tuple[tuple[str, ...], Notice]:
        """The entries that somebody else has just written, or those known where it cannot be read."""
        try:
            found = tuple(parse(decode(data).text))
        except FileRefused as error:
            return known, self._keep(data, f"was replaced meanwhile by something else ({error})")
        text = f"{self.file.name} was changed by another program in the same moment; both changes stand"
        return found, Notice("info", text, Origin("memory", self.path))

    def _recover(self) -> Iterator[Notice]:
        """Clear away the file of a killed writer; what is in it and nowhere else is kept."""
        left = left_over(self.path)
        data = _bytes(left)
        if data is None:
            return
        known = set(self._load(self._place()).entries)
        for record in self.records():
            known |= {record.old, record.new}
        try:
            parts = parse(decode(data).text)
        except FileRefused:
            parts = []
        if any(part not in known and not _begins(part, known) for part in parts):
            yield self._keep(data, "was found in a file that a killed writer left")
        os.unlink(left)


def _reverse(record: Record) -> Operation:
    if not record.old:
        return Operation("remove", entry=record.new, returning=True)
    if not record.new:
        return Operation("add", record.old, at=record.at, returning=True)
    return Operation("replace", record.old, record.new, returning=True)


def _encoded(entries: Iterable[str]) -> bytes:
    return render(tuple(entries)).encode("utf-8", "surrogatepass")


def _begins(part: str, known: set[str]) -> bool:
    """Whether a text is the beginning of a known one, as a writer leaves it that was killed."""
    begun = part.rstrip("\ufffd\\§ \n")
    return any(text.startswith(begun) for text in known)


def _bytes(path: str) -> bytes | None:
    """The bytes of a file, None when there is none."""
    try:
        return read_regular(path)[0]
    except FileRefused as error:
        if error.verdict == "missing":
            return None
        raise MemoryRefused(f"{path} cannot be read: {error}; nothing was changed") from None


def _settled(path: str, expected: bytes) -> bytes:
    """What a file holds; where it is not what was expected, once its writer has come to an end.

    Who writes in place empties the file first: an empty one is given a second.
    """
    found, until = _bytes(path) or b"", time.monotonic() + _LONGEST
    while found != expected:
        time.sleep(_SETTLING)
        again = _bytes(path) or b""
        if again == found and (found or time.monotonic() > until):
            break
        found = again
    return found


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        return 0o600


def _write(path: str, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    fd = os.open(path, flags, mode)
    try:
        at = 0
        while at < len(data):
            at += os.write(fd, data[at:])
        os.fsync(fd)
    finally:
        os.close(fd)
