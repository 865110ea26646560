"""The index of a home as it was last rendered, kept in the process and on disk.

It is known by all that it depends on. So a start that is offered what an earlier one was reads it whole, and
none of the records that it was made of is made again.
"""

from __future__ import annotations

import sys
import zlib
from typing import Any

from hermes.paths import Home
from hermes.prompts import prompt_text
from hermes.provenance import Decision, Notice, Origin, Passage, Span, digest_of
from hermes.security.policy import Policies
from hermes.skills.budget import DEFAULT_TOKENS
from hermes.skills.known import known_digest, library_key
from hermes.skills.snapshot import remove, store, stored

FILE = "skill-indexes.json"
FORMAT = 1
_STORED_AT_MOST = 4
_KEPT_AT_MOST = 64
_TEXTS = ("skills_index", "skills_more", "skills_more_unlisted")

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
    texts = [prompt_text(name).spans[0].origin.digest for name in _TEXTS]
    setting = (
        *(library_key(home, extra_roots, policies), sys.platform, texts),
        *(sorted(tools), sorted(disabled), pinned, budget_tokens),
    )
    digest = known_digest(home, extra_roots, policies=policies)
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
    if index is None and (row := _rows(home).get(key.encode())):
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


def _rows(home: Home) -> dict[bytes, bytes]:
    """What is stored, by key, the newest first."""
    head, _, body = stored(home, FILE).partition(b"\n")
    if head != _head(body):
        return {}
    return {line[:64]: line[65:] for line in body.split(b"\n")}


def _head(body: bytes) -> bytes:
    return f"hermes skill-indexes {FORMAT} {zlib.crc32(body):08x}".encode()


def _write(home: Home, key: str, index: Passage) -> None:
    """Store an index before those that are stored, of which the oldest give way."""
    import json

    rows = {key.encode(): json.dumps(_row(index), separators=(",", ":")).encode()}
    rows = rows | _rows(home) | rows
    body = b"\n".join([b"%s %s" % row for row in list(rows.items())[:_STORED_AT_MOST]])
    store(home, FILE, _head(body) + b"\n" + body)


def _row(index: Passage) -> list[Any]:
    """Origins and what was decided stand once each, under numbers: most are those of many."""
    origins: dict[Origin, int] = {}
    fates: dict[tuple[str, str, str], int] = {}
    return [
        str(index),
        [(s.end, origins.setdefault(s.origin, len(origins)), s.transforms) for s in index.spans],
        [_fields(origin) for origin in origins],
        [(n.level, n.text, _fields(n.origin) if n.origin else None) for n in index.notices],
        "\0".join([d.path for d in index.decisions]),
        [fates.setdefault((d.kind, d.verdict, d.detail), len(fates)) for d in index.decisions],
        list(fates),
    ]


def _from_row(row: list[Any]) -> Passage:
    text, parts, given, told, paths, decided, fates = row
    origins = [Origin(*fields) for fields in given]
    spans = []
    start = 0
    for end, number, transforms in parts:
        spans.append(Span(start, end, origins[number], tuple(transforms)))
        start = end
    if start != len(text):
        raise ValueError("the spans do not cover the text")
    notices = tuple(Notice(level, said, Origin(*o) if o else None) for level, said, o in told)
    each = zip(paths.split("\0"), decided, strict=True) if decided else ()
    decisions = tuple([Decision(path, *fates[number]) for path, number in each])
    return Passage(text, tuple(spans), notices, decisions)


def _fields(origin: Origin) -> tuple[str | int, ...]:
    return (origin.kind, origin.path, origin.digest, origin.first_line, origin.last_line, origin.trust)
