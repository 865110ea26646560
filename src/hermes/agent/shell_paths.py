"""The paths that a shell command touches, and the directory in which it leaves the shell.

Commands are read by a real parser; the plainest of them need none. A command is never run, and nothing in
it is trusted: what cannot be known, such as the output of another command, is left out.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_PATHS = 256
_MOST_NODES = 5_000
_STEPS = 2_000  # of the parser: some 50 ms of what is written as commands are
_SECONDS = 0.2  # of its own time, for what is written to be hard to read
_READ_BY_WORDS = 20_000  # characters of a command that the parser gave up on
_NESTED = 3
_LONGEST = 4096  # characters of one path
_ROUNDS, _BRACES, _FOLDERS, _WILD = 16, 32, 16, 3

_PLAIN = re.compile(r"[\w@%+:,./~-][\w@%+=:,./~ \t-]*")
_ASSIGNED = re.compile(r"\w+=")
_BRACE = re.compile(r"\{([^{}]*,[^{}]*)\}")
_RANGE = re.compile(r"\{\w+\.\.\w+(?:\.\.\w+)?\}")
_GLOB = re.compile(r"[*?\[]")
_ESCAPED = re.compile(r"\\(.)", re.S)
_WINDOWS = re.compile(r"\w\\\w")
_NAMED = re.compile(r"\$\{?(\w+)\}?")
_UNKNOWN = "\0"

_CHANGES = frozenset({"cd", "chdir", "pushd"})
_SAYS = frozenset({"alias", "echo", "printf", "unset"})
_SHELLS = frozenset({"bash", "dash", "ksh", "sh", "zsh"})
_BEFORE = frozenset({"builtin", "command", "env", "exec", "nohup", "sudo", "time"})
_APART = frozenset({"command_substitution", "function_definition", "process_substitution", "subshell"})
_SKIPPED = frozenset({"comment", "heredoc_body", "heredoc_end", "heredoc_start", "herestring_redirect"})
_WORDS = frozenset({"ansi_c_string", "concatenation", "extglob_pattern", "raw_string", "string", "word"})


class Touched(NamedTuple):
    """Absolute paths in the order of the command; `cwd` is where it leaves the shell.

    `whole` is false when the command was too long or too odd to be read to its end.
    """

    paths: tuple[str, ...]
    cwd: str
    whole: bool = True


def paths_of_command(command: str, cwd: str) -> Touched:
    """What a command touches, run in a directory. Never raises; the time it takes is bounded."""
    walk = _Walk(cwd)
    whole = walk.script(command)
    return Touched(tuple(walk.found), walk.cwd, whole)


@cache
def _parser() -> Parser:
    import tree_sitter_bash  # 25 ms that only a command with more than plain words pays
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


class _Walk:
    """Follows a command from left to right. `found` holds what was touched, in order."""

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.found: dict[str, None] = {}
        self._before = [cwd]
        self._names: dict[str, str] = {}
        self._source = b""
        self._nodes = 0
        self._depth = 0

    def script(self, command: str) -> bool:
        """Follow a whole text; whether all of it could be followed."""
        if _PLAIN.fullmatch(command):
            words = command.split()
            if "=" not in words[0]:
                self._command(words)
                return True
        source, outer = command.encode("utf-8", "replace"), self._source
        root = _tree(source)
        if root is None:
            self._by_words(command)
            return False
        self._source = source
        self._visit(root)
        self._source = outer
        return self._nodes < _MOST_NODES and len(self.found) < MOST_PATHS

    def _by_words(self, command: str) -> None:
        """The words up to a here-document, as if they were all arguments."""
        for word in command[:_READ_BY_WORDS].partition("<<")[0].split():
            self._argument(word.strip("\"'`;|&<>(){}$"), self.cwd)

    # -- the tree -----------------------------------------------------------------------------------------

    def _visit(self, node: Node) -> None:
        self._nodes += 1
        if self._nodes > _MOST_NODES or self._depth > 200 or node.type in _SKIPPED:
            return
        self._depth += 1
        kind = node.type
        if kind == "command":
            self._simple(node)
        elif kind == "variable_assignment":
            self._assign(node)
        elif kind == "for_statement":
            self._loop(node)
        elif kind == "pipeline":
            for part in node.children:
                self._apart(part)
        elif kind in _APART:
            self._apart(node)
        elif kind in _WORDS:
            self._argument(self._text(node), self.cwd)
        else:
            self._all(node.children)
        self._depth -= 1

    def _all(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._visit(node)

    def _apart(self, node: Node) -> None:
        """What runs in a shell of its own leaves ours where it was."""
        cwd, names = self.cwd, dict(self._names)
        if node.type == "command":
            self._simple(node)
        else:
            self._all(node.children)
        self.cwd, self._names = cwd, names

    def _assign(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        text = self._text(value) if value is not None else ""
        for part in text.split(":"):
            self._argument(part, self.cwd)
        self._names[self._raw(name) if name is not None else ""] = text

    def _loop(self, node: Node) -> None:
        """The body once for each of the first values, as they are written."""
        variable = node.child_by_field_name("variable")
        values = [self._text(v) for v in node.children_by_field_name("value")]
        body = node.child_by_field_name("body")
        for value in values[:_ROUNDS]:
            self._argument(value, self.cwd)
            if variable is not None:
                self._names[self._raw(variable)] = value
            if body is not None:
                self._visit(body)

    def _simple(self, node: Node) -> None:
        """One command: its words are judged together, what stands beside them alone."""
        words: list[str] = []
        later: list[Node] = []
        for child in node.children:
            if child.type == "command_name":
                words += [self._text(c) for c in child.children]
            elif child.type in ("variable_assignment", "file_redirect", "heredoc_redirect"):
                later.append(child)
            elif child.type not in _SKIPPED:
                words.append(self._text(child))
                raw = self._raw(child) if child.type == "word" else ""
                if _WINDOWS.search(raw):
                    self._argument(raw.replace("\\", "/"), self.cwd)
        self._all(later)
        if words:
            self._command(words)

    def _text(self, node: Node) -> str:
        """A word as the shell makes it; NUL stands for what only the shell would know."""
        self._nodes += 1
        kind = node.type
        if self._nodes > _MOST_NODES:
            return _UNKNOWN
        if kind in ("simple_expansion", "expansion"):
            named = _NAMED.fullmatch(self._raw(node))
            return self._value(named[1]) if named else _UNKNOWN
        if kind in ("command_substitution", "process_substitution", "arithmetic_expansion"):
            self._visit(node)
            return _UNKNOWN
        if kind in ("string", "concatenation", "translated_string"):
            return self._joined(node)
        raw = self._raw(node)
        if kind == "raw_string":
            return raw[1:-1]
        return _ESCAPED.sub(r"\1", raw[2:-1] if kind == "ansi_c_string" else raw)

    def _joined(self, node: Node) -> str:
        at, parts = node.start_byte, []
        for child in node.children:
            parts.append(self._between(at, child.start_byte))
            parts.append("" if child.type == '"' else self._text(child))
            at = child.end_byte
        return "".join(parts)

    def _raw(self, node: Node) -> str:
        return self._between(node.start_byte, node.end_byte)

    def _between(self, start: int, end: int) -> str:
        return self._source[start:end].decode("utf-8", "replace")

    def _value(self, name: str) -> str:
        if name in self._names:
            return self._names[name]
        return {"PWD": self.cwd, "HOME": os.path.expanduser("~")}.get(name, _UNKNOWN)

    # -- words --------------------------------------------------------------------------------------------

    def _command(self, words: Sequence[str]) -> None:
        while len(words) > 1 and words[0] in _BEFORE:
            words = words[1:]
        name, arguments = os.path.basename(words[0]), words[1:]
        if "/" in words[0]:
            self._argument(words[0], self.cwd)
        if name in _CHANGES:
            self._change([w for w in arguments if w == "-" or not w.startswith("-")])
        elif name == "popd":
            self.cwd = self._before.pop() if len(self._before) > 1 else self.cwd
        elif name in _SHELLS and (inner := _given(arguments)) and self._depth < 200:
            self._inner(inner, apart=True)
        elif name == "eval":
            self._inner(" ".join(arguments), apart=False)
        elif name not in _SAYS:
            self._arguments(arguments)

    def _inner(self, command: str, *, apart: bool) -> None:
        """A command that another one is given to run."""
        if _UNKNOWN in command or self._depth >= 200 or self._nodes > _MOST_NODES:
            return
        cwd = self.cwd
        self._depth += 200 // _NESTED
        self.script(command)
        self._depth -= 200 // _NESTED
        if apart:
            self.cwd = cwd

    def _change(self, arguments: Sequence[str]) -> None:
        wanted = arguments[0] if arguments else "~"
        if _UNKNOWN in wanted:
            return
        to = self._before[-1] if wanted == "-" else _resolved(wanted, self.cwd)
        self._add(to)
        if os.path.isdir(to):
            self._before.append(self.cwd)
            self.cwd = to

    def _arguments(self, arguments: Sequence[str]) -> None:
        base, last = self.cwd, ""
        for word in arguments:
            self._argument(word, base)
            if last == "-C" and os.path.isdir(there := _resolved(word, base)):
                base = there  # git, make, tar: what follows counts from there
            last = word

    def _argument(self, word: str, base: str) -> None:
        """A word that may be a path, or an option with one behind its `=`."""
        head, equals, value = word.partition("=")
        if equals and "/" not in head:
            self._argument(value, base)
            return
        if "\\" in word:
            self._argument(word.replace("\\", "/"), base)
        if not word or word.startswith("-") or len(word) > _LONGEST or "://" in word or "\n" in word:
            return
        if _UNKNOWN in word:
            word = word.partition(_UNKNOWN)[0].rpartition("/")[0]
            if not word:
                return
        for path in alternatives(_RANGE.sub("*", word)):
            for found in _globbed(_resolved(path, base)):
                self._add(found)

    def _add(self, path: str) -> None:
        if len(self.found) < MOST_PATHS:
            self.found.setdefault(path)


def _tree(source: bytes) -> Node | None:
    """The parsed command; None when it takes the parser too many steps."""
    from hermes.security.shell import for_parser

    parser, steps, began = _parser(), 0, time.thread_time()
    seen = for_parser(source)

    def enough(_: int, __: bool) -> bool:
        nonlocal steps
        steps += 1
        return steps > _STEPS or time.thread_time() - began > _SECONDS

    try:
        tree = parser.parse(lambda at, _: seen[at : at + 4096], progress_callback=enough)
    except ValueError:  # what it says when it was told to stop
        parser.reset()  # or it would go on with this one
        return None
    return tree.root_node


def _given(arguments: Sequence[str]) -> str:
    """The text behind `-c`."""
    for i, word in enumerate(arguments[:-1]):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            return arguments[i + 1]
    return ""


def _resolved(path: str, base: str) -> str:
    if path.startswith("~"):
        path = os.path.expanduser(path)
    return os.path.normpath(os.path.join(base, path))


def alternatives(word: str) -> Iterable[str]:
    """`a/{b,c}` as both, up to a bound."""
    if "{" not in word:
        return (word,)
    done: list[str] = []
    waiting = [word]
    while waiting and len(done) + len(waiting) <= _BRACES:
        one = waiting.pop(0)
        if found := _BRACE.search(one):
            waiting += [one[: found.start()] + part + one[found.end() :] for part in found[1].split(",")]
        else:
            done.append(one)
    return (*done, *waiting)


def _globbed(path: str) -> Iterable[str]:
    """A path with wildcards as the first folders it stands for; a wildcard at its end as its folder."""
    if not _GLOB.search(path) or os.path.lexists(path):
        return (path,)
    found, wild = [os.sep if path.startswith(os.sep) else ""], 0
    for part in path.strip(os.sep).split(os.sep)[:-1]:
        wild += bool(_GLOB.search(part))
        if part == "**" or wild > _WILD:
            break
        if _GLOB.search(part):
            found = [f for folder in found for f in _matching(folder, part)][:_FOLDERS]
        else:
            found = [os.path.join(folder, part) for folder in found]
    return found


def _matching(folder: str, pattern: str) -> Iterable[str]:
    try:
        names = sorted(os.listdir(folder))
    except (OSError, ValueError):
        return ()
    shown = (n for n in names if pattern.startswith(".") or not n.startswith("."))
    fitting = (os.path.join(folder, n) for n in shown if fnmatchcase(n, pattern))
    return [path for path in fitting if os.path.isdir(path)][:_FOLDERS]
