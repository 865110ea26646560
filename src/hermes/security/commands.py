"""What a shell command would do, judged from its parsed words and the table of dangers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hermes.security.dangers import Danger, Row, Table, table
from hermes.security.shell import Command, Script, Word, parse
from hermes.security.where import Ground

_NESTED = 5
_HARMLESS_OPERATORS = frozenset({"<", "<&", ">&", "<<", "<<<"})


class Judged(NamedTuple):
    """What a command would do. `simple` are the words of each command in it that may do more than read."""

    dangers: tuple[Danger, ...]
    only_reads: bool
    simple: tuple[tuple[str, ...], ...]
    writes: tuple[str, ...]


@dataclass(slots=True)
class _Judge:
    ground: Ground
    cwd: str | None  # None: the script changed to a directory that is not known
    table: Table = field(default_factory=table)
    dangers: list[Danger] = field(default_factory=list)
    simple: list[tuple[str, ...]] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    only_reads: bool = True


def judge(script: str, cwd: str, ground: Ground) -> Judged:
    """What a script would do when it is run in a directory."""
    found = _Judge(ground, cwd)
    _script(found, script, 0)
    return Judged(
        tuple(dict.fromkeys(found.dangers)), found.only_reads, tuple(found.simple), tuple(found.writes)
    )


def _script(found: _Judge, text: str, depth: int) -> None:
    known = {"HOME": found.ground.home, **({"PWD": found.cwd} if found.cwd else {})}
    parsed: Script = parse(text, known)
    if not parsed.sound or depth > _NESTED:
        _danger(found, "unreadable", "it cannot be told what it does")
    for command in parsed.commands:
        _command(found, command, depth)
    programs = {command.program for command in parsed.commands}
    sql = found.table.data["sql"]
    if programs & set(sql["programs"]):
        said = " ".join(t for c in parsed.commands for t in (*c.texts, c.stdin))
        if re.search(sql["statements"], said):
            _danger(found, "sql", sql["why"])


def _danger(found: _Judge, name: str, why: str, never: bool = False) -> None:
    found.dangers.append(Danger(name, why, never))
    found.only_reads = False


def _command(found: _Judge, command: Command, depth: int) -> None:
    """Judge one command, and what it runs in its turn."""
    _around(found, command)
    if not command.words:
        return
    if command.calls_itself and command.fed_by:
        _danger(found, "fork-bomb", "it starts itself again and again", never=True)
    name = command.program
    if not name:
        _danger(found, "unknown-program", "what it runs is decided only when it runs")
        return
    inner = _inner(found.table, command, name)
    if inner is not None:
        if name in ("sudo", "doas"):
            _danger(found, "as-root", "it runs with the rights of another user")
        if len(inner.words) == 1 and " " in inner.words[0].text:  # as `watch` takes it
            _text(found, inner.words[0], depth)
            return
        if inner.words:
            _command(found, inner, depth)
            return
    _fed(found, command, name, depth)
    _rows(found, command, name)
    _paths(found, command, name)
    for run in _executed(command, name):
        _command(found, run, depth)
    if not _reads(found.table, command, name):
        found.simple.append(command.texts)
        found.only_reads = False
    if name in ("cd", "pushd"):
        _moved(found, command)


def _around(found: _Judge, command: Command) -> None:
    """Judge where the output of a command goes, and the variables it sets."""
    for redirect in command.redirects:
        target = redirect.target
        if target.text.startswith(("/dev/tcp/", "/dev/udp/")):
            _danger(found, "listen", "it talks to another machine")
        elif redirect.operator == "<" and target.known:
            _private(found, target.text)
        if redirect.operator not in _HARMLESS_OPERATORS or redirect.operator == ">&":
            _written(found, target, redirect.operator)
    for setting in command.sets:
        if _makes_run(found.table, setting):
            found.simple.append((f"{setting}=",))
            found.only_reads = False


def _makes_run(data: Table, name: str) -> bool:
    names = data.data["variables"]
    return name in names["names"] or name.startswith(tuple(names["beginnings"]))


# -- what a command runs in its turn ------------------------------------------------------------------------


def _inner(data: Table, command: Command, name: str) -> Command | None:
    """The command that a wrapper such as `env` or `xargs` runs; None for a program that is no wrapper."""
    plain = data.data["wrappers"].get(name)
    if plain is None:
        return None
    words, takes = command.words[1:], data.set("values", name)
    at, sets = 0, []
    while at < len(words):
        text = words[at].text
        if text == "--":
            at += 1
            break
        if text.startswith("-") and len(text) > 1:
            at += 2 if text.lstrip("-") in takes and "=" not in text else 1
        elif name in ("env", "sudo") and re.match(r"\w+=", text):
            sets.append(text.partition("=")[0])
            at += 1
        else:
            break
    return replace(command, words=words[at + plain :], redirects=[], sets=sets)


def _executed(command: Command, name: str) -> Iterator[Command]:
    """The commands after `-exec` and its like."""
    if name not in ("find", "fd"):
        return
    words = command.words
    for i, word in enumerate(words):
        if word.text in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"):
            end = next((j for j in range(i + 1, len(words)) if words[j].text in (";", "+")), len(words))
            if words[i + 1 : end]:
                yield Command(words[i + 1 : end])


def _fed(found: _Judge, command: Command, name: str, depth: int) -> None:
    """A shell or an interpreter that runs a text: the text is judged, one that nobody knows is a danger."""
    names = found.table.data["names"]
    fetchers = set(names["fetchers"])
    if name in ("eval", "source", ".") or name in names["shells"] or name in names["interpreters"]:
        from_far = [c.program for c in (*command.fed_by, *command.inside) if c.program in fetchers]
        if from_far:
            _danger(found, "remote-code", f"it runs what {from_far[0]} fetches")
    at = {"trap": 1, "env": _after(command, ("-S", "--split-string"))}.get(name, 0)
    if 0 < at < len(command.words):
        _text(found, command.words[at], depth)
    if name == "eval":
        _text(found, Word(" ".join(command.texts[1:]), all(w.known for w in command.words)), depth)
    if name not in names["shells"]:
        return
    words = command.words[1:]
    for i, word in enumerate(words):
        if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word.text):
            if i + 1 < len(words):
                _text(found, words[i + 1], depth)
            return
    if any(not w.text.startswith("-") or w.text == "-" for w in words):
        return
    if command.stdin:
        _text(found, Word(command.stdin), depth)
    elif command.fed_by:
        _danger(found, "piped-code", "a shell runs what it is fed")


def _after(command: Command, options: tuple[str, ...]) -> int:
    """The place of the word after an option; 0 when it does not stand there."""
    return next((i + 1 for i, word in enumerate(command.words) if word.text in options), 0)


def _text(found: _Judge, word: Word, depth: int) -> None:
    if word.known:
        _script(found, word.text, depth + 1)
    else:
        _danger(found, "unknown-code", "a shell runs a text that is decided only when it runs")


# -- the table ----------------------------------------------------------------------------------------------


class _Parts(NamedTuple):
    """A command's options, without dashes, and its plain words; `sub` is the first of them."""

    options: frozenset[str]
    plain: tuple[Word, ...]

    @property
    def sub(self) -> str:
        return self.plain[0].text if self.plain else ""


