"""The head of a model file: read when sound, told of when not."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import ConfigError
from hermes.providers.local.engine import template_for
from hermes.providers.local.gguf import GgufFacts, gguf_facts, gguf_template
from tests.providers.local.world import weights


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(name: str, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


def head(*entries: bytes, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(entries)) + b"".join(entries)


WORDS = struct.pack("<IQ", 8, 2) + text("one") + text("two")
SOUND = head(
    entry("general.architecture", 8, text("llama")),
    entry("general.size", 10, struct.pack("<Q", 7)),
    entry("tokenizer.ggml.tokens", 9, WORDS),
    entry("tokenizer.ggml.scores", 9, struct.pack("<IQ", 6, 2) + b"\0" * 8),
    entry("llama.context_length", 4, struct.pack("<I", 4096)),
    entry("tokenizer.chat_template", 8, text("<|im_start|>{{ messages }}")),
)


def test_what_the_model_that_comes_along_says(tmp_path: Path) -> None:
    path = weights(tmp_path)
    assert gguf_facts(path) == GgufFacts("llama", 8192)
    assert "<|im_start|>" in gguf_template(path)
    assert "<tools>" in template_for(path)  # its own would keep the tools from it


def test_lists_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(SOUND)
    assert gguf_facts(str(path)) == GgufFacts("llama", 4096)
    assert gguf_template(str(path)) == "<|im_start|>{{ messages }}"


@pytest.mark.parametrize("own", ["{% if tools %}<|im_start|>{% endif %}", "[INST] {{ messages }}"])
def test_a_template_that_knows_tools_or_speaks_otherwise_stays(tmp_path: Path, own: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(head(entry("tokenizer.chat_template", 8, text(own))))
    assert template_for(str(path)) == ""


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is no GGUF file"),
        (b"PK\x03\x04" + b"\0" * 40, "is no GGUF file"),
        (head(version=9), "version 9; versions 2 and 3 are read"),
        (SOUND[:60], "damaged or cut short"),
        (head(entry("x", 99, b"")), "damaged or cut short"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1 << 40), "damaged or cut short"),
    ],
)
def test_what_is_no_model_is_told(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=words):
        gguf_facts(str(path))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        gguf_facts(str(tmp_path / "none.gguf"))


@given(cut=st.integers(0, len(SOUND)), junk=st.binary(max_size=40))
def test_no_bytes_make_it_fall(tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "junk.gguf"
    path.write_bytes(SOUND[:cut] + junk)
    try:
        assert gguf_facts(str(path)).window >= 0
        gguf_template(str(path))
    except ConfigError as error:
        assert str(path) in str(error)
