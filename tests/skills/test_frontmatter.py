"""Front matter: the quick reader agrees with the parser, and what is broken is repaired aloud or refused."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes.skills.fields import Fault, Fields, Value
from hermes.skills.frontmatter import read_fields, thorough_fields
from hermes.skills.quick import quick_fields

WORDS = st.text(st.sampled_from("abzAZ019 _-./:,#'\"[]{}|>&*!%@`?~=<+é漢\u00a0\u200b🎉(\\;^$"), max_size=12)
SCALARS = st.one_of(
    WORDS,
    st.sampled_from(
        [
            "null",
            "Null",
            "NULL",
            "~",
            "true",
            "1.10",
            "0x1f",
            "2024-01-01",
            "<<",
            "a: b",
            "a #b",
            "a:",
            "---",
            "...",
        ]
    ),
    WORDS.map(lambda w: f'"{w}"'),
    WORDS.map(lambda w: f"'{w}'"),
    st.lists(WORDS, max_size=3).map(lambda ws: f"[{', '.join(ws)}]"),
)
INDENTS = st.sampled_from(["", "", "", " ", "  ", "  ", "    "])
LINES = st.one_of(
    st.tuples(INDENTS, st.sampled_from("abc"), st.sampled_from([":", ": ", ":  ", " : "]), SCALARS).map(
        "".join
    ),
    st.tuples(INDENTS, st.sampled_from(["- ", "-  ", "-"]), SCALARS).map("".join),
    st.tuples(INDENTS, SCALARS).map("".join),
    st.sampled_from(["", "  ", "# note", "  # note", "a:", "  b:", "    c:"]),
)
WILD = st.lists(LINES, max_size=7).map("\n".join)

TAME_TEXT = st.text(st.sampled_from("abcz  019_-./:,#'\"é漢\u00a0🎉[]{}&*!"), max_size=10)
TAME = st.one_of(
    TAME_TEXT.map("a".__add__),
    TAME_TEXT.map(lambda t: f'"{t}"'),
    TAME_TEXT.map(lambda t: f"'{t}'"),
    st.lists(st.text(st.sampled_from("ab 01-./_"), max_size=5), max_size=3).map(
        lambda ws: f"[{', '.join(ws)}]"
    ),
    st.sampled_from(["null", "", "7", "1.0", "true", "null  ", "[]", "[ ]", "[null, a]", "[\"a\", 'b']"]),
)


@st.composite
def tame(draw: st.DrawFn, depth: int = 0) -> str:
    """Front matter as people write it: keys with scalars, lists and maps, a comment, a blank line."""
    pad = "  " * depth
    lines: list[str] = []
    for key in draw(st.lists(st.sampled_from("abcde"), unique=True, min_size=1, max_size=4)):
        kind = draw(st.sampled_from(["scalar", "scalar", "list", "map", "note", "block", "wrapped"]))
        if kind == "note":
            lines.append(draw(st.sampled_from(["", "  ", "# note", f"{pad}# note: x"])))
        elif kind == "list":
            inner = pad + draw(st.sampled_from(["", "  "]))
            lines += [f"{pad}{key}:", *(f"{inner}- {item}" for item in draw(st.lists(TAME, max_size=3)))]
        elif kind in ("block", "wrapped"):
            first = (
                draw(st.sampled_from(["|", ">", "|-", ">-", ">+", "| "])) if kind == "block" else draw(TAME)
            )
            inner = pad + draw(st.sampled_from([" ", "  ", "    "]))
            below = draw(st.lists(st.one_of(TAME, TAME_TEXT), min_size=1, max_size=3))
            lines += [f"{pad}{key}: {first}", *(f"{inner}{text}" for text in below)]
        elif kind == "map" and depth < 2:
            lines += [f"{pad}{key}:", draw(tame(depth + 1))]
        else:
            lines.append(f"{pad}{key}: {draw(TAME)}")
    return "\n".join(lines)


FLAT = st.lists(
    st.tuples(
        st.sampled_from(["name", "a", "b-c", "_x", "on"]),
        st.one_of(
            SCALARS,
            st.from_regex(r"[abZ1_(/.$+^;][ -~]{0,8}", fullmatch=True),
            st.from_regex(r"\[[ab1_ ./+-]{1,4}(, [ab1_ ./+-]{1,4}){0,2}\]", fullmatch=True),
            st.from_regex(r"\"[ -~]{0,6}\"|'[ -~]{0,6}'", fullmatch=True),
        ),
    ),
    max_size=4,
).map(lambda rows: "\n".join(f"{key}: {value}" for key, value in rows))
"""Nothing but keys with their values beside them, as most front matter is."""


@given(st.one_of(tame(), tame(), FLAT, FLAT, WILD))
@example("a:\n- x\n- y\nb: z")
@example("a:\n  b:\n    c: [x, y]\n  d: 'e: f'\nc: null")
@example("a: x\n  b: y")
@example("a: foo   \n\nb:   ")
@settings(max_examples=300, deadline=None)
def test_quick_is_thorough_where_it_answers(yaml: str) -> None:
    quick = quick_fields(yaml)
    if quick is None:
        return
    slow = thorough_fields(yaml)
    assert isinstance(slow, Fields)
    assert slow.warnings == ()
    assert quick.values == slow.values
    assert quick.lines.keys() == slow.lines.keys()
    for key, value in quick.values.items():
        if isinstance(value, str):
            assert quick.lines[key] == slow.lines[key]


@given(st.text(max_size=200))
@example("[" * 3000)
@example("a: &x [*x]")
@example("\ud800: \x00")
@example("? - a\n: - b")
@settings(max_examples=150, deadline=None)
def test_any_text_gives_fields_or_a_fault(yaml: str) -> None:
    assert isinstance(read_fields(yaml), Fields | Fault)


@pytest.mark.parametrize(
    ("yaml", "value", "lines"),
    [
        ("description: plain", "plain", (2, 2)),
        ("description: |\n  one\n  two\nname: x", "one\ntwo\n", (2, 4)),
        ("description: >\n  one\n  two\nname: x", "one two\n", (2, 4)),
        ("description: >-\n  one\n  two\n", "one two", (2, 4)),
        ("name: x\ndescription: wrapped\n  plain text\n", "wrapped plain text", (3, 4)),
        ('description: "quoted\n  over lines"\n', "quoted over lines", (2, 3)),
        ("description: [a, b]", ["a", "b"], (2, 2)),
        ("description: 1.10", "1.10", (2, 2)),
        ("description: yes", "yes", (2, 2)),
        ("description: null", None, (2, 2)),
        ("description: 'null'", "null", (2, 2)),
        ("description: ~", None, (2, 2)),
        ("description:", None, (2, 2)),
    ],
)
def test_every_form_of_a_value(yaml: str, value: Value, lines: tuple[int, int]) -> None:
    fields = read_fields(yaml)
    assert isinstance(fields, Fields)
    assert fields.warnings == ()
    assert (fields.values["description"], fields.lines["description"]) == (value, lines)


@pytest.mark.parametrize(
    ("yaml", "text"),
    [
        ("name: x\ndescription: Use when: asked", "Use when: asked"),
        ("name: x\ndescription: first line\ngoes on here: unindented\nname: x", "first line"),
        ("name: x\ndescription: first line\ngoes on unindented", "first line goes on unindented"),
        ("name: x\ndescription:\tafter a tab", "after a tab"),
        ("name: x\ndescription: text\n\tand a tab", "text and a tab"),
        ("name: x\ndescription: @handle does it", "@handle does it"),
        ("name: x\ndescription: `code` first", "`code` first"),
        ('name: x\ndescription: "Quote" first', '"Quote" first'),
        ("name: x\ndescription: it's: 'so'", "it's: 'so'"),
        ("name: x\ndescription: [not a list", "[not a list"),
        ("name: x\ndescription: *bold* claim", "*bold* claim"),
    ],
)
def test_a_value_that_is_no_yaml_is_repaired_with_a_warning(yaml: str, text: str) -> None:
    fields = read_fields(yaml)
    assert isinstance(fields, Fields), fields
    assert fields.values["name"] == "x"
    assert fields.values["description"] == text
    assert len(fields.warnings) == 1
    assert "`description`" in fields.warnings[0] or "`name`" in fields.warnings[0]


def test_a_repair_keeps_line_numbers() -> None:
    fields = read_fields("name: x\ndescription: a: b\nand more\nlicense: MIT")
    assert isinstance(fields, Fields)
    assert fields.lines == {"name": (2, 2), "description": (3, 4), "license": (5, 5)}
    assert fields.values["description"] == "a: b and more"


@pytest.mark.parametrize(
    ("yaml", "line", "part"),
    [
        ("- a\n- b", 2, "key: value"),
        ("name: x\nmetadata:\n  a: b: c", 4, "mapping values"),
        ("just words", 2, "key: value"),
        ("[" * 3000, 1, "deeply"),
        (f"a: {'x' * 70_000}", 1, "70,003"),
        ("b: c\na: \x01", 3, "U+0001"),
    ],
)
def test_what_cannot_be_read_is_a_fault_with_a_line(yaml: str, line: int, part: str) -> None:
    fault = read_fields(yaml)
    assert isinstance(fault, Fault), fault
    assert fault.line == line
    assert part in fault.reason


def test_a_key_given_twice_is_told() -> None:
    fields = read_fields("name: a\nname: b")
    assert fields == Fields(
        {"name": "b"}, {"name": (3, 3)}, ("line 3: `name` is given twice; the last one counts",)
    )


def test_aliases_are_bounded() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcde", "bcdef", strict=True)
    )
    read = read_fields(bomb)
    assert isinstance(read, Fields)  # the values within bounds are read, the one beyond is kept as its text
    assert read.warnings


@pytest.mark.parametrize(
    "yaml",
    [
        "name: x\ndescription: Plain words, with a comma\nversion: 1.0.0\ntags: [a, 'b']",
        "name: x\ndescription: >\n  Folded\n  words: here\nlicense: MIT",
        "name: x\ndescription: |-\n  - literal\n  # words",
        "name: x\ndescription: wrapped\n  words\nlicense: MIT",
        'name: x\ndescription: "Quoted: x"\n\n# note\nmetadata:\n  hermes:\n    tags: [a]\n    b:\n    - c',
    ],
)
def test_common_front_matter_is_read_the_quick_way(yaml: str) -> None:
    quick, thorough = quick_fields(yaml), thorough_fields(yaml)
    assert quick is not None
    assert isinstance(thorough, Fields)
    assert quick.values == thorough.values
