"""`set` and `unset`: the value is right, and every other line is left as it was, byte for byte."""

from __future__ import annotations

import json
import os
from itertools import takewhile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hermes.config import load_config
from hermes.config.edit import Change, set_key, split, unset_key
from hermes.config.parser import parse
from hermes.config.splice import flow, set_in, unset_in
from hermes.errors import ConfigError
from hermes.paths import Home

FILE = """\
# My configuration.

model:   # which one
  default: 'gpt-5'    # the usual
  provider:   "openai"

agent:
    max_turns:  40   # enough
    system_prompt: |
        Be brief.

        # not a remark
    # about the clock
    turn_clock: true

memory: {memory_enabled: true, user_char_limit: 9}   # small
skills:
  disabled:
  - a   # one
  - b

  # the end of skills
tools:
context_file_max_chars: ~
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path))


def write(home: Home, text: str, encoding: str = "utf-8") -> None:
    Path(home.config).write_bytes(text.encode(encoding))


def read(home: Home) -> str:
    return Path(home.config).read_bytes().decode()


def changed(before: str, after: str) -> tuple[int, int]:
    """The lines of `before` that are not the same in `after`, as a half-open range counted from 0."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = alike(old, new)
    return head, len(old) - alike(old[head:][::-1], new[head:][::-1])


def alike(one: list[str], two: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))


