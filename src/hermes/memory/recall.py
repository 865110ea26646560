"""What was said in earlier sessions, found by its words: a memory that needs no account and no network."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import lru_cache

from hermes.contracts import Exchange, Recalled, Whose
from hermes.sessions.contract import Store
from hermes.sessions.records import Hit
from hermes.sessions.search import folded
from hermes.text import grapheme_end, grapheme_start
from hermes.tooling import Tool

EXCERPT = 400
"""Characters that are shown of a message."""

_TERMS = 16
_HITS = 40
_LOOKED_AT = 12
_SURE = 3.0
"""So much of the question, by weight, must be found before the rest of it alone decides."""


class SessionRecall:
    """Recall over a session store. It keeps nothing of its own: the sessions are the memory."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._whose: dict[str, str] = {}

    async def static_block(self, whose: Whose) -> str:  # noqa: ARG002
        return ""

    async def recall(self, asked: str, whose: Whose) -> Sequence[Recalled]:
        """Messages of earlier sessions of the same person that share the telling words of this one."""
        terms = telling(asked)
        if not terms:
            return ()
        query = " OR ".join(f'"{term}"' for term in terms)
        hits = await self.store.search(query, _HITS, roles=("user", "assistant"))
        found: list[Recalled] = []
        sessions: set[str] = {whose.session_id}
        for hit in hits[:_LOOKED_AT]:
            if hit.session in sessions or await self._of(hit.session) != whose.user:
                continue
            (stored,) = await self.store.messages(hit.session, hit.seq, 1)
            weight = relevance(terms, stored.message.text)
            if weight:
                sessions.add(hit.session)
                found.append(Recalled(excerpt(stored.message.text, terms), weight, _source(hit)))
        return sorted(found, key=lambda one: -one.relevance)

    async def _of(self, session: str) -> str:
        """Whose session it is, as it was noted when it began; "" is the owner of the home.

        What a sub-agent was told is nobody's: its result stands in the session that it worked for.
        """
        if session not in self._whose:
            record = await self.store.get(session)
            known = record is not None and not record.parent
            self._whose[session] = json.loads(record.state).get("whose", "") if record and known else "nobody"
        return self._whose[session]

    async def record(self, exchange: Exchange) -> None:
        """The store has it already."""

    def tools(self, whose: Whose) -> Sequence[Tool]:  # noqa: ARG002  session_search is there for all
        return ()

    async def close(self) -> None:
        """The store is closed by who opened it."""


def telling(asked: str) -> dict[str, float]:
    """The words of a message that say what it is about, each with its weight; the weightiest of many."""
    words = dict.fromkeys(folded(asked).split())
    weights = {w: _weight(w) for w in words if w not in _common() and (len(w) > 2 or not w.isascii())}
    first = sorted(weights, key=lambda w: -weights[w])[:_TERMS]
    return {word: weights[word] for word in words if word in first}


def _weight(word: str) -> float:
    """Long words and those with digits are rare, so they tell more."""
    if not word.isascii():
        return 1.0
    return 2.0 if len(word) > 7 or not word.isalpha() else 1.0


def relevance(terms: dict[str, float], text: str) -> float:
    """How much of what is asked for a text has, from 0 to 1. One plain word alone is never enough."""
    there = set(folded(text).split())
    found = sum(weight for term, weight in terms.items() if term in there)
    return round(found / sum(terms.values()) * min(1.0, found / _SURE), 3)


def excerpt(text: str, terms: dict[str, float]) -> str:
    """The part of a text around the first of the words, on one line."""
    line = " ".join(text.split())
    if len(line) <= EXCERPT:
        return line
    low = line.casefold()
    at = min((i for term in terms if (i := low.find(term)) >= 0), default=0)
    start = grapheme_start(line, max(0, min(at - EXCERPT // 4, len(line) - EXCERPT)))
    end = grapheme_end(line, min(start + EXCERPT, len(line)))
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _source(hit: Hit) -> str:
    who = "the user" if hit.role == "user" else "you"
    return f"{hit.time[:10]}, {who}, in session {hit.session}"


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    """Words that say nothing of what a message is about, in the languages that have most of them."""
    path = os.path.join(os.path.dirname(__file__), "common_words.txt")
    with open(path, encoding="utf-8") as file:
        return frozenset(folded(file.read()).split())
