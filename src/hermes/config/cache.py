"""The parsed config.yaml, kept beside the home so that a warm start does without the YAML parser.

The entry names the digest of the file it was made from; anything odd about it and it is passed over.
A file that holds secrets is not kept: they stay in one place.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, get_args

from hermes.config.document import Document, Problem
from hermes.errors import FileRefused
from hermes.files import read_file, replace_file
from hermes.paths import Home
from hermes.provenance import Level, digest_of
from hermes.version import __version__

NAME = "config.json"
FORMAT = f"2 {__version__}"


def parsed(home: Home, data: bytes) -> Document:
    """The document in these bytes, from the cache when it knows them."""
    digest = digest_of(data)
    if (known := _kept(home, digest)) is not None:
        return known
    from hermes.config.masking import has_secret
    from hermes.config.parser import parse

    document = parse(data)
    if not has_secret(document.data):
        _keep(home, digest, document)
    return document


def _entry(home: Home) -> str:
    import os

    return os.path.join(home.cache, NAME)


def _kept(home: Home, digest: str) -> Document | None:
    try:
        body = json.loads(read_file(_entry(home)).data)
        if body["format"] != FORMAT or body["digest"] != digest:
            return None
        return _document(body)
    except (FileRefused, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None


def _document(body: Any) -> Document:
    data, lines, problems = body["data"], body["lines"], body["problems"]
    if not isinstance(data, dict):
        raise TypeError("not a mapping")
    known = {tuple(map(str, path)): int(line) for path, line in lines}
    told = tuple(Problem(level, int(line), str(text)) for level, line, text in problems)
    if any(problem.level not in get_args(Level) for problem in told):
        raise ValueError("no such level")
    texts = {tuple(map(str, path)): (int(first), int(last)) for path, (first, last) in body["texts"]}
    return Document(data, known, told, texts, bool(body["readable"]))


def _keep(home: Home, digest: str, document: Document) -> None:
    body = {
        "format": FORMAT,
        "digest": digest,
        "data": document.data,
        "lines": list(document.lines.items()),
        "texts": list(document.texts.items()),
        "readable": document.readable,
        "problems": document.problems,
    }
    # An unwritable cache costs the next start its time and nothing else.
    with suppress(OSError):
        replace_file(_entry(home), json.dumps(body).encode(), lasting=False)
