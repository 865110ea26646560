"""One SKILL.md: its fields, its complaints, its refusals."""

from __future__ import annotations

import codecs

import pytest

from hermes.skills.parse import parse_skill
from hermes.skills.records import ALWAYS, PLAIN, Broken, Conditions, Details, Place, Skill

PLACE = Place("/home/skills/cat/tool/SKILL.md", "cat", "tool", "home", "owner")


def parsed(text: str | bytes) -> tuple[Skill, tuple[str, ...]]:
    skill, notices = parse_skill(text if isinstance(text, bytes) else text.encode(), PLACE)
    assert isinstance(skill, Skill), skill
    return skill, tuple(n.text.removeprefix(f"{PLACE.path}: ") for n in notices)


def broken(text: str | bytes) -> tuple[int, str]:
    problem, _ = parse_skill(text if isinstance(text, bytes) else text.encode(), PLACE)
    assert isinstance(problem, Broken), problem
    return problem.line, problem.reason


def test_all_fields_of_the_standard_and_of_the_field() -> None:
    skill, complaints = parsed("""\
---
name: tool
description: >
  Does it.
  When asked.
license: MIT
compatibility: Needs git
allowed-tools: Bash(git add:*) Read, Write
platforms: [darwin, Linux]
disable-model-invocation: true
metadata:
  author: someone
  version: 1.10
  hermes:
    tags: [a, b]
    requires_tools: [terminal]
    requires_toolsets: web
    fallback_for_tools: web_search, browser
    fallback_for_toolsets: [browser]
---
body
""")
    assert complaints == ()
    assert skill._replace(digest="") == Skill(
        "tool",
        "Does it. When asked.",
        "cat",
        "tool",
        "home",
        "owner",
        PLACE.path,
        "",
        3,
        5,
        Conditions(
            ("macos", "linux"), ("terminal",), ("web",), ("web_search", "browser"), ("browser",), True
        ),
        Details(
            "MIT",
            "Needs git",
            ("Bash(git add:*)", "Read", "Write"),
            (
                ("author", "someone"),
                ("hermes.fallback_for_tools", "web_search, browser"),
                ("hermes.fallback_for_toolsets", "browser"),
                ("hermes.requires_tools", "terminal"),
                ("hermes.requires_toolsets", "web"),
                ("hermes.tags", "a, b"),
                ("version", "1.10"),
            ),
        ),
    )


def test_a_plain_skill_shares_its_defaults() -> None:
    skill, _ = parsed("---\nname: tool\ndescription: x\nversion: 1.0\ntags: [a]\n---\n")
    assert skill.conditions is ALWAYS
    assert skill.details is PLAIN


ENCODINGS = {
    "utf-8": lambda t: t.encode(),
    "bom": lambda t: codecs.BOM_UTF8 + t.encode(),
    "utf-16-le": lambda t: codecs.BOM_UTF16_LE + t.encode("utf-16-le"),
    "utf-16-be": lambda t: codecs.BOM_UTF16_BE + t.encode("utf-16-be"),
    "utf-32": lambda t: codecs.BOM_UTF32_LE + t.encode("utf-32-le"),
}
ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("end", ENDS)
def test_every_encoding_and_line_end_reads_the_same(encoding: str, end: str) -> None:
    text = "---\nname: tool\ndescription: Prüft 漢字\n---\n# Body\n"
    skill, complaints = parsed(ENCODINGS[encoding](text.replace("\n", ENDS[end])))
    assert (skill.name, skill.description, skill.first_line, complaints) == ("tool", "Prüft 漢字", 3, ())


def test_bad_bytes_are_told() -> None:
    skill, complaints = parsed("---\nname: tool\ndescription: Prüft\n---\n".encode("latin-1"))
    assert skill.description == "Pr\ufffdft"
    assert complaints == (
        "it is not valid UTF-8 (first bad byte on line 3); bad bytes were replaced by \ufffd",
    )