class TestSet:
    @pytest.mark.parametrize(
        ("key", "typed", "old", "new"),
        [
            ("model.default", "it's", "'gpt-5'", "'it''s'"),
            ("model.provider", "azure", '"openai"', '"azure"'),
            ("agent.max_turns", "7", "40", "7"),
            ("agent.turn_clock", "no", "turn_clock: true", "turn_clock: false"),
            ("memory.user_char_limit", "8", "user_char_limit: 9", "user_char_limit: 8"),
            ("memory.memory_char_limit", "8", "9}", "9, memory_char_limit: 8}"),
            ("context_file_max_chars", "2000", "~", "2000"),
            ("context_file_max_chars", "null", "~", "null"),
            ("skills.disabled", "[c, no]", "\n  - a   # one\n  - b\n", ' [c, "no"]\n'),
            ("skills.pinned", "[c]", "  - b\n", "  - b\n  pinned: [c]\n"),
            (
                "agent.system_prompt",
                "Line\nline",
                " |\n        Be brief.\n\n        # not a remark\n",
                ' "Line\\nline"\n',
            ),
            ("agent.cwd", "/srv", "    turn_clock: true\n", "    turn_clock: true\n    cwd: /srv\n"),
            ("tools.enabled", "[memory]", "tools:\n", "tools:\n  enabled: [memory]\n"),
            ("timezone", "UTC", "turn_clock: true\n", "turn_clock: true\n    timezone: UTC\n"),
            (
                "platform_hints.slack.append",
                "- Short: 1",
                "chars: ~\n",
                'chars: ~\nplatform_hints:\n  slack:\n    append: "- Short: 1"\n',
            ),
            ('models."gpt-4.1".family', "gpt", "s: ~\n", "s: ~\nmodels:\n  gpt-4.1:\n    family: gpt\n"),
            ("gateway.a.on", "yes", "s: ~\n", 's: ~\ngateway:\n  a:\n    "on": "yes"\n'),
        ],
    )
    def test_only_the_value_changes(self, home: Home, key: str, typed: str, old: str, new: str) -> None:
        write(home, FILE)
        set_key(home, key, typed)
        assert FILE.count(old) == 1
        assert read(home) == FILE.replace(old, new)
        assert load_config(home).notices == ()

    def test_a_missing_file_and_home_are_made(self, tmp_path: Path) -> None:
        home = Home(str(tmp_path / "new"))
        assert set_key(home, "agent.max_turns", "7") == Change("agent.max_turns", 7, created=True)
        assert read(home) == "agent:\n  max_turns: 7\n"
        assert os.stat(home.config).st_mode & 0o777 == 0o600

    @pytest.mark.parametrize(
        ("before", "key", "typed", "after"),
        [
            ("", "model.default", "a", "model:\n  default: a\n"),
            ("# x", "model.default", "a", "# x\nmodel:\n  default: a\n"),
            ("model: gpt # x\n", "model.default", "b", "model: b # x\n"),
            ("model: gpt # x\n", "model.provider", "b", "model: {default: gpt, provider: b} # x\n"),
            ("model:\n  context_length: 5\n", "model.context_window", "6", "model:\n  context_length: 6\n"),
            ("personalities:\n  a: b\n", "agent.personalities.c", "d", "personalities:\n  a: b\n  c: d\n"),
            ("{}\n", "model.default", "a", "{model: {default: a}}\n"),
            ("agent: {}", "model.default", "a", "agent: {}\nmodel:\n  default: a\n"),
            ("agent: {max_turns: 1,}\n", "agent.cwd", "a", "agent: {max_turns: 1, cwd: a}\n"),
            (
                "a: &x 1\nagent:\n  max_turns: *x\n",
                "agent.max_turns",
                "2",
                "a: &x 1\nagent:\n  max_turns: 2\n",
            ),
            ("agent:\r\n  cwd: a\r\n", "agent.max_turns", "2", "agent:\r\n  cwd: a\r\n  max_turns: 2\r\n"),
            ("agent:\n  cwd: a", "agent.max_turns", "2", "agent:\n  cwd: a\n  max_turns: 2\n"),
            (
                "agent:\n  guidance:\n    a: no\n# end\n",
                "agent.guidance",
                "{}",
                "agent:\n  guidance: {}\n# end\n",
            ),
        ],
    )
    def test_layouts(self, home: Home, before: str, key: str, typed: str, after: str) -> None:
        write(home, before)
        set_key(home, key, typed)
        assert read(home) == after

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
    def test_the_encoding_stays(self, home: Home, encoding: str) -> None:
        write(home, "agent:\r\n  cwd: é\r\n", encoding)
        set_key(home, "agent.cwd", "ü")
        assert Path(home.config).read_bytes() == "agent:\r\n  cwd: ü\r\n".replace("ü", '"ü"').encode(encoding)

    def test_a_link_stays_a_link_and_a_mode_stays(self, home: Home, tmp_path: Path) -> None:
        target = tmp_path / "elsewhere.yaml"
        target.write_text("agent: {max_turns: 1}\n")
        target.chmod(0o640)
        Path(home.config).symlink_to(target)
        set_key(home, "agent.max_turns", "2")
        assert Path(home.config).is_symlink()
        assert (target.read_text(), target.stat().st_mode & 0o777) == ("agent: {max_turns: 2}\n", 0o640)

    @pytest.mark.parametrize(
        ("key", "typed", "message"),
        [
            ("agent.max_turns", "lots", "'lots' given; expected a whole number of at least 1"),
            ("agent.max_turns", "null", "null given; expected a whole number of at least 1"),
            ("agent.timezone", "Mars", "expected the name of a time zone"),
            ("context.kinds", "[hermes, agnets]", "(nearest: agents)"),
            ("platform_hints.slack.append", " ", "expected"),
            ("security.scan.projct.high", "block", "did you mean project?"),
            ("agent.max_turn", "1", "agent.max_turn is not a key of Hermes; did you mean agent.max_turns?"),
            ("agent.max_turns.x", "1", "agent.max_turns has no keys below it"),
            ("model.api_key", "x", "model.api_key is not a key of Hermes"),
            ("", "1", "is not the name of a key"),
            ("a..b", "1", "is not the name of a key"),
            ("gateway", "[a", "is no YAML value"),
        ],
    )
    def test_what_is_wrong_is_not_written(self, home: Home, key: str, typed: str, message: str) -> None:
        write(home, FILE)
        with pytest.raises(ConfigError) as refused:
            set_key(home, key, typed)
        assert message in str(refused.value)
        assert read(home) == FILE

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"a: [1\n", "line 2 it is not YAML"),
            (b"a: 1\n\tb: 2\n", "line 2 it is not YAML: a tab"),
            (b"- a\n", "line 1 the file must hold keys"),
            (b"a: caf\xe9\n", "it is not valid UTF-8"),
            (b"a: \0\n", "not text"),
            (b"agent: {max_turns: 1}\nagent: {max_turns: 1}\n", "cannot be edited"),
            (b"agent: &a {max_turns: 1}\nfree: *a\n", "cannot be edited"),
            (b"agent: 5\n", "there is already a value above max_turns"),
        ],
    )
    def test_a_file_that_cannot_be_edited_is_left_alone(self, home: Home, data: bytes, message: str) -> None:
        Path(home.config).write_bytes(data)
        with pytest.raises(ConfigError) as refused:
            set_key(home, "agent.max_turns", "2")
        assert message in str(refused.value)
        assert Path(home.config).read_bytes() == data

    def test_an_older_mistake_does_not_stand_in_the_way(self, home: Home) -> None:
        write(home, "platform_hints: {a: 5}\nagent: {max_turns: x}\n")
        set_key(home, "platform_hints.b", "Short.")
        assert read(home) == "platform_hints: {a: 5, b: Short.}\nagent: {max_turns: x}\n"

    def test_one_mistake_does_not_make_way_for_another(self, home: Home) -> None:
        write(home, text := "memory: {memory_char_limit: 0}\n")
        with pytest.raises(ConfigError, match="memory_char_limit was not set"):
            set_key(home, "memory.memory_char_limit", "-1")
        assert read(home) == text

    def test_a_directory_in_its_place(self, home: Home) -> None:
        os.mkdir(home.config)
        with pytest.raises(ConfigError, match="a directory"):
            set_key(home, "agent.max_turns", "2")

    def test_secrets_are_not_echoed(self, home: Home) -> None:
        assert set_key(home, "providers.a", "{api_key: hunter2, url: x}").value == {
            "api_key": "***",
            "url": "x",
        }


