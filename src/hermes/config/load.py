"""From the file to the record: read, parse (or take from the cache), check each key, tell what was wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from hermes.config.cache import parsed
from hermes.config.document import MAX_BYTES, Document, Path
from hermes.config.forms import Malformed, Place, fixed
from hermes.config.records import DEFAULTS, Config, plain
from hermes.config.schema import BY_NAME, FREE, KEYS, SECTIONS, SHORT, Key, is_foreign, unknown_text
from hermes.errors import FileRefused
from hermes.files import read_file
from hermes.frozen import frozen
from hermes.paths import Home
from hermes.provenance import Level, Notice, Origin, digest_of
from hermes.text import many

SHOWN = 60
"""Characters of a bad value that a notice shows."""

TOLD = 100
"""Problems that are told one by one."""

NAMED = 40
"""Keys of another implementation that are named."""


@frozen
class Reading:
    """A configuration with what is known of its file. `lines` names the line of each key that counts."""

    config: Config
    document: Document = field(default_factory=Document)
    lines: Mapping[str, int] = field(default_factory=dict)


def read_config(home: Home) -> Reading:
    """Read a home's config.yaml. Never raises."""
    try:
        contents = read_file(home.config, max_bytes=MAX_BYTES)
    except FileRefused as refused:
        if refused.verdict == "missing" and not os.path.islink(home.config):
            return Reading(Config())
        text = (
            f"config.yaml was not read: {refused}. The defaults stand; put a text file of YAML in its place"
        )
        return Reading(Config(notices=(Notice("error", text, _origin(home.config, "", 0)),)))
    return _checked(home, contents.data)


@lru_cache(maxsize=16)
def _checked(home: Home, data: bytes) -> Reading:
    """The reading of these bytes, which stays the same while they do."""
    return check(parsed(home, data), home.config, digest_of(data))


def check(document: Document, path: str, digest: str = "") -> Reading:
    """Hold a document against the schema; each bad value falls back alone."""
    checking = _Checking(document, path, digest)
    values = checking.values()
    free = {name: fixed(document.data[name]) for name in FREE if document.data.get(name) is not None}
    about = {"free": MappingProxyType(free), "notices": checking.told(), "lines": _texts(document, values)}
    return Reading(_config(values, about), document, checking.lines)


def _texts(document: Document, values: Mapping[str, object]) -> Mapping[str, tuple[int, int]]:
    """Where the texts stand that may come into a prompt."""
    return {
        ".".join(path): document.texts.get(path, (line, line))
        for path, line in document.lines.items()
        if (path == ("agent", "system_prompt") or (path[0] == "platform_hints" and len(path) > 1))
        and (path[0] in values or ".".join(path) in values)
    }


def _config(values: Mapping[str, object], about: Mapping[str, Any]) -> Config:
    """The configuration with these values and what is known about it; the defaults of all others."""
    sections: dict[str, dict[str, Any]] = {}
    top: dict[str, Any] = {}
    for name, value in values.items():
        section, _, last = name.rpartition(".")
        (sections.setdefault(section, {}) if section else top)[last] = value
    for section, given in sections.items():
        top[section] = type(getattr(DEFAULTS, section))(**given)
    return Config(**top, **about)


