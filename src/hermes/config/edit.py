"""`set` and `unset`: checked by the schema, spliced into the text, read back, and only then written."""

from __future__ import annotations

import codecs
import copy
import os
import re
from collections.abc import Mapping
from typing import Any

from hermes.config.document import MAX_BYTES, Document, Path
from hermes.config.forms import Malformed, Place
from hermes.config.load import in_yaml
from hermes.config.masking import masked
from hermes.config.parser import PARSER_FAILURES, parse, parse_value
from hermes.config.records import plain
from hermes.config.schema import BY_NAME, FREE, SECTIONS, SHORT, Key, is_foreign, unknown_text
from hermes.config.splice import set_in, unset_in
from hermes.errors import ConfigError, FileRefused, WrongSetting
from hermes.files import read_file, replace_file
from hermes.frozen import frozen
from hermes.paths import Home

_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"", "utf-8"),
)
_PART = re.compile(r'"([^"]*)"|([^."]+)')


@frozen
class Change:
    """What was written: the key, its value with secrets masked, and whether the file is new."""

    name: str
    value: object
    created: bool = False


def set_key(home: Home, name: str, typed: str) -> Change:
    """Set a key to a typed value. ConfigError, and nothing written, when either is not right."""
    text, mark, encoding, created = _open(home)
    document = _editable(parse(_bytes(text, mark, encoding)))
    key, own, below = _resolve(name, document.data)
    path = own + below
    value = _accepted(key, name, own, below, typed, document.data)
    path, value = _out_of_short_form(path, value, document.data)
    expected = _with(document.data, path, value)
    _write(home, _spliced(text, path, value), mark, encoding, expected)
    return Change(name, masked(_at(expected, path), path[-1]), created)


def unset_key(home: Home, name: str) -> bool:
    """Remove a key, known or not, so that its default stands; False when it was not there.

    WrongSetting when it was not there and nothing goes by its name.
    """
    text, mark, encoding, created = _open(home)
    document = _editable(parse(_bytes(text, mark, encoding)))
    path = split(name)
    if _known(path):
        _, own, below = _resolve(name, document.data)
        path = own + below
    changed = None if created else _guarded(lambda: unset_in(text, path))
    if changed is None:
        if not _known(path) and name not in SECTIONS and not is_foreign(name):
            raise WrongSetting(unknown_text(name))
        return False
    _write(home, changed, mark, encoding, _without(document.data, path))
    return True


def split(name: str) -> Path:
    """The parts of a dotted name; a part that holds dots stands in quotes: models."gpt-4.1".family."""
    found = list(_PART.finditer(name))
    if not found or ".".join(part[0] for part in found) != name:
        raise WrongSetting(
            f'{name!r} is not the name of a key; write it like memory.user_char_limit or a."b.c"'
        )
    return tuple(part[1] if part[1] is not None else part[2] for part in found)


def _open(home: Home) -> tuple[str, bytes, str, bool]:
    try:
        data = read_file(home.config, max_bytes=MAX_BYTES).data
    except FileRefused as refused:
        if refused.verdict == "missing":
            return "", b"", "utf-8", True
        raise ConfigError(f"{home.config} was not changed: {refused}") from None
    mark, encoding = next((bom, name) for bom, name in _ENCODINGS if data.startswith(bom))
    try:
        return data[len(mark) :].decode(encoding), mark, encoding, False
    except UnicodeDecodeError:
        message = f"{home.config} was not changed: it is not valid {encoding.upper()}. Save it as UTF-8 first"
        raise ConfigError(message) from None


def _bytes(text: str, mark: bytes, encoding: str) -> bytes:
    return mark + text.encode(encoding)


def _editable(document: Document) -> Document:
    if document.readable:
        return document
    problem = next(problem for problem in document.problems if problem.level == "error")
    where = f" line {problem.line}" if problem.line else ""
    raise ConfigError(f"config.yaml was not changed:{where} {problem.text}")


def _known(parts: Path) -> tuple[Key | None, Path] | None:
    """The key a name begins with and the parts below it; the key is None in a free section."""
    for length in (2, 1):
        key = BY_NAME.get(".".join(parts[:length]))
        if key is not None and len(parts) >= length:
            return key, parts[length:]
    return (None, parts) if parts[0] in FREE else None