class TestUnset:
    @pytest.mark.parametrize(
        ("key", "gone"),
        [
            ("model.default", "  default: 'gpt-5'    # the usual\n"),
            ("agent.system_prompt", "    system_prompt: |\n        Be brief.\n\n        # not a remark\n"),
            ("skills.disabled", "skills:\n  disabled:\n  - a   # one\n  - b\n"),
            ("memory.memory_enabled", "memory_enabled: true, "),
            ("memory.user_char_limit", ", user_char_limit: 9"),
            ("context_file_max_chars", "context_file_max_chars: ~\n"),
            ("tools", "tools:\n"),
        ],
    )
    def test_the_lines_go_and_the_others_stay(self, home: Home, key: str, gone: str) -> None:
        write(home, FILE)
        assert unset_key(home, key)
        assert read(home) == FILE.replace(gone, "")

    def test_what_is_not_there(self, home: Home) -> None:
        assert not unset_key(home, "agent.cwd")
        write(home, FILE)
        assert not unset_key(home, "agent.cwd")
        assert read(home) == FILE

    def test_an_unknown_key_can_be_removed(self, home: Home) -> None:
        write(home, "memroy: 1\nagent: {max_turns: 2}\n")
        assert unset_key(home, "memroy")
        assert read(home) == "agent: {max_turns: 2}\n"

    def test_an_anchor_that_is_used_stays(self, home: Home) -> None:
        write(home, "a: &x 1\nb: *x\n")
        with pytest.raises(ConfigError, match="cannot be edited"):
            unset_key(home, "a")


NAMES = st.sampled_from(
    ["agent", "model", "gateway", "a", "max_turns", "default", "x y", "10", "yes", "é", "b.c"]
)
SCALARS = (
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=12).filter(lambda t: "\r" not in t)
)
REMARKS = st.sampled_from(["", "", "  # remark", " # it's: {odd} [one]"])


