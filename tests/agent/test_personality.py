"""Personalities: the fifteen, the owner's own, and what is told of entries that cannot be used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.agent.personality import PRESETS, Personality, find_personality, personalities
from hermes.errors import UsageError
from hermes.prompts import prompt_text
from hermes.provenance import Notice, Origin, Passage, Span, digest_of

FIFTEEN = [
    *("helpful", "concise", "technical", "creative", "teacher", "kawaii", "catgirl", "pirate"),
    *("shakespeare", "surfer", "noir", "uwu", "philosopher", "hype", "socratic"),
]
NO_TEXT = (
    "gives no text and was left out; expected a text, or a map with system_prompt, tone or style as text"
)


def own(name: str, text: str, description: str, key: str = "") -> Personality:
    origin = Origin("personality", "config.yaml", digest_of(text), trust="owner")
    spans = (Span(0, len(text), origin, (f"agent.personalities.{key or name}",)),)
    return Personality(name, Passage(text, spans), description, custom=True)


def parts(personality: Personality) -> tuple[str, str, tuple[Span, ...], str, bool]:
    """Everything, since passages are equal when their texts are."""
    text = personality.text
    return personality.name, str(text), text.spans, personality.description, personality.custom


def told(custom: dict[object, object]) -> list[tuple[str, str]]:
    return [(n.level, n.text) for n in personalities(custom)[1]]  # type: ignore[arg-type]


class TestBuiltIn:
    def test_the_fifteen_in_their_order(self) -> None:
        known, notices = personalities({})
        assert [p.name for p in known] == FIFTEEN
        assert [parts(p) for p in known] == [
            parts(Personality(n, prompt_text(f"personalities/{n}"), PRESETS[n])) for n in FIFTEEN
        ]
        assert notices == ()

    @pytest.mark.parametrize("name", FIFTEEN)
    def test_a_text_is_two_to_five_sentences(self, name: str) -> None:
        text = prompt_text(f"personalities/{name}")
        assert 2 <= len(re.findall(r"[.!?]\"?(?= |$)", text)) <= 5
        assert "\n" not in text
        assert len(text) < 340
        assert len(PRESETS[name]) < 60

    @pytest.mark.parametrize(
        "name", ["kawaii", "catgirl", "pirate", "shakespeare", "surfer", "noir", "uwu", "hype"]
    )
    def test_a_costume_keeps_facts_and_code_straight(self, name: str) -> None:
        assert re.search(r"code|risks", prompt_text(f"personalities/{name}"), re.I)

    def test_none_is_no_preset(self) -> None:
        assert "none" not in PRESETS


class TestCustom:
    def test_a_text(self) -> None:
        known, notices = personalities({"codereviewer": "You are a meticulous reviewer.\n"})
        text = "You are a meticulous reviewer."
        assert [p.name for p in known] == [*FIFTEEN, "codereviewer"]
        assert parts(known[-1]) == parts(own("codereviewer", text, text))
        assert notices == ()

    @pytest.mark.parametrize(
        ("entry", "text", "description"),
        [
            ({"system_prompt": "Be dry."}, "Be dry.", "Be dry."),
            ({"system_prompt": "Be dry.", "description": "dry"}, "Be dry.", "dry"),
            ({"tone": "dry", "style": "short"}, "Tone: dry\nStyle: short", "Tone: dry"),
            (
                {"style": "short", "system_prompt": "Be dry.", "tone": "cool"},
                "Be dry.\nTone: cool\nStyle: short",
                "Be dry.",
            ),
            ({"system_prompt": " ", "tone": "dry"}, "Tone: dry", "Tone: dry"),
        ],
    )
    def test_a_map(self, entry: object, text: str, description: str) -> None:
        known, notices = personalities({"dry": entry})
        assert (parts(known[-1]), notices) == (parts(own("dry", text, description)), ())

    def test_they_come_by_name_whatever_their_order_in_the_file(self) -> None:
        one = personalities({"b": "B.", "a": "A.", "Zed": "Z."})
        other = personalities({"Zed": "Z.", "a": "A.", "b": "B."})
        assert [parts(p) for p in one[0]] == [parts(p) for p in other[0]]
        assert [p.name for p in one[0][15:]] == ["zed", "a", "b"]

    def test_one_named_like_a_preset_takes_its_place(self) -> None:
        known, notices = personalities({"Pirate": "Arr."})
        assert [p.name for p in known] == FIFTEEN
        assert parts(known[7]) == parts(own("pirate", "Arr.", "Arr.", "Pirate"))
        origin = Origin("config", "config.yaml", trust="owner")
        assert notices == (Notice("info", "your personality pirate replaces the built-in one", origin),)

    def test_a_long_text_is_described_by_its_beginning(self) -> None:
        known, _ = personalities({"long": "word " * 30})
        assert known[-1].description == "word " * 11 + "word…"

    def test_the_file_is_named(self) -> None:
        known, _ = personalities({"dry": "Be dry."}, "/h/config.yaml")
        assert known[-1].text.span_at(0).origin.place == "/h/config.yaml"

    @pytest.mark.parametrize("entry", [None, "", "  \n", [], ["x"], 5, 1.5, True, {}, {"description": "d"}])
    def test_an_entry_without_a_text_is_left_out(self, entry: object) -> None:
        assert [p.name for p in personalities({"x": entry})[0]] == FIFTEEN
        assert told({"x": entry}) == [("warning", f"agent.personalities.x {NO_TEXT}")]

    @pytest.mark.parametrize("name", [5, True, None, "", "  "])
    def test_a_name_must_be_a_text(self, name: object) -> None:
        problem = "has a name that is no text and was left out; put the name in quotes"
        assert told({name: "Hello."}) == [("warning", f"agent.personalities.{name} {problem}")]

    def test_none_cannot_be_taken(self) -> None:
        problem = "was left out: the name none is what clears a personality"
        assert told({"None": "Hello."}) == [("warning", f"agent.personalities.None {problem}")]

    def test_of_twins_the_first_stays(self) -> None:
        assert [p.text for p in personalities({"Dry": "One.", "dry": "Two."})[0][15:]] == ["One."]
        problem = "has the name of agent.personalities.Dry and was left out"
        assert told({"dry": "Two.", "Dry": "One."}) == [("warning", f"agent.personalities.dry {problem}")]

    def test_bad_fields_are_named_and_the_rest_counts(self) -> None:
        entry = {"tone": 3, "style": "short", "foo": "x"}
        assert personalities({"x": entry})[0][-1].text == "Style: short"
        assert told({"x": entry}) == [
            (
                "warning",
                "agent.personalities.x has the unknown field foo, which was ignored; "
                "known are system_prompt, tone, style, description",
            ),
            ("warning", "agent.personalities.x has a tone that is no text; it was ignored"),
        ]

    @given(
        st.dictionaries(st.text() | st.integers() | st.none(), st.text() | st.lists(st.text()) | st.none())
    )
    def test_whatever_stands_in_the_file(self, custom: dict[object, object]) -> None:
        known, notices = personalities(custom)  # type: ignore[arg-type]
        assert [p.name for p in known][:15] == FIFTEEN
        assert len({p.name for p in known}) == len(known)
        assert all(p.text and p.text.spans for p in known)
        left_out = len(custom) - sum(p.custom for p in known)
        assert len([n for n in notices if n.level == "warning"]) == left_out


class TestFinding:
    known = personalities({"code reviewer": "Review."})[0]

    @pytest.mark.parametrize("name", ["noir", "NOIR", " Noir "])
    def test_by_name(self, name: str) -> None:
        found = find_personality(name, self.known)
        assert found is not None
        assert found.name == "noir"

    def test_a_name_of_two_words(self) -> None:
        found = find_personality("Code  Reviewer", self.known)
        assert found is not None
        assert found.text == "Review."

    @pytest.mark.parametrize("name", ["none", "None", " NONE"])
    def test_none_clears(self, name: str) -> None:
        assert find_personality(name, self.known) is None

    def test_the_nearest_is_suggested(self) -> None:
        with pytest.raises(UsageError, match=r"^no personality 'pirat'; did you mean pirate\?$"):
            find_personality("pirat", self.known)

    def test_without_a_near_one_all_are_listed(self) -> None:
        with pytest.raises(
            UsageError, match=r"^no personality 'xqz'; there are helpful, .*, code reviewer, and none"
        ):
            find_personality("xqz", self.known)


def test_the_documentation_lists_every_preset() -> None:
    page = Path(__file__).parents[2] / "docs" / "personalities.md"
    found = [line for line in page.read_text("utf-8").split("\n") if line.startswith("| `")]
    assert found == [f"| `{name}` | {tone} |" for name, tone in PRESETS.items()]
