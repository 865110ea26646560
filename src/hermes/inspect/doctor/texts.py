"""Checks of what is written: configuration, identity, memory, project context, skills, acceptances.

They repeat what the build itself has said, so that nothing here can disagree with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hermes.inspect.doctor.records import Patient, Problem
from hermes.prompt import Section
from hermes.provenance import Notice
from hermes.text import many

_REMEDIES: tuple[tuple[str, str], ...] = (
    ("was blocked", "read the line; if it is harmless: hermes trust {path}"),
    ("is blocked", "read the file; if it is harmless: hermes trust {path}"),
    ("bad bytes were replaced", "save {path} as UTF-8"),
    ("is not text", "put a text file in its place, or remove {path}"),
    ("over its limit", "shorten {path}, or raise memory.memory_char_limit or memory.user_char_limit"),
    ("was cut", "shorten {path}, or raise context_file_max_chars"),
    ("a link to nothing", "mend the link {path}, or remove it"),
    ("outside", "copy the file into the project in place of the link {path}"),
    ("at most", "make {path} smaller, or remove it"),
    ("permission denied", "chmod u+r {path}"),
    ("not a regular file", "put a text file in place of {path}"),
    ("front matter", "mend the lines between --- at the head of {path}"),
    ("changed while it was read", "run the command again"),
    ("no project context is active", "choose a directory with --cwd or agent.cwd"),
    ("repository of another user", "chown the repository, or work in one of your own"),
    ("stands in for", "mend or remove the file that could not be used"),
    ("stands before it", "move what you still want, then remove the file that is not read"),
    ("cannot be listed", "chmod u+rx the directory"),
    ("is empty", "write it, or remove {path}"),
    ("with the name of another", "give each a name of its own in its SKILL.md"),
)


def _told(notices: Iterable[Notice], fallback: str = "look at {path}") -> Iterator[Problem]:
    """Notices as problems; what is only information is left to the commands that show it."""
    for notice in dict.fromkeys(notices):
        if notice.level == "info":
            continue
        path = notice.origin.path if notice.origin else ""
        remedy = next((r for part, r in _REMEDIES if part in notice.text.lower()), fallback)
        yield Problem(notice.level, notice.text, remedy.format(path=path or "it"))


def _sections(patient: Patient, *slots: str) -> Iterator[Section]:
    return (s for s in patient.prompt.sections if s.slot in slots)


def configuration(patient: Patient) -> Iterator[Problem]:
    """Everything that is wrong with config.yaml."""
    for notice in patient.sources.config.notices:
        if notice.level == "info":
            yield Problem("info", notice.text)
    yield from _told(
        patient.sources.config.notices, "mend that line of {path}; hermes config keys lists the keys"
    )


def identity(patient: Patient) -> Iterator[Problem]:
    """SOUL.md: does it load, whole and clean?"""
    yield from _told(n for s in _sections(patient, "identity") for n in s.notices)


def memory(patient: Patient) -> Iterator[Problem]:
    """MEMORY.md and USER.md: do they load, whole and clean? Can they be written, and is there room?"""
    yield from _told(n for s in _sections(patient, "memory", "user profile") for n in s.notices)
    from hermes.inspect.doctor.memories import stores

    yield from stores(patient)


def project(patient: Patient) -> Iterator[Problem]:
    """What of the project's context is not in the prompt and was meant to be."""
    found = list(_sections(patient, "project context", "working directory", "system message"))
    for section in found:
        for d in section.decisions:
            if d.verdict in ("loaded", "cut"):
                yield Problem("info", f"{patient.project.shown(d.path)} {d}")
    yield from _told(n for s in found for n in s.notices)


def skills(patient: Patient) -> Iterator[Problem]:
    """Skills that are broken, shadowed or blocked."""
    from hermes.skills.known import directories
    from hermes.skills.library import load_library

    sources = patient.sources
    library = load_library(sources.home, directories(sources.config.skills), policies=sources.policies)
    if library.skills:
        yield Problem("info", f"{many(len(library.skills), 'skill')} can be loaded")
    told = dict.fromkeys(
        [*library.notices, *(n for s in _sections(patient, "skills index") for n in s.notices)]
    )
    yield from _told(told, "mend {path}")


def trust(patient: Patient) -> Iterator[Problem]:
    """What in the list of accepted files cannot be used."""
    yield from _told(patient.sources.notices, "mend or remove {path}")
