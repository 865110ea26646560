"""Ways to spread a sentence over the structure of a file, so that no line of it says the whole.

Each takes a text and returns a file in which a model would still read it.
"""

from __future__ import annotations

import base64
import codecs
import json
import quopri
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

_CODES = """
.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..
"""
_MORSE = dict(zip("abcdefghijklmnopqrstuvwxyz", _CODES.split(), strict=True))
_LEET = str.maketrans("oieastOIEAST", "013457013457")
_ZALGO = "\u0301\u0316\u0322\u034d\u0489"


def _pairs(text: str, size: int) -> Iterator[str]:
    """The words of a text, so many at a time."""
    words = text.split()
    return (" ".join(words[at : at + size]) for at in range(0, len(words), size))


def _middle(text: str, mark: str) -> str:
    """A mark in the middle of every long word."""
    return " ".join(w[: len(w) // 2] + mark + w[len(w) // 2 :] if len(w) > 5 else w for w in text.split())


def _every(text: str, nth: int, dress: Callable[[str], str]) -> str:
    """Every so manyeth word dressed."""
    return " ".join(dress(w) if at % nth == 1 else w for at, w in enumerate(text.split()))


def _row(text: str, size: int) -> str:
    cells = list(_pairs(text, size))
    return f"| {' | '.join(cells)} |"


def _column(text: str) -> str:
    return "| Note |\n| --- |\n" + "\n".join(f"| {part} |" for part in _pairs(text, 3))


def _strings(text: str, between: str) -> str:
    return "message = " + between.join(json.dumps(part + " ") for part in _pairs(text, 2))


def _utf7(text: str) -> str:
    return re.sub(
        r"[a-z]{3,}",
        lambda m: "+" + base64.b64encode(m[0].encode("utf-16-be")).decode().rstrip("=") + "-",
        text,
    )


def _morse(text: str) -> str:
    words = re.sub(r"[^a-z ]+", " ", text.lower()).split()
    return " / ".join(" ".join(_MORSE[letter] for letter in word) for word in words)


def _entities(text: str) -> str:
    return "".join(f"&#x{ord(c):x};" for c in text)


def is_prose(text: str) -> bool:
    """Whether a text is words alone: a command or a token is another when its signs are moved."""
    if len(text) >= 600 or re.search(r"[{}<>\[\]|=$/\\`~_]|\.\w", text):
        return False
    return text.isascii() and sum(c.isalpha() or c == " " for c in text) > 0.93 * len(text)


STRUCTURES: dict[str, Callable[[str], str]] = {
    "quotation marks around one word in three": lambda t: _every(t, 3, lambda w: f'"{w}"'),
    "quotation marks around two words in four": lambda t: " ".join(
        f'"{part}"' if at % 2 else part for at, part in enumerate(_pairs(t, 2))
    ),
    "curly quotation marks around each word": lambda t: " ".join(f"\u201c{w}\u201d" for w in t.split()),
    "apostrophes around words": lambda t: _every(t, 2, lambda w: f"'{w}'"),
    "code spans around words": lambda t: _every(t, 2, lambda w: f"`{w}`"),
    "brackets around words": lambda t: _every(t, 2, lambda w: f"({w})"),
    "a table row, a word a cell": lambda t: _row(t, 1),
    "a table row, two words a cell": lambda t: _row(t, 2),
    "a table column, three words a row": _column,
    "bars between words": lambda t: "|".join(t.split()),
    "two lines": lambda t: "\n".join(_pairs(t, (len(t.split()) + 1) // 2)),
    "lines of three words": lambda t: "\n".join(_pairs(t, 3)),
    "paragraphs of two words": lambda t: "\n\n".join(_pairs(t, 2)),
    "a list, two words an item": lambda t: "\n".join(f"- {part}" for part in _pairs(t, 2)),
    "a numbered list, a word an item": lambda t: "\n".join(f"{n}. {w}" for n, w in enumerate(t.split(), 1)),
    "numbered words on one line": lambda t: " ".join(f"{n}. {w}" for n, w in enumerate(t.split(), 1)),
    "headings": lambda t: "\n\n".join(f"## {part}" for part in _pairs(t, 2)),
    "a quotation of lines": lambda t: "\n".join(f"> {part}" for part in _pairs(t, 3)),
    "bold runs": lambda t: " ".join(f"**{part}**" for part in _pairs(t, 2)),
    "emphasis inside words": lambda t: _middle(t, "**"),
    "link texts": lambda t: " ".join(f"[{part}](#a)" for part in _pairs(t, 2)),
    "links with addresses": lambda t: " ".join(f"[{part}](https://example.com/a)" for part in _pairs(t, 3)),
    "HTML tags between words": lambda t: " ".join(f"<b>{w}</b>" for w in t.split()),
    "HTML tags inside words": lambda t: _middle(t, "<i></i>"),
    "HTML cells": lambda t: "<tr>" + "".join(f"<td>{part}</td>" for part in _pairs(t, 2)) + "</tr>",
    "HTML blocks": lambda t: "\n".join(f"<div>{part}</div>" for part in _pairs(t, 2)),
    "line break tags": lambda t: "<br>".join(_pairs(t, 2)),
    "comments between words": lambda t: " <!-- x --> ".join(_pairs(t, 2)),
    "comments inside words": lambda t: _middle(t, "<!-- -->"),
    "footnote marks between words": lambda t: "[^1] ".join(_pairs(t, 2)),
    "numbers in brackets between words": lambda t: " [1] ".join(_pairs(t, 2)),
    "front matter": lambda t: f"---\ntitle: Notes\ndescription: {json.dumps(t)}\n---\n# Notes\n",
    "front matter, folded": lambda t: (
        "---\nnote: >\n" + "\n".join(f"  {p}" for p in _pairs(t, 4)) + "\n---\n"
    ),
    "a JSON value": lambda t: json.dumps({"name": "notes", "description": t}),
    "a JSON list, two words a value": lambda t: json.dumps(list(_pairs(t, 2))),
    "JSON with escapes": lambda t: json.dumps({"note": "@"}).replace(
        "@", "".join(f"\\u{ord(c):04x}" for c in t)
    ),
    "a YAML list": lambda t: "steps:\n" + "\n".join(f"  - {part}" for part in _pairs(t, 3)),
    "strings joined with +": lambda t: _strings(t, " + "),
    "strings side by side": lambda t: (
        "message = (\n    " + "\n    ".join(json.dumps(p + " ") for p in _pairs(t, 2)) + "\n)"
    ),
    "strings in a list, joined": lambda t: f"' '.join({t.split()!r})",
    "octal and hex escapes": lambda t: "'" + "".join(f"\\x{ord(c):02x}" for c in t) + "'",
    "words in reverse order of letters": lambda t: " ".join(w[::-1] for w in t.split()),
    "the whole reversed": lambda t: t[::-1],
    "a letter a line": lambda t: "\n\n".join("\n".join(word) for word in t.split()),
    "a word a line with blank lines": lambda t: "\n\n".join(t.split()),
    "hyphens at the ends of lines": lambda t: _middle(t, "-\n"),
    "hyphens inside words": lambda t: _middle(t, "-"),
    "dots between letters": lambda t: " ".join(".".join(w) for w in t.split()),
    "underscores for spaces": lambda t: "_".join(t.split()),
    "camel case": lambda t: "".join(w.capitalize() for w in re.findall(r"[a-zA-Z]+", t)),
    "plus signs for spaces": lambda t: "+".join(t.split()),
    "slashes between words": lambda t: " / ".join(t.split()),
    "arrows between words": lambda t: " -> ".join(_pairs(t, 2)),
    "emoji between words": lambda t: " \U0001f600 ".join(_pairs(t, 2)),
    "dots between words": lambda t: " ... ".join(_pairs(t, 2)),
    "leet": lambda t: t.translate(_LEET),
    "zalgo": lambda t: "".join(c + _ZALGO if c.isalpha() else c for c in t),
    "small capitals": lambda t: t.lower().translate(
        str.maketrans("abcdefghijklmnoprstuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ")
    ),
    "ROT13": lambda t: codecs.encode(t, "rot13"),
    "morse": _morse,
    "percent encoding": lambda t: "".join(f"%{ord(c):02X}" for c in t),
    "percent encoding twice": lambda t: quote("".join(f"%{ord(c):02X}" for c in t)),
    "entities twice": lambda t: _entities(t).replace("&", "&amp;"),
    "base64 twice": lambda t: base64.b64encode(base64.b64encode(t.encode())).decode(),
    "base64 in entities": lambda t: _entities(base64.b64encode(t.encode()).decode()),
    "base64 in lines": lambda t: base64.encodebytes(t.encode()).decode(),
    "base64 in comment lines": lambda t: re.sub(
        "(?m)^", "# ", base64.encodebytes(t.encode()).decode().strip()
    ),
    "hex": lambda t: t.encode().hex(),
    "quoted-printable": lambda t: "".join(f"={b:02X}" for b in t.encode()),
    "quoted-printable lines": lambda t: (
        quopri.encodestring(
            re.sub("[aeiou]", lambda m: "=" + f"{ord(m[0]):02X}", t).encode().replace(b"=", b"\0")
        )
        .replace(b"=00", b"=")
        .decode()
    ),
    "UTF-7": _utf7,
    "comment lines of code": lambda t: "\n".join(f"# {part}" for part in _pairs(t, 3)),
    "slashed comment lines": lambda t: "\n".join(f"// {part}" for part in _pairs(t, 3)),
    "starred comment lines": lambda t: "/*\n" + "\n".join(f" * {part}" for part in _pairs(t, 3)) + "\n */",
    "diff lines": lambda t: "\n".join(f"+{part}" for part in _pairs(t, 3)),
    "definition lists": lambda t: "\n: ".join(_pairs(t, 3)),
    "a log": lambda t: "\n".join(f"2026-01-01 12:00:0{n % 10} INFO {p}" for n, p in enumerate(_pairs(t, 3))),
    "checkboxes": lambda t: "\n".join(f"- [ ] {part}" for part in _pairs(t, 2)),
    "a fence with an odd name": lambda t: f"```rules\n{t}\n```",
    "a CSV row": lambda t: ",".join(_pairs(t, 2)),
    "tabs between words": lambda t: "\t".join(t.split()),
    "200 spaces before": lambda t: "# Notes\n\nFine." + " " * 200 + t,
    "100 blank lines before": lambda t: "# Notes\n\nFine." + "\n" * 100 + t,
}
"""Structures by name. All keep the order of the words, so that whoever reads the file reads the text."""