def _resolve(name: str, data: Mapping[str, Any]) -> tuple[Key | None, Path, Path]:
    """The key, where the file has it or will have it, and the parts below it."""
    known = _known(split(name))
    if known is None:
        raise WrongSetting(unknown_text(name))
    key, below = known
    if key is None:
        return None, (), below
    if below and not isinstance(key.default, Mapping):
        raise WrongSetting(f"{key.name} has no keys below it; it is {key.form.words}")
    spelled = next((n for n in key.names if _at(data, tuple(n.split("."))) is not None), key.name)
    section = spelled.partition(".")[0]
    if SHORT.get(section) == key.name and isinstance(data.get(section), str):
        return key, (section,), ()
    return key, tuple(spelled.split(".")), below


def _out_of_short_form(path: Path, value: Any, data: Mapping[str, Any]) -> tuple[Path, Any]:
    """`model: NAME` becomes a mapping when a second key is to stand beside the name."""
    given = data.get(path[0])
    if len(path) == 1 or path[0] not in SHORT or not isinstance(given, str):
        return path, value
    return path[:1], {SHORT[path[0]].rpartition(".")[2]: given, path[1]: value}


def _accepted(key: Key | None, name: str, own: Path, below: Path, typed: str, data: dict[str, Any]) -> Any:
    """The typed value as the schema takes it: as YAML, or as the very text."""
    if key is None:
        return parse_value(typed)
    if key.form.literal:
        candidates: list[Any] = [typed]
    else:
        candidates = [parse_value(typed), typed] if _is_yaml(typed) else [typed]
    given = _at(data, own)
    before = {} if given is None else _held(key, given)[1]
    first = ""
    for value in candidates:
        meant, told = _held(key, _at(_with(data, own + below, value), own))
        # What was wrong elsewhere may stay so; what is set must be right.
        new = [t for place, t in told.items() if place[: len(below)] == below or before.get(place) != t]
        if not new:
            read = _at(plain(meant), below)
            return read if isinstance(read, bool | int) else value  # `no` becomes false
        first = first or new[0]
    raise WrongSetting(
        f"{name} was not set: {in_yaml(candidates[0], (own + below)[-1])} given; expected {first}"
    )


def _is_yaml(typed: str) -> bool:
    try:
        parse_value(typed)
    except ConfigError:
        return False
    return True


def _held(key: Key, value: Any) -> tuple[object, dict[Place, str]]:
    """A value held against its form: what it means, and what is wrong with it."""
    told: dict[Place, str] = {}

    def complain(place: Place, _: object, expected: str) -> None:
        told[place] = f"{expected} for {'.'.join(place)}"

    if value is None and key.default is None:
        return None, {}
    try:
        return key.form.read(value, complain), told
    except Malformed as bad:
        return None, {(): bad.words or key.form.words}


def _spliced(text: str, path: Path, value: Any) -> str:
    changed = _guarded(lambda: set_in(text, path, value))
    assert changed is not None
    return changed


def _guarded(splice: Any) -> str | None:
    from ruamel.yaml.error import YAMLError

    try:
        result: str | None = splice()
    except (YAMLError, *PARSER_FAILURES):
        raise _cannot() from None
    return result


def _cannot() -> ConfigError:
    return ConfigError(
        "config.yaml was not changed: this place cannot be edited without touching other values "
        "(an anchor, a key that stands twice, an unusual layout). Edit it by hand"
    )


def _write(home: Home, text: str, mark: bytes, encoding: str, expected: dict[str, Any]) -> None:
    data = _bytes(text, mark, encoding)
    if parse(data).data != expected:
        raise _cannot()
    try:
        os.makedirs(home.root, mode=0o700, exist_ok=True)
        replace_file(home.config, data)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(f"{home.config} was not changed: {reason}. Check who may write there") from None


def _at(data: Any, path: Path) -> Any:
    found: Any = data
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _with(data: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    whole = copy.deepcopy(data)
    inner = whole
    for part in path[:-1]:
        if not isinstance(inner.get(part), dict):
            inner[part] = {}
        inner = inner[part]
    inner[path[-1]] = value
    return whole


def _without(data: dict[str, Any], path: Path) -> dict[str, Any]:
    whole = copy.deepcopy(data)
    chain: list[dict[str, Any]] = [whole]
    for part in path[:-1]:
        chain.append(chain[-1][part])
    for inner, part in zip(reversed(chain), reversed(path), strict=True):
        inner.pop(part, None)
        if inner:
            break
    return whole
