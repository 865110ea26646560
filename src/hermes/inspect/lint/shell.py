"""The commands in a rule file: lines of fenced shell, and code spans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hermes.inspect.lint.markdown import Line
from hermes.inspect.lint.subject import Source

_SHELLS = frozenset({"", "sh", "bash", "shell", "zsh", "console", "shell-session", "terminal", "cmd"})
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`]+)\1(?!`)")
_PROMPT = re.compile(r"^\s*(?:[\w@:~/.-]*[$%❯]\s+|>\s+)?")
_CHAIN = re.compile(r"\s*(?:&&|\|\||;|\|)\s*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*$")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_NEW_GROUND = re.compile(
    r"\bgit clone\b|\bmkdir\b|\b(?:npx|npm|pnpm|yarn|bun) (?:create|init)\b|\bcargo (?:new|init)\b"
    r"|\bcat >|\b(?:curl|wget)\b"
)


class Call(NamedTuple):
    """One command as written: its words, and where it stands.

    `beside` is the prose around it; calls of one `group` follow each other, in one code block or span.
    """

    words: tuple[str, ...]
    line: Line
    start: int
    end: int
    beside: str
    group: tuple[int, int]


def calls(source: Source) -> Iterator[Call]:
    """Every command in the code of a file."""
    block: list[Line] = []
    for line in source.document.lines:
        if line.kind == "code" and line.language in _SHELLS:
            block.append(line)
            continue
        if block:
            yield from _block_calls(block)
            block = []
        if line.kind in ("text", "bullet", "table", "heading") and "`" in line.text:
            for code in _CODE.finditer(line.text):
                yield from _split(code[2], line, code.start(2), line.text, (line.number, code.start()))
    if block:
        yield from _block_calls(block)


def _block_calls(block: list[Line]) -> Iterator[Call]:
    if any(_NEW_GROUND.search(line.text) for line in block):
        return  # what follows happens in a folder that is made here
    for line in block:
        start = _PROMPT.match(line.text)
        at = start.end() if start else 0
        yield from _split(_COMMENT.sub("", line.text[at:]), line, at, "", (block[0].number, 0))


def _split(text: str, line: Line, start: int, beside: str, group: tuple[int, int]) -> Iterator[Call]:
    at = 0
    for end in [*(m.span() for m in _CHAIN.finditer(text)), (len(text), len(text))]:
        words = text[at : end[0]].split()
        while words and (_ASSIGNMENT.match(words[0]) or words[0] in ("sudo", "time", "exec", "$")):
            words = words[1:]
        if words:
            yield Call(tuple(words), line, start + at, start + end[0], beside, group)
        at = end[1]
