"""What is found, and how it is shown: written once, so that both stores find the same.

A text is indexed by its tokens: words in lower case without accents; where a script has no blanks between
words, every pair of characters and the last one of the run. What is asked for is looked for in the same form.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from hermes.frozen import frozen
from hermes.security.expressions import compiled

LONGEST = 64
"""Of a longer word only so many characters count."""
SNIPPET = 160
"""Characters that are shown of a message."""
LOOKED = 1 << 18
"""Characters of a message that are looked through for where it answers, and how well."""

_ASCII = {i: chr(i).lower() if chr(i).isalnum() else " " for i in range(128)}
_ACCENTS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670"
_MARKS = "\u0900-\u0963\u0966-\u0dff\u0f71-\u0f84"  # vowel signs, which Python takes for no part of a word
_PAIRED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003fffd"
)
_IGNORED = f"[{_ACCENTS}\u00ad\u200c\u200d]+"
_WORD = f"(?:[^\\W_]|[{_ACCENTS}{_MARKS}{_PAIRED}\u00ad\u200c\u200d])+"
_PIECE = f"[{_PAIRED}]+|(?:(?![{_PAIRED}])(?:[^\\W_]|[{_MARKS}]))+"
_RUN = f"[{_PAIRED}]"
_ASKED = re.compile(r'"([^"]*)"|(\S+)')


@frozen
class Term:
    """Tokens that must stand in a row; with `begins` the last may go on."""

    tokens: tuple[str, ...]
    begins: bool = False

    @property
    def text(self) -> str:
        return f" {' '.join(self.tokens)}" + ("" if self.begins else " ")


Query = tuple[tuple[Term, ...], ...]
"""Every group must be there: one of its terms."""


def folded(text: str) -> str:
    """The tokens of a text, parted by single blanks."""
    if text.isascii():
        words = text.translate(_ASCII).split()
        return " ".join([word[:LONGEST] for word in words])
    return " ".join([token for word in compiled(_WORD).findall(text) for token in _tokens(word)])


def _tokens(word: str) -> tuple[str, ...]:
    if word.isascii():
        return (word.lower()[:LONGEST],)
    return _known(word) if len(word) <= LONGEST else _fold(word)


def _fold(word: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKD", word.casefold())
    plain = unicodedata.normalize("NFC", compiled(_IGNORED).sub("", plain)).casefold()
    found: list[str] = []
    for piece in compiled(_PIECE).findall(plain):
        if compiled(_RUN).match(piece):
            found += [piece[i : i + 2] for i in range(len(piece) - 1)]
            found.append(piece[-1])
        else:
            found.append(piece[:LONGEST])
    return tuple(found)


_known = lru_cache(maxsize=8192)(_fold)


def parse(query: str) -> Query:
    """What is asked for. Nothing but blanks and punctuation asks for nothing."""
    groups: list[tuple[Term, ...]] = []
    joins = False
    for match in _ASKED.finditer(query):
        if match[2] == "OR" and groups:
            joins = True
            continue
        term = _term(match[1] if match[1] is not None else match[2])
        if term and joins:
            groups[-1] += (term,)
        elif term:
            groups.append((term,))
        joins = False
    return tuple(groups)


def _term(text: str) -> Term | None:
    tokens = folded(text).split()
    begins = text.endswith("*")
    if tokens and len(tokens[-1]) == 1 and compiled(_RUN).match(tokens[-1]):
        if len(tokens) > 1 and compiled(_RUN).match(tokens[-2]) and tokens[-2][-1] == tokens[-1]:
            del tokens[-1]  # what was asked for need not end its run
        else:
            begins = True  # half a pair
    return Term(tuple(tokens), begins) if tokens else None


def score(query: Query, text: str, average: float) -> float:
    """How well a text answers: how often what was asked for occurs, weighed against its length."""
    words = f" {folded(text[:LOOKED])} "
    weight = 1.2 * (0.25 + 0.75 * len(words) / average)
    counts = (sum(words.count(term.text) for term in group) for group in query)
    return sum(n / (n + weight) for n in counts)


def snippet(query: Query, text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The part of a text where it answers, on one line, and the places in it that do."""
    first = _first(query, text)
    start = max(0, min(first - SNIPPET // 3, len(text) - SNIPPET))
    end = start + SNIPPET
    if start and (blank := text.find(" ", start, first)) >= 0:
        start = blank + 1
    head = "…" if start else ""
    near = ((first + a, first + b) for a, b in _places(query, text[first : end + LONGEST]))
    shown = re.sub(r"\s", " ", text[start:end])
    tail = "…" if end < len(text) else ""
    shift = len(head) - start
    limit = len(head) + len(shown)
    inside = ((a + shift, min(b + shift, limit)) for a, b in _joined(near))
    return head + shown + tail, tuple((a, b) for a, b in inside if a < b)


def _first(query: Query, text: str) -> int:
    """Where a text answers first; of a very long one only a part is looked through with care."""
    begin = 0
    if len(text) > LOOKED:
        plain = text.lower()
        found = (plain.find(term.tokens[0]) for group in query for term in group)
        begin = max(0, min((at for at in found if at >= 0), default=0) - LONGEST)
    return begin + next(_places(query, text[begin : begin + LOOKED]), (0, 0))[0]


def _joined(places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Places that touch or overlap, as one."""
    held: tuple[int, int] | None = None
    for start, end in places:
        if held and start <= held[1]:
            held = (held[0], max(held[1], end))
        else:
            if held:
                yield held
            held = (start, end)
    if held:
        yield held


def _places(query: Query, text: str) -> Iterator[tuple[int, int]]:
    """Where a term occurs in a text, from its beginning on."""
    terms = [term for group in query for term in group]
    longest = max((len(term.tokens) for term in terms), default=0)
    last: list[tuple[str, int, int]] = []
    for spot in _spots(text):
        last = [*last[-longest + 1 :], spot] if longest > 1 else [spot]
        for term in terms:
            row = last[-len(term.tokens) :]
            if len(row) == len(term.tokens) and _equal(term, [token for token, _, _ in row]):
                yield row[0][1], row[-1][2]
                break


def _equal(term: Term, tokens: list[str]) -> bool:
    if term.begins:
        return tokens[-1].startswith(term.tokens[-1]) and tuple(tokens[:-1]) == term.tokens[:-1]
    return tuple(tokens) == term.tokens


def _spots(text: str) -> Iterator[tuple[str, int, int]]:
    """The tokens of a text with the place of each; of a word that changed its length, the place of all."""
    for match in compiled(_WORD).finditer(text):
        start, end = match.span()
        tokens = _tokens(match[0])
        one_run = compiled(_RUN).match(match[0]) and len(tokens) == end - start
        for i, token in enumerate(tokens):
            yield (token, start + i, start + i + len(token)) if one_run else (token, start, end)
