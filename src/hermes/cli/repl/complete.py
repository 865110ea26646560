"""Completion while typing: commands after a slash, files after an @, skills and choices as arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from hermes.cli.screen import plain
from hermes.commands.records import Command

_FILE = re.compile(r"(?:^|\s)@([^\s@]*)$")
_COMMAND = re.compile(r"/(\S*)$")
_ARGUMENT = re.compile(r"/(\S+)\s+(\S*)$")
MOST = 50


class Words(Completer):
    """`commands` by name; `arguments` gives the words that one may take; files are those of `folder`."""

    def __init__(
        self,
        commands: Iterable[Command],
        arguments: Callable[[str], Iterable[tuple[str, str]]],
        folder: str,
    ) -> None:
        self._commands = tuple(commands)
        self._arguments = arguments
        self._folder = folder

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        if found := _FILE.search(before):
            return self._files(found[1])
        if found := _COMMAND.fullmatch(before):
            named = ((c.name, c.meaning) for c in self._commands)
            return _matching(found[1], named)
        if found := _ARGUMENT.fullmatch(before):
            return _matching(found[2], self._arguments(found[1]))
        return ()

    def _files(self, given: str) -> Iterator[Completion]:
        head, slash, tail = given.rpartition("/")
        place = os.path.join(self._folder, os.path.expanduser(head + slash))
        try:
            with os.scandir(place) as entries:
                found = sorted((e.name, e.is_dir()) for e in entries if _offered(e.name, tail))
        except OSError:
            return
        for name, folder in found[:MOST]:
            text = name + "/" * folder
            yield Completion(text, -len(tail), display=plain(text))


def _offered(name: str, begins: str) -> bool:
    hidden = name.startswith(".") and not begins.startswith(".")
    return name.lower().startswith(begins.lower()) and not hidden and name.isprintable() and " " not in name


def _matching(begins: str, words: Iterable[tuple[str, str]]) -> Iterator[Completion]:
    for word, meaning in words:
        if word.startswith(begins.lower()):
            yield Completion(word, -len(begins), display=plain(word), display_meta=plain(meaning)[:60])
