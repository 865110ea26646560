"""Commands that this project does not have: targets, scripts and recipes that no file defines.

Only code is read: fenced shell, and code spans that begin with a known program. What cannot be decided from
the project's own files is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hermes.inspect.lint.finding import Finding, finding
from hermes.inspect.lint.hedges import exemplary, stands_in
from hermes.inspect.lint.manifests import Manifests
from hermes.inspect.lint.paths import has_ending
from hermes.inspect.lint.shell import Call, calls
from hermes.inspect.lint.subject import Source, Subject
from hermes.inspect.lint.tree import Tree

_IS_PROGRAM = re.compile(r"\.{1,2}/[\w./-]+|[\w.-]+(?:/[\w.-]+)+\.(?:sh|py|js|ts|rb|pl)")
_NAME = re.compile(r"[A-Za-z][\w.:-]*")
_NO_TARGETS = frozenset({
    "sure", "it", "the", "a", "an", "your", "this", "that", "changes", "sense", "use", "and", "to",
    "any", "all", "small", "install",
})  # fmt: skip
_LANGUAGES = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "npx"), "javascript"),
    **dict.fromkeys(("pytest", "python", "python3", "uv", "poetry"), "python"),
    "cargo": "rust",
    "go": "go",
    "mvn": "java",
    "gradle": "java",
}
_TYPICAL = frozenset({
    "test", "tests", "lint", "build", "dev", "start", "serve", "format", "fmt", "typecheck",
    "type-check", "check", "e2e", "preview", "storybook",
})  # fmt: skip
_WITH_VALUE = frozenset(
    {"-C", "-f", "-F", "-w", "--filter", "--prefix", "--workspace", "--dir", "--cwd", "-p", "--package"}
)


class _Project(NamedTuple):
    manifests: Manifests
    tree: Tree
    source: Source


class _Problem(NamedTuple):
    """A command that cannot run, and why."""

    command: str
    why: str


def check(subject: Subject) -> Iterator[Finding]:
    if not subject.tree.complete:
        return
    manifests = Manifests.of(subject.tree)
    for source in subject.project_files():
        project = _Project(manifests, subject.tree, source)
        by_reason: dict[str, list[tuple[Call, str]]] = {}
        for call in _judged_calls(source, subject.tree):
            if (problem := _problem(call, project)) is not None:
                by_reason.setdefault(problem.why, []).append((call, problem.command))
        for why, found in by_reason.items():
            call, command = found[0]
            others = sorted({text for _, text in found} - {command})
            also = f" (nor can {', '.join(others)})" if others else ""
            place = source.within(call.line, call.start, call.end)
            message = f"{command} cannot run: {why}{also}; mend or remove it"
            yield finding("dead-command", place, message, f"{command} {why}")


def _judged_calls(source: Source, tree: Tree) -> Iterator[Call]:
    """The commands that are meant for this project, here.

    Not those after a `cd` to a place that is not here, and not a line that offers several languages.
    """
    away: set[tuple[int, int]] = set()
    found = list(calls(source))
    languages: dict[int, set[str]] = {}
    for call in found:
        languages.setdefault(call.line.number, set()).add(_LANGUAGES.get(call.words[0], ""))
    for call in found:
        if call.words[0] == "cd" and not (len(call.words) > 1 and tree.has(call.words[1], source.folder)):
            away.add(call.group)
        elif call.group not in away and len(languages[call.line.number] - {""}) < 2:
            yield call


def _problem(call: Call, project: _Project) -> _Problem | None:
    judge = _JUDGES.get(call.words[0])
    if judge is None:
        if not _IS_PROGRAM.fullmatch(call.words[0]) or not _is_run(call):
            return None
        judge = _program
    return None if exemplary(call.beside) else judge(call.words, project)


def _is_run(call: Call) -> bool:
    """Whether a path is run and not just named: alone in prose it is the business of `dead-path`."""
    if len(call.words) > 1 or call.line.language:
        return True
    return not call.beside and call.words[0].startswith("./")


def _operands(words: Sequence[str]) -> list[str]:
    """The words that are no options and no values of options."""
    found, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in _WITH_VALUE
        else:
            found.append(word)
    return found


def _make(words: Sequence[str], project: _Project) -> _Problem | None:
    manifests = project.manifests
    if "-f" in words:
        return None
    targets = [w for w in _operands(words[1:]) if "=" not in w]
    if not targets or any(t in _NO_TARGETS - {"install"} or not _NAME.fullmatch(t) for t in targets):
        return None
    if manifests.make is None:
        return None
    if not manifests.has_make:
        return _Problem(f"make {targets[0]}", "there is no Makefile in this project")
    missing = [t for t in targets if not manifests.makes(t) and not project.tree.has(t)]
    return _Problem(f"make {missing[0]}", f"no Makefile has the target {missing[0]}") if missing else None


def _npm(words: Sequence[str], project: _Project) -> _Problem | None:
    rest = _operands(words[1:])
    if rest[:1] == ["workspace"]:
        rest = rest[2:]
    if not rest:
        return None
    program, script = words[0], rest[0]
    explicit = script in ("run", "run-script")
    if explicit:
        script = rest[1] if len(rest) > 1 else ""
    elif script == "t":
        script = "test"
    elif program == "npm" and script not in ("test", "start"):
        return None
    elif program == "bun" and script in ("test", "build"):
        return None  # its own commands
    elif script not in _TYPICAL and ":" not in script:
        return None
    return _script(program, script, explicit, project)


def _script(program: str, script: str, explicit: bool, project: _Project) -> _Problem | None:
    manifests = project.manifests
    if not _NAME.fullmatch(script) or stands_in(script) or manifests.scripts is None:
        return None
    if program == "bun" and "." in script:
        return _file(script, project)
    shown = f"{program} run {script}" if explicit else f"{program} {script}"
    if not manifests.has_package:
        return _Problem(shown, "there is no package.json in this project")
    if script in manifests.scripts or (program != "npm" and script in manifests.packages):
        return None
    if script == "start" and project.tree.has("server.js"):
        return None
    return _Problem(shown, f"no package.json has the script {script}")


def _just(words: Sequence[str], project: _Project) -> _Problem | None:
    recipes = project.manifests.recipes
    names = [w for w in _operands(words[1:]) if "=" not in w]
    if recipes is None or not names or not _NAME.fullmatch(names[0]) or names[0] in _NO_TARGETS:
        return None
    if not project.manifests.has_just:
        return _Problem(f"just {names[0]}", "there is no justfile in this project")
    if names[0] in recipes:
        return None
    return _Problem(f"just {names[0]}", f"no justfile has the recipe {names[0]}")


def _cargo(words: Sequence[str], project: _Project) -> _Problem | None:
    rest = _operands([w for w in words[1:] if not w.startswith("+")])
    aliases = project.manifests.cargo_aliases
    if rest[:1] == ["xtask"] and aliases is not None and "xtask" not in aliases:
        return _Problem("cargo xtask", ".cargo/config.toml has no alias xtask")
    if (
        rest
        and rest[0] in ("build", "test", "run", "clippy", "check", "bench")
        and "Cargo.toml" not in project.tree.by_name
    ):
        return _Problem(f"cargo {rest[0]}", "there is no Cargo.toml in this project")
    return None


def _go(words: Sequence[str], project: _Project) -> _Problem | None:
    names = project.tree.by_name
    if (
        words[1:2]
        and words[1] in ("build", "test", "vet", "generate")
        and "go.mod" not in names
        and "go.work" not in names
    ):
        return _Problem(f"go {words[1]}", "there is no go.mod in this project")
    return None


def _runner(words: Sequence[str], project: _Project) -> _Problem | None:
    """`uv run x`: only a script file can be judged; a program may come from any package."""
    if len(words) < 3 or words[1] != "run":
        return None
    rest = _operands(words[2:])
    if not rest:
        return None
    if rest[0] in _JUDGES and rest[0] not in ("uv", "poetry", "pdm"):
        return _JUDGES[rest[0]](words[words.index(rest[0]) :], project)
    return _file(rest[0], project)


def _interpreter(words: Sequence[str], project: _Project) -> _Problem | None:
    if len(words) < 2 or words[1].startswith("-"):
        return None
    return _file(words[1], project)


def _tests(words: Sequence[str], project: _Project) -> _Problem | None:
    for word in _operands(words[1:]):
        if problem := _file(word.partition("::")[0], project):
            return problem
    return None


def _program(words: Sequence[str], project: _Project) -> _Problem | None:
    return _file(words[0], project, program=True)


def _file(path: str, project: _Project, *, program: bool = False) -> _Problem | None:
    """A script that is named with a known ending, or as `./name`, and is not there."""
    if not re.fullmatch(r"(?:\.{1,2}/)*[\w.-]+(?:/[\w.-]+)*", path) or stands_in(path):
        return None
    if not program and not has_ending(path):
        return None
    tree = project.tree
    if (
        tree.has(path, project.source.folder)
        or tree.ignored(path)
        or re.search(r"(?:^|/)(?:node_modules|\.venv|venv|dist|build|target|bin)/", path)
    ):
        return None
    return _Problem(path, f"there is no {path} here")


Judge = Callable[[Sequence[str], _Project], _Problem | None]
_JUDGES: dict[str, Judge] = {
    "make": _make,
    "npm": _npm,
    "pnpm": _npm,
    "yarn": _npm,
    "bun": _npm,
    "just": _just,
    "cargo": _cargo,
    "go": _go,
    "uv": _runner,
    "poetry": _runner,
    "pdm": _runner,
    "pytest": _tests,
    **dict.fromkeys(
        ("python", "python3", "bash", "sh", "zsh", "node", "ruby", "perl", "tsx", "ts-node", "php"),
        _interpreter,
    ),
}
