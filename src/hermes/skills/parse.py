"""How a SKILL.md becomes a skill: the format of agentskills.io, read leniently, never guessed in silence."""

from __future__ import annotations

import re

from hermes.errors import FileRefused
from hermes.provenance import Notice, Origin, digest_of
from hermes.skills.fields import Fault, Fields, Value
from hermes.skills.frontmatter import read_fields
from hermes.skills.records import ALWAYS, PLAIN, Broken, Category, Conditions, Details, Place, Skill, one_line
from hermes.text import decode, front_matter, well_formed

NAME_CHARS = 64
DESCRIPTION_CHARS = 1024
UNUSABLE_NAME_CHARS = 256

_OS_NAMES = {"darwin": "macos", "mac": "macos", "osx": "macos", "win32": "windows", "win": "windows"}
_KNOWN_OS = frozenset(("linux", "macos", "windows"))
USABLE_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def parse_skill(data: bytes, place: Place) -> tuple[Skill | Broken, tuple[Notice, ...]]:
    """A skill from the bytes of its SKILL.md, or why it is none, with what a person should know."""
    fields, problems = _fields(data, "a name and a description")
    if isinstance(fields, Fault):
        return _broken(place, fields.line, fields.reason)
    values = fields.values
    line = fields.lines.get("description", (0, 0))
    described = _description(values)
    if isinstance(described, Fault):
        return _broken(place, line[0] or 1, described.reason)
    problems += fields.warnings
    name, complaint = _name(values, place.folder)
    if len(name) > UNUSABLE_NAME_CHARS:
        return _broken(place, fields.lines["name"][0], f"its name has {len(name):,} characters")
    problems += complaint
    if len(described) > DESCRIPTION_CHARS:
        problems += (f"its description has {len(described):,} characters; the standard allows 1,024",)
    conditions, more = _conditions(values)
    skill = Skill(
        name,
        described,
        place.category,
        place.folder,
        place.root,
        place.trust,
        place.path,
        digest_of(data),
        line[0],
        line[1],
        conditions,
        _details(values),
    )
    return skill, tuple([_warning(place, text) for text in (*problems, *more)])


def parse_category(data: bytes, place: Place) -> tuple[Category | Broken, tuple[Notice, ...]]:
    """What a DESCRIPTION.md says of its category."""
    fields, problems = _fields(data, "a description")
    if isinstance(fields, Fault):
        return _broken(place, fields.line, fields.reason)
    line = fields.lines.get("description", (0, 0))
    described = _description(fields.values)
    if isinstance(described, Fault):
        return _broken(place, line[0] or 1, described.reason)
    category = Category(place.category, described, place.path, digest_of(data), *line, place.trust)
    return category, tuple(_warning(place, text) for text in (*problems, *fields.warnings))


def _fields(data: bytes, needs: str) -> tuple[Fields | Fault, tuple[str, ...]]:
    try:
        decoded = decode(_head(data))
    except FileRefused as error:
        return Fault(0, str(error)), ()
    text = decoded.text
    found = front_matter(text)
    if found.yaml is None:
        return Fault(1, _no_front_matter(text, found.open, needs)), ()
    fields = read_fields(found.yaml)
    return fields, (f"it is {decoded.problem}",) if decoded.problem else ()


def _head(data: bytes) -> bytes:
    """The data up to the end of its front matter, where what follows is surely text."""
    end = data.find(b"\n---\n", 3)
    return data[: end + 5] if end > 0 and data.isascii() and not (b"\r" in data or b"\0" in data) else data


def _no_front_matter(text: str, opened: bool, needs: str) -> str:
    if opened:
        return "its front matter is opened by --- and never closed"
    if not text.strip():
        return f"it is empty; it needs front matter with {needs}"
    if text.lstrip().startswith("---"):
        return "its front matter must begin on the first line"
    return f"it has no front matter; it must begin with --- and give {needs}"


