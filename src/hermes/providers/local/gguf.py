"""What a GGUF file says of its model. Only its head is read, and no more of it than is asked for."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from hermes.errors import ConfigError
from hermes.frozen import frozen

_MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_FORMATS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_MOST = 1 << 24
"""No text, and no list, of a sound head is longer."""


@frozen
class GgufFacts:
    """`window` is what the model was trained for, in tokens; 0 when the file does not tell."""

    architecture: str
    window: int


def gguf_facts(path: str) -> GgufFacts:
    """Architecture and window. ConfigError when it is no GGUF file that can be read."""
    architecture, window = "", 0
    for name, value in _entries(path):
        if name == "general.architecture":
            architecture = str(value)
        elif name == f"{architecture}.context_length" and isinstance(value, int):
            window = value
            break  # the vocabulary, which is long, comes later
    return GgufFacts(architecture, window)


def gguf_template(path: str) -> str:
    """The chat template; "" when there is none."""
    found = (value for name, value in _entries(path) if name == "tokenizer.chat_template")
    return str(next(found, ""))


def _entries(path: str) -> Iterator[tuple[str, object]]:
    try:
        with open(path, "rb") as file:
            if file.read(4) != _MAGIC:
                raise ConfigError(f"{path} is no GGUF file; name a model file that ends in .gguf")
            version, _, count = struct.unpack("<IQQ", _exactly(file, 20))
            if not 2 <= version <= 3 or count > _MOST:
                raise ConfigError(f"{path} is a GGUF file of version {version}; versions 2 and 3 are read")
            for _ in range(count):
                name = _text(file)
                yield name, _value(file, _number(file, "<I"))
    except (OSError, ValueError, struct.error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is damaged or cut short"
        raise ConfigError(f"the model file {path} cannot be read: {(reason or str(error)).lower()}") from None


def _value(file: BinaryIO, kind: int) -> object:
    """A value; a list is passed over."""
    if kind == _STRING:
        return _text(file)
    if kind == _ARRAY:
        inner, count = _number(file, "<I"), _number(file, "<Q")
        if count > _MOST:
            raise ValueError("too long")
        if inner in _SIZES:
            file.seek(_SIZES[inner] * count, 1)
        else:
            for _ in range(count):
                if inner == _STRING:
                    file.seek(_number(file, "<Q"), 1)
                else:
                    _value(file, inner)
        return None
    return (
        struct.unpack(_FORMATS[kind], _exactly(file, _SIZES[kind]))[0] if kind in _FORMATS else _unknown(kind)
    )


def _unknown(kind: int) -> object:
    raise ValueError(f"a value of the unknown kind {kind}")


def _text(file: BinaryIO) -> str:
    size = _number(file, "<Q")
    if size > _MOST:
        raise ValueError("too long")
    return _exactly(file, size).decode("utf-8", "replace")


def _number(file: BinaryIO, form: str) -> int:
    return int(struct.unpack(form, _exactly(file, struct.calcsize(form)))[0])


def _exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise ValueError("cut short")
    return data
