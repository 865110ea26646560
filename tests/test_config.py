"""Reading config.yaml: the defaults stand, each bad value falls back alone, and everything is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.config import (
    DEFAULTS,
    AgentConfig,
    Config,
    ContextConfig,
    Environment,
    McpConfig,
    MemoryConfig,
    ModelConfig,
    PluginsConfig,
    SecurityConfig,
    SkillsConfig,
    ToolsConfig,
    environment,
    load_config,
)
from hermes.config.cache import FORMAT, NAME
from hermes.config.document import MAX_BYTES
from hermes.config.load import check, read_config
from hermes.config.parser import parse
from hermes.config.records import CacheConfig, plain
from hermes.config.schema import KEYS
from hermes.paths import Home
from hermes.provenance import digest_of


def config(text: str) -> Config:
    return check(parse(text.encode()), "config.yaml").config


def told(text: str) -> list[tuple[str, int, str]]:
    """Level, line and text of each notice, the text without the place it begins with."""
    found: list[tuple[str, int, str]] = []
    for notice in config(text).notices:
        assert notice.origin is not None
        where, _, rest = notice.text.partition(": ")
        line = notice.origin.first_line
        assert where == (f"config.yaml line {line}" if line else "config.yaml")
        found.append((notice.level, line, rest))
    return found


def home(tmp_path: Path, data: bytes | str) -> Home:
    tmp_path.joinpath("config.yaml").write_bytes(data.encode() if isinstance(data, str) else data)
    return Home(str(tmp_path))


class TestValues:
    def test_every_key(self) -> None:
        read = config(
            """
model: {default: gpt-5, provider: openai, context_window: 200_000, base_url: "https://host/v1"}
agent:
  system_prompt: |
    Two
    lines.
  tool_use_enforcement: [qwen, gpt]
  personalities:
    terse: Say little.
    poet: {system_prompt: Rhyme., tone: warm, style: verse, description: rhymes}
  max_turns: 12
  turn_clock: no
  cwd: ~/work
  guidance: {memory: off, skills: true}
  timezone: Europe/Lisbon
context_file_max_chars: 1000
context: {kinds: [user, agents, cline], imports: yes, import_roots: [/srv/b, /srv/a/../a]}
memory: {memory_enabled: false, user_profile_enabled: false, memory_char_limit: 10, user_char_limit: 5,
  provider: honcho, recall: no, recall_chars: 900, recall_threshold: 0.7, recall_timeout: 1,
  honcho: {workspace: w, user: u}}
skills: {disabled: [b, a, b], dirs: [/z, /a], index_tokens: 900, pinned: [z, a], bundled: no}
platform_hints:
  slack: Short.
  sms: {append: More., replace: Other.}
security: {scan: {project: {high: warn}, skills: {high: block, medium: redact}}}
tools: {enabled: [terminal, memory]}
plugins: {enabled: [b, a], timeout: 2, settings: {a: {k: [1, {x: y}]}}}
mcp:
  servers:
    files: {command: npx, args: [-y, -y], env: {A: "${B}"}, cwd: /srv, tools: [b, a], enabled: no}
    web: {url: "https://host/mcp", headers: {Authorization: "Bearer ${T}"}}
  start_timeout: 1.5
  call_timeout: 9
models:
  gpt-4.1: {context_window: 5, output_limit: 4, family: gpt, guidance: [x], tokenizer: "", chars_per_token: 3}
gateway: {a: [1, {b: null}]}
cache:
  {marks: false, ttl: 1h, prompt_ttl: 1h, guard: ask, keep_warm: on, keep_bodies: 30 Days, diagnostics: on}
