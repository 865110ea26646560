"""Lines in a shifted, mirrored or reversed alphabet: what gives them away, and how they are undone."""

from __future__ import annotations

import re
from functools import lru_cache

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Words that give a shifted, mirrored or reversed alphabet away.
_TELLTALES = (
    "ignore",
    "instructions",
    "previous",
    "disregard",
    "override",
    "system prompt",
    "unrestricted",
    "guidelines",
)
# Words of orders that nothing rarer gives away, looked for reversed and shifted by half the alphabet.
_COMMON = (
    "password", "credential", "forget", "reveal", "secret", "without", "immediately", "delete", "execute",
    "restrictions", "conversation", "assistant", "everything", "message", "confirm", "developer", "answer",
    "system", "should", "please", "instead", "command", "memory", "account", "production", "approve",
    "security", "pretend", "respond", "output", "prompt", "rules", "their", "your", "with", "this", "that",
    "from", "must", "have", "anything", "before", "after", "which", "report", "never",
    "when", "what", "then", "into", "them", "tell", "human", "text", "other", "again", "about",
)  # fmt: skip


def telltales() -> dict[str, str]:
    """Telltale words as they look in disguise, with the name of the disguise."""
    shown: dict[str, str] = {}
    for word in _TELLTALES:
        shown[word[::-1]] = "reversed"
        shown[atbash(word)] = "atbash"
        for shift in range(1, 26):
            shown[shifted(word, -shift)] = f"shifted by {shift}"
        shown[" ".join(map(pig_latin, word.split()))] = "pig Latin"
    for word in _COMMON:
        shown.setdefault(word[::-1], "reversed")
    for word in (*_COMMON, "user", "task", "file", "data", "keys", "link", "door"):
        shown.setdefault(shifted(word, 13), "shifted by 13")
    return shown


# What pig Latin is read back to: where a word was cut cannot be told from its new form.
_VOCABULARY = """
ignore disregard forget override bypass all any every the your my previous prior above earlier instructions
instruction rules guidelines restrictions prompt prompts system reveal show print tell me and act as an a you
are now unrestricted no without limits filters secret password do not safety developer mode everything told
were have been given initial hidden output repeat
"""


def pig_latin(word: str) -> str:
    """A small-letter word as pig Latin has it."""
    at = next((at for at, letter in enumerate(word) if letter in "aeiou"), 0)
    return f"{word[at:]}{word[:at]}ay" if at else f"{word}way"


@lru_cache(maxsize=1)
def _pig_latin_back() -> dict[str, str]:
    words = _VOCABULARY.split()
    back = {word + end: word for word in words for end in ("way", "yay", "ay") if word[0] in "aeiou"}
    return back | {pig_latin(word): word for word in words}


def undo(text: str, how: str) -> str:
    """The lower-cased line, read without the disguise that `telltales` named."""
    if how == "reversed":
        return text[::-1]
    if how == "words reversed":
        return " ".join(word[::-1] for word in text.split(" "))
    if how == "atbash":
        return atbash(text)
    if how == "pig Latin":
        back = _pig_latin_back()
        return re.sub(r"[a-z]+", lambda match: back.get(match[0], match[0]), text)
    return shifted(text, int(how.rsplit(" ", 1)[1]))


def shifted(text: str, by: int) -> str:
    """Each small letter moved along the alphabet."""
    letters = _LETTERS
    by %= 26
    return text.translate(str.maketrans(letters, letters[by:] + letters[:by]))


def atbash(text: str) -> str:
    """The alphabet mirrored."""
    letters = _LETTERS
    return text.translate(str.maketrans(letters, letters[::-1]))
