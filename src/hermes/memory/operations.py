"""What is done to the entries of a memory, as values: nothing here touches a disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from hermes.frozen import frozen
from hermes.memory.entries import ids, size, tidy
from hermes.memory.refusals import shrinks_too_much, why_not
from hermes.memory.words import find, said_already
from hermes.text import many

Action = Literal["add", "replace", "remove"]
Judge = Callable[[str], str]
"""Says why a text must stay out, "" when it may come in."""

_SHOWN = 160


@frozen
class Operation:
    """One change. `entry` names the entry it is about, by id or text; `text` is what is to stand there.

    `at` is the place where an added entry is put, -1 for the end. `returning`: it takes back a change, so
    only exact texts count and what stood there once may stand there again.
    """

    action: Action
    text: str = ""
    entry: str = ""
    at: int = -1
    returning: bool = False


@frozen
class Outcome:
    """What became of an operation. `old` and `new` are the texts before and after; `why` it was not done."""

    operation: Operation
    id: str = ""
    old: str = ""
    new: str = ""
    at: int = -1
    why: str = ""

    @property
    def done(self) -> bool:
        return not self.why

    @property
    def changed(self) -> bool:
        return self.done and self.old != self.new


@frozen
class View:
    """The entries of a memory at one moment, with their ids; `limit` in characters."""

    entries: tuple[str, ...]
    limit: int

    @property
    def ids(self) -> list[str]:
        return ids(self.entries)

    @property
    def size(self) -> int:
        return size(self.entries)

    @property
    def free(self) -> int:
        return max(self.limit - self.size, 0)

    @property
    def percent(self) -> int:
        return 100 * self.size // self.limit

    @property
    def usage(self) -> str:
        """How much is used, for people and models."""
        number = many(len(self.entries), "entry", "entries")
        return f"{number}, {self.size:,} of {self.limit:,} characters ({self.percent} %), {self.free:,} free"


@frozen
class Plan:
    """The entries after operations, and what became of each of these."""

    entries: tuple[str, ...]
    outcomes: tuple[Outcome, ...]


def carry_out(entries: Sequence[str], operations: Sequence[Operation], limit: int, judge: Judge) -> Plan:
    """Do the operations in their order, each for itself; the limit counts for what stands at the end.

    Where that is too much, the last one that made it grow is left undone. A memory that is over its limit
    may become smaller.
    """
    most = max(limit, size(entries))
    without: set[int] = set()
    while True:
        state = list(entries)
        outcomes = [
            Outcome(op, why=_no_room(op, entries, limit)) if i in without else _one(state, op, limit, judge)
            for i, op in enumerate(operations)
        ]
        growing = [i for i, o in enumerate(outcomes) if o.done and len(o.new) > len(o.old)]
        if size(state) <= most or not growing:
            return Plan(tuple(state), tuple(outcomes))
        without.add(growing[-1])


def merged(base: Iterable[str], ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    """What stands after two have changed the same entries without knowing of each other."""
    before, there, here = set(base), set(theirs), set(ours)
    kept = (e for e in ours if e in there or e not in before)
    return (*kept, *(e for e in theirs if e not in before and e not in here))


def _one(state: list[str], op: Operation, limit: int, judge: Judge) -> Outcome:
    text = op.text if op.returning else tidy(op.text)
    if op.action == "add":
        return _add(state, op, text, _Gate(limit, judge))
    found = [i for i, e in enumerate(state) if e == op.entry] if op.returning else find(state, op.entry)
    if len(found) != 1:
        return Outcome(op, why=_unclear(state, op, found))
    at, old = found[0], state[found[0]]
    name = ids(state)[at]
    if op.action == "remove":
        del state[at]
        return Outcome(op, name, old, "", at)
    if text == old:
        return Outcome(op, name, old, old, at)
    if why := _Gate(limit, judge).refuses(op, text, [e for e in state if e != old], old):
        return Outcome(op, name, why=why)
    state[at] = text
    return Outcome(op, ids(state)[at], old, text, at)


def _add(state: list[str], op: Operation, text: str, gate: _Gate) -> Outcome:
    if text in state:
        at = state.index(text)
        return Outcome(op, ids(state)[at], text, text, at)
    if why := gate.refuses(op, text, state):
        return Outcome(op, why=why)
    at = min(op.at, len(state)) if op.at >= 0 else len(state)
    state.insert(at, text)
    return Outcome(op, ids(state)[at], "", text, at)


class _Gate(NamedTuple):
    """What a new text must pass."""

    limit: int
    judge: Judge

    def refuses(self, op: Operation, text: str, others: list[str], old: str = "") -> str:
        """Why a text may not stand among the others in place of `old`."""
        if text in others:
            return f"[{ids(others)[others.index(text)]}] says just that"
        if op.returning:
            return self.judge(text)
        if why := why_not(text, self.limit) or self.judge(text) or _repeats(others, text):
            return why
        if shrinks_too_much(old, text):
            return (
                f"it would cut the entry from {len(old):,} to {len(text):,} characters; "
                "if that is meant, remove it and add the short one"
            )
        return ""


def _unclear(state: list[str], op: Operation, found: list[int]) -> str:
    if not op.entry.strip():
        return "say which entry, by its id or its text"
    if not found:
        return f"no entry is or holds {_short(op.entry)!r}"
    names = ids(state)
    listed = "; ".join(f"[{names[i]}] {_short(state[i])}" for i in found)
    return f"{_short(op.entry)!r} fits {len(found)} entries, name one by its id: {listed}"


def _repeats(entries: Sequence[str], text: str) -> str:
    same = said_already(entries, text)
    if same is None:
        return ""
    told = f"[{ids(entries)[same]}] says it already: {_short(entries[same])!r}"
    return f"{told}; replace that one if this is better"


def _no_room(op: Operation, entries: Sequence[str], limit: int) -> str:
    free = limit - size(entries)
    told = f"{free:,} characters are free" if free >= 0 else f"it is {-free:,} over"
    wanted = len(tidy(op.text))
    return (
        f"there is no room: {wanted:,} characters are wanted, {told} of {limit:,}; "
        "remove or shorten others in the same call"
    )


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else f"{flat[: _SHOWN - 1]}…"