def _description(values: dict[str, Value]) -> str | Fault:
    value = values.get("description")
    if isinstance(value, str) and (text := one_line(value)):
        return text
    if isinstance(value, list | dict):
        what = "a list" if isinstance(value, list) else "a mapping"
        return Fault(0, f"its description is {what}; it must be a text")
    return Fault(0, "it has no description" if "description" not in values else "its description is empty")


def _name(values: dict[str, Value], folder: str) -> tuple[str, tuple[str, ...]]:
    value = values.get("name")
    if value == folder and len(folder) <= NAME_CHARS and USABLE_NAME.fullmatch(folder):
        return folder, ()
    name = one_line(value) if isinstance(value, str) else ""
    if not name:
        return one_line(folder), (f"it declares no name; the name of its folder, {folder!r}, is used",)
    problems = []
    if name != folder:
        problems.append(f"it calls itself {name!r} but its folder is {folder!r}; they should be the same")
    if len(name) > NAME_CHARS:
        problems.append(f"its name has {len(name)} characters; the standard allows {NAME_CHARS}")
    elif not USABLE_NAME.fullmatch(name):
        problems.append(f"its name {name!r} should be of lower-case letters, digits and single hyphens")
    return name, tuple(problems)


_CONDITIONS = frozenset(("platforms", "metadata", "disable-model-invocation"))
_DETAILS = frozenset(("license", "compatibility", "allowed-tools", "metadata"))


def _conditions(values: dict[str, Value]) -> tuple[Conditions, tuple[str, ...]]:
    if _CONDITIONS.isdisjoint(values):
        return ALWAYS, ()
    metadata = values.get("metadata")
    ours = metadata.get("hermes") if isinstance(metadata, dict) else None
    problems: tuple[str, ...] = ()
    platforms = []
    for word in _words(values.get("platforms")):
        system = _OS_NAMES.get(word.lower(), word.lower())
        platforms.append(system)
        if system not in _KNOWN_OS:
            problems += (f"its platform {word!r} is unknown; linux, macos and windows are known",)
    given = ours if isinstance(ours, dict) else {}
    conditions = Conditions(
        tuple(platforms),
        _words(given.get("requires_tools")),
        _words(given.get("requires_toolsets")),
        _words(given.get("fallback_for_tools")),
        _words(given.get("fallback_for_toolsets")),
        str(values.get("disable-model-invocation")).lower() == "true",
    )
    return conditions if conditions != ALWAYS else ALWAYS, problems


def _details(values: dict[str, Value]) -> Details:
    if _DETAILS.isdisjoint(values):
        return PLAIN
    metadata = values.get("metadata")
    details = Details(
        _text(values.get("license")),
        _text(values.get("compatibility")),
        _tools(values.get("allowed-tools")),
        tuple(sorted(_flat("", metadata))) if isinstance(metadata, dict) else (),
    )
    return details if details != PLAIN else PLAIN


def _text(value: Value) -> str:
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return one_line(value) if isinstance(value, str) else ""


def _words(value: Value) -> tuple[str, ...]:
    """A list, or a text of words set apart by spaces or commas."""
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    if isinstance(value, list):
        return tuple(word for item in value if (word := _text(item)))
    return ()


_TOOL = re.compile(r"[^\s,(]+(?:\([^)]*\))?")


def _tools(value: Value) -> tuple[str, ...]:
    """`Bash(git add:*) Read`: spaces inside parentheses belong to a tool."""
    return tuple(_TOOL.findall(value)) if isinstance(value, str) else _words(value)


def _flat(prefix: str, values: dict[str, Value]) -> list[tuple[str, str]]:
    found = []
    for key, value in values.items():
        if isinstance(value, dict):
            found += _flat(f"{prefix}{key}.", value)
        else:
            found.append((prefix + key, _text(value)))
    return found


def _broken(place: Place, line: int, reason: str) -> tuple[Broken, tuple[Notice, ...]]:
    return Broken(place.path, line, reason), ()


def _warning(place: Place, text: str) -> Notice:
    kind = "skill" if place.folder else "skill category"
    path = well_formed(place.path)
    return Notice("warning", f"{path}: {text}", Origin(kind, path, trust=place.trust))
