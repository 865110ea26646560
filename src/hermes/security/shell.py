"""A bash script as the commands in it, by a real parser: what would run, with which words, fed by what.

Nothing is run and nothing is guessed: a word that only the running shell knows is marked so.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST = 200_000
"""Bytes of a script that is parsed; a longer one is not `sound`."""
DEEPEST, MOST = 200, 1_000
"""How deep commands may stand in one another, and how many there may be."""
MOST_PIPES = 500
"""Of a long pipeline the parser tries so many readings that it runs out of memory."""
SECONDS = 1.0
"""Of its own time that the parser gets."""

_ESCAPED = re.compile(r"\\(\n|.)", re.S)
_ESCAPED_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_UNKNOWN = "\ufffc"


class Word(NamedTuple):
    """A word without its quotes. `known` is False where something in it is decided only when it runs."""

    text: str
    known: bool = True


class Redirect(NamedTuple):
    """Where input comes from or output goes, such as `>>` and the file."""

    operator: str
    target: Word


@dataclass(slots=True)
class Command:
    """One simple command. `fed_by` are those whose output it reads, `inside` those in its words.

    `sets` are the names of variables it sets for itself or, without words, for what follows. `stdin` is
    the text of a here-document.
    """

    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    fed_by: list[Command] = field(default_factory=list)
    inside: list[Command] = field(default_factory=list)
    stdin: str = ""
    calls_itself: bool = False

    @property
    def program(self) -> str:
        """The name of what runs, without its folder; "" when it is not known."""
        word = self.words[0] if self.words else Word("")
        return os.path.basename(word.text) if word.known and not re.search(r"[*?\[]", word.text) else ""

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)


class Script(NamedTuple):
    """The commands of a script in the order of its text; not `sound` when some of it is not understood."""

    commands: tuple[Command, ...]
    sound: bool


_BEYOND_ASCII = bytes(byte if byte < 0x80 else ord("x") for byte in range(256))


def for_parser(source: bytes) -> bytes:
    """A script as the parser is given it, of the same length: every byte beyond ASCII is an `x`.

    The grammar's scanner looks characters up in a table that ends sooner, and takes the process with it;
    to bash all of them are letters like any other.
    """
    return source.translate(_BEYOND_ASCII)


def parse(script: str, variables: dict[str, str] | None = None) -> Script:
    """Take a script apart. `variables` are those whose values are known, HOME first of all."""
    source = script.encode("utf-8", "replace")
    if len(source) > LONGEST or source.count(b"|") > MOST_PIPES:
        return Script((), False)
    root = _tree(for_parser(source))
    if root is None:
        return Script((), False)
    walk = _Walk(source, dict(variables or {}))
    walk.node(root)
    return Script(tuple(walk.commands), walk.sound and not root.has_error)


def _tree(source: bytes) -> Node | None:
    """The syntax tree; None for what takes the parser longer than any honest command."""
    import tree_sitter_bash  # 25 ms that only a command pays
    from tree_sitter import Language, Parser

    began = time.thread_time()

    def enough(_: int, __: bool) -> bool:
        return time.thread_time() - began > SECONDS

    parser = Parser(Language(tree_sitter_bash.language()))
    try:
        return parser.parse(lambda at, _: source[at : at + 4096], progress_callback=enough).root_node
    except ValueError:  # what it says when it was told to stop
        return None


class _Walk:
    """One way through a syntax tree, collecting the commands."""

    def __init__(self, source: bytes, variables: dict[str, str]) -> None:
        self.source = source
        self.variables = variables
        self.commands: list[Command] = []
        self.sound = True
        self.depth = 0

    def text(self, node: Node) -> str:
        """What stands in the script, which the parser has not seen in full."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def name_of(self, assignment: Node) -> str:
        name = assignment.child_by_field_name("name")
        return self.text(name) if name is not None else ""

    def node(self, node: Node) -> list[Command]:
        """The commands of a node and all below, in order; they are added to the list."""
        begun = len(self.commands)
        if self.depth >= DEEPEST or begun >= MOST:
            self.sound = False
            return []
        self.depth += 1
        visit = getattr(self, f"_{node.type}", None)
        if visit is not None:
            visit(node)
        else:
            self.children(node)
        self.depth -= 1
        return self.commands[begun:]

    def children(self, node: Node) -> None:
        for child in node.named_children:
            self.node(child)

    # -- what stands in a script --------------------------------------------------------------------------

    def _command(self, node: Node) -> None:
        command = Command()
        self.commands.append(command)
        begun = len(self.commands)
        for child in node.named_children:
            if child.type == "variable_assignment":
                command.sets.append(self.name_of(child))
                self.inner(child)
            elif child.type.endswith("_redirect"):
                self.redirect(command, child)
            elif child.type == "command_name":
                command.words.extend(self.word(part) for part in child.named_children)
            else:
                command.words.append(self.word(child))
        command.inside = self.commands[begun:]

    def _declaration_command(self, node: Node) -> None:
        command = Command([Word(self.text(node).split(None, 1)[0])])
        self.commands.append(command)
        begun = len(self.commands)
        for child in node.named_children:
            if child.type == "variable_assignment":
                command.sets.append(self.name_of(child))
                self.assign(child)
            else:
                command.words.append(self.word(child))
        command.inside = self.commands[begun:]

    def _variable_assignment(self, node: Node) -> None:
        self.commands.append(Command(sets=[self.name_of(node)]))
        self.assign(node)

    def _pipeline(self, node: Node) -> None:
        before: list[Command] = []
        for child in node.named_children:
            found = self.node(child)
            for command in found:
                command.fed_by = [*before, *command.fed_by]
            before += found

    def _redirected_statement(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        found = self.node(body) if body is not None else []
        taker = found[-1] if found and body is not None and body.type != "compound_statement" else Command()
        if taker not in found:
            self.commands.append(taker)
        for child in node.named_children:
            if child.type.endswith("_redirect"):
                self.redirect(taker, child, found)

    def _function_definition(self, node: Node) -> None:
        name = self.text(node.named_children[0]) if node.named_children else ""
        found = []
        for child in node.named_children[1:]:
            found += self.node(child)
        for command in found:
            command.calls_itself = command.program == name

    def _for_statement(self, node: Node) -> None:
        if node.named_children and node.named_children[0].type == "variable_name":
            self.variables.pop(self.text(node.named_children[0]), None)
        self.children(node)

    def redirect(self, command: Command, node: Node, before: list[Command] | None = None) -> None:
        parts = node.named_children
        if node.type == "file_redirect":
            operator = next((c.type for c in node.children if not c.is_named), ">")
            targets = [c for c in parts if c.type != "file_descriptor"]
            command.redirects += [Redirect(operator, self.word(target)) for target in targets[:1]]
            command.words.extend(self.word(extra) for extra in targets[1:])  # `> out more words`
        elif node.type == "herestring_redirect":
            command.stdin += "".join(self.word(part).text for part in parts)
        else:
            for part in parts:
                if part.type == "heredoc_body":
                    command.stdin += self.text(part)
                    self.inner(part)
                elif part.type == "file_redirect":
                    self.redirect(command, part)
                elif part.type == "pipeline":
                    for fed in self.node(part):
                        fed.fed_by = [*(before or [command]), *fed.fed_by]
                elif part.type == "word":
                    command.words.append(self.word(part))
                elif part.type not in ("heredoc_start", "heredoc_end", "file_descriptor"):
                    self.node(part)

    # -- words --------------------------------------------------------------------------------------------

    def assign(self, node: Node) -> None:
        """Keep what a variable is set to, where that is known."""
        value = node.child_by_field_name("value")
        word = self.word(value) if value is not None else Word("")
        if word.known and value is not None and value.type != "array":
            self.variables[self.name_of(node)] = word.text
        else:
            self.variables.pop(self.name_of(node), None)

    def inner(self, node: Node) -> None:
        """The commands in the substitutions below a node."""
        self.depth += 1
        if self.depth >= DEEPEST:
            self.sound = False
        else:
            for child in node.named_children:
                if child.type in ("command_substitution", "process_substitution"):
                    self.node(child)
                else:
                    self.inner(child)
        self.depth -= 1

    def word(self, node: Node) -> Word:
        read = _WORDS.get(node.type)
        if read is not None:
            return read(self, node)
        if node.type in ("command_substitution", "process_substitution"):
            self.node(node)
        else:
            self.inner(node)
        return Word(_UNKNOWN, False)

    def joined(self, node: Node) -> Word:
        words = [self.word(child) for child in node.named_children]
        known = all(w.known for w in words) and not _BRACES.search(self.text(node))
        return Word("".join(w.text for w in words), known)

    def expansion(self, node: Node) -> Word:
        self.inner(node)
        return self.variable(self.text(node).strip()[2:-1])

    def plain(self, node: Node) -> Word:
        self.inner(node)
        return self.bare(self.text(node))

    def bare(self, raw: str) -> Word:
        home = self.variables.get("HOME", "")
        if home and (raw == "~" or raw.startswith("~/")):
            raw = home + raw[1:]
        known = not raw.startswith("~") and not _BRACES.search(raw)
        return Word(_ESCAPED.sub(lambda m: "" if m[1] == "\n" else m[1], raw), known)

    def quoted(self, node: Node) -> Word:
        whole, start = self.source[node.start_byte : node.end_byte], node.start_byte
        parts, known, at = [], True, 1 + (node.type == "translated_string")
        for child in node.named_children:
            parts.append(_unquoted(whole[at : child.start_byte - start]))  # blanks between two expansions
            if child.type == "string_content":
                parts.append(_unquoted(self.source[child.start_byte : child.end_byte]))
            else:
                word = self.word(child)
                raw = self.text(child)
                parts += [raw[: len(raw) - len(raw.lstrip())], word.text]  # the parser counts them in
                known = known and word.known
            at = child.end_byte - start
        parts.append(_unquoted(whole[at:-1]))
        return Word("".join(parts), known)

    def variable(self, name: str) -> Word:
        value = self.variables.get(name)
        return Word(_UNKNOWN, False) if value is None else Word(value)


_WORDS: Mapping[str, Callable[[_Walk, Node], Word]] = {
    "word": _Walk.plain,
    "number": _Walk.plain,
    "extglob_pattern": _Walk.plain,
    "test_operator": _Walk.plain,
    "variable_name": _Walk.plain,
    "raw_string": lambda walk, node: Word(walk.text(node)[1:-1]),
    "ansi_c_string": lambda walk, node: Word(_ansi_c(walk.text(node)[2:-1])),
    "string": _Walk.quoted,
    "translated_string": _Walk.quoted,
    "concatenation": _Walk.joined,
    "simple_expansion": lambda walk, node: walk.variable(walk.text(node).lstrip()[1:]),
    "expansion": _Walk.expansion,
}
"""How each kind of word is read; any other is decided only when it runs."""


def _unquoted(data: bytes) -> str:
    return _ESCAPED_IN_QUOTES.sub(lambda m: "" if m[1] == "\n" else m[1], data.decode("utf-8", "replace"))


def _ansi_c(text: str) -> str:
    """The text of `$'…'`; what cannot be told stays as written."""
    with contextlib.suppress(UnicodeError, ValueError):
        return codecs.decode(text.encode("latin-1", "backslashreplace").decode("latin-1"), "unicode_escape")
    return text
