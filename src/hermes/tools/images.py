"""Telling images by their first bytes."""

from __future__ import annotations

import struct

_SIGNS = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"BM", "BMP"),
    (b"\x00\x00\x01\x00", "ICO"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
)


def image(data: bytes) -> str:
    """What image the bytes of a file are, such as `a PNG image, 640 × 480, 12,345 bytes`; "" for none."""
    kind = next((name for sign, name in _SIGNS if data.startswith(sign)), "")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "WebP"
    if data[4:12] in (b"ftypheic", b"ftypavif", b"ftypmif1"):
        kind = "HEIC or AVIF"
    if not kind:
        return ""
    size = ""
    if kind == "PNG" and len(data) >= 24:
        size = ", {} × {}".format(*struct.unpack(">II", data[16:24]))
    elif kind == "GIF" and len(data) >= 10:
        size = ", {} × {}".format(*struct.unpack("<HH", data[6:10]))
    return f"a{'n' if kind[0] in 'HI' else ''} {kind} image{size}, {len(data):,} bytes"