"""
        )
        assert read == Config(
            model=ModelConfig("gpt-5", "openai", 200_000, "https://host/v1"),
            agent=AgentConfig(
                system_prompt="Two\nlines.\n",
                tool_use_enforcement=("gpt", "qwen"),
                personalities={
                    "poet": {
                        "system_prompt": "Rhyme.",
                        "tone": "warm",
                        "style": "verse",
                        "description": "rhymes",
                    },
                    "terse": "Say little.",
                },
                max_turns=12,
                turn_clock=False,
                cwd="~/work",
                guidance={"memory": False, "skills": True},
                timezone="Europe/Lisbon",
            ),
            context_file_max_chars=1000,
            context=ContextConfig(("user", "agents", "cline"), True, ("/srv/a", "/srv/b")),
            memory=MemoryConfig(
                False, False, 10, 5, "honcho", False, 900, 0.7, 1.0, {"workspace": "w", "user": "u"}
            ),
            skills=SkillsConfig(("a", "b"), ("/z", "/a"), 900, ("z", "a"), False),
            platform_hints={"slack": "Short.", "sms": {"append": "More.", "replace": "Other."}},
            security=SecurityConfig(
                {"project": {"high": "warn"}, "skills": {"high": "block", "medium": "redact"}}
            ),
            tools=ToolsConfig(("memory", "terminal")),
            plugins=PluginsConfig(("a", "b"), 2.0, {"a": {"k": (1, {"x": "y"})}}),
            mcp=McpConfig(
                {
                    "files": {
                        "command": "npx",
                        "args": ("-y", "-y"),
                        "env": {"A": "${B}"},
                        "cwd": "/srv",
                        "tools": ("a", "b"),
                        "enabled": False,
                    },
                    "web": {"url": "https://host/mcp", "headers": {"Authorization": "Bearer ${T}"}},
                },
                1.5,
                9.0,
            ),
            cache=CacheConfig(False, "1h", "1h", "ask", True, "30 days", True),
            models={
                "gpt-4.1": {
                    "context_window": 5,
                    "output_limit": 4,
                    "family": "gpt",
                    "guidance": ("x",),
                    "tokenizer": "",
                    "chars_per_token": 3.0,
                }
            },
            free={"gateway": {"a": (1, {"b": None})}},
            lines={
                "agent.system_prompt": (5, 6),
                "platform_hints.slack": (23, 23),
                "platform_hints.sms": (24, 24),
                "platform_hints.sms.append": (24, 24),
                "platform_hints.sms.replace": (24, 24),
            },
        )

    @pytest.mark.parametrize(
        "text", ["", "\n", "# only a remark\n", "---\n", "~\n", "model:\nagent: ~\n", "{}"]
    )
    def test_nothing_said_is_the_default(self, text: str) -> None:
        assert config(text) == DEFAULTS

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("model: gpt-5", Config(model=ModelConfig("gpt-5"))),
            ("model: {context_length: 9}", Config(model=ModelConfig(context_window=9))),
            ("terminal: {cwd: /srv}", Config(agent=AgentConfig(cwd="/srv"))),
            ("timezone: UTC", Config(agent=AgentConfig(timezone="UTC"))),
            ("personalities: {a: b}", Config(agent=AgentConfig(personalities={"a": "b"}))),
            ("skills: {external_dirs: [/a]}", Config(skills=SkillsConfig(dirs=("/a",)))),
        ],
    )
    def test_other_names(self, text: str, expected: Config) -> None:
        assert config(text) == expected

    def test_yaml_1_2(self) -> None:
        """`no` is a text where a text is wanted and false where a switch is; a date is a text."""
        read = config("model: {default: no, provider: 2026-11-29}\nagent: {turn_clock: no, max_turns: 012}")
        assert read == Config(
            model=ModelConfig("no", "2026-11-29"), agent=AgentConfig(turn_clock=False, max_turns=12)
        )

    def test_merge_and_alias(self) -> None:
        text = "models:\n  a: &a {context_window: 1, family: x}\n  b:\n    <<: *a\n    family: y\n  c: *a\n"
        facts = {"context_window": 1, "family": "x"}
        assert config(text) == Config(models={"a": facts, "b": facts | {"family": "y"}, "c": facts})

    def test_every_default_has_its_own_form(self) -> None:
        tree: dict[str, dict[str, object] | object] = {}
        for key in KEYS:
            section, _, last = key.name.partition(".")
            inner = tree.setdefault(section, {}) if last else tree
            assert isinstance(inner, dict)
            inner[last or section] = plain(key.default)
        assert config(json.dumps(tree)) == replace(DEFAULTS, lines={"agent.system_prompt": (1, 1)})


class TestBadValues:
    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            (
                "\nmemory:\n  memory_char_limit: lots",
                3,
                "memory.memory_char_limit is 'lots'; expected a whole number of at least 1; "
                "the default, 2200, stands",
            ),
            (
                "agent: {max_turns: true}",
                1,
                "agent.max_turns is true; expected a whole number of at least 1; the default, 90, stands",
            ),
            (
                "context_file_max_chars: 999",
                1,
                "context_file_max_chars is 999; expected a whole number of at least 1,000, or null; "
                "the default, null, stands",
            ),
            (
                "agent:\n  timezone: Mars/Base",
                2,
                "agent.timezone is 'Mars/Base'; expected the name of a time zone, such as Europe/Lisbon; "
                'the default, "", stands',
            ),
            (
                "memory: 5",
                1,
                "memory is 5; expected keys below it, such as memory.memory_enabled; it was left out",
            ),
            (
                "platform_hints: [a]",
                1,
                'platform_hints is ["a"]; expected a mapping from platforms to a text, or to a mapping of '
                "append or replace; the default, {}, stands",
            ),
            (
                "model:\n  base_url: ftp://user:hunter2@host",
                2,
                "model.base_url is 'ftp://***@host'; expected an address that begins with http:// or "
                'https://; the default, "", stands',
            ),
            (
                "agent: {tool_use_enforcement: sometimes}",
                1,
                "agent.tool_use_enforcement is 'sometimes'; expected auto, true, false, or a list of parts "
                "of model names; the default, 'auto', stands",
            ),
        ],
    )
    def test_a_bad_value_names_key_value_form_and_line(self, text: str, line: int, message: str) -> None:
        assert told(text) == [("error", line, message)]
        assert config(text) == Config(notices=config(text).notices)

    def test_only_the_bad_key_falls_back(self) -> None:
        read = config("memory: {memory_char_limit: -1, user_char_limit: 7}\nagent: {max_turns: 3}")
        assert (read.memory, read.agent) == (MemoryConfig(user_char_limit=7), AgentConfig(max_turns=3))

    def test_a_bad_item_is_left_out_of_its_list(self) -> None:
        text = "context:\n  kinds:\n    - agents\n    - agnets\nskills: {disabled: [a, 5]}"
        assert config(text).context.kinds == ("agents",)
        assert config(text).skills.disabled == ("a",)
        kinds = "hermes, agents, claude, cursor, user, gemini, copilot, cline, windsurf"
        assert told(text) == [
            (
                "error",
                4,
                f"context.kinds.1 is 'agnets'; expected one of {kinds} (nearest: agents); it was left out",
            ),
            ("error", 5, "skills.disabled.1 is 5; expected a text that is not blank; it was left out"),
        ]

    @pytest.mark.parametrize(
        "entry", ["", "''", "' '", "5", "true", "[a]", "{}", "{append: 5}", "{replace: [a]}"]
    )
    def test_a_malformed_hint_breaks_no_other(self, entry: str) -> None:
        text = f"platform_hints:\n  sms: {entry}\n  slack: {{append: Short.}}\n  own_plugin: Mine."
        read = config(text)
        assert read.platform_hints == {"slack": {"append": "Short."}, "own_plugin": "Mine."}
        assert [(level, line) for level, line, _ in told(text)] == [("error", 2)]

    def test_replace_wins_over_a_bad_append(self) -> None:
        text = "platform_hints: {sms: {replace: a, append: 5}}"
        assert config(text).platform_hints == {"sms": {"replace": "a"}}
        assert len(told(text)) == 1

    def test_both_names_of_a_key(self) -> None:
        text = "model:\n  context_length: 5\n  context_window: 6"
        assert config(text).model.context_window == 6
        message = "model.context_length was passed over: model.context_window says the same and counts"
        assert told(text) == [("warning", 2, message)]

    def test_a_slip_in_a_trust_does_not_pass(self) -> None:
        text = "security: {scan: {projct: {high: warn}}}"
        assert config(text).security == SecurityConfig()
        assert "did you mean project?" in told(text)[0][2]

    def test_a_flood_of_problems_is_summed_up(self) -> None:
        notices = config("skills:\n  disabled:\n" + "    - 5\n" * 500 + "    - a\n").notices
        assert len(notices) == 101
        last = notices[-1]
        assert (last.level, last.text) == ("error", "config.yaml: and 400 more problems")
        assert {notice.level for notice in config("".join(f"k{n}: 1\n" for n in range(200))).notices} == {
            "warning"
        }

    def test_control_characters_do_not_reach_the_terminal(self) -> None:
        assert told('"\\e[31mred\\a": 1')[0][2].startswith("\\u001b[31mred\\u0007 is not a key of Hermes")


class TestUnknownKeys:
    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("memroy: {}", 1, "memroy is not a key of Hermes; did you mean memory?"),
            (
                "agent:\n  max_turn: 5",
                2,
                "agent.max_turn is not a key of Hermes; did you mean agent.max_turns?",
            ),
            ("max_turns: 5", 1, "max_turns is not a key of Hermes; did you mean agent.max_turns?"),
            (
                "agent.max_turns: 5",
                1,
                "agent.max_turns is written as one name; write max_turns below agent:",
            ),
            ("qqqq: 1", 1, "qqqq is not a key of Hermes; see: hermes config keys"),
        ],
    )
    def test_the_nearest_known_one_is_named(self, text: str, line: int, message: str) -> None:
        assert told(text) == [("warning", line, message)]

    def test_another_implementation_is_summed_up_in_one_notice(self) -> None:
        text = """