@st.composite
def files(draw: st.DrawFn, depth: int = 0) -> str:
    """The lines of a mapping, in the many ways people write one."""
    pad = " " * depth
    lines = []
    for name in draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
        remark = draw(REMARKS)
        shape = draw(st.sampled_from(["plain", "flow", "list", "literal", "map", "empty"]))
        head = f"{pad}{flow(name)}:"
        if shape == "plain":
            style = draw(st.sampled_from(["", "'", '"']))
            lines.append(f"{head} {flow(draw(SCALARS), style or None)}{remark}\n")
        elif shape == "flow":
            value = draw(st.dictionaries(NAMES, SCALARS, max_size=3) | st.lists(SCALARS, max_size=3))
            lines.append(f"{head} {flow(value)}{remark}\n")
        elif shape == "list":
            items = draw(st.lists(SCALARS, min_size=1, max_size=3))
            lines.append(f"{head}{remark}\n" + "".join(f"{pad}- {flow(item)}{remark}\n" for item in items))
        elif shape == "literal":
            sign = draw(st.sampled_from(["|", ">", "|-"]))
            lines.append(f"{head} {sign}\n{pad}  text\n\n{pad}  # no remark\n")
        elif shape == "map" and depth < 6:
            lines.append(f"{head}{remark}\n{draw(files(depth + draw(st.sampled_from([1, 2, 4]))))}")
        else:
            lines.append(f"{head}{remark}\n")
        lines.append(draw(st.sampled_from(["", "", "\n", f"{pad}# between\n", "# far left\n"])))
    return "".join(lines)


@st.composite
def places(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    """A file, and the path of something in it or beside it."""
    text = draw(files()).replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    known = sorted(
        path for path in parse(text.encode()).lines if not any(part in ("0", "1", "2") for part in path)
    )
    below = tuple(draw(st.lists(NAMES, max_size=2)))
    path = draw(st.sampled_from([*known, ()])) + below
    return text, path or ("agent",)


def at(data: object, path: tuple[str, ...]) -> object:
    for part in path:
        data = data.get(part) if isinstance(data, dict) else None
    return data


class TestProperties:
    @given(places(), SCALARS)
    def test_set_gives_the_value_and_touches_no_other_line(
        self, place: tuple[str, tuple[str, ...]], value: object
    ) -> None:
        text, path = place
        before = parse(text.encode())
        assert before.readable, before.problems
        try:
            after = set_in(text, path, value)
        except ConfigError:
            assert any(not isinstance(at(before.data, path[:n]), dict | None) for n in range(len(path)))
            return
        assert at(parse(after.encode()).data, path) == value
        first, last = changed(text, after)
        if path not in before.lines:
            assert last - first <= 1
        elif first < last:
            own = {line for known, line in before.lines.items() if known[: len(path)] == path}
            assert first + 1 >= min(own)
            assert not any(first < line <= last for line in set(before.lines.values()) - own)

    @given(places())
    def test_unset_only_takes_away(self, place: tuple[str, tuple[str, ...]]) -> None:
        text, path = place
        before = parse(text.encode())
        after = unset_in(text, path)
        if before.lines.get(path) is None:
            assert after is None
            return
        assert after is not None
        assert at(parse(after.encode()).data, path) is None
        assert parse(after.encode()).readable
        kept = iter(text)
        assert all(character in kept for character in after)

    @given(files(), st.text(max_size=30))
    def test_through_the_file(self, tmp_path_factory: pytest.TempPathFactory, text: str, prompt: str) -> None:
        home = Home(str(tmp_path_factory.mktemp("home")))
        write(home, text)
        try:
            set_key(home, "agent.system_prompt", prompt)
        except ConfigError:
            assume(False)
        assert load_config(home).agent.system_prompt == prompt

    @given(
        st.recursive(
            SCALARS | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
            ),
            max_leaves=8,
        ),
        st.sampled_from([None, "'", '"']),
    )
    def test_every_value_reads_back(self, value: object, style: str | None) -> None:
        line = f"a: {flow(value, style)}\n"
        assert line.count("\n") == 1
        assert parse(line.encode()).data == {"a": json.loads(json.dumps(value))}


class TestNames:
    @pytest.mark.parametrize(
        ("name", "parts"),
        [("a", ("a",)), ("a.b", ("a", "b")), ('a."b.c".d', ("a", "b.c", "d")), ('"a b"', ("a b",))],
    )
    def test_split(self, name: str, parts: tuple[str, ...]) -> None:
        assert split(name) == parts

    @pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", '"', 'a"b"'])
    def test_no_name(self, name: str) -> None:
        with pytest.raises(ConfigError):
            split(name)
