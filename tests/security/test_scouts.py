"""The search for scouts finds what a plain search for each of them finds."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.security.effort import Effort
from hermes.security.keys import keyed
from hermes.security.literals import ENDS, STARTS
from hermes.security.normalise import runs
from hermes.security.scouts import MARKS, Scouts

BOTH = STARTS | ENDS
LITERALS = [
    ("ignore", STARTS), ("ignore", BOTH), ("gnor", 0), ("use the", STARTS), ("this file", BOTH),
    ("system prompt", STARTS), ("your system prompt is", BOTH), ("prompt of the system", BOTH),
    ("it is what it is", BOTH), ("check-in", BOTH), ("don't tell", BOTH), ("-mail", 0), (".env", 0),
    ("base64 ", STARTS), ("claude.md", STARTS), ("what's", BOTH), ("игнорируй", STARTS), ("забудь все", BOTH),
    ("忽略", 0), ("忽略 指令", 0), ("输出 prompt", 0), ("straße", BOTH), ("the", BOTH),
]  # fmt: skip
SCOUTS = Scouts(keyed(LITERALS))
_LETTER = r"[a-z\x80-\u3001\u3003-\U0010ffff]"
_MARK = r"[^a-z\x80-\u3001\u3003-\U0010ffff]"


def plainly(text: str) -> list[tuple[int, int]]:
    """Every literal by an expression of its own, tried at every place."""
    found = []
    for number, (literal, bounds) in enumerate(LITERALS):
        exact = bool(re.search(r"[^a-z \-_'\x80-\U0010ffff]", literal))
        words = re.findall(rf"{_LETTER}+", literal)
        lead = literal.index(words[0])
        body = re.escape(literal) if exact else rf"{_MARK}{{1,{MARKS}}}".join(map(re.escape, words))
        opens = literal[0].isalpha() and bounds & STARTS if exact else lead or bounds & STARTS
        closes = bounds & ENDS and literal[-1].isalpha()
        expression = rf"(?<!{_LETTER})" * bool(opens) + body + rf"(?!{_LETTER})" * bool(closes)
        pattern = re.compile(expression)
        back = 0 if exact else lead
        found += [(at - back, number) for at in range(len(text)) if pattern.match(text, at)]
    return sorted(found)


PIECES = st.sampled_from([word for literal, _ in LITERALS for word in re.findall(rf"{_LETTER}+|\S", literal)])
GAPS = st.sampled_from(
    ["", " ", " ", "  ", "\n", ", ", " **", "      ", "       ", "\u3002", "?", "-", "0", "é", "字"]
)
TEXTS = st.lists(st.one_of(PIECES, GAPS, st.sampled_from([literal for literal, _ in LITERALS])), max_size=30)


@settings(deadline=None)  # the first search builds the automaton
@given(TEXTS.map("".join))
def test_scouts_are_found_as_if_each_were_looked_for(text: str) -> None:
    assert sorted(SCOUTS.find(text, Effort(10_000_000))) == plainly(text)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([literal for literal, _ in LITERALS]), GAPS), max_size=12))
def test_scouts_are_found_between_gaps(pairs: list[tuple[str, str]]) -> None:
    text = "".join(literal.replace(" ", gap or " ") + gap for literal, gap in pairs)
    assert sorted(SCOUTS.find(text, Effort(10_000_000))) == plainly(text)


def test_without_the_wheel_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "this file: use   the 忽略 指令 of your system\nprompt. игнорируй it! " * 3
    automaton = SCOUTS.find(text, Effort(10_000_000))
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    assert Scouts(keyed(LITERALS)).find(text, Effort(10_000_000)) == automaton


def test_scout_needs_a_letter() -> None:
    with pytest.raises(ValueError, match="no letter"):
        keyed([("10", BOTH)])


@given(
    st.text(alphabet="ab\u200b\u200c\u200d\ufe0f", max_size=40),
    st.sets(st.sampled_from("\u200b\u200c\u200d\ufe0f"), min_size=1),
)
def test_runs_are_those_of_an_expression(text: str, letters: set[str]) -> None:
    expected = [match.span() for match in re.finditer("[" + "".join(letters) + "]+", text)]
    assert list(runs(text, sorted(letters))) == expected