def _parts(data: Table, command: Command, name: str) -> _Parts:
    takes = data.set("values", name)
    options: set[str] = set()
    plain: list[Word] = []
    words = iter(command.words[1:])
    for word in words:
        text = word.text
        if not text.startswith("-") or text == "-" or "" in options:
            plain.append(word)
            continue
        bare = text.lstrip("-").partition("=")[0]
        options.add(bare)
        if not text.startswith("--"):
            options.update(bare)
        if bare in takes and "=" not in text:
            next(words, None)
    return _Parts(frozenset(options), tuple(plain))


def _has(options: Iterable[str], wanted: frozenset[str]) -> bool:
    """Whether an option stands there, whole or as the beginning of a long one."""
    return any(o in wanted or (len(o) > 3 and any(w.startswith(o) for w in wanted)) for o in options)


def _rows(found: _Judge, command: Command, name: str) -> None:
    parts = _parts(found.table, command, name)
    rows = [row for row in found.table.rows if row.sub and row.programs.fullmatch(name)]
    if rows and parts.plain and not parts.plain[0].known:
        _danger(found, "unknown-program", f"what {name} does is decided only when it runs")
    for row in found.table.rows:
        if _fits(row, name, command, parts, found):
            _danger(found, *row.danger)


def _fits(row: Row, name: str, command: Command, parts: _Parts, found: _Judge) -> bool:
    if not row.programs.fullmatch(name):
        return False
    plain = parts.plain
    if row.sub:
        if not row.sub.fullmatch(parts.sub):
            return False
        plain = plain[1:]
    if row.any and not _has(parts.options, row.any):
        return False
    if row.without and parts.options & row.without:
        return False
    if row.word and not any(row.word.fullmatch(w.text) for w in (plain if row.sub else command.words[1:])):
        return False
    return not row.place or any(_is_place(w.text, row.place, found) for w in plain)


