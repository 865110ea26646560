"""JSON as it goes over the wire: one form for one value, the same in every process."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from hermes.messages import ToolSpec
from hermes.text import well_formed

_WRITER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
LONGEST_NAME = 64
_MARKS = (
    (b'"cache_control":', b'"cache\\u005fcontrol":'),
    (b'"prompt_cache_breakpoint":', b'"prompt\\u005fcache_breakpoint":'),
)


Head = tuple[bytes, ...]
"""What stands in a body before its messages, in pieces; those of many sessions are the same objects."""


def json_text(value: object) -> str:
    """A value without spaces, keys in the order given."""
    return _WRITER.encode(value)


def json_bytes(value: object) -> bytes:
    """`json_text` in UTF-8; a lone surrogate becomes U+FFFD."""
    return encoded(_WRITER.encode(value))


def encoded(text: str) -> bytes:
    """JSON text in UTF-8; a lone surrogate becomes U+FFFD."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return well_formed(text).encode("utf-8")


@lru_cache(maxsize=64)
def quoted(text: str) -> bytes:
    """A text as JSON has it, without its quotation marks. The last ones are kept: sessions begin alike."""
    return json_bytes(text)[1:-1]


def text_blocks(opening: Head, texts: Iterable[str], closing: bytes) -> tuple[Head, tuple[int, ...]]:
    """Texts as blocks between two ends, and the offset in all of it at which each block may take a mark."""
    pieces, ends, at = [*opening], [], sum(map(len, opening))
    for number, text in enumerate(texts):
        begin = b',{"type":"text","text":"\\n\\n' if number else b'{"type":"text","text":"'
        pieces += begin, (said := quoted(text)), b'"}'
        at += len(begin) + len(said) + 2
        ends.append(at - 1)
    return (*pieces, closing), tuple(ends)


@lru_cache(maxsize=16)
def listed_tools(tools: tuple[ToolSpec, ...], entry: Callable[[ToolSpec], bytes]) -> bytes:
    """The beginning of a body: its tools, if any, each as the `entry` of a wire. The last ones are kept."""
    return b"{" + (b'"tools":[' + b",".join(map(entry, tools)) + b"]," if tools else b"")


def wire_name(name: str) -> str:
    """The name of a tool as every provider takes it: a model may have called one by a name that none has,
    and every request with that in it would be refused.
    """
    return _NOT_IN_NAMES.sub("_", name)[:LONGEST_NAME] or "unnamed"


def foreign_json(text: str) -> bytes:
    """JSON of someone else's making, taken over as it is but for the names of our own marks.

    Those are spelled with an escape, which means the same: so whatever reads like a mark on the wire is one.
    """
    data = encoded(text)
    for name, spelled in _MARKS:
        data = data.replace(name, spelled)
    return data


def arguments_json(text: str) -> str:
    """A tool call's arguments as a JSON object that every provider takes.

    What the model wrote is taken over as it is. When it is not a JSON object it is put into one, as text:
    providers refuse a history that holds anything else, on every later call.
    """
    if not text.strip():
        return "{}"
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return _WRITER.encode({"malformed_arguments": well_formed(text)})
    if "\\ud" in text.lower():  # perhaps half a surrogate pair, spelled as an escape
        return well_formed(_WRITER.encode(value))
    return text


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
