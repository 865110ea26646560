"""Turns the rules that people write into the files that a scan reads.

`patterns/*.toml` holds one family each, `lexicon/*.toml` one language each. A phrase rule names classes of
words; a shape is a bounded regular expression that begins at, or near, one of its triggers.
Run `python -m hermes.security.compiler` after editing either.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from hermes.security.decode import telltales
from hermes.security.literals import ENDS, STARTS, prepare
from hermes.security.normalise import fold_word
from hermes.security.rulebook import Phrase, Shape

_HERE = Path(__file__).parent
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SPACELESS_LANGUAGES = ("ja", "ko", "th", "zh")
# The code that decides what a rule means: when it changes, what was found before no longer counts.
_CODE = (
    "context.py", "decode.py", "expressions.py", "findings.py", "hidden.py", "invisible.py", "literals.py",
    "normalise.py", "phrases.py", "scan.py", "shapes.py", "tables.json",
)  # fmt: skip
_Meaning = tuple[int, tuple[str, ...], bool]
"""Classes of an entry, the parts behind its first, and whether the last must end a word."""
# Distances at which two words of a trigger are looked for: a space, ", ", " - ", "** **".
_DISTANCES = (1, 2, 3, 5)


def families() -> list[dict[str, Any]]:
    """The families as written, with their examples."""
    return [tomllib.loads(path.read_text("utf-8")) for path in sorted(_HERE.glob("patterns/*.toml"))]


def compile_rules() -> dict[str, str]:
    """The compiled files by name, for the sources as they stand."""
    lexicon = {
        path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(_HERE.glob("lexicon/*.toml"))
    }
    classes = sorted({name for table in lexicon.values() for name in table})
    phrases, shapes = _rules(classes)
    words = _lexicon(lexicon, classes)
    data = {
        "version": "",
        "spaceless": sum(1 << sorted(lexicon).index(name) for name in _SPACELESS_LANGUAGES),
        "cues": _cues(),
        "phrases": phrases,
        "shapes": shapes,
        **_signposts([trigger for shape in shapes for trigger in shape.triggers]),
    }
    sources = [_HERE.joinpath(name).read_text("utf-8") for name in _CODE]
    data["version"] = hashlib.sha256("".join([_dump(data), _dump(words), *sources]).encode()).hexdigest()[:16]
    return {"rules.json": _dump(data), "words.json": _dump(words)}


def _dump(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


def _rules(classes: list[str]) -> tuple[list[Phrase], list[Shape]]:
    """Both kinds of rules."""
    phrases, shapes = [], []
    for family in families():
        for rule in family.get("phrase", ()):
            phrases.append(_phrase(rule, family["family"], classes))
        for rule in family.get("shape", ()):
            shapes.append(_shape(rule, family["family"]))
    return phrases, shapes


def _cues() -> tuple[str, str]:
    """Expressions for the weak and the strong cues of a mention."""
    cues = tomllib.loads(_HERE.joinpath("cues.toml").read_text("utf-8"))
    weak = rf"(?<!\w)(?:{'|'.join(cues['weak'])})(?!\w)|{'|'.join(cues['weak_spaceless'])}"
    strong = "|".join(cues["strong"])
    for expression in (weak, strong):
        re.compile(expression)
    return weak, strong


def _phrase(rule: dict[str, Any], family: str, classes: list[str]) -> Phrase:
    slots = tuple(sum(1 << classes.index(name) for name in slot.split()) for slot in rule["slots"])
    for name in ("before", "after", "close"):
        re.compile(rule.get(name, ""))
    return Phrase(
        rule["id"], family, rule["severity"], rule["why"], slots, rule.get("ordered", False),
        rule.get("span", 8), rule.get("before", ""), rule.get("after", ""), rule.get("close", ""),
        rule.get("negatable", True), rule.get("hidden", 0),
    )  # fmt: skip


def loosened(regex: str) -> str:
    """A shape as written, with room for mark-up and punctuation wherever it expects a space between words."""
    pieces = re.split(r"(\[(?:\\.|[^\]\\])+\]|\\.|\(\?[<!=:]*|.)", regex, flags=re.DOTALL)
    loose = "".join(_ROOM if piece == " " else piece for piece in pieces)
    return re.sub(
        re.escape(_ROOM) + r"\{0,\d\}",
        r"[\\s*_.,]{0,6}",
        loose.replace(r"\W{1,3}", r"\W{1,6}").replace(r"\s{1,2}", _ROOM),
    )


_ROOM = r"[\s*_.,]{1,6}"


def _shape(rule: dict[str, Any], family: str) -> Shape:
    regex = loosened(rule["regex"])
    re.compile(regex)
    re.compile(rule.get("unless", ""))
    triggers, needs = (tuple(sorted(map(fold_word, rule.get(name, ())))) for name in ("triggers", "needs"))
    return Shape(
        rule["id"], family, rule["severity"], rule["why"], regex, triggers, needs,
        rule.get("mention", True), rule.get("unless", ""), rule.get("back", 0),
    )  # fmt: skip


def _lexicon(lexicon: dict[str, dict[str, str]], classes: list[str]) -> dict[str, Any]:
    """The columns of `words.json`."""
    meanings: dict[tuple[str, int], dict[_Meaning, int]] = {}
    for number, language in enumerate(sorted(lexicon)):
        for entry, held in _entries(lexicon[language], classes).items():
            parts, bounds, ends = _parse(entry)
            spoken = meanings.setdefault((parts[0], bounds), {})
            meaning = (held, tuple(parts[1:]), ends)
            spoken[meaning] = spoken.get(meaning, 0) | 1 << number
    return _columns(meanings)


def _columns(meanings: dict[tuple[str, int], dict[_Meaning, int]]) -> dict[str, Any]:
    sets = sorted({held for rows in meanings.values() for held, _, _ in rows})
    languages = sorted({spoken for rows in meanings.values() for spoken in rows.values()})
    plain: list[list[tuple[int, int]]] = []
    longer: dict[int, dict[str, list[tuple[int, int, tuple[str, ...], bool]]]] = {}
    for number, key in enumerate(sorted(meanings)):
        plain.append([])
        for (held, rest, ends), spoken in sorted(meanings[key].items()):
            meaning = (sets.index(held), languages.index(spoken))
            if not rest:
                plain[-1].append(meaning)
                continue
            longer.setdefault(number, {}).setdefault(rest[0][0], []).append((*meaning, rest, ends))
    return {
        "sets": sets,
        "languages": languages,
        "literals": prepare(sorted(meanings)),
        "plain": plain,
        "longer": longer,
    }


def _entries(table: dict[str, str], classes: list[str]) -> dict[str, int]:
    """Each entry of one language once, with all classes it is in."""
    bits: dict[str, int] = {}
    for name, entries in table.items():
        for entry in entries.split():
            bits[entry] = bits.get(entry, 0) | 1 << classes.index(name)
    return bits


def _parse(entry: str) -> tuple[list[str], int, bool]:
    """The parts of an entry, the bounds of the first, and whether the last ends a word."""
    opens, closes = not entry.startswith("*"), not entry.endswith("*")
    parts = [fold_word(part) for part in entry.strip("*").split("_") if part]
    if _SPACELESS.search(entry):
        return parts, 0, False
    several = len(parts) > 1
    return parts, STARTS * opens | ENDS * (closes or several), closes and several


def _signposts(triggers: list[str]) -> dict[str, Any]:
    """What is looked for besides words: triggers that begin with a letter, and riddles."""
    named: dict[tuple[str, int], str] = {}
    for trigger in sorted(set(triggers)):
        if trigger[0].isalpha():
            word = trigger.rstrip()
            for spelling in sorted({word.replace(" ", " " * gap) for gap in _DISTANCES}):
                named[spelling, STARTS | ENDS * (word != trigger)] = trigger
    riddles = {(shown, STARTS): how for shown, how in telltales().items()}
    literals = sorted({*named, *riddles})
    return {
        "signposts": prepare(literals),
        "triggers": {number: named[pair] for number, pair in enumerate(literals) if pair in named},
        "riddles": {number: riddles[pair] for number, pair in enumerate(literals) if pair in riddles},
    }


def main() -> int:
    """Write the compiled files."""
    for name, text in compile_rules().items():
        _HERE.joinpath(name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