def _is_place(text: str, places: tuple[str, ...], found: _Judge) -> bool:
    stripped = text.rstrip("/") or "/"
    path = os.path.normpath(os.path.join(found.cwd or "/", stripped)).replace("//", "/")
    home = found.ground.home
    return any(path == (home + place[1:] if place.startswith("~") else place) for place in places)


def _reads(data: Table, command: Command, name: str) -> bool:
    """Whether the command is known to do nothing but read."""
    parts = _parts(data, command, name)
    if "/" in command.words[0].text and not command.words[0].text.startswith(("/bin/", "/usr/bin/")):
        return False
    if name in data.data["readers"]:
        unmade = data.set("readers", name)
        wanted = data.data["reading_words"].get(name)
        if wanted and parts.plain and not re.fullmatch(wanted, parts.plain[0].text):
            return False
        return not _has(parts.options, unmade) and not ("*" in unmade and parts.plain)
    subs = data.data["reading_subs"]
    if name in subs and name != "unmade_by":
        known = parts.sub or next((f"--{o}" for o in parts.options if f"--{o}" in subs[name]), "")
        return known in subs[name] and not _has(parts.options, frozenset(subs["unmade_by"]))
    return name in data.data["names"]["settings"]


# -- paths --------------------------------------------------------------------------------------------------


def _moved(found: _Judge, command: Command) -> None:
    target = next((w for w in command.words[1:] if not w.text.startswith("-") or w.text == "-"), None)
    if target is None:
        found.cwd = found.ground.home
    elif not target.known or target.text == "-" or (found.cwd is None and not os.path.isabs(target.text)):
        found.cwd = None
    else:
        found.cwd = os.path.normpath(os.path.join(found.cwd or "/", target.text))


def _paths(found: _Judge, command: Command, name: str) -> None:
    """The files that a command changes, and the private ones among those it names."""
    for word in _changed(found.table, command, name):
        if word.text == "-":  # its standard output
            continue
        _written(found, word, name)
    for word in command.words[1:]:
        for text in {word.text, word.text.rpartition("=")[2], word.text.rpartition("@")[2]}:
            if word.known:
                _private(found, text)


def _private(found: _Judge, text: str) -> None:
    if text and len(text) < 4096 and "\0" not in text:
        path = os.path.normpath(os.path.join(found.cwd or "/", text))
        for danger in found.ground.of_reading(path):
            _danger(found, *danger)


def _changed(data: Table, command: Command, name: str) -> Iterator[Word]:
    writers = data.data["writers"]
    parts = _parts(data, command, name)
    takes = data.data["writers"]["after"].get(name, ())
    words = command.words[1:]
    for i, word in enumerate(words):
        bare, has_value, value = word.text.partition("=")
        if word.text.startswith("-") and bare.lstrip("-") in takes:
            if has_value:
                yield Word(value, word.known)
            elif i + 1 < len(words):
                yield words[i + 1]
    if name in writers["all"]:
        skipped = 1 if name in ("chmod", "chown", "chgrp") else 0
        yield from parts.plain[skipped:]
    elif name in writers["last"] and parts.plain:
        yield parts.plain[-1]
    elif name in writers["in_place"] and _has(parts.options, frozenset({"i", "in-place"})):
        yield from parts.plain[0 if parts.options & {"e", "expression", "f", "file"} else 1 :]
    elif name == "dd":
        yield from (Word(w.text[3:], w.known) for w in words if w.text.startswith("of="))


def _written(found: _Judge, target: Word, by: str) -> None:
    """A file that is changed: a danger where it lies outside the project or in a protected place."""
    if by == ">&" and (target.text.isdigit() or target.text == "-"):
        return
    if target.text in ("/dev/null", "/dev/stdout", "/dev/stderr"):
        return
    found.only_reads = False
    nowhere = found.cwd is None and not os.path.isabs(target.text)
    if nowhere or (not target.known and _may_leave(target.text)):
        _danger(found, "unknown-place", "it writes to a place that is decided only when it runs")
        return
    if "\0" in target.text:
        return
    path = os.path.normpath(os.path.join(found.cwd or "/", target.text))
    found.writes.append(path)
    found.dangers += found.ground.of_writing(path)


def _may_leave(text: str) -> bool:
    """Whether what is not known of a path could lead anywhere: at its beginning, or an own folder in it."""
    return text.startswith("\ufffc") or "/\ufffc" in text or "{" in text or text.startswith("~")
