"""read_file: lines with numbers, encodings, and advice when there is no such file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hermes.tooling import ToolContext, ToolError
from hermes.tools.file_tools import MAX_LINE, read_file


def read(cwd: Path, **arguments: object) -> str:
    return asyncio.run(read_file.call(json.dumps(arguments), ToolContext(cwd=str(cwd))))


def test_lines_have_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\n\nfour")
    assert read(tmp_path, path="a.txt") == "1\tone\n2\ttwo\n3\t\n4\tfour"
    assert read(tmp_path, path=str(tmp_path / "a.txt"), offset=4) == "4\tfour"


def test_a_part_says_where_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 101)))
    assert read(tmp_path, path="a.txt", offset=2, limit=2) == (
        "2\t2\n3\t3\n[lines 2 to 3 of 100; go on with offset=4]"
    )
    with pytest.raises(ToolError, match=r"a\.txt has 100 lines; line 101 is past its end"):
        read(tmp_path, path="a.txt", offset=101)


def test_long_lines_and_long_files_are_cut_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * (MAX_LINE + 5) + "\n" + "y\n" * 5000)
    shown = read(tmp_path, path="a.txt")
    assert f"{'x' * MAX_LINE} [… 5 more characters]\n2\ty" in shown
    assert shown.endswith("[lines 1 to 2000 of 5001; go on with offset=2001]")


def test_other_encodings_are_read_and_bad_bytes_told(tmp_path: Path) -> None:
    (tmp_path / "u16").write_bytes("\ufeffé\n".encode("utf-16-le"))
    assert read(tmp_path, path="u16") == "1\té"
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    assert read(tmp_path, path="latin").startswith(
        "1\tcaf\ufffd\n[not valid UTF-8 (first bad byte on line 1)"
    )
    (tmp_path / "empty").write_bytes(b"")
    assert read(tmp_path, path="empty") == "empty is empty"


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("confg.py", "there is no file confg.py; near it: config.py"),
        ("gone/x.py", "there is no file gone/x.py; nor a directory"),
        ("blob", "blob cannot be read: it has a NUL byte"),
        (".", ". is a folder; it holds blob, config.py"),
    ],
)
def test_what_cannot_be_read_is_answered_with_advice(tmp_path: Path, path: str, advice: str) -> None:
    (tmp_path / "config.py").touch()
    (tmp_path / "blob").write_bytes(b"a\0")
    with pytest.raises(ToolError) as caught:
        read(tmp_path, path=path)
    assert str(caught.value).startswith(advice)


def test_the_end_of_a_file_is_asked_for_with_a_negative_offset(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    assert read(tmp_path, path="a.txt", offset=-2) == "2\t2\n3\t3"
    assert read(tmp_path, path="a.txt", offset=-9) == "1\t1\n2\t2\n3\t3"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\x80\0\0\1\xe0", "a PNG image, 640 × 480, 24 bytes"),
        (b"GIF89a\x10\0\x20\0", "a GIF image, 16 × 32, 10 bytes"),
        (b"\xff\xd8\xff\0", "a JPEG image, 4 bytes"),
        (b"RIFF\0\0\0\0WEBP", "a WebP image, 12 bytes"),
    ],
)
def test_an_image_is_named_instead_of_shown(tmp_path: Path, data: bytes, told: str) -> None:
    (tmp_path / "x").write_bytes(data)
    assert read(tmp_path, path="x") == f"[x is {told}; images cannot be shown as text]"
