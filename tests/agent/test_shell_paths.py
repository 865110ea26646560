"""What a shell command touches, and where it leaves the shell."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.agent.shell_paths import MOST_PATHS, paths_of_command
from hermes.agent.touched import places_of

ROOT = "/nowhere/w"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("a/k", "b", "pkg/y", "pkg/z", "my dir"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "touched", "left"),
    [
        ("cat a/x", "a/x", ""),
        ("cd a && cat k/x", "a a/k/x", "a"),
        ("cd a; cd ..; cat b/x", "a . b/x", ""),
        ("cd a && cd -", "a .", ""),
        ("pushd a && cat x; popd; cat y", "a a/x y", ""),
        ("(cd a; cat x); cat y", "a a/x y", ""),
        ("cd a | cat x", "a x", ""),
        ("cd nowhere && cat x", "nowhere x", ""),
        ("V=b/c cmd", "b/c", ""),
        ('D=a; cd "$D" && cat ${D}', "a a/a", "a"),
        ("cat $UNKNOWN/x b/$UNKNOWN", "b", ""),
        ("cmd --dir=a/x --flag -q", "a/x", ""),
        ("dd if=a/x of=b/y", "a/x b/y", ""),
        ("cmd >a/out 2>>b/err <a/in", "a/out b/err a/in", ""),
        ("cat 'my dir/x' my\\ dir/y \"my dir/z\"", "my dir/x|my dir/y|my dir/z", ""),
        ("cat pkg/*/x", "pkg/y pkg/z", ""),
        ("cat a/*.py", "a", ""),
        ("cat {a,b}/x", "a/x b/x", ""),
        ("type a\\\\k\\\\x", "a\\k\\x a/k/x", ""),
        ("type a\\k\\x", "a/k/x akx", ""),
        ("git -C a add k/x", "a a/add a/k/x", ""),
        ("bash -c 'cd a && cat k/x'; cat y", "a a/k/x y", ""),
        ("eval 'cd a'", "a", "a"),
        ("sudo cat a/x", "a/x", ""),
        ("echo a/x", "", ""),
        ("# cat a/x", "", ""),
        ("cat https://example.org/a/x", "", ""),
        ("for f in a b; do cat $f/x; done", "a a/x b b/x", ""),
        ("if [ -f a/x ]; then . b/y; fi", "a/x b/y", ""),
        ("cat <(cat a/x) $(cat b/y)/z", "a/x b/y", ""),
        ("./a/run.sh", "a/run.sh", ""),
        ("python - <<'X' && cat a/x\nopen('b/y')\nX\ncat b/z", "a/x b/z", ""),
        ("cat <<X > a/out\n$(cat b/y)\nX", "a/out", ""),
    ],
)
def test_commands(root: Path, command: str, touched: str, left: str) -> None:
    found = paths_of_command(command, str(root))
    wanted = touched.split("|" if "|" in touched else None)
    assert sorted(os.path.relpath(p, root) for p in found.paths) == sorted(wanted)
    assert found.cwd == str(root / left).rstrip("/")
    assert found.whole


def test_a_path_that_is_there_is_no_pattern(root: Path) -> None:
    (root / "app" / "[id]").mkdir(parents=True)
    assert paths_of_command("cat 'app/[id]'", str(root)).paths == (str(root / "app" / "[id]"),)


FRAGMENTS = (
    *"'\"`$(){}[]<>|&;*?~#\\\n =/",
    *(
        "a",
        "cd ",
        "cat ",
        "<<X\n",
        "\nX\n",
        "${",
        "$((",
        "{a,b}",
        "*/",
        "../",
        "bash -c ",
        "for x in ",
        "; do ",
    ),
    *("; done", "é", "\0", "\ud800", "eval ", "-C ", "!", "case a in b)", ";; esac", "[[ ", " ]]", "2>&1"),
)


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join))
@settings(deadline=None)
def test_any_command_can_be_read(command: str) -> None:
    found = paths_of_command(command, ROOT)
    assert found == paths_of_command(command, ROOT)
    assert len(found.paths) <= MOST_PATHS
    assert all(os.path.isabs(path) and path == os.path.normpath(path) for path in found.paths)


@pytest.mark.parametrize(
    "unit", ["cat 'x ", "a(b ", "cat a/x; ", "${", "((", "x <<A\n", "{a,", "*/", "é", 'bash -c "']
)
def test_a_megabyte_of_anything_takes_bounded_time(unit: str) -> None:
    command = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    began = time.thread_time()
    found = paths_of_command(command, ROOT)
    assert len(found.paths) <= MOST_PATHS
    assert time.thread_time() - began < 10  # a bound on growth, not on speed: unbounded is minutes


def test_a_long_here_document_is_no_command() -> None:
    body = "\n".join(f"open('src/w{n}/f.txt')" for n in range(30_000))
    assert paths_of_command(f"python - <<'X'\n{body}\nX\n", ROOT) == ((), ROOT, True)


@pytest.mark.parametrize(
    ("arguments", "touched"),
    [
        ('{"path": "a/x"}', "a/x"),
        ('{"PATH": "a/x"}', "a/x"),
        ('{"paths": ["a/x", "b/y"]}', "a/x b/y"),
        ('{"edits": [{"file_path": "a/x"}, {"file_path": "b/y"}]}', "a/x b/y"),
        ('{"workdir": "a", "command": "cat x"}', "a a/x"),
        ('{"uri": "file:///nowhere/w/a/x"}', "a/x"),
        ('{"uri": "https://example.org/a"}', ""),
        ('{"path": "a\\\\x"}', "a/x"),
        ('{"path": "a/x\\u0000"}', ""),
        ('{"text": "a/x"}', ""),
        ('{"patch": "*** Update File: a/x\\n*** Move to: b/y\\n+++ c"}', "x a/x y b/y c"),
        ('{"patch": "--- /dev/null\\n+++ b/src/x\\t2020"}', "src/x b/src/x"),
        ("[]", ""),
        ("no json", ""),
        ("", ""),
    ],
)
def test_arguments(arguments: str, touched: str) -> None:
    found = places_of(arguments, ROOT, ROOT)
    assert [os.path.relpath(p, ROOT) for p in found.paths] == touched.split()


KEYS = st.sampled_from(["path", "paths", "command", "patch", "x", "workdir"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(
            st.sampled_from(["path", "paths", "command", "patch", "x", "workdir"]), inner, max_size=5
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(KEYS, JSON))
@settings(deadline=None)
def test_any_arguments_can_be_read(arguments: dict[str, object]) -> None:
    assert places_of(arguments, ROOT, ROOT) == places_of(arguments, ROOT, ROOT)


def test_many_values_are_bounded() -> None:
    found = places_of({"paths": [f"d{n}/x" for n in range(100_000)]}, ROOT, ROOT)
    assert len(found.paths) == MOST_PATHS
    assert not found.whole


@pytest.mark.parametrize("name", ["µß{\U000d3bc7\x9f", "{\U0010ffff..\uffff}"])
def test_no_character_takes_the_parser_down(name: str) -> None:
    assert places_of({"command": f"cat {name} && cat a/é"}, ROOT, ROOT).paths[-1] == os.path.join(ROOT, "a/é")
