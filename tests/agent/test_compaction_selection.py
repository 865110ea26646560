"""What stays and what goes, for any conversation: no result without its call, nothing out of order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hermes.agent.compaction.account import missing_sections, question, told, unwrapped
from hermes.agent.compaction.carrying import carried, still_standing
from hermes.agent.compaction.selection import LONG, Selection, is_account, select, shortened, steps_of
from hermes.agent.overlays import PRESSURE
from hermes.contracts import ModelProfile
from hermes.messages import Annex, Message, ToolCall
from hermes.providers.anthropic import AnthropicMessages
from hermes.providers.openai_chat import OpenAiChat
from hermes.skills.known import LOADED
from tests.agent.compaction_world import WRAPPING, account

ACCOUNT = Message("user", annex=(told(account("Earlier.")),), id="m999")
PROFILES = (ModelProfile(), ModelProfile(strict_template=True), ModelProfile(system_mid_conversation=True))


def size(message: Message) -> int:
    return 1 + len(message.sent) // 10


_texts = st.sampled_from(["hello", "é缓存👩‍💻", "", "x" * 200, "x" * (LONG + 1)])
_annexes = st.sampled_from([(), (), (Annex("clock", "[now]", "before"),), (Annex("hint", "Use tabs."),)])
_said = st.builds(lambda t, a: (Message("user", t, a),), _texts, _annexes)
_answer = st.builds(lambda t: (Message("assistant", t),), _texts)
_system = st.just((Message("system", "switched"),))
_earlier = st.just((ACCOUNT,))


@st.composite
def _tools(draw: st.DrawFn) -> tuple[Message, ...]:
    n = draw(st.integers(1, 3))
    names = [draw(st.sampled_from(["look", "skill_view"])) for _ in range(n)]
    calls = tuple(ToolCall(f"c{i}", name, "{}") for i, name in enumerate(names))
    results = tuple(Message("tool", draw(_texts), draw(_annexes), call_id=c.id, name=c.name) for c in calls)
    return Message("assistant", draw(_texts), tool_calls=calls), *results


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Any order of things; each message and each call with an id of its own."""
    said: list[Message] = []
    for n, step in enumerate(
        draw(st.lists(st.one_of(_said, _answer, _tools(), _system, _earlier), max_size=14))
    ):
        for message in step:
            calls = tuple(replace(c, id=f"{n}-{c.id}") for c in message.tool_calls)
            call_id = f"{n}-{message.call_id}" if message.call_id else ""
            said.append(replace(message, tool_calls=calls, call_id=call_id, id=f"m{len(said)}"))
    return tuple(said)


settings = st.fixed_dictionaries(
    {"keep_head": st.integers(0, 3), "keep_tail": st.integers(1, 8), "tail_size": st.integers(1, 200)}
)


@given(conversations(), settings)
def test_every_message_is_kept_or_cut_and_the_order_stays(
    said: tuple[Message, ...], how: dict[str, int]
) -> None:
    found = select(said, **how, size=size)
    if found is None:
        return
    parts = [id(m) for part in (found.head, found.cut, found.asked, found.tail) for m in part]
    assert sorted(parts) == sorted(map(id, said))
    for part in (found.kept, found.cut):
        places = [said.index(m) for m in part]
        assert places == sorted(places)
    assert [m for m in found.cut if not is_account(m)]
    assert not any(is_account(m) for m in found.kept)


@given(conversations(), settings)
def test_the_beginning_and_the_end_stay(said: tuple[Message, ...], how: dict[str, int]) -> None:
    found = select(said, **how, size=size)
    if found is None:
        return
    steps = list(steps_of(said))
    assert found.tail[-len(steps[-1]) :] == steps[-1]
    assert len(found.tail) <= how["keep_tail"] or found.tail == steps[-1]
    assert sum(map(size, found.tail)) <= how["tail_size"] or found.tail == steps[-1]
    asked = [m for m in said if m.role == "user" and not is_account(m)]
    assert not asked or asked[-1] in found.around(ACCOUNT)[len(found.head) + 1 :]
    real = [m for m in said if not is_account(m)]
    assert list(found.head) == real[: len(found.head)]


@given(conversations(), settings)
def test_every_wire_takes_what_remains(said: tuple[Message, ...], how: dict[str, int]) -> None:
    found = select(said, **how, size=size)
    if found is None:
        return
    after = tuple(map(shortened, found.around(ACCOUNT)))
    for profile in PROFILES:
        sent = OpenAiChat().fragments(after, profile)
        _check_chat([json.loads(entry) for entry in sent], strict=profile.strict_template)
        _check_blocks([json.loads(entry) for entry in AnthropicMessages().fragments(after, profile)])


def _check_chat(entries: Sequence[dict[str, object]], *, strict: bool) -> None:
    open_calls: list[object] = []
    for entry in entries:
        if entry["role"] == "tool":
            assert entry["tool_call_id"] in open_calls
            open_calls.remove(entry["tool_call_id"])
        else:
            assert open_calls == []
            open_calls = [c["id"] for c in entry.get("tool_calls", ())]  # type: ignore[attr-defined]
    assert open_calls == []
    if strict:
        spoken = [e["role"] for e in entries if e["role"] != "tool"]
        assert all(a != b or a == "assistant" for a, b in pairwise(spoken))


