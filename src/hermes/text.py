"""Bytes to text, and text made shorter: decoding, front matter, and the 70/20 cut."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

from hermes.errors import FileRefused
from hermes.provenance import Origin, Passage, Span

HEAD_PERCENT = 70
TAIL_PERCENT = 20

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BOM_STARTS = frozenset(bom[:1] for bom, _ in BOMS)
_SURROGATE = re.compile("[\ud800-\udfff]")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.M)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^`\n](?:[^\n]*?[^`\n])??\1(?!`)")
_HEADING = re.compile(r"^#{1,6}[ \t]+([^\n]+?)[ \t#]*$", re.M)
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:(.*?)\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)


class Decoded(NamedTuple):
    """Text with `\\n` line ends, how it was reached, and what a person should know of it."""

    text: str
    transforms: tuple[str, ...] = ()
    problem: str = ""


def decode(data: bytes) -> Decoded:
    """UTF-8 or, by its mark, UTF-16/32; other bytes become U+FFFD with a problem named.

    Raises FileRefused with the verdict `binary` for data that is no text.
    """
    if data[:1] not in _BOM_STARTS and b"\r" not in data and b"\0" not in data:
        try:
            return Decoded(data.decode())  # as nearly all are
        except UnicodeDecodeError:
            pass
    transforms: list[str] = []
    problem = ""
    encoding = "utf-8"
    for bom, name in BOMS if data[:1] in _BOM_STARTS else ():
        if data.startswith(bom):
            data, encoding = data[len(bom) :], name
            transforms.append("byte order mark removed")
            break
    if encoding == "utf-8" and b"\0" in data:
        raise FileRefused("binary", f"it has a NUL byte at offset {data.index(0)}; it is not text")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        text = data.decode(encoding, "replace")
        transforms.append("bad bytes replaced")
        line = data.count(b"\n", 0, error.start) + 1
        problem = (
            f"not valid {encoding.upper()} (first bad byte on line {line}); bad bytes were replaced by �"
        )
    if encoding != "utf-8":
        transforms.append(f"decoded from {encoding}")
        if "\0" in text:
            raise FileRefused("binary", "it has NUL characters; it is not text")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        transforms.append("line ends normalised")
    return Decoded(text, tuple(transforms), problem)


def well_formed(text: str) -> str:
    """The text with lone surrogates as U+FFFD, so that it can be encoded, hashed and sent."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def paired(text: str) -> str:
    """The text with halves of surrogate pairs put together, and lone ones as U+FFFD."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class FrontMatter(NamedTuple):
    """YAML between `---` fences at the head of a file: its text, and where the body starts.

    `body` is an offset into the whole text. `open` says that the fence never closes: then there is no
    front matter and the body is everything.
    """

    yaml: str | None
    body: int
    open: bool = False


def front_matter(text: str) -> FrontMatter:
    """Find front matter of any length; byte preserving."""
    if text.startswith("---\n"):
        end = text.find("\n---", 3)
        if text.startswith("\n---\n", end) and end > 0 and text.find("\n...", 3, end) < 0:
            return FrontMatter(text[4:end], end + 5)  # as most people write it, found ten times as quickly
    elif not text.startswith("---"):
        return FrontMatter(None, 0)
    found = _FRONT_MATTER.match(text)
    if found:
        return FrontMatter(found[1] or "", found.end())
    first_line = text.partition("\n")[0]
    return FrontMatter(None, 0, open=first_line.rstrip() == "---" and ":" in text[:4096])


class Cut(NamedTuple):
    """What a cut kept and lost, in characters; `lost` names the headings that fell out."""

    head: int
    tail: int
    total: int
    first_lost_line: int
    last_lost_line: int
    lost: tuple[str, ...]


def cut(passage: Passage, limit: int, name: str) -> tuple[Passage, Cut | None]:
    """Shorten a passage over `limit` characters to its first 70 % and last 20 %, a marker between.

    `name` stands in the marker and must be a path the reading tool accepts. Never inside a grapheme; a code
    fence that is open at either edge is closed before the marker and opened again after it. The kept
    parts and the lost one together are the original.
    """
    total = len(passage)
    if total <= limit:
        return passage, None
    head_end = grapheme_start(passage, limit * HEAD_PERCENT // 100)
    tail_start = total - limit * TAIL_PERCENT // 100
    if (before := grapheme_start(passage, tail_start)) != tail_start:
        tail_start = grapheme_end(passage, before)
    head, tail = passage.part(0, head_end), passage.part(tail_start)
    kept = f"kept {len(head)}+{len(tail)} of {total} chars"
    marker = f"[...truncated {name}: {kept}. Use file tools to read the full file.]"
    parts = [
        head,
        _closing(head, _open_fence(head)),
        _own(f"\n{marker}\n\n"),
        _opening(tail, _open_fence(passage[:tail_start])),
        tail,
    ]
    lost = str(passage)[head_end:tail_start]
    report = Cut(
        len(head),
        len(tail),
        total,
        passage.line_at(head_end) if lost else 0,
        passage.line_at(tail_start - 1) if lost else 0,
        tuple(_headings(lost)),
    )
    done = Passage.joined("", parts).marked("truncated")
    return done.with_notes(passage.notices, passage.decisions), report


def _own(text: str) -> Passage:
    return Passage(text, (Span(0, len(text), Origin("cut marker")),)) if text else Passage()


def _closing(head: str, fence: re.Match[str] | None) -> Passage:
    """Text that ends the head on a line of its own and closes its open fence."""
    line_end = "" if head.endswith("\n") or not head else "\n"
    return _own(f"{line_end}{fence[1]}\n" if fence else line_end)


def _opening(tail: str, fence: re.Match[str] | None) -> Passage:
    return _own(f"{fence[0].strip()}\n" if fence and tail else "")


def code_regions(text: str) -> list[tuple[int, int]]:
    """Where Markdown code stands: fenced blocks (an open one to the end) and spans between backticks."""
    regions: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for fence in _fences(text):
        if opened is None:
            opened = fence if _opens(fence) else None
        elif _closes(fence, opened):
            regions.append((opened.start(), fence.end()))
            opened = None
    if opened is not None:
        regions.append((opened.start(), len(text)))
    spans = [m.span() for m in _CODE_SPAN.finditer(text)]
    return sorted(regions + [s for s in spans if not any(a <= s[0] < b for a, b in regions)])


def _fences(text: str) -> Iterator[re.Match[str]]:
    """Lines that may open or close a code fence. Most texts have none, which is quick to see."""
    return _FENCE.finditer(text) if "```" in text or "~~~" in text else iter(())


def _opens(fence: re.Match[str]) -> bool:
    return fence[1][0] != "`" or "`" not in fence[2]


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    return fence[1][0] == opened[1][0] and len(fence[1]) >= len(opened[1]) and not fence[2].strip()


def _open_fence(text: str) -> re.Match[str] | None:
    """The code fence that is still open at the end of a text (CommonMark rules)."""
    opened: re.Match[str] | None = None
    for fence in _fences(text):
        if opened is None:
            opened = fence if _opens(fence) else None
        elif _closes(fence, opened):
            opened = None
    return opened


def _headings(text: str) -> list[str]:
    """The Markdown headings of a text, outside code fences."""
    found: list[str] = []
    opened: re.Match[str] | None = None
    at = 0
    for fence in _fences(text):
        if opened is None and _opens(fence):
            found += _HEADING.findall(text, at, fence.start())
            opened = fence
        elif opened is not None and _closes(fence, opened):
            opened, at = None, fence.end()
    if opened is None:
        found += _HEADING.findall(text, at)
    return found


def grapheme_start(text: str, index: int) -> int:
    """The start of the grapheme cluster that holds character `index`."""
    if index <= 0 or index >= len(text):
        return max(0, min(index, len(text)))
    if _plain(text, index):
        return index
    start = _safe_start(text, index)
    for cluster in _graphemes(text[start : index + 256]):
        if start + len(cluster) > index:
            return start
        start += len(cluster)
    return index


def grapheme_end(text: str, index: int) -> int:
    """The end of the grapheme cluster that starts at `index`."""
    cluster = next(iter(_graphemes(text[index : index + 256])), "")
    return index + max(1, len(cluster))


def _plain(text: str, index: int) -> bool:
    """Both neighbours below U+0300: a boundary, but for CR LF."""
    return text[index] < "\u0300" and text[index - 1] < "\u0300" and text[index - 1 : index + 1] != "\r\n"


def _safe_start(text: str, index: int) -> int:
    """A boundary shortly before `index`: after a line end, or between two plain characters."""
    for at in range(index, max(0, index - 512), -1):
        if text[at - 1] == "\n" or _plain(text, at):
            return at
    return max(0, index - 512)


def _graphemes(text: str) -> list[str]:
    from wcwidth import iter_graphemes

    return list(iter_graphemes(text))


def many(count: int, noun: str, more: str = "") -> str:
    """A number with its noun: 1 file, 1,234 files; `more` is the plural that no s makes."""
    return f"{count:,} {noun if count == 1 else more or noun + 's'}"
