"""Operations on entries: what is meant is found, what is refused says why, the limit counts at the end."""

from __future__ import annotations

import pytest

from hermes.memory.entries import ids, size
from hermes.memory.operations import Operation, View, carry_out, merged
from hermes.memory.words import find, plain_form, said_already


def judge(text: str) -> str:
    return "poison" if "poison" in text else ""


def do(entries: list[str], *operations: Operation, limit: int = 2200) -> tuple[list[str], list[str]]:
    plan = carry_out(entries, operations, limit, judge)
    return list(plan.entries), [o.why or f"ok {o.id}" for o in plan.outcomes]


def add(text: str) -> Operation:
    return Operation("add", text)


def remove(entry: str) -> Operation:
    return Operation("remove", entry=entry)


def replace(entry: str, text: str) -> Operation:
    return Operation("replace", text, entry)


def test_exact_goes_before_a_part_of_another() -> None:
    entries = ["vixt", "x", "axe"]
    assert do(entries, remove("x"))[0] == ["vixt", "axe"]
    assert find(entries, ids(entries)[2]) == [2]
    assert find(entries, f"[{ids(entries)[0]}]") == [0]


@pytest.mark.parametrize(
    ("entry", "typed"),
    [
        ("Works at ACME \u2014 Berlin", "works at acme -- Berlin"),
        ("Says \u201cdon\u2019t\u201d", 'Says "don\'t"'),
        ("cafe\u0301 au lait", "café au lait"),
        ("100\u00a0km run", "100 km run"),
        ("wait\u2026 what", "wait... what"),
        ("zero\u200bwidth", "zerowidth"),
        ("two\n  lines", "two lines"),
    ],
)
def test_the_same_typed_otherwise_is_found(entry: str, typed: str) -> None:
    entries = ["another", entry]
    assert find(entries, typed) == find(entries, typed[2:]) == [1]
    assert do(entries, remove(typed)) == (["another"], [f"ok {ids([entry])[0]}"])
    assert plain_form(entry) == plain_form(typed)


def test_what_is_not_clear_is_refused_with_the_candidates() -> None:
    entries = ["likes tea", "likes coffee", "works late"]
    names = ids(entries)
    assert do(entries, remove("likes")) == (
        entries,
        [f"'likes' fits 2 entries, name one by its id: [{names[0]}] likes tea; [{names[1]}] likes coffee"],
    )
    assert do(entries, remove("rum"))[1] == ["no entry is or holds 'rum'"]
    assert do(entries, remove(" "))[1] == ["say which entry, by its id or its text"]


def test_the_limit_counts_for_what_stands_at_the_end() -> None:
    entries = ["a" * 50, "b" * 47]
    assert size(entries) == 100
    kept, told = do(entries, add("c" * 40), remove("a" * 50), limit=100)
    assert (kept, [t[:2] for t in told]) == (["b" * 47, "c" * 40], ["ok", "ok"])
    kept, told = do(entries, remove("b" * 47), add("d" * 40), add("e" * 30), limit=100)
    assert kept == ["a" * 50, "d" * 40]
    assert told[2].startswith("there is no room: 30 characters are wanted, 0 characters are free of 100")


def test_a_bad_operation_takes_no_good_one_with_it() -> None:
    kept, told = do(["one fact"], add("poison here"), add("another thing"), remove("nowhere"))
    assert kept == ["one fact", "another thing"]
    assert told == ["poison", f"ok {ids(['another thing'])[0]}", "no entry is or holds 'nowhere'"]


def test_what_is_over_its_limit_may_become_smaller() -> None:
    entries = ["a" * 40, "b" * 40, "c" * 40]
    assert do(entries, remove("a" * 40), limit=50)[0] == entries[1:]
    assert do(entries, replace("b" * 40, "b" * 20), limit=50)[0] == [entries[0], "b" * 20, entries[2]]
    assert do(entries, remove("a" * 40), add("d" * 20), limit=50)[0] == [*entries[1:], "d" * 20]
    kept, told = do(entries, add("d" * 20), limit=50)
    assert kept == entries
    assert "it is 76 over of 50" in told[0]


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("User prefers dark mode.", "The user prefers dark mode"),
        ("User prefers dark mode in all editors", "prefers dark mode"),
        ("Deploys happen on Friday morning with Sam", "deploy happen on Friday morning with Sam"),
        ("Timezone: US/Pacific", "timezone: us/pacific"),
    ],
)
def test_what_is_said_already_is_refused(there: str, new: str) -> None:
    kept, told = do(["something else", there], add(new))
    assert kept == ["something else", there]
    assert told[0].startswith(f"[{ids([there])[0]}] says it already")


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("seed fact number 3 about the atlas project", "seed fact number 4 about the atlas project"),
        ("The staging host is alpha", "The staging host is beta"),
        ("uses C", "uses C++"),
        ("likes tea", "likes tea in the morning"),
        ("port 80 is open on the web host", "port 8080 is open on the web host"),
    ],
)
def test_what_is_another_fact_is_not(there: str, new: str) -> None:
    assert said_already([there], new) is None
    assert do([there], add(new))[0] == [there, new]


def test_the_same_again_is_no_failure() -> None:
    assert do(["a b c"], add("  a b c\n")) == (["a b c"], [f"ok {ids(['a b c'])[0]}"])


def test_a_replacement_may_not_swallow_an_entry() -> None:
    long = "The build needs " + "many careful words " * 20
    assert "cut the entry from" in do([long], replace(long[:30], "New note."))[1][0]
    told = do([long], replace(long[:30], f"New note. {long[:100]} … (rest unchanged)"))[1][0]
    assert "rest that is unchanged" in told
    assert do([long], remove(long[:30]), add("The build is simple now."))[0] == ["The build is simple now."]


def test_a_replacement_may_not_make_a_second_copy() -> None:
    entries = ["editor is vim", "shell is zsh"]
    assert "says just that" in do(entries, replace("vim", "shell is zsh"))[1][0]


def test_merging_keeps_both_changes() -> None:
    base = ["a", "b", "c"]
    assert merged(base, ["a", "c", "ours"], ["b", "c", "theirs"]) == ("c", "ours", "theirs")
    assert merged(base, base, base) == ("a", "b", "c")


def test_usage_is_told_with_its_unit() -> None:
    assert View(("ab", "c"), 100).usage == "2 entries, 6 of 100 characters (6 %), 94 free"
    assert View(("x" * 12,), 10).usage == "1 entry, 12 of 10 characters (120 %), 0 free"
