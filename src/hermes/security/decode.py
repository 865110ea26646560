"""Text in disguise: runs that hold another text, and what they read once undone.

Plausible runs are found by byte translation and substring search, so that ordinary prose costs next to
nothing; only what is found is decoded.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import chain, product, starmap
from typing import NamedTuple

from hermes.security.alphabets import undressed
from hermes.security.expressions import compiled
from hermes.security.literals import Search, narrow, signs
from hermes.security.mail import of_mail

_LONGEST = 200_000
_LEAST = 20


class Disguise(NamedTuple):
    """The stretch [start, end) of the text and what it reads undone. `joined`: word breaks were lost."""

    start: int
    end: int
    text: str
    how: str
    joined: bool = False


def _table(**groups: str) -> bytes:
    table = bytearray(b" " * 256)
    for mark, letters in groups.items():
        for letter in letters:
            table[ord(letter)] = ord(mark)
    return bytes(table)


_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_RUNS = _table(a=_UPPER + _UPPER.lower() + _DIGITS + "+/=_-")
_HEXES = _table(h=_DIGITS + "abcdefABCDEF")
_BITS = _table(b="01")
_NUMBERS = _table(d=_DIGITS)
_DIGIT_KINDS = _table(d=_DIGITS, h="abcdefABCDEF", x="x\\")
# Capitals, small letters, signs that stand for letters, other digits.
_LETTER_KINDS = _table(u=_UPPER, l=_UPPER.lower(), x="0134578@$", d="269")
_MORSE_MARKS = _table(m=".-", s=" /|")
# What is rare stands first in these: so it is found as quickly as one byte is. Any list of bytes that spells
# a text has one of two decimal digits with more behind it.
_AMID = re.compile(rb"x(?<=[ul]x)[ul]")
_DOT_AND_DASH = re.compile(rb"-(?:\.|(?<=\.-))")
_NUMBERS_IN_A_ROW = re.compile(rb"dd(?:(?: {1,2}(?:[dx]x)?[dh]{2,3}){3}|d{5,6} {0,2}d{7})")
_TEN_SIGNS = re.compile(rb"m(?:m{0,4}s{1,3}m){8}")
# Nowhere in such a text; yet with so many patterns several letters are looked at together, twice as fast.
_NEVER = [bytes([code, code]) for code in range(1, 7)]
_LETTERS = bytes(
    97 if chr(code).isalnum() or code == 0x3F else 10 if code == 10 else 32 for code in range(256)
)
_HEX_LIST = r"(?:(?:0x|\\x)?[0-9a-fA-F]{2}[\s,;:]{1,2}){7,}(?:0x|\\x)?[0-9a-fA-F]{2}"
_BIT_LIST = r"(?:[01]{7,8}[\s,]{0,2}){4,}"
_NUMBER_LIST = r"(?:\d{2,3}[\s,;]{1,2}){9,}\d{2,3}"
_HEX_RUN = r"[0-9a-fA-F]+$"
_BASE32_RUN = r"[A-Z2-7]+=*$"
_MORSE_RUN = r"(?:[.-]{1,5}[ /|]{1,3}){9,}[.-]{1,5}"
_SPACED = r"(?:\S[ \t]{1,3}){7,}\S(?!\S)|(?:[^\W_][\W_]{1,3}){7,}[^\W_](?!\w)"
_FEW_BELOW = r"\n\S[ \t]*\n\s*\S[ \t]*\n\s*\S[ \t]*\n\s*\S[ \t]*\n\s*\S[ \t]*(?=\n)"
_BELOW = r"(?:\s*(?<!\S)\S(?!\S)){8,}"
# One expression for each sign: the next one is found as quickly as one byte is.
_JOINED = {
    sign: re.compile(re.escape(sign) + rb"(?<=[A-Za-z].)[A-Za-z']+(?:[_+][A-Za-z']+){3,}")
    for sign in (b"_", b"+")
}
_WORD_BEFORE = r"[A-Za-z][A-Za-z']*$"
_NO_JOINTS = str.maketrans("_+", "  ")
_CAMEL = re.compile(rb"u(?<=lu)l*(?:ul*){3,}")
_HYPHENS = re.compile(rb"-(?<=[a-z]-)[a-z]+[ ,.;\n]+(?:[A-Za-z]+[ ,.;\n]+){0,4}[A-Za-z]+-[a-z]+[ ,.;\n]")
# Words have more letters than that to a capital. No word is so long, or has a capital so often amid it.
_WORD_OF, _LONG_PIECE, _NOISE = 3, 30, 16
_CHECKSUM = r"[0-9a-fA-F-]{30,}"
_AS_ONE = _table(a="ul", x="x")
_LEET_LETTERS = str.maketrans("0134578@$!+|69", "oieastbasitigg")
_MORSE = dict(
    zip(
        [
            ".-",
            "-...",
            "-.-.",
            "-..",
            ".",
            "..-.",
            "--.",
            "....",
            "..",
            ".---",
            "-.-",
            ".-..",
            "--",
            "-.",
            "---",
            ".--.",
            "--.-",
            ".-.",
            "...",
            "-",
            "..-",
            "...-",
            ".--",
            "-..-",
            "-.--",
            "--..",
        ],
        _UPPER.lower(),
        strict=True,
    )
)


def disguises(text: str) -> Iterator[Disguise]:
    """Everything in the text that decodes to something readable."""
    data = narrow(text)
    kinds = data.translate(_LETTER_KINDS)
    yield from _encoded(text, data)
    if b"x" in kinds or b"d" in kinds:
        yield from _listed_bytes(text, data)
    yield from _morse(text, data)
    yield from _spaced(text, data)
    yield from _one_a_line(text)
    if b"x" in kinds:
        yield from _leet(text, kinds)
    yield from starmap(Disguise, of_mail(text))
    yield from _run_together(text, data, kinds)
    for start, end, read, how in undressed(text):
        yield Disguise(start, end, read, how, " " not in read)


def _encoded(text: str, data: bytes) -> Iterator[Disguise]:
    marked = data.translate(_RUNS)
    least = b"a" * _LEAST
    at = marked.find(least)
    while at >= 0:
        end = marked.find(b" ", at)
        end = len(marked) if end < 0 else end
        while end - at >= 40 and (following := _next_line(text, marked, end)):
            end = following
        run = text[at : min(end, at + _LONGEST)]
        if run != run.lower() or "\n" in run or (run.isalnum() and compiled(_HEX_RUN).match(run)):
            for how, read in _readings("".join(run.split())):
                yield Disguise(at, end, read, how)
        at = marked.find(least, end)


def _next_line(text: str, marked: bytes, end: int) -> int:
    """Where the next line ends if a run goes on through the whole of it; otherwise 0."""
    if text[end : end + 1] != "\n" or marked[end + 1 : end + 5] != b"aaaa":
        return 0
    stop = marked.find(b" ", end + 1)
    stop = len(marked) if stop < 0 else stop
    return stop if text[stop : stop + 1] in ("", "\n") else 0


def _readings(run: str) -> Iterator[tuple[str, str]]:
    if compiled(_HEX_RUN).match(run):
        yield from _readable("hex", bytes.fromhex(run[: len(run) // 2 * 2]))
        return
    if run == run.lower():  # paths, names and rules; base64 of a text has both cases
        return
    if run.isupper() and compiled(_BASE32_RUN).match(run):
        import base64

        body = run.rstrip("=")
        with suppress(binascii.Error):
            yield from _readable("base32", base64.b32decode(body + "=" * (-len(body) % 8)))
    body = run.split("=", 1)[-1] if "=" in run[:-3] else run
    body = body.rstrip("=").replace("-", "+").replace("_", "/").lstrip("/")
    whole = body[:-1] if len(body) % 4 == 1 else body
    if len(whole) >= 12:
        with suppress(binascii.Error):
            yield from _readable("base64", binascii.a2b_base64(whole + "=" * (-len(whole) % 4)))


_CONTROLS = bytes(code for code in range(32) if code not in (9, 10, 13)) + b"\x7f"


def _readable(how: str, data: bytes) -> Iterator[tuple[str, str]]:
    if data[1:64:2].count(0) > 20 or (len(data) > 24 and not any(data[1:24:2])):
        data = data[: len(data) // 2 * 2].decode("utf-16-le", "replace").encode()
    if data[:64].translate(None, _CONTROLS) != data[:64]:
        return
    text = data.decode("utf-8", "replace")
    if text.count("\ufffd") * 10 > len(text):
        return
    if sum(letter.isalpha() or letter == " " for letter in text[:200]) * 10 >= 6 * len(text[:200]):
        yield how, text


def _morse(text: str, data: bytes) -> Iterator[Disguise]:
    if not _DOT_AND_DASH.search(data):  # few words are spelled without
        return
    marks = data.translate(_MORSE_MARKS)
    for match in _at(_MORSE_RUN, text, _lists().morse(marks) if _TEN_SIGNS.search(marks) else []):
        words = re.split(r"\s*[/|]\s*|\s{2,}", match[0])
        read = " ".join("".join(_MORSE.get(code, "") for code in word.split()) for word in words)
        if len(read) >= 8 and "." in match[0] and "-" in match[0]:
            yield Disguise(match.start(), match.end(), read, "morse", "/" not in match[0])


def _listed_bytes(text: str, data: bytes) -> Iterator[Disguise]:
    if not _NUMBERS_IN_A_ROW.search(data.translate(_DIGIT_KINDS)):
        return
    lists = _lists()
    for match in _at(_HEX_LIST, text, lists.hexes(data.translate(_HEXES))):
        digits = re.findall(r"[0-9a-fA-F]{2}(?![xX])", match[0].replace("0x", "").replace("\\x", ""))
        yield from _placed(match, "hex", bytes.fromhex("".join(digits)))
    for match in _at(_BIT_LIST, text, lists.bits(data.translate(_BITS))):
        bits = re.findall(r"[01]{7,8}", match[0])
        yield from _placed(match, "binary", bytes(int(bit, 2) for bit in bits))
    for match in _at(_NUMBER_LIST, text, lists.numbers(data.translate(_NUMBERS))):
        codes = [int(code) for code in re.findall(r"\d{2,3}", match[0])]
        yield from _placed(match, "character codes", bytes(code for code in codes if code < 256))
        if not compiled(r"[89]").search(match[0]):
            octal = (int(code, 8) for code in re.findall(r"\d{2,3}", match[0]))
            yield from _placed(match, "octal codes", bytes(code for code in octal if code < 256))


def _at(expression: str, text: str, places: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """Matches of a list that begin at or shortly before one of the places."""
    pattern, behind = compiled(expression), 0
    for _, place in places:
        if place < behind:
            continue
        found = pattern.search(text, max(behind, place - 8), place + 200)
        behind = place + 100
        if found:
            match = pattern.match(text, found.start(), found.start() + _LONGEST)
            if match:
                behind = match.end()
                yield match


class _Lists(NamedTuple):
    """Searches for the beginnings of lists, over texts of which only the kind of each letter is left."""

    hexes: Search
    bits: Search
    numbers: Search
    morse: Search
    spaced: Search


@lru_cache(maxsize=1)
def _lists() -> _Lists:
    gaps = (b" ", b"  ", b"   ")
    numbers = [
        gap.join(b"d" * size for size in sizes) for gap in gaps[:2] for sizes in product((2, 3), repeat=4)
    ]
    return _Lists(
        hexes=signs(
            [*(gap.join([b"hh"] * 5) for gap in (*gaps, b"    ")), b"hh h hh h hh h", b" hhh hhh hhh hhh"]
        ),
        bits=signs([b"bbbbbbb bbbbbbb", b"bbbbbbbb bbbbbbb", b"bbbbbbb  bbbbbbb", b"b" * 28]),
        numbers=signs([b" " + number + b" " for number in numbers]),
        morse=signs([b"mmsmms", b"mmsms", b"mmmsmms", b"msmmsm", b"mmmsmmms"]),
        spaced=signs([*(gap + gap.join([b"a"] * 5) for gap in gaps), *_NEVER]),
    )


def _placed(match: re.Match[str], how: str, data: bytes) -> Iterator[Disguise]:
    for name, read in _readable(how, data):
        yield Disguise(match.start(), match.end(), read, name)


def _spaced(text: str, data: bytes) -> Iterator[Disguise]:
    behind = 0
    for _, at in _lists().spaced(b" " + data.translate(_LETTERS)):
        if at < behind:
            continue
        start = max(behind, text.rfind("\n", 0, at) + 1)
        stop = text.find("\n", at)
        behind = len(text) if stop < 0 else stop
        for match in compiled(_SPACED).finditer(text, start, behind):
            yield _joined(match)


def _joined(match: re.Match[str]) -> Disguise:
    run = match[0]
    parts = re.split(r"(\s+)", run) if re.fullmatch(r"(?:\S\s+)+\S", run) else re.split(r"([\W_]+)", run)
    between = parts[1::2]
    spaced = sum(map(_has_space, between))
    # Dots between letters and spaces between words.
    gaps = [1 + _has_space(gap) for gap in between] if 0 < spaced < len(between) else list(map(len, between))
    least = min(gaps)
    wide = any(gap > least for gap in gaps)
    breaks = [" " if gap > least else "" for gap in gaps]
    read = "".join(part if place % 2 == 0 else breaks[place // 2] for place, part in enumerate(parts))
    return Disguise(match.start(), match.end(), read, "spaced letters", not wide)


def _has_space(gap: str) -> bool:
    return " " in gap or "\t" in gap


def _one_a_line(text: str) -> Iterator[Disguise]:
    """Letters one below the other; blank lines between are the ends of words."""
    behind = 0
    for found in compiled(_FEW_BELOW).finditer(text):
        start = max(behind, text.rfind("\n", 0, found.start()) + 1)
        if found.start() >= behind and (match := compiled(_BELOW).match(text, start)):
            behind = match.end()
            parts = re.split(r"([ \t]*\n\s*)", match[0].strip())
            breaks = any(part.count("\n") > 1 for part in parts[1::2])
            read = "".join(
                part if place % 2 == 0 else " " * (part.count("\n") > 1) for place, part in enumerate(parts)
            )
            yield Disguise(match.start(), behind, read, "a letter a line", not breaks)


def _run_together(text: str, data: bytes, kinds: bytes) -> Iterator[Disguise]:
    """Words that are joined by a sign, by a capital letter each, or parted by hyphens inside them."""
    for match in chain.from_iterable(
        joined.finditer(data) for sign, joined in _JOINED.items() if sign in data
    ):
        start, end = _from_word(text, match)
        yield Disguise(start, end, text[start:end].translate(_NO_JOINTS), "words run together")
    for match in _CAMEL.finditer(kinds):
        if match[0].count(b"u") * _WORD_OF > len(match[0]):  # nor is it noise, such as a picture in base64
            continue
        start, end = _from_word(text, match)
        read = compiled(r"(?<=[a-z])(?=[A-Z])").sub(" ", text[start:end])
        yield Disguise(start, end, read, "words run together")
    for match in _HYPHENS.finditer(data):
        start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - 200)
        stop = text.find("\n", match.end(), match.end() + 400)
        stop = min(len(text), match.end() + 400) if stop < 0 else stop
        yield Disguise(start, stop, re.sub(r"(?<=\w)-(?=\w)", "", text[start:stop]), "hyphens in words")


def _from_word(text: str, match: re.Match[bytes]) -> tuple[int, int]:
    """The span of a match with the word that stands before it."""
    before = compiled(_WORD_BEFORE).search(text, max(0, match.start() - 24), match.start())
    return before.start() if before else match.start(), match.end()


def _noise_at(text: str, kinds: bytes, at: int, low: int, high: int) -> int:
    """Where a long piece without a space ends that is a checksum or has capitals as base64 has; else 0."""
    begin = max(text.rfind(" ", low, at) + 1, low)
    end = text.find(" ", at, high)
    end = high if end < 0 else end
    if end - begin < _LONG_PIECE:
        return 0
    noisy = kinds.count(b"lu", begin, end) * _NOISE > end - begin
    return end if noisy or compiled(_CHECKSUM).fullmatch(text, begin, end) else 0


def _leet(text: str, kinds: bytes) -> Iterator[Disguise]:
    behind = 0
    while amid := _AMID.search(kinds, behind + 1):
        at = amid.start() - 1
        start = max(behind, text.rfind("\n", 0, at) + 1, at - 400)
        stop = text.find("\n", at)
        stop = min(len(text) if stop < 0 else stop, at + 400)
        line = kinds[start:stop].translate(_AS_ONE)
        if noise := _noise_at(text, kinds, at, start, stop):
            behind = noise
            continue
        if line.count(b"axa") + line.count(b" xa") >= 2 and 3 * line.count(b"xaxaxa") <= line.count(b"axa"):
            yield Disguise(start, stop, text[start:stop].translate(_LEET_LETTERS), "digits for letters")
        behind = stop
