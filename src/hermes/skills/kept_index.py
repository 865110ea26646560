"""The index of a home as it was last rendered, kept in the process and on disk.

It is known by all that it depends on. So a start that is offered what an earlier one was reads it whole, and
none of the records that it was made of is made again.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable
from functools import partial
from typing import Any, TypeVar

from hermes.paths import Home
from hermes.prompts import prompt_text
from hermes.provenance import Decision, Notice, Origin, Passage, Span, digest_of
from hermes.security.policy import Policies
from hermes.skills.budget import DEFAULT_TOKENS
from hermes.skills.known import library_key, proved
from hermes.skills.snapshot import remove, store, stored

FILE = "skill-indexes.json"
_HEAD = b"hermes skill-indexes 3\n"
_STORED_AT_MOST = 4
_KEPT_AT_MOST = 64
_TEXTS = ("skills_index", "skills_more", "skills_more_unlisted")

Record = TypeVar("Record", Origin, Span, Decision)

_kept: dict[str, Passage] = {}


def home_index(
    home: Home,
    extra_roots: tuple[str, ...] = (),
    *,
    policies: Policies | None = None,
    tools: frozenset[str],
    disabled: frozenset[str] = frozenset(),
    pinned: tuple[str, ...] = (),
    budget_tokens: int = DEFAULT_TOKENS,
) -> Passage:
    """`skills_index` of `load_library`: the very same, from what is kept where the disk proves it good."""
    library_is = library_key(home, extra_roots, policies)
    texts = [prompt_text(name).spans[0].origin.digest for name in _TEXTS]
    setting = (library_is, sys.platform, texts, sorted(tools), sorted(disabled), pinned, budget_tokens)
    known = proved(home, library_is)
    digest = known.digest if known else ""
    if digest and (index := _recalled(home, _key(setting, digest))) is not None:
        return index
    from hermes.skills.index import skills_index  # what is kept needs neither these nor their records
    from hermes.skills.library import load_library

    library = load_library(home, extra_roots, policies=policies)
    key = _key(setting, library.digest)
    if library.digest != digest and (index := _recalled(home, key)) is not None:
        return index
    index = skills_index(library, tools=tools, disabled=disabled, pinned=pinned, budget_tokens=budget_tokens)
    _keep(key, index)
    _write(home, key, index)
    return index


def forget_indexes(home: Home | None = None) -> None:
    """Drop every index this process keeps; with a home, those on its disk too."""
    _kept.clear()
    if home:
        remove(home, FILE)


def _key(setting: tuple[object, ...], digest: str) -> str:
    return digest_of(repr((setting, digest)))


def _recalled(home: Home, key: str) -> Passage | None:
    index = _kept.get(key)
    if index is None and (row := _stored(home, key)):
        import json

        try:
            index = _from_row(json.loads(row))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return None
        _keep(key, index)
    return index


def _keep(key: str, index: Passage) -> None:
    if len(_kept) >= _KEPT_AT_MOST:
        _kept.clear()
    _kept[key] = index


def _stored(home: Home, key: str) -> bytes:
    """The JSON kept under a key, if it is whole; it is large, so nothing is copied in vain."""
    data = stored(home, FILE)
    at = data.find(f"\n{key} ".encode())
    if at < 0 or not data.startswith(_HEAD):
        return b""
    end = data.find(b"\n", at + 1)
    return _checked(data[at + 66 : end if end > 0 else len(data)])


def _checked(row: bytes) -> bytes:
    """The JSON of a row, if the checksum before it is its own."""
    checksum, _, text = row.partition(b" ")
    return text if checksum == b"%08x" % zlib.crc32(text) else b""


def rows_in(data: bytes) -> dict[bytes, bytes]:
    """What a file holds that is whole, by key, the newest first."""
    head, *lines = data.split(b"\n")
    return {line[:64]: line[65:] for line in lines if _checked(line[65:])} if head + b"\n" == _HEAD else {}


def _write(home: Home, key: str, index: Passage) -> None:
    """Store an index before those that are stored, of which the oldest give way."""
    import json

    text = json.dumps(_row(index), separators=(",", ":")).encode()
    new = {key.encode(): b"%08x %s" % (zlib.crc32(text), text)}
    rows = new | rows_in(stored(home, FILE)) | new
    store(home, FILE, _HEAD + b"\n".join([b"%s %s" % row for row in list(rows.items())[:_STORED_AT_MOST]]))


def _row(index: Passage) -> list[Any]:
    """Fields stand together, not records: that is read sooner. What many share stands once, by a number."""
    origins: dict[Origin, int] = {}
    marks: dict[tuple[str, ...], int] = {}
    fates: dict[tuple[str, str, str], int] = {}
    return [
        str(index),
        [span.end for span in index.spans],
        [origins.setdefault(span.origin, len(origins)) for span in index.spans],
        [marks.setdefault(span.transforms, len(marks)) for span in index.spans],
        list(zip(*origins, strict=True)),
        list(marks),
        [(n.level, n.text, n.origin) for n in index.notices],
        [d.path for d in index.decisions],
        [fates.setdefault((d.kind, d.verdict, d.detail), len(fates)) for d in index.decisions],
        list(fates),
    ]


def _from_row(row: list[Any]) -> Passage:
    text, ends, sources, marked, fields, marks, told, paths, decided, fates = row
    edges = [0, *ends]
    if type(text) is not str or edges[-1] != len(text) or edges != sorted(edges):
        raise ValueError("the spans do not cover the text")
    origins = _records(Origin, *fields) if fields else ()
    transforms = list(map(tuple, marks))
    of, done = map(origins.__getitem__, sources), map(transforms.__getitem__, marked)
    spans = _records(Span, edges[:-1], ends, of, done)
    notices = tuple(Notice(level, said, Origin(*o) if o else None) for level, said, o in told)
    what = [[fate[number] for number in decided] for fate in zip(*fates, strict=True)]
    decisions = _records(Decision, paths, *what) if decided else ()
    return Passage(text, spans, notices, decisions)


def _records(kind: type[Record], *fields: Iterable[Any]) -> tuple[Record, ...]:
    """Records by their fields, a thousand without a call of ours for each."""
    if len(fields) != len(kind._fields):
        raise ValueError(f"{len(fields)} fields are no {kind.__name__}")
    return tuple(map(partial(tuple.__new__, kind), zip(*fields, strict=True)))
