"""Turns the rules that people write into the files that a scan reads.

`patterns/*.toml` holds one family each, `lexicon/*.toml` one language each. A phrase rule names classes of
words; a shape is a bounded regular expression that begins at, or near, one of its triggers.
Run `python -m hermes.security.compiler` after editing either.
"""

from __future__ import annotations

import hashlib
import json
import re
import re._parser as parser  # type: ignore[import-not-found]
import sys
import tomllib
from collections.abc import Iterator
from functools import reduce
from itertools import chain, product
from operator import or_
from pathlib import Path
from typing import Any

from hermes.security.keys import keyed
from hermes.security.literals import ENDS, STARTS, prepare
from hermes.security.normalise import fold_word
from hermes.security.riddles import telltales
from hermes.security.rulebook import Phrase, Shape

_HERE = Path(__file__).parent
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SPACELESS_LANGUAGES = ("ja", "ko", "th", "zh")
# The lexicon of what is written alike everywhere: names of files, beginnings of addresses.
_EVERY_LANGUAGE = "any"
# The code that decides what a rule means: when it changes, what was found before no longer counts.
_CODE = (
    "across.py", "alphabets.py",
    "context.py", "decode.py", "effort.py", "expressions.py", "findings.py", "fitting.py", "hidden.py",
    "hosts.py", "invisible.py", "literals.py", "mail.py", "manuals.py", "normalise.py", "phrases.py",
    "reading.py", "repeats.py", "riddles.py", "scan.py",
    "scouts.py", "sentences.py", "shapes.py", "tables.json", "unshown.py", "wrapped.py",
)  # fmt: skip
_SHORTEST_HEAD = 2
# A telltale word of no more letters may begin an honest one, and counts as a whole word alone.
_OF_ITS_OWN = 6
# What asks for the end of a line, where classes of all other signs are left out.
_ANY_BUT, _LINE_ENDS = r"\[\^(?:\\.|[^\]\\])*\]", r"\\n|\^|\$(?![\w({])"
# Of no more words is it asked whether one stands near an anchor.
_MOST_COMPANY = 32
_Word = tuple[str, int, tuple[str, ...]]
"""What is searched for, its bounds, and, where that is several words, the words."""
_Meanings = dict[_Word, dict[int, int]]
"""The languages in which a word is in a set of classes."""


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
    meanings = _meanings(lexicon, classes)
    words = _columns(meanings)
    shown = [phrase for phrase in phrases if not phrase.hidden]
    anchors = reduce(or_, (phrase.slots[phrase.anchor] for phrase in shown))
    data = {
        "version": "",
        "spaceless": sum(1 << sorted(lexicon).index(name) for name in _SPACELESS_LANGUAGES),
        "cues": _cues(),
        "phrases": phrases,
        "shapes": shapes,
        **_scouts(meanings, anchors, [trigger for shape in shapes for trigger in shape.triggers]),
        **_company(meanings, shown, anchors),
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
        rule.get("negatable", True), rule.get("hidden", 0), rule.get("anchor", 0),
        tuple(rule.get("tied", ())),
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


def _orders() -> dict[str, str]:
    """What shapes may write between these marks, as expressions."""
    lists = tomllib.loads(_HERE.joinpath("orders.toml").read_text("utf-8"))
    return {f"«{name}»": f"(?:{'|'.join(lines)})" for name, lines in lists.items()}


def _shape(rule: dict[str, Any], family: str) -> Shape:
    written = rule["regex"]
    for name, orders in _orders().items():
        written = written.replace(name, orders)
    regex = loosened(written)
    re.compile(regex)
    re.compile(rule.get("unless", ""))
    triggers, needs = (tuple(sorted(map(fold_word, rule.get(name, ())))) for name in ("triggers", "needs"))
    return Shape(
        rule["id"], family, rule["severity"], rule["why"], regex, triggers, needs,
        rule.get("mention", True), rule.get("unless", ""), rule.get("back", 0), _heads(regex),
        bool(re.search(_LINE_ENDS, re.sub(_ANY_BUT, "", regex))),
    )  # fmt: skip


def _heads(regex: str) -> tuple[str, ...]:
    """Beginnings of which one opens every match; none where there is no such set."""
    heads = _beginnings(list(parser.parse(regex)))
    if not heads or min(map(len, heads)) < _SHORTEST_HEAD:
        return ()
    longer = {head for head in heads for other in heads if head != other and head.startswith(other)}
    return tuple(sorted(heads - longer))


def _beginnings(parts: list[tuple[Any, Any]]) -> set[str]:
    """Literal beginnings of what a parsed expression matches; an empty one where it may be anything."""
    for at, (kind, what) in enumerate(parts):
        rest = parts[at + 1 :]
        if kind in (parser.AT, parser.ASSERT, parser.ASSERT_NOT):
            continue
        if kind is parser.LITERAL:
            return {chr(what) + more for more in _beginnings(rest)}
        if kind is parser.SUBPATTERN:
            return _beginnings([*what[-1], *rest])
        if kind is parser.BRANCH:
            return set().union(*(_beginnings([*branch, *rest]) for branch in what[1]))
        if kind is parser.MAX_REPEAT and what[:2] == (0, 1):
            return _beginnings([*what[2], *rest]) | _beginnings(rest)
        break
    return {""}


def _meanings(lexicon: dict[str, dict[str, str]], classes: list[str]) -> _Meanings:
    """What each word means, and in which languages, as a bit set."""
    meanings: _Meanings = {}
    for number, language in enumerate(sorted(lexicon)):
        languages = (1 << len(lexicon)) - 1 if language == _EVERY_LANGUAGE else 1 << number
        for entry, held in _entries(lexicon[language], classes).items():
            for word in _spellings(entry):
                spoken = meanings.setdefault(word, {})
                spoken[held] = spoken.get(held, 0) | languages
    return meanings


def _columns(meanings: _Meanings) -> dict[str, Any]:
    """The columns of `words.json`."""
    sets = sorted({held for rows in meanings.values() for held in rows})
    languages = sorted({spoken for rows in meanings.values() for spoken in rows.values()})
    words = sorted(meanings)
    return {
        "sets": sets,
        "languages": languages,
        "literals": prepare([(literal, bounds) for literal, bounds, _ in words]),
        "parts": {number: parts for number, (_, _, parts) in enumerate(words) if parts},
        "meanings": [
            [(sets.index(held), languages.index(spoken)) for held, spoken in sorted(meanings[word].items())]
            for word in words
        ],
    }


def _entries(table: dict[str, str], classes: list[str]) -> dict[str, int]:
    """Each entry of one language once, with all classes it is in."""
    bits: dict[str, int] = {}
    for name, entries in table.items():
        for entry in entries.split():
            bits[entry] = bits.get(entry, 0) | 1 << classes.index(name)
    return bits


def _spellings(entry: str) -> Iterator[_Word]:
    """What is searched for an entry: its words with a space between them, in some scripts also without."""
    opens, closes = not entry.startswith("*"), not entry.endswith("*")
    parts = [fold_word(part) for part in entry.strip("*").split("_") if part]
    if not _SPACELESS.search(entry):
        yield " ".join(parts), STARTS * opens | ENDS * closes, tuple(parts) if len(parts) > 1 else ()
        return
    for gaps in product(("", " "), repeat=len(parts) - 1):
        spelling = "".join(chain.from_iterable(zip(parts, (*gaps, ""), strict=True)))
        yield spelling, 0, tuple(spelling.split(" ")) if " " in spelling else ()


def _scouts(meanings: _Meanings, anchors: int, triggers: list[str]) -> dict[str, Any]:
    """What is looked for in every text: the rarest words of each rule, triggers of shapes, and riddles."""
    words = sorted(meanings)
    chosen = [number for number, word in enumerate(words) if any(held & anchors for held in meanings[word])]
    named = {
        (trigger.rstrip(), STARTS | ENDS * trigger.endswith(" ")): trigger
        for trigger in sorted(set(triggers))
        if trigger[0].isalpha()
    }
    riddles = {
        (shown, STARTS if len(shown) > _OF_ITS_OWN else STARTS | ENDS): how
        for shown, how in telltales().items()
    }
    signposts = sorted({*named, *riddles})
    size = len(chosen)
    return {
        "scouts": keyed([*(words[number][:2] for number in chosen), *signposts]),
        "anchors": chosen,
        "signs": sorted({*triggers} - {*named.values()}, key=lambda sign: (-len(sign), sign)),
        "triggers": {size + at: named[pair] for at, pair in enumerate(signposts) if pair in named},
        "riddles": {size + at: riddles[pair] for at, pair in enumerate(signposts) if pair in riddles},
    }


def _company(meanings: _Meanings, phrases: list[Phrase], anchors: int) -> dict[str, Any]:
    """For each anchor the words of which one must stand near; none where those would be too many."""
    parts = _parts(meanings)
    rows: dict[tuple[tuple[int, int], ...], tuple[str, ...]] = {}
    lists: dict[tuple[str, ...], int] = {}
    accompanied: list[int] = []
    for word in sorted(meanings):
        means = tuple(meanings[word].items())
        if any(held & anchors for held, _ in means):
            if means not in rows:
                rows[means] = _companions(phrases, means, parts)
            accompanied.append(lists.setdefault(rows[means], len(lists)))
    return {"companions": [" ".join(row) for row in lists], "accompanied": accompanied}


_Parts = dict[tuple[int, int], set[str]]
"""By class and language, both as one bit: the longest part of each word."""


def _parts(meanings: _Meanings) -> _Parts:
    parts: _Parts = {}
    for word, means in meanings.items():
        part = max(prepare([(word[0], 0)]).patterns[0].split(), key=len)
        for held, spoken in means.items():
            for pair in product(_bits(held), _bits(spoken)):
                parts.setdefault(pair, set()).add(part)
    return parts


def _bits(number: int) -> list[int]:
    return [1 << at for at in range(number.bit_length()) if number >> at & 1]


def _companions(phrases: list[Phrase], means: tuple[tuple[int, int], ...], parts: _Parts) -> tuple[str, ...]:
    """What fills, of each rule anchored in a word that means this, the slot with the fewest words."""
    company: set[str] = set()
    for phrase in phrases:
        spoken = reduce(or_, (tongues for held, tongues in means if held & phrase.slots[phrase.anchor]), 0)
        others = [slot for at, slot in enumerate(phrase.slots) if at != phrase.anchor]
        if spoken:
            filled = [
                set().union(*(parts.get(pair, ()) for pair in product(_bits(slot), _bits(spoken))))
                for slot in others
            ]
            company |= min(filled, key=len, default=set())
            if not filled or len(company) > _MOST_COMPANY:
                return ()
    return tuple(sorted(company))


def main() -> int:
    """Write the compiled files."""
    for name, text in compile_rules().items():
        _HERE.joinpath(name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
