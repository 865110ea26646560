"""The rules of the scanner, as a scan reads them: `rules.json` at once, `words.json` when a passage needs it.

Both are written from `patterns/*.toml` and `lexicon/*.toml` by `python -m hermes.security.compiler`; people
edit those, never these. A test keeps them in step.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import Any, NamedTuple

from hermes.security.literals import Literals
from hermes.security.scouts import Keyed


class Phrase(NamedTuple):
    """Word classes that must stand close together. `slots` are bit sets of classes, `span` counts words.

    Only where a word of the slot `anchor` stands is anything tried: the slot whose words are rarest.
    `before`, `after` and `close` are expressions for the text before, behind and between the first two words.
    `tied` names two slots whose words belong together, with no other word of the rule between them.
    """

    id: str
    family: str
    severity: str
    why: str
    slots: tuple[int, ...]
    ordered: bool
    span: int
    before: str
    after: str
    close: str
    negatable: bool
    hidden: int
    anchor: int
    tied: tuple[int, ...]


class Shape(NamedTuple):
    """A bounded expression, tried where one of its triggers stands and, if it names any, a need is near.

    With `back` it may begin that many letters before the trigger, with one of `heads` where those are known;
    `unless` must not stand before it; `mention` says whether being spoken about makes it less grave; `lines`,
    whether the ends of lines matter to it. Where they do not a sentence goes on behind one.
    """

    id: str
    family: str
    severity: str
    why: str
    regex: str
    triggers: tuple[str, ...]
    needs: tuple[str, ...]
    mention: bool
    unless: str
    back: int
    heads: tuple[str, ...]
    lines: bool


class Rules(NamedTuple):
    """What the survey and the rules need. `spaceless` is the set of languages written without spaces.

    Of the scouts the first stand for the words `anchors`; of the others, `triggers` of shapes and `riddles`.
    `signs` are the triggers that are no words, the longest first. Where `companions[accompanied[anchor]]`
    names words, one of them stands near an anchor wherever one of its rules holds.
    """

    spaceless: int
    cues: tuple[str, str]
    phrases: tuple[Phrase, ...]
    shapes: tuple[Shape, ...]
    scouts: Keyed
    anchors: list[int]
    companions: list[str]
    accompanied: list[int]
    signs: list[str]
    triggers: dict[int, str]
    riddles: dict[int, str]


Meaning = tuple[int, int]
"""A set of classes and a set of languages."""


class Words:
    """The lexicon: literals and what each means, looked up when a text first has it."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.literals = _literals(data["literals"])
        self._sets, self._languages = data["sets"], data["languages"]
        self._meanings = data["meanings"]
        self.parts: dict[int, list[str]] = {int(number): parts for number, parts in data["parts"].items()}
        """The words of those literals that are several."""

    def meanings(self, number: int) -> list[Meaning]:
        """What a literal means."""
        return [(self._sets[held], self._languages[spoken]) for held, spoken in self._meanings[number]]


@lru_cache(maxsize=1)
def load() -> Rules:
    """The compiled rules, read on first use."""
    data = _read("rules.json")
    return Rules(
        spaceless=data["spaceless"],
        cues=(data["cues"][0], data["cues"][1]),
        phrases=tuple(
            Phrase._make((*row[:4], tuple(row[4]), *row[5:-1], tuple(row[-1]))) for row in data["phrases"]
        ),
        shapes=tuple(
            Shape._make((*row[:5], tuple(row[5]), tuple(row[6]), *row[7:10], tuple(row[10]), row[11]))
            for row in data["shapes"]
        ),
        scouts=Keyed(*data["scouts"]),
        anchors=data["anchors"],
        companions=data["companions"],
        accompanied=data["accompanied"],
        signs=data["signs"],
        triggers={int(number): trigger for number, trigger in data["triggers"].items()},
        riddles={int(number): how for number, how in data["riddles"].items()},
    )


@lru_cache(maxsize=1)
def words() -> Words:
    """The compiled lexicon, read on first use."""
    return Words(_read("words.json"))


def _literals(columns: list[Any]) -> Literals:
    patterns, firsts, leads, lengths, exact = columns
    exact = {int(number): literal for number, literal in exact.items()}
    return Literals(patterns, firsts, leads, lengths, exact)


def _read(name: str) -> dict[str, Any]:
    with open(os.path.join(os.path.dirname(__file__), name), "rb") as source:
        data: dict[str, Any] = json.load(source)
    return data
