"""Writes `src/hermes/security/tables.json`: look-alike letters and pictographs, from Unicode's data.

Sources: `confusable-homoglyphs` 3.3.1 (MIT), which carries Unicode TR39 `confusables.txt`, and `regex`
(Apache-2.0), which carries the property Extended_Pictographic. Run it after raising either of them.
"""

from __future__ import annotations

import importlib.resources
import json
import sys
import unicodedata
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src/hermes/security/tables.json"


def look_alikes() -> dict[str, str]:
    """Letters of other alphabets, small and capital, with the small Latin letter they can be taken for."""
    source = importlib.resources.files("confusable_homoglyphs").joinpath("confusables.json")
    table: dict[str, str] = {}
    for letter, others in sorted(json.loads(source.read_text("utf-8")).items()):
        if len(letter) != 1 or letter.isascii() or not letter.isalpha():
            continue
        if unicodedata.normalize("NFKC", letter) != letter:
            continue
        latin = sorted({o["c"] for o in others if len(o["c"]) == 1 and o["c"].isascii() and o["c"].isalpha()})
        same_case = [other for other in latin if other.isupper() == letter.isupper()] or latin
        if same_case:
            table[letter] = same_case[0].lower()
    table.update(_DRAWN_ALIKE)
    return dict(sorted(table.items()))


# Pairs that the table leaves out though every font draws them nearly alike in running text.
_DRAWN_ALIKE = {
    "\u0430": "a", "\u0441": "c", "\u0435": "e", "\u0456": "i", "\u0458": "j", "\u043e": "o",
    "\u0440": "p", "\u0455": "s", "\u0445": "x", "\u0443": "y", "\u0501": "d", "\u04bb": "h",
    "\u04cf": "l", "\u051b": "q", "\u051d": "w", "\u043a": "k", "\u043c": "m", "\u0442": "t",
    "\u043d": "h", "\u0432": "b", "\u0433": "r", "\u043f": "n", "\u0438": "u", "\u0406": "i",
    "\u0423": "y", "\u0425": "x", "\u0420": "p", "\u0421": "c", "\u0412": "b", "\u041d": "h",
    "\u03b1": "a", "\u03b2": "b", "\u03b5": "e", "\u03b7": "n", "\u03b9": "i", "\u03ba": "k",
    "\u03bd": "v", "\u03bf": "o", "\u03c1": "p", "\u03c4": "t", "\u03c5": "u", "\u03c7": "x",
    "\u03c9": "w", "\u03b3": "y", "\u03c3": "o", "\u03bc": "u", "\u03c2": "s", "\u03b6": "z",
    "\u0396": "z", "\u0397": "h", "\u039c": "m", "\u039d": "n", "\u03a1": "p", "\u03a5": "y",
    "\u03a7": "x", "\u0392": "b", "\u0399": "i", "\u039a": "k", "\u0395": "e", "\u0391": "a",
    "\u039f": "o", "\u03a4": "t",
}  # fmt: skip


def pictographs() -> list[list[int]]:
    """Ranges of Extended_Pictographic, first and last code point."""
    import regex

    pattern = regex.compile(r"\p{Extended_Pictographic}")
    ranges: list[list[int]] = []
    for code in range(0xA9, 0x1FFFE):
        if pattern.match(chr(code)):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return ranges


def main() -> int:
    """Write the file; the exit status is 0."""
    tables = {"look_alikes": look_alikes(), "pictographs": pictographs()}
    TARGET.write_text(json.dumps(tables, ensure_ascii=True, separators=(",", ":")) + "\n", encoding="utf-8")
    print(TARGET, {name: len(rows) for name, rows in tables.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
