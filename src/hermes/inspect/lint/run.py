"""All rules over one subject, in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from hermes.errors import UsageError
from hermes.inspect.lint import (
    commands,
    conflicts,
    cost,
    invisible,
    paths,
    polarity,
    repeats,
    secrets,
    soul,
    unloaded,
)
from hermes.inspect.lint.finding import LEVELS, RULES, Finding, Level
from hermes.inspect.lint.subject import Subject

Check = Callable[[Subject], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    unloaded.check,
    secrets.check,
    invisible.check,
    conflicts.check,
    polarity.check,
    repeats.check,
    paths.check,
    commands.check,
    cost.check,
    soul.check,
)


def lint(subject: Subject, rules: frozenset[str] = frozenset(RULES)) -> tuple[Finding, ...]:
    """The findings of the given rules, by file and line. Equal subjects give equal findings."""
    found: dict[tuple[object, ...], Finding] = {}
    for finding in (f for check in CHECKS for f in check(subject) if f.rule in rules):
        told = finding.related or (finding.message,)
        found.setdefault((finding.rule, finding.place, told), finding)  # two families may see the same
    return tuple(_numbered(sorted(found.values(), key=lambda f: (f.place, f.rule, f.message))))


def _numbered(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The second finding of the same text in the same file gets a fingerprint of its own."""
    seen: dict[str, int] = {}
    for found in findings:
        seen[found.fingerprint] = nth = seen.get(found.fingerprint, 0) + 1
        yield found if nth == 1 else replace(found, fingerprint=f"{found.fingerprint}.{nth}")


def choose(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> frozenset[str]:
    """Rules by id or by family (`dead` for all `dead-…`). UsageError for a name that is neither."""
    wanted = _named(select) or frozenset(RULES)
    return wanted - _named(ignore)


def _named(names: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for name in names:
        rules = [id_ for id_ in RULES if id_ == name or id_.startswith(f"{name}-")]
        if not rules:
            raise UsageError(f"no rule or family is called {name!r}; the rules are: {', '.join(RULES)}")
        found.update(rules)
    return frozenset(found)


def reaches(findings: Iterable[Finding], level: Level) -> bool:
    """Whether any finding is at a level or above it."""
    grave = LEVELS[: LEVELS.index(level) + 1]
    return any(f.level in grave for f in findings)
