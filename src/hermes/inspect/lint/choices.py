"""Choices of which a project can make only one: the data behind `conflict-choice`.

To add one, add a row. An option is a pattern for the words that name it; a `measure` finds a number instead.
"""

from __future__ import annotations

import re

from hermes.frozen import frozen


@frozen
class Choice:
    """A question with answers that exclude one another.

    `label` finds answers written as a label (`Package manager: pnpm`) and may be empty. With `commands`, the
    program of a command that is to be run counts as an answer too, when another file answers otherwise. With
    `alone`, the words of an option are an answer by themselves (`single quotes, no semicolons`). `about` must
    stand in the statement or above it, where the options' words have other meanings too.
    """

    subject: str
    options: tuple[tuple[str, str], ...]
    label: str = ""
    commands: bool = False
    alone: bool = False
    about: str = ""

    @property
    def hints(self) -> tuple[str, ...]:
        """Letters of which one stands in every statement that names an option: a look before patterns."""
        ways = [way for _, pattern in self.options for way in pattern.split("|")]
        plain = [re.sub(r"\(\?:[^()]*\)\?|.\?", " ", way) for way in ways]
        return tuple(max(re.findall("[a-z]+", way), key=len, default="") for way in plain)


@frozen
class Measure:
    """A question whose answer is a number: the groups `value`, and `least` when it is only a lower bound."""

    subject: str
    pattern: re.Pattern[str]


def _named(*names: str, **patterns: str) -> tuple[tuple[str, str], ...]:
    """Options that are called by their names, and those that need a pattern."""
    return tuple((name, re.escape(name)) for name in names) + tuple(patterns.items())


_LANGUAGES = [
    "english",
    "chinese",
    "spanish",
    "portuguese",
    "french",
    "german",
    "japanese",
    "korean",
    "russian",
    "italian",
]
_RUNNER = r"test(?:ing)? (?:runner|framework)|tests|testing|unit tests?"

CHOICES: tuple[Choice, ...] = (
    Choice("package manager", _named("npm", "pnpm", "yarn", "bun"), "package manager", commands=True),
    Choice(
        "Python package manager",
        _named("poetry", "uv", "pipenv", "pdm", "conda", pip=r"pip3?"),
        r"(?:package|dependency) (?:manager|management)",
    ),
    Choice(
        "indentation",
        _named(
            tabs=r"(?:hard )?tabs|tab (?:characters?|indentation)",
            spaces=r"(?:\d|two|four)[- ]spaces?|spaces",
        ),
        r"indent(?:ation)?",
        alone=True,
        about=r"indent|format|style|convention|whitespace|\btabs\b.*\bspaces\b|\bspaces\b.*\btabs\b",
    ),
    Choice(
        "quotes",
        (("single quotes", r"single[- ]quote[sd]?"), ("double quotes", r"double[- ]quote[sd]?")),
        alone=True,
    ),
    Choice("semicolons", _named(semicolons="semicolons?"), alone=True),
    Choice("JavaScript test runner", _named("jest", "vitest", "mocha", "jasmine", "ava"), _RUNNER),
    Choice("Python test runner", _named("pytest", "unittest", "nose"), _RUNNER),
    Choice("end-to-end tests", _named("playwright", "cypress", "selenium", "puppeteer"), r"e2e(?: tests?)?"),
    Choice(
        "Python formatter", _named("black", "yapf", "autopep8", ruff=r"ruff(?: format)?"), "formatt(?:er|ing)"
    ),
    Choice("JavaScript formatter", _named("prettier", "biome", "dprint"), "formatt(?:er|ing)"),
    Choice(
        "exports",
        (("default exports", "default exports?"), ("named exports", "named exports?")),
        alone=True,
    ),
    Choice(
        "module system",
        (
            ("ES modules", r"(?:es ?modules?|esm|es6 modules)(?: syntax)?"),
            ("CommonJS", r"commonjs|require\(\)"),
        ),
    ),
    Choice(
        "components",
        (
            ("function components", r"function(?:al)? (?:react )?components?"),
            ("class components", r"class components?"),
        ),
        alone=True,
    ),
    Choice("database access", _named("prisma", "drizzle", "typeorm", "sequelize", "kysely"), "orm"),
    Choice(
        "language of answers",
        tuple((name, f"(?:in )?{name}") for name in _LANGUAGES),
        r"(?:response|reply|answer|output) language",
    ),
)

_USES = r"\b(?:requires?|uses?|using|target(?:s|ing)?|on|with|version:?)\s+(?:`|\*\*)?"
_OR_LATER = r"(?P<least2>\+| or (?:later|newer|higher|above))?"

MEASURES: tuple[Measure, ...] = (
    Measure(
        "line length",
        re.compile(
            r"(?:max(?:imum)?\s+)?line[- ]?(?:length|width)s?(?:\s+limit)?\s*(?:is|of|at|to|[:=])?\s*"
            r"(?:max(?:imum)?\s+|under\s+|at\s+)?`?(?P<value>\d{2,3})\b"
            r"|lines\s+(?:under|below|shorter than|within|to|at)\s+(?P<value2>\d{2,3})\s+char",
            re.IGNORECASE,
        ),
    ),
    Measure(
        "indent width",
        re.compile(
            r"\b(?P<value>\d|two|four|eight)[- ]spaces?\s+(?:for\s+)?indent"
            r"|\bindent\w*\s*(?::|with|of|using|is)?\s+(?P<value2>\d|two|four)[- ]spaces?",
            re.IGNORECASE,
        ),
    ),
    Measure(
        "Python version",
        re.compile(_USES + r"python\s*(?P<least>>=)?\s*(?P<value>3\.\d{1,2})" + _OR_LATER, re.IGNORECASE),
    ),
    Measure(
        "Node version",
        re.compile(
            _USES + r"node(?:\.?js)?\s*v?(?P<least>>=)?\s*(?P<value>\d{2})\b" + _OR_LATER, re.IGNORECASE
        ),
    ),
)

NUMBERS = {"two": "2", "four": "4", "eight": "8"}
