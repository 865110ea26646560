"""Fitting texts into a budget: what they weigh, a fair share for each, and where a text may end.

Tokens are estimated without a tokenizer, from what vocabularies have in common: they hold whole words of
letters, but few runs of digits, hyphens and brackets, and less of other scripts. The weights are on the
high side, so that a budget is kept rather than overrun. To add up exactly they are whole fourteenths.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from hermes.text import grapheme_start

METHOD = "estimate: 3.5 Latin letters, 1.6 other ASCII characters or 2 bytes of other scripts a token"
DEFAULT_TOKENS = 3_000
TOKEN = 14
_LETTER = 4
_MARK = 9
_BYTE = 7
_LETTERS = bytes((32, *range(65, 91), *range(97, 123)))
ELLIPSIS = "…"


def index_budget(context_window: int | None) -> int:
    """Tokens for the whole index: 3,000, or 2 % of the window where that is less."""
    return min(DEFAULT_TOKENS, context_window * 2 // 100) if context_window else DEFAULT_TOKENS


def weight(text: str) -> int:
    """Fourteenths of a token. The weight of a whole is the sum of the weights of its parts."""
    ascii_ = text.encode("ascii", "ignore")
    marks = len(ascii_.translate(None, _LETTERS))
    known = _LETTER * (len(ascii_) - marks) + _MARK * marks
    if len(ascii_) == len(text):
        return known
    return known + _BYTE * (len(text.encode("utf-8", "surrogatepass")) - len(ascii_))


def tokens(text: str) -> int:
    """Estimated tokens, rounded up."""
    return -(-weight(text) // TOKEN)


def fair_share(weights: Sequence[int], room: int) -> int:
    """The largest cap for which the weights, none counted above the cap, fit into the room.

    Short ones stay whole and long ones share what they leave.
    """
    left = len(weights)
    for size in sorted(weights):
        if size * left > room:
            return max(0, room) // left
        room -= size
        left -= 1
    return max(weights, default=0)


def shortened(text: str, cap: int) -> str:
    """The text if it weighs no more than `cap`, else its beginning with an ellipsis, which together do not.

    It ends between words (or between characters where a script has no spaces), never inside a grapheme;
    empty when nothing fits.
    """
    if weight(text) <= cap:
        return text
    end = _longest(text, cap - weight(ELLIPSIS))
    kept = text[: grapheme_start(text, _word_end(text, end))].rstrip(" ,;:.-–—(")
    return kept + ELLIPSIS if kept else ""


def _longest(text: str, room: int) -> int:
    """The number of leading characters that weigh at most `room`."""
    return max(0, bisect_right(range(len(text) + 1), room, key=lambda n: weight(text[:n])) - 1)


def _word_end(text: str, end: int) -> int:
    """The last boundary between words at or before `end`; `end` itself inside a first, endless word."""
    for at in range(end, 0, -1):
        if text[at] == " " or _wide(text[at]) or _wide(text[at - 1]):
            return at
    return end


def _wide(char: str) -> bool:
    """Whether a line may break beside a character: East Asian scripts are written without spaces."""
    return (
        "\u2e80" <= char <= "\ud7ff"
        or "\uf900" <= char <= "\ufaff"
        or "\uff00" <= char <= "\uffef"
        or char >= "\U00020000"
    )
