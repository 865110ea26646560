"""write_file and patch: what changes, what stays, what is refused and why."""

from __future__ import annotations

import asyncio
import codecs
import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.tooling import Plan, Tool, ToolContext, ToolError
from hermes.tools.edit_tools import patch, write_file
from hermes.tools.file_match import find
from hermes.tools.file_text import FileText


def call(tool: Tool, cwd: Path, **arguments: object) -> str:
    return asyncio.run(tool.call(json.dumps(arguments), ToolContext(cwd=str(cwd))))


def edit(cwd: Path, old: str, new: str, path: str = "a.txt", **more: object) -> str:
    return call(patch, cwd, path=path, old_string=old, new_string=new, **more)


def refused(cwd: Path, old: str, new: str, **more: object) -> str:
    before = {p: p.read_bytes() for p in cwd.rglob("*") if p.is_file()}
    with pytest.raises(ToolError) as caught:
        edit(cwd, old, new, **more)
    assert {p: p.read_bytes() for p in cwd.rglob("*") if p.is_file()} == before
    return str(caught.value)


def test_a_passage_is_replaced_and_the_change_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    shown = edit(tmp_path, "two", "2")
    assert shown == "patched a.txt\n--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
    assert (tmp_path / "a.txt").read_text() == "one\n2\nthree\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\nc\r\n", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\nb\r\nc\r", b"a\nx\ny\r\nc\r"),
        (codecs.BOM_UTF8 + "a\nb\né".encode(), codecs.BOM_UTF8 + "a\nx\ny\né".encode()),
        ("\ufeffa\r\nb\r\n".encode("utf-16-le"), "\ufeffa\r\nx\r\ny\r\n".encode("utf-16-le")),
        (b"a\nb\ncaf\xe9\xff\n", b"a\nx\ny\ncaf\xe9\xff\n"),
        (b"a\rb\rc", b"a\rx\ry\rc"),
    ],
)
def test_marks_encoding_line_ends_and_foreign_bytes_stay(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(before)
    edit(tmp_path, "b", "x\ny")
    assert (tmp_path / "a.txt").read_bytes() == after


def test_bytes_that_are_no_text_are_not_lost_by_copying_what_stands_for_them(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9\nb\n")
    assert "not valid UTF-8" in refused(tmp_path, "caf\ufffd\nb", "caf\ufffd\nc")
    with pytest.raises(ToolError, match="not valid UTF-8"):
        call(write_file, tmp_path, path="a.txt", content="caf\ufffd\n")
    edit(tmp_path, "caf\ufffd", "café")
    assert (tmp_path / "a.txt").read_bytes() == "café\nb\n".encode()


def test_the_mode_stays_and_a_link_stays_a_link(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("echo a\n")
    script.chmod(0o751)
    (tmp_path / "a.txt").symlink_to("run.sh")
    edit(tmp_path, "echo a", "echo b")
    assert (tmp_path / "a.txt").is_symlink()
    assert script.read_text() == "echo b\n"
    assert stat.S_IMODE(script.stat().st_mode) == 0o751
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "run.sh"]


def test_white_space_is_forgiven_where_one_place_can_be_meant(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("def f():\n    if x:  \n        return 1\n")
    shown = edit(tmp_path, "if x:\n    return 1", "if y:\n    return 2")
    assert shown.startswith("patched a.txt (matched indentation aside)\n")
    assert (tmp_path / "a.txt").read_text() == "def f():\n    if y:\n    return 2\n".replace(
        "\n    return 2", "\n        return 2"
    )


def test_line_numbers_copied_from_read_file_are_forgiven(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    shown = edit(tmp_path, "2\ttwo\n3\tthree", "2\t2\n3\t3")
    assert shown.startswith("patched a.txt (matched without the line numbers of read_file)")
    assert (tmp_path / "a.txt").read_text() == "one\n2\n3\n"


def test_what_stands_more_than_once_is_refused_with_its_places(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\na\nx\na\nx\n")
    assert refused(tmp_path, "x", "y") == (
        "the passage stands 3 times in a.txt, at lines 1, 3, 5; "
        "quote more lines around the one you mean, or set replace_all"
    )
    edit(tmp_path, "x", "yy", replace_all=True)
    assert (tmp_path / "a.txt").read_text() == "yy\na\nyy\na\nyy\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("thre hundred", "x", "a.txt does not have this passage; line 3 is most like it: 'three hundred'"),
        ("nowhere near it", "x", "a.txt does not have this passage. Read the file again"),
        ("gone", "two", "a.txt does not have this passage, but it has the new one already"),
        ("", "x", "old_string is empty"),
        ("two", "two", "old_string and new_string are the same"),
        ("two", "a\0b", "a.txt: the text has a NUL character"),
        ("two", "key = '[hidden secret: OpenAI key]'", "a.txt: the text holds [hidden secret: …]"),
        ("  \n ", "x", "a.txt does not have this passage"),
    ],
)
def test_what_cannot_be_patched_is_refused_with_a_reason(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree hundred\n")
    assert refused(tmp_path, old, new).startswith(said)


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"a\0b")
    assert "it is binary" in refused(tmp_path, "a", "b", path="blob")
    (tmp_path / "odd").write_bytes(codecs.BOM_UTF16_LE + b"a\0b")
    assert "not valid UTF-16-LE" in refused(tmp_path, "a", "b", path="odd")
    assert "a directory" in refused(tmp_path, "a", "b", path=".")
    assert "there is no file gone to patch" in refused(tmp_path, "a", "b", path="gone")
    assert "NUL" in refused(tmp_path, "a", "b", path="a\0")
    assert "the path is empty" in refused(tmp_path, "a", "b", path=" ")


def test_a_new_file_gets_its_folders_and_the_usual_mode(tmp_path: Path) -> None:
    assert call(write_file, tmp_path, path="a/b/c.txt", content="x\ny") == "wrote a/b/c.txt: 2 lines, 3 bytes"
    assert (tmp_path / "a/b/c.txt").read_bytes() == b"x\ny"
    (tmp_path / "plain").touch()
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a/b/c.txt", "plain")]
    assert modes[0] == modes[1]


def test_an_existing_file_is_replaced_in_its_own_manner(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(codecs.BOM_UTF8 + b"x\r\ny\r\n")
    shown = call(write_file, tmp_path, path="a.txt", content="x\nz\n")
    assert shown.startswith("replaced a.txt: 2 lines, 9 bytes\n--- a.txt\n")
    assert (tmp_path / "a.txt").read_bytes() == codecs.BOM_UTF8 + b"x\r\nz\r\n"
    assert "nothing was written" in call(write_file, tmp_path, path="a.txt", content="x\nz\n")


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolError, match=r"cannot be written: (file exists|not a directory)"):
        call(write_file, tmp_path, path="file/below", content="x")
    with pytest.raises(ToolError, match="a directory"):
        call(write_file, tmp_path, path=".", content="x")
    with pytest.raises(ToolError, match="cannot be changed: file name too long"):
        call(write_file, tmp_path, path="x" * 300, content="x")


def test_the_plan_tells_the_change_and_makes_none(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    assert patch.plan and write_file.plan
    at = ToolContext(cwd=str(tmp_path))
    diff = "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+1"
    target = str(tmp_path / "a.txt")
    assert patch.plan(at, "a.txt", "one", "1") == Plan(writes=(target,), detail=diff)
    assert write_file.plan(at, "a.txt", "1\n") == Plan(writes=(target,), detail=diff)
    assert (tmp_path / "a.txt").read_text() == "one\n"


def test_patches_of_sub_agents_side_by_side_do_not_lose_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n:02};\n" for n in range(40)))

    async def one(number: int) -> str:
        change = {"path": "a.txt", "old_string": f"line {number:02};", "new_string": f"new {number:02};"}
        return await patch.call(json.dumps(change), ToolContext(cwd=str(tmp_path)))

    async def all_at_once() -> None:
        await asyncio.gather(*(one(number) for number in range(40)))

    asyncio.run(all_at_once())
    assert not patch.parallel
    assert not write_file.parallel
    assert (tmp_path / "a.txt").read_text() == "".join(f"new {n:02};\n" for n in range(40))


LINES = st.lists(
    st.tuples(st.text("ab \té", max_size=4), st.sampled_from(["\n", "\r\n", "\r"])), min_size=1, max_size=8
)


@given(LINES, st.data())
def test_nothing_but_the_passage_moves(lines: list[tuple[str, str]], data: st.DataObject) -> None:
    raw = "".join(line + end for line, end in lines)
    file = FileText("x", raw)
    start = data.draw(st.integers(0, len(file.text)))
    end = data.draw(st.integers(start, len(file.text)))
    done = file.replaced([(start, end, "NEW")])
    assert FileText("x", done).text == file.text[:start] + "NEW" + file.text[end:]
    before, _, after = done.partition("NEW")
    assert raw.startswith(before)
    assert raw.endswith(after)


@given(
    st.text("ab \n\t1", max_size=40),
    st.text("ab \n\t1", min_size=1, max_size=8),
    st.text("xy\n ", max_size=6),
)
def test_places_are_in_order_and_what_is_found_word_for_word_is_there(text: str, old: str, new: str) -> None:
    match = find(text, old, new)
    ends = [0, *(place.end for place in match.places)]
    assert all(a <= place.start <= place.end for a, place in zip(ends, match.places, strict=False))
    if old in text:
        assert match.how == ""
        assert all(text[p.start : p.end] == old and p.new == new for p in match.places)
