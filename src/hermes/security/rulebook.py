"""The rules of the scanner: written as data for people, compiled once into one file for the machine.

`patterns/*.toml` holds one family each, `lexicon/*.toml` one language each. A phrase rule names classes of
words; a shape is a bounded regular expression that begins at one of its triggers. `python -m
hermes.security.rulebook` writes `rules.json`, which is all that a scan reads; a test keeps both in step.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hermes.security.literals import ENDS, STARTS
from hermes.security.normalise import fold_word
from hermes.security.version import RULES

_HERE = Path(__file__).parent
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_GAP = r"[\W_]{1,5}"


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the lexicon: its first part is searched for, `rest` must follow."""

    literal: str
    bounds: int
    classes: int
    languages: int
    rest: str
    next: str
    ends: bool


@dataclass(frozen=True, slots=True)
class Phrase:
    """Word classes that must stand close together. `slots` and `classes` are bit sets of classes."""

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


@dataclass(frozen=True, slots=True)
class Shape:
    """A bounded expression, tried where one of its triggers stands and, if it names any, a need is near."""

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


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything a scan needs to know."""

    classes: tuple[str, ...]
    languages: tuple[str, ...]
    words: tuple[Word, ...]
    anchors: tuple[tuple[str, int], ...]
    phrases: tuple[Phrase, ...]
    shapes: tuple[Shape, ...]


@lru_cache(maxsize=1)
def load() -> Rules:
    """The compiled rules, read on first use."""
    with open(RULES, encoding="utf-8") as source:
        data = json.load(source)
    return Rules(
        classes=tuple(data["classes"]),
        languages=tuple(data["languages"]),
        words=tuple(Word(*row) for row in data["words"]),
        anchors=tuple((literal, bounds) for literal, bounds in data["anchors"]),
        phrases=tuple(Phrase(*row[:4], tuple(row[4]), *row[5:]) for row in data["phrases"]),
        shapes=tuple(Shape(*row[:5], tuple(row[5]), tuple(row[6]), *row[7:]) for row in data["shapes"]),
    )


def families() -> list[dict[str, Any]]:
    """The families as written, with their examples."""
    return [tomllib.loads(path.read_text("utf-8")) for path in sorted(_HERE.glob("patterns/*.toml"))]


def compile_rules() -> str:
    """The text of `rules.json` for the sources as they stand."""
    lexicon = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(_HERE.glob("lexicon/*.toml"))}
    classes = sorted({name for table in lexicon.values() for name in table})
    languages = sorted(lexicon)
    phrases, shapes, anchor_classes, anchors = [], [], set[str](), set[tuple[str, int]]()
    for family in families():
        for rule in family.get("phrase", ()):
            phrases.append(_phrase(rule, family["family"], classes))
            if not rule.get("hidden"):
                anchor_classes.update(rule["slots"][rule.get("anchor", 0)].split())
        for rule in family.get("shape", ()):
            re.compile(rule["regex"])
            triggers = sorted(fold_word(trigger) for trigger in rule["triggers"])
            needs = sorted(fold_word(need) for need in rule.get("needs", ()))
            row = (rule["id"], family["family"], rule["severity"], rule["why"], rule["regex"], triggers, needs)
            shapes.append((*row, rule.get("mention", True), rule.get("unless", ""), rule.get("back", 0)))
    words: dict[tuple[str, int, int, str, str, bool], int] = {}
    for number, language in enumerate(languages):
        for entry, bits, is_anchor in _entries(lexicon[language], classes, anchor_classes):
            literal, bounds, rest, following, ends, shown = _parse(entry)
            key = (literal, bounds, bits, rest, following, ends)
            words[key] = words.get(key, 0) | 1 << number
            if is_anchor:
                anchors.update(shown)
    rows = [(*key[:3], langs, *key[3:]) for key, langs in sorted(words.items())]
    data = {
        "classes": classes, "languages": languages, "words": rows, "anchors": sorted(anchors),
        "phrases": phrases, "shapes": shapes,
    }  # fmt: skip
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


def _entries(table: dict[str, str], classes: list[str], anchor_classes: set[str]) -> list[tuple[str, int, bool]]:
    """Each entry of one language once, with all classes it is in."""
    bits: dict[str, int] = {}
    anchored: dict[str, bool] = {}
    for name, entries in table.items():
        for entry in entries.split():
            bits[entry] = bits.get(entry, 0) | 1 << classes.index(name)
            anchored[entry] = anchored.get(entry, False) or name in anchor_classes
    return [(entry, bits[entry], anchored[entry]) for entry in bits]


def _parse(entry: str) -> tuple[str, int, str, str, bool, list[tuple[str, int]]]:
    """First part to search and its bounds; the rest, its first letter, whether it ends a word; what anchors it."""
    opens, closes = not entry.startswith("*"), not entry.endswith("*")
    parts = [fold_word(part) for part in entry.strip("*").split("_") if part]
    if _SPACELESS.search(entry):
        rest = "".join(r"[\W_]{0,3}" + re.escape(part) for part in parts[1:])
        return parts[0], 0, rest, parts[1][0] if rest else "", False, [("".join(parts[:2]), 0), (" ".join(parts[:2]), 0)] if rest else [(parts[0], 0)]
    rest = "".join(_GAP + re.escape(part) for part in parts[1:])
    bounds = STARTS * opens | ENDS * (closes or bool(rest))
    following = parts[1][0] if rest else ""
    return parts[0], bounds, rest, following, closes and bool(rest), _anchors(parts, opens, closes)


def _anchors(parts: list[str], opens: bool, closes: bool) -> list[tuple[str, int]]:
    """What the survey looks for: the word, or of several words the longest pair, at every usual distance."""
    if len(parts) == 1:
        return [(parts[0], STARTS * opens | ENDS * closes)]
    at = max(range(len(parts) - 1), key=lambda at: len(parts[at]) + len(parts[at + 1]))
    bounds = STARTS * (opens or at > 0) | ENDS * (closes or at < len(parts) - 2)
    return [(parts[at] + " " * gap + parts[at + 1], bounds) for gap in range(1, 6)]


def _phrase(rule: dict[str, Any], family: str, classes: list[str]) -> tuple[Any, ...]:
    slots = [sum(1 << classes.index(name) for name in slot.split()) for slot in rule["slots"]]
    return (
        rule["id"], family, rule["severity"], rule["why"], slots, rule.get("ordered", False), rule.get("span", 8),
        rule.get("before", ""), rule.get("after", ""), rule.get("close", ""),
        rule.get("negatable", True), rule.get("hidden", 0),
    )  # fmt: skip


def main() -> int:
    """Write `rules.json`."""
    Path(RULES).write_text(compile_rules(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
