"""Paths, links and imports that lead nowhere. A model that follows one loses a turn, or invents the file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from hermes.inspect.lint.finding import Finding, Place, finding
from hermes.inspect.lint.hedges import hedged, stands_in
from hermes.inspect.lint.markdown import Line
from hermes.inspect.lint.subject import Source, Subject
from hermes.inspect.lint.tree import Tree

_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`]+)\1(?!`)")
_LINK = re.compile(r"\[[^\]\n]*\]\(<?([^()\s<>]+)>?(?:\s+[\"'][^\"'\n]*[\"'])?\)")
_IMPORT = re.compile(r"(?<![\w`@/.])@((?:~/|\.{0,2}/)?[\w./-]+\.(?:md|mdc|txt|markdown))\b")
_SHAPE = re.compile(r"(?:\.{1,2}/)*[\w.+@()\[\]-]+(?:/[\w.+@()\[\]-]+)*/?", re.UNICODE)
_TAIL = re.compile(r"(?:::[\w:.\[\]-]+|:\d+(?:[-:]\d+)*|#[\w-]+)$")
_DOMAIN = re.compile(
    r"(?:[\w-]+\.)+(?:com|org|io|dev|net|ai|co|sh|app|gov|edu|me|cloud|us|uk|de|cn|ru)(?:/|$)"
)
_VARIABLE = re.compile(r"[A-Z]+_[A-Z_]+/")
_PRODUCT = re.compile(r"[A-Z][A-Za-z0-9]*\.js|socket\.io", re.ASCII)
_CALL = re.compile(
    r"(?:res|resp|response|req|request|r|self|this|data|result|ctx|c|e|df|app|page|router)\.\w+"
)

EXTENSIONS = frozenset({
    "py", "pyi", "ipynb", "ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "vue", "svelte",
    "astro", "go", "rs", "java", "kt", "kts", "scala", "groovy", "rb", "php", "pl", "pm", "lua",
    "swift", "m", "mm", "c", "h", "cc", "cpp", "hpp", "cxx", "cs", "fs", "dart", "ex", "exs", "erl",
    "hs", "ml", "clj", "zig", "nim", "jl", "sql", "graphql", "proto", "prisma", "tf", "hcl", "nix",
    "md", "mdx", "mdc", "rst", "adoc", "txt", "csv", "tsv", "json", "jsonc", "json5", "yaml", "yml",
    "toml", "ini", "cfg", "conf", "xml", "html", "css", "scss", "sass", "less", "sh", "bash", "zsh",
    "fish", "ps1", "bat", "cmd", "mk", "cmake", "gradle", "lock", "plist", "sol", "move",
})  # fmt: skip
_NEVER = re.compile(
    r"(?:^|/)(?:\.env(?:\.[\w.]+)?|node_modules|\.git|\.venv|venv|dist|build|out|target|tmp|temp"
    r"|coverage)(?:/|$)"
)


_KINDS_OF_FILE = frozenset({
    ".hermes.md", "HERMES.md", "SKILL.md", "AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "GEMINI.md",
    "SOUL.md", "MEMORY.md", "USER.md", "README.md", "CHANGELOG.md", "LICENSE.md", "CONTRIBUTING.md",
    "package.json", "package-lock.json", "yarn.lock", "pyproject.toml", "requirements.txt", "setup.py",
    "setup.cfg", "Cargo.toml", "Cargo.lock", "CMakeLists.txt", "tsconfig.json", "composer.json",
    "pom.xml", "plugin.json", "config.toml", "config.yaml", "config.json", "settings.json",
    "index.html", "index.js", "index.ts", "main.py", "main.rs", "main.go",
})  # fmt: skip
_NAMES_SHOWN = 6


class _Named(NamedTuple):
    rule: str
    path: str
    line: Line
    start: int
    end: int


def check(subject: Subject) -> Iterator[Finding]:
    """Each dead path, link and import once a file; names without a folder together, as one note."""
    for source in subject.project_files():
        seen: dict[tuple[str, str], list[_Named]] = {}
        for line in source.document.lines:
            if line.kind in ("text", "bullet", "table", "heading"):
                for named in _names(line):
                    seen.setdefault((named.rule, named.path), []).append(named)
        bare: list[_Named] = []
        for (rule, path), found in seen.items():
            if not _is_dead(rule, path, found, source, subject.tree):
                continue
            if rule == "dead-path" and "/" not in path:
                bare.append(found[0])
            else:
                yield _finding(found, source)
        if bare:
            yield _bare_names(bare, source)


def _names(line: Line) -> Iterator[_Named]:
    prose = line.text
    if "`" in prose:
        for code in _CODE.finditer(line.text):
            path = code[2].strip()
            if _SHAPE.fullmatch(bare := _TAIL.sub("", path)):
                yield _Named("dead-path", bare, line, code.start(2), code.end(2))
        prose = _CODE.sub(lambda code: " " * len(code[0]), prose)
    if "](" in prose:
        for link in _LINK.finditer(prose):
            target = link[1].partition("#")[0].partition("?")[0]
            if target and ":" not in target and not target.startswith(("/", "<", "{", "$", "www.")):
                yield _Named("dead-link", target, line, link.start(1), link.end(1))
    if "@" in prose:
        for match in _IMPORT.finditer(prose):
            yield _Named("dead-import", match[1], line, match.start(), match.end())


def _is_dead(rule: str, path: str, found: list[_Named], source: Source, tree: Tree) -> bool:
    if stands_in(path) or _NEVER.search(path) or path.startswith("~") or tree.has(path, source.folder):
        return False
    if tree.ignored(path):
        return False  # it is made on each machine
    if rule == "dead-path":
        return _is_dead_path(path, " ".join(n.line.text for n in found), source, tree)
    if any(c in path for c in "*{}%"):
        return False
    return rule == "dead-import" or path.endswith("/") or has_ending(path)  # docs sites link without endings


def _is_dead_path(path: str, around: str, source: Source, tree: Tree) -> bool:
    """Whether a name in code is a path that should be here; `around` is the text beside it.

    A path with folders and a known ending is one; without an ending all its folders must exist.
    """
    if hedged(around) or not _may_be_path(path):
        return False
    parts = path.rstrip("/").split("/")
    if len(parts) > 1:
        return has_ending(path) or _starts_here(parts, source, tree)
    return has_ending(path) and tree.complete and path not in _KINDS_OF_FILE


def has_ending(path: str) -> bool:
    """Whether a path ends like a file that people write."""
    stem, dot, ending = path.rpartition("/")[2].rpartition(".")
    return bool(stem and dot) and ending in EXTENSIONS


def _may_be_path(path: str) -> bool:
    if any(c in path for c in "()[]") or "//" in path or path.startswith(("-", "@", "+")):
        return False  # a route with parameters, a pattern, an option, a package
    return not (
        _DOMAIN.match(path) or _VARIABLE.match(path) or _PRODUCT.fullmatch(path) or _CALL.fullmatch(path)
    )


def _starts_here(parts: list[str], source: Source, tree: Tree) -> bool:
    """Whether all but the last folder of a path exist, so that it is a path and not a word with a slash."""
    if parts[0] in (".", "..") or not parts[-1]:
        return False
    above = "/".join(parts[:-1])
    if "/".join(parts) in tree.stems:
        return False  # `src/api/client` names `src/api/client.ts`
    return any(os.path.isdir(os.path.join(tree.root, base, above)) for base in {"", source.folder})


def _finding(found: list[_Named], source: Source) -> Finding:
    first = found[0]
    place: Place = source.within(first.line, first.start, first.end)
    lines = sorted({n.line.number for n in found} - {first.line.number})
    also = f" (also on line {', '.join(map(str, lines))})" if lines else ""
    what = {"dead-link": "the link", "dead-import": "the import"}.get(first.rule, "the path")
    message = f"{what} {first.path} does not exist here{also}; mend or remove it"
    return finding(first.rule, place, message, first.path)


def _bare_names(bare: list[_Named], source: Source) -> Finding:
    first, names = bare[0], [n.path for n in bare]
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    stands = "stands" if len(names) == 1 else "stand"
    message = (
        f"{', '.join(names[:_NAMES_SHOWN])}{more} {stands} nowhere in the project; "
        "if files are meant, write their paths"
    )
    place = source.within(first.line, first.start, first.end)
    return finding("dead-name", place, message, " ".join(names))
