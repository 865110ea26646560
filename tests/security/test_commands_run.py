"""What is judged to only read is run by bash, and nothing may have changed. No word leads elsewhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.security.commands import judge
from hermes.security.where import Ground

WORDS = st.sampled_from(
    [
        *[
            "cat",
            "head",
            "tail",
            "wc",
            "sort",
            "uniq",
            "grep",
            "find",
            "sed",
            "ls",
            "echo",
            "printf",
            "tee",
            "touch",
            "rm",
            "cp",
            "mv",
            "tr",
            "cut",
            "diff",
            "date",
        ],
        *[
            "a",
            "b",
            "d/c",
            "x",
            "-n",
            "-o",
            "-i",
            "-r",
            "-c",
            "-1",
            "-exec",
            "-delete",
            "-name",
            "-print",
            "p",
            "s/1/2/w",
            "1,2p",
            "{}",
            "+",
            "*",
        ],
        *[
            "|",
            "&&",
            "||",
            ";",
            "&",
            ">",
            ">>",
            "<",
            "2>&1",
            "2>/dev/null",
            ">/dev/null",
            "<<<x",
            "(",
            ")",
            "{",
            "}",
            "if",
            "then",
            "fi",
            "do",
            "done",
            "for",
            "in",
            "!",
            "f=a",
        ],
        *["'a'", '"a"', '"$f"', "$f", "$(cat", "`ls`", "--", "-", "="],
        "\\;",
        "\n",
        "$(echo a)",
        "<(cat a)",
        "sh -c",
        "xargs",
        "env",
        "command",
    ]
)


def seen(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Everything in a folder: contents, and when each was changed."""
    paths = sorted(folder.rglob("*"))
    return {str(p): (p.read_bytes() if p.is_file() else b"", p.stat().st_mtime_ns) for p in paths}


def check(folder: Path, words: list[str]) -> None:
    script = " ".join(words)
    if not judge(script, str(folder), Ground(str(folder), "/home/nobody", "/home/nobody/.hermes")).only_reads:
        return
    before = seen(folder)
    subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert seen(folder) == before, script


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("read")
    (made / "d").mkdir()
    for name in ("a", "b", "d/c"):
        (made / name).write_text("1\n2\n3\n")
    return made


ALL = list(HealthCheck)
READERS = st.sampled_from(
    [
        "cat",
        "head",
        "tail",
        "wc",
        "sort",
        "uniq",
        "grep",
        "find",
        "sed",
        "ls",
        "echo",
        "printf",
        "tr",
        "cut",
        "diff",
    ]
)
LINES = st.builds(lambda first, rest: [first, *rest], READERS, st.lists(WORDS, max_size=6))


@settings(max_examples=150, deadline=None, suppress_health_check=ALL)
@given(LINES)
def test_what_is_said_to_only_read_changes_nothing(folder: Path, words: list[str]) -> None:
    check(folder, words)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@settings(max_examples=8_000, deadline=None, suppress_health_check=ALL)
@given(
    st.lists(st.one_of(LINES, st.lists(WORDS, max_size=3)), max_size=3).map(
        lambda parts: [word for part in parts for word in part]
    )
)
def test_what_is_said_to_only_read_changes_nothing_at_length(folder: Path, words: list[str]) -> None:
    check(folder, words)
