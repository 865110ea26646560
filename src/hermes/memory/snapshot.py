"""The memory of the home as a prompt shows it: read once, frozen with the prompt."""

from __future__ import annotations

import os
from functools import lru_cache

from hermes.errors import FileRefused
from hermes.files import read_file
from hermes.memory.entries import is_separated, size, split_entries, split_paragraphs
from hermes.memory.scope import MemoryFile
from hermes.paths import Home
from hermes.provenance import Decision, Notice, Origin, Passage, Verdict, digest_of
from hermes.security.gate import admit
from hermes.security.policy import Policy
from hermes.text import HEAD_PERCENT, TAIL_PERCENT, cut, decode

_LIST_OR_HEADING = ("- ", "* ", "+ ", "#", "|", ">", "```")


def snapshot(home: Home, memory: MemoryFile, policy: Policy) -> Passage:
    """The section of one memory, or an empty passage with the reasons; never raises."""
    path, notes = _locate(home, memory)
    try:
        contents = read_file(path)
        decoded = decode(contents.data)
    except FileRefused as error:
        if error.verdict == "missing" and not os.path.islink(path):
            return Passage("", (), notes)
        verdict: Verdict = "unreadable" if error.verdict == "missing" else error.verdict
        notice = Notice("warning", f"{memory.name} was not loaded: {error}", Origin("memory", path))
        return Passage("", (), (*notes, notice), (Decision(path, "memory", verdict, str(error)),))
    origin = Origin("memory", path, digest_of(contents.data), trust="owner")
    if decoded.problem:
        notes = (*notes, Notice("warning", f"{memory.name} is {decoded.problem}", origin))
    if contents.torn:
        notes = (*notes, Notice("warning", f"{memory.name} changed while it was read", origin))
    section = _rendered(decoded.text, decoded.transforms, origin, memory, policy)
    return section.with_notes(notes) if notes else section


@lru_cache(maxsize=32)
def _rendered(
    text: str, transforms: tuple[str, ...], origin: Origin, memory: MemoryFile, policy: Policy
) -> Passage:
    """The section of a text; every session of a process that finds the same text there shares it."""
    return _render(Passage.quote(text, origin, transforms), memory, policy)


def _locate(home: Home, memory: MemoryFile) -> tuple[str, tuple[Notice, ...]]:
    """The file in `memories/`, or the one at the top of the home where older homes keep it."""
    path, legacy = home.path("memories", *memory.folder, memory.name), home.path(memory.name)
    if memory.folder or not os.path.isfile(legacy):
        return path, ()
    if os.path.lexists(path):
        text = f"{legacy} is not read: {path} stands before it; merge what you still want and remove it"
        return path, (Notice("warning", text, Origin("memory", legacy)),)
    text = f"{memory.name} was read from its old place {legacy}"
    return legacy, (Notice("info", text, Origin("memory", legacy)),)


def _render(whole: Passage, memory: MemoryFile, policy: Policy) -> Passage:
    path = whole.spans[0].origin.path if whole else ""
    if not whole.strip():
        text = f"{memory.name} is empty"
        return Passage("", (), (Notice("info", text),), (Decision(path, "memory", "empty"),))
    whole = whole.trimmed()
    entries = split_entries(whole) if is_separated(whole) else [whole]
    admitted = [_admit(entry, number, memory, policy) for number, entry in enumerate(entries, 1)]
    kept, loss = _within(admitted, memory, path)
    # What is harmless alone may not be so in a row.
    together = admit(Passage.joined("\n", kept), name=memory.name, policy=policy)
    if together.outcome == "blocked" or together.redacted:
        kept = [together.passage]
    body = Passage.joined("\n", [_bullet(entry, len(entries) > 1) for entry in kept])
    section = Passage.joined("\n", [Passage.own(memory.heading, "heading"), body])
    blocked = sum(bool(e.spans and e.spans[0].origin.kind == "block line") for e in admitted)
    decision = Decision(path, "memory", "loaded")
    if blocked == len(admitted) or together.outcome == "blocked":
        decision = Decision(path, "memory", "blocked")
    elif blocked:
        decision = Decision(path, "memory", "loaded", f"{blocked} of {len(admitted)} entries blocked")
    if loss:
        decision = Decision(path, "memory", "cut", loss[0].text.partition(": ")[2])
    return section.with_notes(loss, (decision,))


def _admit(entry: Passage, number: int, memory: MemoryFile, policy: Policy) -> Passage:
    return admit(entry, name=f"{memory.name} entry {number}", policy=policy).passage


def _within(
    entries: list[Passage], memory: MemoryFile, path: str
) -> tuple[list[Passage], tuple[Notice, ...]]:
    """The entries that fit the limit: whole ones, the first 70 % and the last 20 % of the room."""
    total = size(entries)
    if total <= memory.limit:
        return entries, ()
    if len(entries) == 1:
        entries = split_paragraphs(entries[0]).copy() or entries
    head, tail = _ends(entries, memory.limit)
    lost = len(entries) - len(head) - len(tail)
    if not head and not tail:  # one entry alone is over the limit
        head, lost = [cut(entries[0], memory.limit, path)[0]], len(entries) - 1
    mark = f"[...{lost} of {len(entries)} entries left out. Use the memory tool to read them all.]"
    marker = [Passage.own(mark, "cut marker")] if lost else []
    text = (
        f"{memory.name} is over its limit: {total:,} of {memory.limit:,} characters, "
        f"{lost} of {len(entries)} entries are not in the prompt; shorten it or raise the limit"
    )
    notes = Notice("warning", text, Origin("memory", path))
    carried = Passage("", (), tuple(n for e in entries for n in e.notices))
    return [*head, *marker, *tail, carried], (notes,)


def _ends(entries: list[Passage], limit: int) -> tuple[list[Passage], list[Passage]]:
    head: list[Passage] = []
    for entry in entries:
        if size([*head, entry]) > limit * HEAD_PERCENT // 100:
            break
        head.append(entry)
    tail: list[Passage] = []
    for entry in reversed(entries[len(head) :]):
        if size([entry, *tail]) > limit * TAIL_PERCENT // 100:
            break
        tail.insert(0, entry)
    return head, tail


def _bullet(entry: Passage, one_of_many: bool) -> Passage:
    """An entry as a list item, its further lines indented; what is Markdown already stays as it is."""
    if not entry or (entry.startswith(_LIST_OR_HEADING) or (not one_of_many and "\n" in entry)):
        return entry
    if entry.spans[0].origin.kind == "cut marker":
        return entry
    lines, at = [], 0
    while (end := entry.find("\n", at)) >= 0:
        lines.append(entry.part(at, end))
        at = end + 1
    lines.append(entry.part(at))
    body = Passage.joined("\n  ", lines)
    return Passage.joined("", [Passage.own("- ", "bullet"), body]).with_notes(entry.notices)
