"""What is found, and how it is shown: written once, so that both stores find the same."""

from __future__ import annotations

import re
import unicodedata

_PLAIN = {i: chr(i).lower() if chr(i).isalnum() else " " for i in range(128)}
_ACCENTS = re.compile("[\u0300-\u036f]+")
_WORD = re.compile(r"[^\W_]+(?:[\u0900-\u0dff\u0f00-\u0fff\u200c\u200d]+[^\W_]*)*")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003fffd]+"
)


def folded(text: str) -> str:
    """The words of a text, in lower case, without accents, parted by single blanks.

    A run of a script that has no blanks between words becomes its pairs of characters, then its last one.
    """
    if text.isascii():
        return " ".join(text.translate(_PLAIN).split())
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    plain = unicodedata.normalize("NFC", plain).casefold()
    return " ".join(part for word in _WORD.findall(plain) for part in _parts(word))


def _parts(word: str) -> list[str]:
    if word.isascii():
        return [word]
    found: list[str] = []
    at = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > at:
            found.append(word[at : run.start()])
        chars = run[0]
        found += [chars[i : i + 2] for i in range(len(chars) - 1)]
        found.append(chars[-1])
        at = run.end()
    if at < len(word):
        found.append(word[at:])
    return found