class _Checking:
    """One pass over a document, collecting notices."""

    def __init__(self, document: Document, path: str, digest: str) -> None:
        self.document = document
        self.origin = _origin(path, digest, 0)
        self.notices: list[Notice] = []
        self.untold: list[Level] = []
        self.lines: dict[str, int] = {}
        for problem in document.problems:
            self._tell(problem.level, problem.line, problem.text)

    def values(self) -> dict[str, object]:
        """The values that hold, by the names of their keys."""
        data = self._with_short_forms(dict(self.document.data))
        self._unknown(data)
        found: dict[str, object] = {}
        for key in KEYS:
            given = [(name, value) for name in key.names if (value := _at(data, name)) is not None]
            if not given:
                continue
            name, value = given[0]
            for other, _ in given[1:]:
                self._tell(
                    "warning", self._line(other), f"{other} was passed over: {name} says the same and counts"
                )
            try:
                found[key.name] = self._read(key, name, value)
                self.lines[key.name] = self._line(name)
            except Malformed as bad:
                self._bad(name, (), value, bad.words or key.form.words, key)
        return found

    def _read(self, key: Key, name: str, value: object) -> object:
        def complain(place: Place, given: object, expected: str) -> None:
            self._bad(name, place, given, expected)

        return key.form.read(value, complain)

    def _with_short_forms(self, data: dict[str, Any]) -> dict[str, Any]:
        for section in sorted(SECTIONS & set(data)):
            value = data[section]
            if value is None or isinstance(value, dict):
                continue
            if section in SHORT and isinstance(value, str):
                data[section] = {SHORT[section].rpartition(".")[2]: value}
                continue
            del data[section]
            if not is_foreign(section):
                self._bad(section, (), value, f"keys below it, such as {_first_key(section)}")
        return data

    def _unknown(self, data: Mapping[str, Any]) -> None:
        foreign: list[str] = []
        for name, value in data.items():
            if name in FREE or (name in BY_NAME and "." not in name):
                continue
            if name not in SECTIONS:
                self._unknown_key(name, self.document.lines.get((name,), 0), foreign)
                continue
            for last in value if isinstance(value, dict) else ():
                if (full := f"{name}.{last}") not in BY_NAME:
                    self._unknown_key(full, self._line(full), foreign)
        if foreign:
            names = sorted(map(_short, foreign))
            more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
            self._tell("info", 0, f"kept, but not used by Hermes: {', '.join(names[:NAMED])}{more}")

    def _unknown_key(self, name: str, line: int, foreign: list[str]) -> None:
        if is_foreign(name):
            foreign.append(name)
        elif len(self.notices) < TOLD:
            self._tell("warning", line, _split_up(name) if name in BY_NAME else unknown_text(name))
        else:
            self.untold.append("warning")

    def _line(self, name: str) -> int:
        lines = self.document.lines
        section, _, last = name.partition(".")
        path: Path = (section, last) if last else (section,)
        return lines.get(path, lines.get((section,), 0))

    def _bad(self, name: str, place: Place, value: object, expected: str, key: Key | None = None) -> None:
        section, _, last = name.partition(".")
        path: Path = ((section, last) if last else (section,)) + place
        line = next((n for end in range(len(path), 0, -1) if (n := self.document.lines.get(path[:end]))), 0)
        outcome = "it was left out"
        if key is not None:
            outcome = f"the default, {in_yaml(key.default)}, stands"
        shown = in_yaml(value, path[-1] if not path[-1].isdigit() else path[-2])
        text = f"{_short('.'.join(path))} is {_short(shown)}; expected {expected}; {outcome}"
        self._tell("error", line, text)

    def told(self) -> tuple[Notice, ...]:
        """All notices, by line."""
        notices = sorted(self.notices, key=lambda notice: notice.origin.first_line if notice.origin else 0)
        if self.untold:
            level: Level = "error" if "error" in self.untold else "warning"
            notices.append(
                Notice(level, f"config.yaml: and {many(len(self.untold), 'more problem')}", self.origin)
            )
        return tuple(notices)

    def _tell(self, level: Level, line: int, text: str) -> None:
        if len(self.notices) >= TOLD and level != "info":
            self.untold.append(level)
            return
        where = f"config.yaml line {line}" if line else "config.yaml"
        origin = self.origin._replace(first_line=line, last_line=line)
        self.notices.append(Notice(level, f"{where}: {_printable(text)}", origin))


def _origin(path: str, digest: str, line: int) -> Origin:
    return Origin("config", path, digest, line, line, "owner")


def _at(data: Mapping[str, Any], name: str) -> Any:
    section, _, last = name.partition(".")
    found = data.get(section)
    if not last:
        return found
    return found.get(last) if isinstance(found, dict) else None


def _first_key(section: str) -> str:
    return next(name for name in BY_NAME if name.startswith(f"{section}."))


def _split_up(name: str) -> str:
    section, _, last = name.partition(".")
    return f"{name} is written as one name; write {last} below {section}:"


def in_yaml(value: object, name: str = "") -> str:
    """A value on one line, as it could stand in the file; secrets masked."""
    from hermes.config.masking import masked

    shown = masked(plain(value), name)
    if isinstance(shown, str) and shown:
        return (
            repr(shown) if "'" not in shown and shown.isprintable() else json.dumps(shown, ensure_ascii=False)
        )
    return json.dumps(shown, ensure_ascii=False)


def _printable(text: str) -> str:
    """Control characters of a file must not reach a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