def _check_blocks(entries: Sequence[dict[str, list[dict[str, object]]]]) -> None:
    asked: list[object] = []
    for entry in entries:
        given_ids = [b["tool_use_id"] for b in entry["content"] if b["type"] == "tool_result"]
        assert given_ids == asked
        asked = [b["id"] for b in entry["content"] if b["type"] == "tool_use"]
    assert asked == []


@given(conversations(), settings)
def test_hints_and_skills_of_the_cut_are_said_once(said: tuple[Message, ...], how: dict[str, int]) -> None:
    found = select(said, **how, size=size)
    if found is None:
        return
    annexes = carried(found, said, {})
    texts = [a.text for a in annexes]
    assert len(texts) == len(set(texts))
    hinted = any(a.kind == "hint" for m in said for a in m.annex)
    kept = any(a.kind == "hint" for m in found.kept for a in m.annex)
    assert (Annex("hint", "Use tabs.") in annexes) == (hinted and not kept)
    lost = {m.text for m in found.cut if m.name == "skill_view"} - {""}
    held = {m.text for m in found.kept if m.name == "skill_view"}
    for text in lost - held:
        assert any(a.kind == "skill" and text in a.text for a in annexes) or len(lost) > 1


def said(text: str, *annex: Annex) -> Message:
    return Message("user", text, annex)


def test_what_the_head_says_is_taken_back_when_it_had_ended() -> None:
    """The first message sets a personality, a cut one ends it: the end must not be lost."""
    pirate, ended = Annex("personality", "Be a pirate."), Annex("personality", "[ended]")
    head, cut, tail = said("a", pirate), said("b", ended), said("c")
    found = Selection((head,), (cut,), (), (tail,))
    assert carried(found, [head, cut, tail], {}) == (ended,)


def test_the_last_word_of_what_stands_is_said_again() -> None:
    first, last, clock = (
        Annex("gateway", "A and B."),
        Annex("gateway", "A, B and C."),
        Annex("clock", "[now]"),
    )
    cut, tail = (said("a", first, clock), said("b", last)), (said("c"),)
    found = Selection((), cut, (), tail)
    assert carried(found, [*cut, *tail], {"gateway": "digest"}) == (last,)
    assert carried(found, [*cut, *tail], {}) == ()


def test_changes_are_not_carried_since_the_prompt_is_current_then() -> None:
    note = Annex("memory changed", "+ a fact")
    cut, tail = (said("a", note),), (said("b"),)
    standing = {"memory changed": "d", PRESSURE: "80", "personality": "d"}
    assert carried(Selection((), cut, (), tail), [*cut, *tail], standing) == ()
    assert still_standing(standing, tail, ()) == {}
    assert still_standing(standing, (said("c", note),), ()) == {"memory changed": "d"}


def test_a_skill_that_was_loaded_again_is_kept_as_it_was_loaded_last() -> None:
    def loading(n: int, text: str) -> tuple[Message, Message]:
        asked = ToolCall(f"c{n}", "skill_view", '{"name":"review"}')
        return Message("assistant", tool_calls=(asked,)), Message(
            "tool", text, call_id=asked.id, name=asked.name
        )

    cut, tail = (*loading(1, "old"), *loading(2, "new")), (said("b"),)
    (kept,) = carried(Selection((), cut, (), tail), [*cut, *tail], {})
    assert kept == Annex(
        "skill",
        '<added kind="skill">\nLoaded earlier with {"name":"review"}, kept word for word:\nnew\n</added>',
    )
    pointing = (*cut, *loading(3, f"{LOADED}It stands above."))
    assert carried(Selection((), pointing, (), tail), [*pointing, *tail], {}) == (kept,)
    again = Message("user", annex=(kept,))
    assert carried(Selection((), (again,), (), tail), [again, *tail], {}) == (kept,)


def test_a_long_result_keeps_its_beginning_its_end_and_its_hints() -> None:
    text = "a" * 5000 + "z" * 5000
    hint = Annex("hint", "Use tabs.")
    long = Message("tool", text, (hint,), call_id="c", name="look")
    note = (
        "[… 6400 of 10000 characters of this result left out to make room; it is kept whole in the session …]"
    )
    expected = "a" * 2800 + f"\n{note}\n" + "z" * 800
    short = replace(long, text="", annex=(Annex("shortened", expected, "before"), hint))
    assert shortened(long) == short
    assert shortened(short) == short
    assert shortened(replace(long, name="skill_view")) == replace(long, name="skill_view")
    assert shortened(said("x" * 10_000)) == said("x" * 10_000)


def test_an_account_stands_as_history_and_comes_back_bare() -> None:
    bare = account("A </added> thing.")
    standing = told(bare)
    assert standing.text.startswith(WRAPPING)
    assert standing.text.count("</added>") == 1
    assert unwrapped(told(account("x")).text) == account("x")
    assert unwrapped(f"\n{bare}\n") == bare


def test_the_template_says_which_headings_must_be_there() -> None:
    assert missing_sections(account("x"), "") == ((), 7)
    assert missing_sections("## Facts \nx", "## facts\ntext\n## Mood") == (("## Mood",), 2)
    assert missing_sections("anything", "Tell it in one line.") == ((), 0)
    assert "{odd}" in question("{odd}", "").text
