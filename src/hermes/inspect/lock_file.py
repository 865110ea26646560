"""hermes.lock as a file: small, reviewable, the same bytes for the same prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from hermes.errors import FileRefused, PromptError, UsageError
from hermes.files import read_file
from hermes.inspect.lock import KeptOut, Lock, LockedSection, LockedSource, LockFacts, mark_of
from hermes.text import well_formed

NAME = "hermes.lock"
FORMAT = 1
ABOUT = "Written by `hermes prompt lock`; compare with `hermes prompt lock check`."
_ROW = 16


def to_text(lock: Lock) -> str:
    """The lock as a text: one line for each section, source and decision, then the marks by paragraph."""
    total = {"chars": lock.chars, "tokens": lock.tokens, "method": lock.method}
    facts = {name: value for name, value in asdict(lock.facts).items() if value is not None}
    head = {"about": ABOUT, "format": FORMAT, "hermes": lock.hermes, "facts": facts, "total": total}
    parts = [f"{_json(name)}: {_json(value)}" for name, value in head.items()]
    parts.append(_rows("sections", [asdict(s) for s in lock.sections]))
    parts.append(_rows("sources", [_source_row(s) for s in lock.sources]))
    parts.append(_rows("kept out", [asdict(k) for k in lock.kept_out]))
    blocks = [
        f" {_json(f'{s.section}: {s.path}')}: [\n  " + ",\n  ".join(map(_json, _mark_rows(s))) + "\n ]"
        for s in lock.sources
    ]
    parts.append('"lines": {\n' + ",\n".join(blocks) + "\n}" if blocks else '"lines": {}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    # A file name of any bytes has surrogates, which UTF-8 does not.
    return text if well_formed(text) == text else json.dumps(value, sort_keys=True)


def _rows(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return f"{_json(name)}: []"
    return f"{_json(name)}: [\n " + ",\n ".join(map(_json, rows)) + "\n]"


def _source_row(source: LockedSource) -> dict[str, Any]:
    row = {"chars": source.chars, "digest": source.digest, "path": source.path, "section": source.section}
    row["tokens"] = source.tokens
    return row | ({"transforms": source.transforms} if source.transforms else {})


def _mark_rows(source: LockedSource) -> Iterator[str]:
    """Rows that end with a paragraph, so that an edit touches the rows of its paragraph alone.

    Only where line numbers start anew a row begins with a number.
    """
    blank = mark_of("")
    row, last = "", 0
    for number, mark in source.marks:
        if number != last + 1:
            if row:
                yield row
            row = f"{number}:"
        row += mark
        last = number
        if mark == blank or len(row.rpartition(":")[2]) >= 4 * _ROW:
            yield row
            row = ""
    if row:
        yield row


def read_lock(path: str) -> Lock:
    """Read a lock; UsageError when there is none, PromptError when it is damaged or of another format."""
    try:
        data = read_file(path).data
    except FileRefused as error:
        if error.verdict == "missing":
            raise UsageError(f"there is no {path}; write it with: hermes prompt lock") from None
        raise PromptError(f"{path} cannot be read: {error}") from None
    return from_text(data.decode("utf-8", "replace"), path)


def from_text(text: str, path: str = NAME) -> Lock:
    """The lock that `to_text` wrote; PromptError when it is damaged or of another format."""
    try:
        body = json.loads(text)
        if body["format"] != FORMAT:
            raise PromptError(f"{path} has format {body['format']}; this Hermes reads format {FORMAT}")
        return Lock(
            LockFacts(**{name: _typed(name, value) for name, value in body["facts"].items()}),
            tuple(LockedSection(**row) for row in body["sections"]),
            tuple(_read_source(row, body["lines"]) for row in body["sources"]),
            tuple(KeptOut(**row) for row in body["kept out"]),
            str(body["total"]["method"]),
            str(body["hermes"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise PromptError(
            f"{path} is damaged ({type(error).__name__}: {error}); restore it, or write it anew with: "
            "hermes prompt lock"
        ) from None


def _typed(name: str, value: Any) -> Any:
    default = {f.name: f.default for f in fields(LockFacts)}[name]
    if isinstance(default, tuple):
        return tuple(map(str, value))
    wanted = int if default is None else type(default)
    if not isinstance(value, wanted):
        raise TypeError(f"{name} is {value!r}")
    return value


def _read_source(row: Mapping[str, Any], lines: Mapping[str, Any]) -> LockedSource:
    marks: list[tuple[int, str]] = []
    at = 1
    for entry in lines[f"{row['section']}: {row['path']}"]:
        start, colon, packed = str(entry).rpartition(":")
        at = int(start) if colon else at
        for place in range(0, len(packed), 4):
            marks.append((at, packed[place : place + 4]))
            at += 1
    return LockedSource(**{**row, "transforms": tuple(row.get("transforms", ())), "marks": tuple(marks)})
