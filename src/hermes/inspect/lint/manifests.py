"""What a project can be told to do: targets, scripts and recipes from the files that define them.

`None` in place of a set of names means: not to be known from here, so nothing is reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Self

from hermes.frozen import frozen
from hermes.inspect.lint.tree import Tree

_TARGET = re.compile(r"^([^\s#:=][^:=#]*?)\s*::?(?!=)", re.M)
_MAKE_UNKNOWN = re.compile(r"^-?s?include\b|^\s*\$\((?:eval|call)\b|^define\b", re.M)
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*)(?:\s+[^:\n]*)?:(?!=)", re.M)
_ALIAS = re.compile(r"^alias\s+([\w-]+)\s*:=", re.M)
_JUST_UNKNOWN = re.compile(r"^(?:import|mod)\b", re.M)
_MOST_FILES = 200


@frozen
class Manifests:
    """The names a project defines; an empty set of `found` files means that there is none of the kind."""

    make: frozenset[str] | None
    make_patterns: tuple[re.Pattern[str], ...]
    has_make: bool
    scripts: frozenset[str] | None
    packages: frozenset[str]
    has_package: bool
    recipes: frozenset[str] | None
    has_just: bool
    cargo_aliases: frozenset[str] | None

    @classmethod
    def of(cls, tree: Tree) -> Self:
        make, patterns, has_make = _make(tree)
        scripts, packages, has_package = _packages(tree)
        recipes, has_just = _just(tree)
        aliases = _cargo_aliases(tree)
        return cls(make, patterns, has_make, scripts, packages, has_package, recipes, has_just, aliases)

    def makes(self, target: str) -> bool:
        """Whether make has a target, as far as can be told."""
        if self.make is None or target in self.make:
            return True
        return any(pattern.match(target) for pattern in self.make_patterns)


def _texts(tree: Tree, *names: str) -> Iterator[str]:
    for path in tree.named(*names)[:_MOST_FILES]:
        text = tree.read(path)
        if text is not None:
            yield text


def _make(tree: Tree) -> tuple[frozenset[str] | None, tuple[re.Pattern[str], ...], bool]:
    targets: set[str] = set()
    patterns: list[re.Pattern[str]] = []
    texts = list(_texts(tree, "Makefile", "makefile", "GNUmakefile"))
    for text in texts:
        if _MAKE_UNKNOWN.search(text):
            return None, (), True
        for line in _TARGET.finditer(text):
            for name in line[1].split():
                if "$" in name:
                    return None, (), True
                if "%" in name:
                    patterns.append(re.compile(re.escape(name).replace("%", ".+") + r"\Z"))
                targets.add(name)
        for phony in re.finditer(r"^\.PHONY\s*:([^\n]*(?:\\\n[^\n]*)*)", text, re.M):
            targets.update(phony[1].replace("\\\n", " ").split())
    made_elsewhere = not texts and tree.named("CMakeLists.txt", "configure", "configure.ac", "meson.build")
    return (None if made_elsewhere else frozenset(targets)), tuple(patterns), bool(texts)


def _packages(tree: Tree) -> tuple[frozenset[str] | None, frozenset[str], bool]:
    scripts: set[str] = set()
    packages: set[str] = set()
    texts = list(_texts(tree, "package.json"))
    for text in texts:
        try:
            body = json.loads(text)
        except ValueError:
            return None, frozenset(), True
        if not isinstance(body, dict):
            return None, frozenset(), True
        for key, into in (("scripts", scripts), ("dependencies", packages), ("devDependencies", packages)):
            part = body.get(key)
            if isinstance(part, dict):
                into.update(str(name) for name in part)
    return frozenset(scripts), frozenset(packages), bool(texts)


def _just(tree: Tree) -> tuple[frozenset[str] | None, bool]:
    texts = list(_texts(tree, "justfile", "Justfile", ".justfile"))
    recipes: set[str] = set()
    for text in texts:
        if _JUST_UNKNOWN.search(text):
            return None, True
        recipes.update(_RECIPE.findall(text))
        recipes.update(_ALIAS.findall(text))
    return frozenset(recipes), bool(texts)


def _cargo_aliases(tree: Tree) -> frozenset[str] | None:
    import tomllib

    aliases: set[str] = set()
    for path in (".cargo/config.toml", ".cargo/config"):
        text = tree.read(path)
        if text is None:
            continue
        try:
            table = tomllib.loads(text).get("alias", {})
        except tomllib.TOMLDecodeError:
            return None
        if isinstance(table, dict):
            aliases.update(table)
    return frozenset(aliases)
