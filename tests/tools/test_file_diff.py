"""The diff that is shown: right wherever the change stands, quick and short however long the text."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from hermes.tools.file_diff import MAX_CHARS, diff

LINES = st.lists(st.sampled_from(["a", "b", "", "c d"]), min_size=1, max_size=14)
PLACE = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def applied(before: list[str], shown: str) -> list[str]:
    """What a reader of the diff makes of the text; every line of context must be there."""
    done, at = [], 0
    for line in shown.split("\n")[2:]:
        if place := PLACE.fullmatch(line):
            begins = int(place[1]) - (place[2] != "0")
            done += before[at:begins]
            at = begins
            assert len(done) == int(place[3]) - (place[4] != "0")
        elif line[0] == "+":
            done.append(line[1:])
        else:
            assert before[at] == line[1:]
            done += [line[1:]] if line[0] == " " else []
            at += 1
    return done + before[at:]


@given(LINES, LINES)
def test_it_turns_one_text_into_the_other(before: list[str], after: list[str]) -> None:
    shown = diff("\n".join([*before, ""]), "\n".join([*after, ""]), "f")
    assert bool(shown) == (before != after)
    assert (applied(before, shown) if shown else before) == after


def test_a_change_in_a_long_text_is_found_at_once() -> None:
    lines = ["same\n"] * 300_000
    before = "".join(lines)
    lines[150_000] = "other\n"
    assert diff(before, "".join(lines), "f") == (
        "--- f\n+++ f\n@@ -149999,5 +149999,5 @@\n same\n same\n-same\n+other\n same\n same"
    )


def test_a_long_diff_is_cut_and_an_endless_one_is_counted() -> None:
    before, after = "a\n" * 3_000, "".join(f"{n}\n" for n in range(3_000))
    shown = diff(before, after, "f")
    assert len(shown) < MAX_CHARS + 60
    assert shown.endswith(" more lines of the diff]")
    counted = "(too long for a diff: 30,000 lines become 30,000 from line 1 on)"
    assert diff(before * 10, after * 10, "f") == counted


def test_a_new_file_and_an_emptied_one() -> None:
    assert diff("", "one\ntwo\n", "f") == "--- f\n+++ f\n@@ -0,0 +1,2 @@\n+one\n+two"
    assert diff("one\n", "", "f") == "--- f\n+++ f\n@@ -1 +0,0 @@\n-one"