model: {default: claude, base_url: "https://host", api_key: sk-secret-secret-secret}
memory: {nudge_interval: 10, memory_enabled: false}
compression: {enabled: true}
display: {personality: kawaii}
terminal: {cwd: ".", backend: docker, timeout: 5}
toolsets: [all]
"""
        read = config(text)
        assert read == Config(
            model=ModelConfig("claude", base_url="https://host"),
            memory=MemoryConfig(memory_enabled=False),
            agent=AgentConfig(cwd="."),
            notices=read.notices,
        )
        names = "compression, display, memory.nudge_interval, model.api_key, terminal.backend, "
        names += "terminal.timeout, toolsets"
        assert told(text) == [("info", 0, f"kept, but not used by Hermes: {names}")]


class TestFiles:
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            (b"\xef\xbb\xbfagent: {max_turns: 3}", 3),
            ("agent:\r\n  max_turns: 3\r\n".encode("utf-16"), 3),
            (b"agent:\r\n  max_turns: 3\r\n", 3),
            (b"agent:\r  max_turns: 3\r", 3),
        ],
    )
    def test_encodings_and_line_ends(self, tmp_path: Path, data: bytes, expected: int) -> None:
        assert load_config(home(tmp_path, data)) == Config(agent=AgentConfig(max_turns=expected))

    @pytest.mark.parametrize(
        ("data", "line", "message"),
        [
            (b"a: 1\n\tb: 2\n", 2, "a tab stands where only spaces may. Indent with spaces"),
            (b"a: [1\nb: 2\n", 2, "it is not YAML"),
            (b"a: 1\n---\nb: 2\n", 2, "a second document begins with ---"),
            (b"- a\n- b\n", 1, "the file must hold keys with values"),
            (b"a: *nowhere\n", 1, "undefined alias"),
            (b"agent: 1\nagent: 2\n", 2, "agent stands on line 1 too; both were passed over. Keep one"),
            (b"a: 1\0\n", 0, "it has a NUL byte at offset 4; it is not text"),
            (b"a: &a [*a]\n", 0, "an alias stands inside the value it names"),
            (b"[" * 1000, 1, "it nests deeper than 64 levels"),
        ],
    )
    def test_text_that_is_no_configuration(
        self, tmp_path: Path, data: bytes, line: int, message: str
    ) -> None:
        read = load_config(home(tmp_path, data))
        assert read == Config(notices=read.notices)
        first = read.notices[0]
        assert (first.level, first.origin and first.origin.first_line) == ("error", line)
        assert message in first.text

    def test_aliases_that_unfold_without_end(self) -> None:
        lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
        read = config("\n".join(["a0: &a0 [x, x]", *lines]))
        assert "more than 20,000 values" in read.notices[0].text

    def test_bad_bytes_are_told_and_the_rest_is_read(self, tmp_path: Path) -> None:
        read = load_config(home(tmp_path, b"agent:\n  max_turns: 3  # caf\xe9\n"))
        assert read.agent == AgentConfig(max_turns=3)
        assert [(n.level, "first bad byte on line 2" in n.text) for n in read.notices] == [("warning", True)]

    def test_a_directory_a_pipe_and_a_giant(self, tmp_path: Path) -> None:
        for name in ("directory", "pipe", "giant"):
            tmp_path.joinpath(name).mkdir()
            place = tmp_path.joinpath(name, "config.yaml")
            if name == "directory":
                place.mkdir()
            elif name == "pipe":
                os.mkfifo(place)
            else:
                place.touch()
                os.truncate(place, 100 * 1024 * 1024)
            read = load_config(Home(str(place.parent)))
            assert read == Config(notices=read.notices)
            assert [notice.level for notice in read.notices] == ["error"]
            assert "The defaults stand" in read.notices[0].text

    def test_unreadable(self, tmp_path: Path) -> None:
        place = home(tmp_path, "agent: {max_turns: 3}")
        os.chmod(place.config, 0)
        for folder in (tmp_path, *tmp_path.parents[:3]):
            os.chmod(folder, 0o755)
        child = os.fork()
        if not child:
            if os.geteuid() == 0:
                os.seteuid(65534)
            read = load_config(place)
            good = read == Config(notices=read.notices) and "permission denied" in read.notices[0].text
            os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    def test_lines_are_those_of_an_editor(self) -> None:
        """U+2028 is a line break to the parser and to no editor."""
        assert told('agent:\n  cwd: "a\u2028b"\n  max_turns: x\n')[0][1] == 3

    def test_a_missing_home(self, tmp_path: Path) -> None:
        assert load_config(Home(str(tmp_path / "none"))) == DEFAULTS


class TestDigest:
    def test_remarks_order_and_names_do_not_count(self) -> None:
        one = config("# mine\nmodel: {context_length: 5, default: a}\nskills: {disabled: [b, a]}\n")
        two = config("skills:\n  disabled:\n  - a\n  - b\nmodel:\n  default: 'a'\n  context_window: 5 # x\n")
        assert one.digest == two.digest != DEFAULTS.digest

    def test_a_bad_value_is_its_default(self) -> None:
        assert config("agent: {max_turns: x}").digest == DEFAULTS.digest

    def test_it_is_the_same_in_every_process(self) -> None:
        """Changes only with the defaults themselves."""
        code = "from hermes.config import DEFAULTS; print(DEFAULTS.digest)"
        for seed in ("1", "2"):
            done = subprocess.run(
                [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
            )
            assert done.stdout.decode().strip() == DEFAULTS.digest


class TestCache:
    def test_a_warm_start_does_without_the_parser(self, tmp_path: Path) -> None:
        place = home(tmp_path, "agent: {max_turns: 3}\nmemroy: 1\n")
        tmp_path.joinpath("cache").mkdir()
        first = load_config(place)
        code = (
            "import sys; from hermes.config import load_config; from hermes.paths import Home; "
            "c = load_config(Home(sys.argv[1])); "
            "print(c.digest, len(c.notices), 'ruamel.yaml' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code, place.root], capture_output=True, check=True)
        assert done.stdout.decode().split() == [first.digest, "1", "False"]

    def test_no_file_no_parser(self, tmp_path: Path) -> None:
        code = (
            "import sys; from hermes.config import load_config; from hermes.paths import Home; "
            "load_config(Home(sys.argv[1])); "
            "print('ruamel.yaml' in sys.modules, 'hermes.config.load' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=True)
        assert done.stdout.decode().split() == ["False", "False"]

    def test_an_edit_is_seen(self, tmp_path: Path) -> None:
        tmp_path.joinpath("cache").mkdir()
        assert load_config(home(tmp_path, "agent: {max_turns: 3}")).agent.max_turns == 3
        assert load_config(home(tmp_path, "agent: {max_turns: 4}")).agent.max_turns == 4

    def test_it_says_what_the_file_says(self, tmp_path: Path) -> None:
        place = home(tmp_path, "agent:\n  max_turns: 3\n  max_turns: 3\nmemory: {memory_char_limit: x}\n")
        tmp_path.joinpath("cache").mkdir()
        assert read_config(place) == read_config(place)
        assert tmp_path.joinpath("cache", NAME).exists()

    def test_secrets_are_not_copied(self, tmp_path: Path) -> None:
        tmp_path.joinpath("cache").mkdir()
        load_config(home(tmp_path, "providers: {a: {api_key: hunter2}}"))
        assert list(tmp_path.joinpath("cache").iterdir()) == []

    def test_only_the_owner_may_read_it(self, tmp_path: Path) -> None:
        tmp_path.joinpath("cache").mkdir()
        load_config(home(tmp_path, "agent: {max_turns: 3}"))
        assert tmp_path.joinpath("cache", NAME).stat().st_mode & 0o077 == 0

    @given(st.binary(max_size=200) | st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
            st.sampled_from(["data", "lines", "problems", "readable", "x"]), inner, max_size=5),
    ))  # fmt: skip
    def test_a_damaged_one_is_passed_over(
        self, tmp_path_factory: pytest.TempPathFactory, junk: object
    ) -> None:
        folder = tmp_path_factory.mktemp("home")
        folder.joinpath("cache").mkdir()
        text = b"agent: {max_turns: 3}"
        head = {"format": FORMAT, "digest": digest_of(text)}
        body = junk if isinstance(junk, bytes) else json.dumps(
            head | junk if isinstance(junk, dict) else junk).encode()  # fmt: skip
        folder.joinpath("cache", NAME).write_bytes(body)
        assert isinstance(load_config(home(folder, text)), Config)


class TestAnyBytes:
    @given(st.binary(max_size=400))
    def test_bytes(self, data: bytes) -> None:
        assert isinstance(check(parse(data), "config.yaml").config, Config)

    @given(
        st.text(
            st.sampled_from(list(" \n\t:-?[]{},#&*!|>'\"%@`~<=.0123aAbxeE_\\\r\u2028\ufeff")), max_size=60
        )
    )
    def test_yaml_in_pieces(self, text: str) -> None:
        read = check(parse(text.encode()), "config.yaml").config
        assert len(read.digest) == 64

    @given(
        st.dictionaries(
            st.sampled_from([key.name for key in KEYS]),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
                lambda inner: (
                    st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
                ),
                max_leaves=8,
            ),
            max_size=5,
        )
    )
    def test_any_values_at_known_keys(self, values: dict[str, object]) -> None:
        tree: dict[str, object] = {}
        for name, value in values.items():
            section, _, last = name.partition(".")
            if not last:
                tree[section] = value
            else:
                inner = tree.setdefault(section, {})
                assert isinstance(inner, dict)
                inner[last] = value
        read = check(parse(json.dumps(tree).encode()), "config.yaml").config
        assert len(read.digest) == 64
        assert not any("not YAML" in notice.text for notice in read.notices)

    def test_the_largest(self, tmp_path: Path) -> None:
        """Just under the limit, in the worst shape known: it ends, and says what it found."""
        text = "".join(f"k{n}: 1\n" for n in range(19_000))[:MAX_BYTES]
        assert len(load_config(home(tmp_path, text)).notices) == 101


class TestEnvironment:
    def test_nothing(self) -> None:
        assert environment({}) == Environment()

    def test_everything(self) -> None:
        given_ = {
            "HERMES_EPHEMERAL_SYSTEM_PROMPT": " Be brief.\n",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "TERMINAL_CWD": " /srv ",
            "SHELL": "/bin/sh",
            "SECRET_TOKEN": "x",
        }
        assert environment(given_) == Environment(
            " Be brief.\n", True, cwd="/srv", host={"SHELL": "/bin/sh"}, dumb_terminal=True
        )

    def test_an_empty_no_color_is_no_wish(self) -> None:
        assert environment({"NO_COLOR": ""}) == Environment()