@pytest.mark.parametrize("size", [2_001, 5_000, 60_000])
def test_long_front_matter_is_read_to_its_end(size: int) -> None:
    padding = "\n".join(f"key{n}: {'x' * 60}" for n in range(size // 70))
    skill, _ = parsed(f"---\n{padding}\nname: tool\ndescription: at the end\n---\n")
    assert skill.description == "at the end"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "it is empty; it needs front matter with a name and a description"),
        (" \n\n", 1, "it is empty; it needs front matter with a name and a description"),
        (codecs.BOM_UTF16_LE, 1, "it is empty; it needs front matter with a name and a description"),
        (
            "# Title\n\nWords",
            1,
            "it has no front matter; it must begin with --- and give a name and a description",
        ),
        ("\n---\nname: x\n---\n", 1, "its front matter must begin on the first line"),
        ("---\nname: tool\ndescription: x\n", 1, "its front matter is opened by --- and never closed"),
        ("---\nname: tool\n---\n# A heading\n", 1, "it has no description"),
        ("---\nname: tool\ndescription:\n---\n", 3, "its description is empty"),
        ("---\nname: tool\ndescription: null\n---\n", 3, "its description is empty"),
        ("---\nname: tool\ndescription: '  '\n---\n", 3, "its description is empty"),
        ("---\nname: tool\ndescription: [a, b]\n---\n", 3, "its description is a list; it must be a text"),
        (
            "---\nname: tool\ndescription:\n  a: b\n---\n",
            3,
            "its description is a mapping; it must be a text",
        ),
        (
            "---\nname: tool\ndescription: x\nmetadata:\n  a: b: c\n---\n",
            5,
            "mapping values are not allowed here",
        ),
        (b"---\nname: tool\0\n---\n", 0, "it has a NUL byte at offset 14; it is not text"),
        (f"---\nname: {'x' * 300}\ndescription: x\n---\n", 2, "its name has 300 characters"),
    ],
)
def test_what_is_broken_is_named_with_its_line(text: str | bytes, line: int, reason: str) -> None:
    assert broken(text) == (line, reason)


@pytest.mark.parametrize(
    ("name", "used", "complaint"),
    [
        (
            "name: other\n",
            "other",
            "it calls itself 'other' but its folder is 'tool'; they should be the same",
        ),
        ("", "tool", "it declares no name; the name of its folder, 'tool', is used"),
        ("name:\n", "tool", "it declares no name; the name of its folder, 'tool', is used"),
        ("name: [a]\n", "tool", "it declares no name; the name of its folder, 'tool', is used"),
    ],
)
def test_names(name: str, used: str, complaint: str) -> None:
    skill, complaints = parsed(f"---\n{name}description: x\n---\n")
    assert (skill.name, complaints) == (used, (complaint,))


def test_names_and_descriptions_beyond_the_standard_load_with_a_warning() -> None:
    skill, complaints = parsed(f"---\nname: {'x' * 65}\ndescription: {'y ' * 600}z\n---\n")
    assert len(skill.name) == 65
    assert len(skill.description) == 1201
    assert [c.partition(";")[0] for c in complaints] == [
        f"it calls itself '{'x' * 65}' but its folder is 'tool'",
        "its name has 65 characters",
        "its description has 1,201 characters",
    ]
    assert parsed("---\nname: Bad Name\ndescription: y\n---\n")[1][1] == (
        "its name 'Bad Name' should be of lower-case letters, digits and single hyphens"
    )


def test_a_description_is_one_line_without_control_characters() -> None:
    skill, _ = parsed('---\nname: tool\ndescription: "a\\tb\\n c \\x07 d \\u2028e"\n---\n')
    assert skill.description == "a b c d e"


def test_an_unknown_platform_is_told() -> None:
    skill, complaints = parsed("---\nname: tool\ndescription: x\nplatforms: [amiga]\n---\n")
    assert skill.conditions.platforms == ("amiga",)
    assert complaints == ("its platform 'amiga' is unknown; linux, macos and windows are known",)


def test_a_repair_is_told() -> None:
    skill, complaints = parsed("---\nname: tool\ndescription: Use when: asked\n---\n")
    assert skill.description == "Use when: asked"
    assert len(complaints) == 1
    assert complaints[0].startswith("line 3: the value of `description` is not valid YAML")
