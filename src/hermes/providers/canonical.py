"""JSON as it goes over the wire: one form for one value, the same in every process."""

from __future__ import annotations

import json

from hermes.text import well_formed

_WRITER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_MARKS = (
    (b'"cache_control":', b'"cache\\u005fcontrol":'),
    (b'"prompt_cache_breakpoint":', b'"prompt\\u005fcache_breakpoint":'),
)


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
