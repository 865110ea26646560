"""What is shown of a command's output, of which the whole lies in a file."""

from __future__ import annotations

import os

MAX_CHARS = 30_000
_WHOLE = 4 * 1024 * 1024  # bytes of output that are looked at as a whole


def shown(path: str, start: int = 0, *, keep: bool = False) -> str:
    """The output from a byte on, or its two ends with a word about where the whole is.

    A short one leaves no file, unless it is to `keep`.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size - start
        file.seek(start)
        if size <= _WHOLE:
            text = _text(file.read(max(size, 0)))
            if len(text) <= MAX_CHARS:
                if not keep:
                    os.unlink(path)
                return text
            head, tail = text[: MAX_CHARS // 2], text[-(MAX_CHARS // 2) :]
        else:
            head = file.read(MAX_CHARS // 2).decode("utf-8", "replace")
            file.seek(-(MAX_CHARS // 2), os.SEEK_END)
            tail = _text(file.read())
    return f"{head}\n[… the middle of {size:,} bytes is left out; all of it is in {path}]\n{tail}"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip("\n")
