"""Decoding, front matter and the cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from hermes.errors import FileRefused
from hermes.provenance import Origin, Passage
from hermes.text import Cut, Decoded, FrontMatter, code_regions, cut, decode, front_matter, well_formed

FILE = Origin("agents", "/p/AGENTS.md", "d", trust="project")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", Decoded("")),
        (b"a\nb", Decoded("a\nb")),
        (b"\xef\xbb\xbfa", Decoded("a", ("byte order mark removed",))),
        (b"a\r\nb\rc\n", Decoded("a\nb\nc\n", ("line ends normalised",))),
        (
            "\ufeffé\r\n".encode("utf-16-le"),
            Decoded("é\n", ("byte order mark removed", "decoded from utf-16-le", "line ends normalised")),
        ),
        (
            "\ufeffé".encode("utf-16-be"),
            Decoded("é", ("byte order mark removed", "decoded from utf-16-be")),
        ),
        (
            "\ufeffé".encode("utf-32-le"),
            Decoded("é", ("byte order mark removed", "decoded from utf-32-le")),
        ),
        (b"\xff\xfe", Decoded("", ("byte order mark removed", "decoded from utf-16-le"))),
        (
            b"ok\ncaf\xe9",
            Decoded(
                "ok\ncaf\ufffd",
                ("bad bytes replaced",),
                "not valid UTF-8 (first bad byte on line 2); bad bytes were replaced by �",
            ),
        ),
    ],
)
def test_decode(data: bytes, expected: Decoded) -> None:
    assert decode(data) == expected


@pytest.mark.parametrize("data", [b"a\0b", b"\x89PNG\r\n\x1a\n\0", "\ufeffa\0".encode("utf-16-le")])
def test_a_binary_file_is_refused(data: bytes) -> None:
    with pytest.raises(FileRefused) as caught:
        decode(data)
    assert caught.value.verdict == "binary"


@given(st.binary(max_size=200))
def test_any_bytes_decode_or_are_binary(data: bytes) -> None:
    try:
        decoded = decode(data)
    except FileRefused as error:
        assert error.verdict == "binary"
        return
    assert "\r" not in decoded.text
    assert well_formed(decoded.text) == decoded.text


def test_lone_surrogates_are_replaced() -> None:
    assert well_formed("a\ud83db") == "a\ufffdb"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no", FrontMatter(None, 0)),
        ("---\na: 1\n---\nbody", FrontMatter("a: 1", 13)),
        ("---\n---\nbody", FrontMatter("", 8)),
        ("---\na: 1\n...\nbody", FrontMatter("a: 1", 13)),
        ("--- \na: 1\n---", FrontMatter("a: 1", 13)),
        ("---\na: 1\nbody", FrontMatter(None, 0, open=True)),
        ("---\n\nA rule above, no front matter", FrontMatter(None, 0)),
        ("----\na: 1\n---\n", FrontMatter(None, 0)),
    ],
)
def test_front_matter(text: str, expected: FrontMatter) -> None:
    assert front_matter(text) == expected


def test_front_matter_may_be_long() -> None:
    yaml = "\n".join(f"k{n}: v" for n in range(1000))
    assert front_matter(f"---\n{yaml}\n---\nbody").yaml == yaml


def quote(text: str) -> Passage:
    return Passage.quote(text, FILE)


def test_what_fits_is_not_cut() -> None:
    assert cut(quote("x" * 100), 100, "AGENTS.md") == (quote("x" * 100), None)


def test_the_marker_is_the_documented_one() -> None:
    text = "".join(f"{n:06d} line\n" for n in range(25_000 // 12 + 1))[:25_000]
    shortened, report = cut(quote(text), 20_000, "AGENTS.md")
    marker = "[...truncated AGENTS.md: kept 14000+4000 of 25000 chars. Use file tools to read the full file.]"
    assert shortened == f"{text[:14_000]}\n\n{marker}\n\n{text[21_000:]}"
    assert report == Cut(14_000, 4_000, 25_000, 1167, 1750, ())


def test_the_lost_headings_are_named() -> None:
    text = (
        "# Top\n"
        + "a\n" * 40
        + "## Lost\n```\n# not a heading\n```\n### Also lost ###\n"
        + "b\n" * 40
        + "# End\n"
    )
    _, report = cut(quote(text), 100, "AGENTS.md")
    assert report is not None
    assert report.lost == ("Lost", "Also lost")


def test_an_open_fence_is_closed_before_the_marker_and_opened_again_after() -> None:
    text = "intro\n```python\n" + "code()\n" * 100 + "```\nend\n"
    shortened, report = cut(quote(text), 200, "A.md")
    assert report is not None
    head, _, tail = shortened.partition("\n[...truncated")
    assert head.endswith("\n```\n")
    assert tail.partition("\n\n")[2].startswith("```python\n")
    assert code_regions(shortened)[-1][1] < len(shortened)


CLUSTERS = st.lists(
    st.sampled_from(["a", "é", "e\u0301", "👩‍💻", "🇩🇪", "한", "क्षि", "\n", "```\n", "~~~ x\n", "# h\n"]),
    max_size=120,
)


@given(CLUSTERS, st.integers(10, 60))
def test_kept_and_cut_are_the_original(clusters: list[str], limit: int) -> None:
    text = "".join(clusters)
    passage = quote(text)
    shortened, report = cut(passage, limit, "A.md")
    if report is None:
        assert shortened == text
        return
    head, tail = text[: report.head], text[len(text) - report.tail :]
    assert shortened.startswith(head)
    assert shortened.endswith(tail)
    assert report.head <= limit * 70 // 100
    assert report.tail <= limit * 20 // 100
    lost = text[report.head : len(text) - report.tail]
    assert head + lost + tail == text
    assert [*iter_graphemes(head), *iter_graphemes(lost), *iter_graphemes(tail)] == [*iter_graphemes(text)]
    assert shortened.count("[...truncated A.md: kept ") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `b` c", [(2, 5)]),
        ("``a ` b``", [(0, 9)]),
        ("`open", []),
        ("x\n```\n`a`\n```\ny", [(2, 13)]),
        ("```\nnever closed `x`", [(0, 20)]),
        ("~~~\n```\n~~~", [(0, 11)]),
    ],
)
def test_code_regions(text: str, expected: list[tuple[int, int]]) -> None:
    assert code_regions(text) == expected
