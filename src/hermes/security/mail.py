"""What mail programs write for letters: quoted-printable, UTF-7, and runs of entities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from hermes.security.expressions import compiled

_QP = r"=(?:[2-7][0-9A-F]|[CDE][0-9A-F]=[89AB][0-9A-F]|\n)"
_QUOTED_PRINTABLE = rf"{_QP}(?:[ -<>-~]{{0,40}}{_QP}){{3,}}[ -<>-~]{{0,40}}"
_UTF7 = r"\+A[A-Za-z0-9+/]{2,4000}-(?:[ -*,-~]{0,40}\+A[A-Za-z0-9+/]{2,400}-)*[ -*,-~]{0,40}"
_ENTITY = r"&(?:#[0-9]{2,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,24});"
_ENTITIES = rf"{_ENTITY}(?:{_ENTITY}){{15,}}"  # what begins with a repeat is sought slowly
_ENCODED_RUN = r"[A-Za-z0-9+/]{16}"

Written = tuple[int, int, str, str]
"""The stretch [start, end) of the text, what it reads, and how it is written."""


def of_mail(text: str) -> Iterator[Written]:
    """What mail programs write for letters: quoted-printable, UTF-7; and runs of entities."""
    if "=" in text:
        for match in compiled(_QUOTED_PRINTABLE).finditer(text):
            start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - 40)
            yield (start, match.end(), _printable(text[start : match.end()]), "quoted-printable")
    if "+" in text and "+A" in text:
        for match in compiled(_UTF7).finditer(text):
            with suppress(UnicodeError):
                start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - 40)
                read = text[start : match.end()].encode("ascii").decode("utf-7")
                yield (start, match.end(), read, "UTF-7")
    if "&" in text:
        import html

        for match in compiled(_ENTITIES).finditer(text):
            read = html.unescape(match[0])
            if read != match[0] and compiled(_ENCODED_RUN).search(read):
                yield (match.start(), match.end(), read, "entities")


def _printable(run: str) -> str:
    data = re.sub(
        rb"=([0-9A-F]{2})", lambda m: bytes.fromhex(m[1].decode()), run.encode().replace(b"=\n", b"")
    )
    return data.decode("utf-8", "replace")
