"""Whose memory a conversation may see and write, decided by facts that its face knows."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Literal

from hermes.frozen import frozen
from hermes.paths import Home
from hermes.provenance import digest_of

if TYPE_CHECKING:  # who builds a prompt needs no more than the record it has
    from hermes.config.records import MemoryConfig

Chat = Literal["owner", "direct", "group"]
Target = Literal["memory", "user"]
Place = Literal["global", "project", "user", "group"]

_HEADINGS = {"memory": "## Persistent Memory", "user": "## User Profile"}
_NAMES = {"memory": "MEMORY.md", "user": "USER.md"}
_OF = {"global": "", "project": " of this project", "user": " of this user", "group": " of this group"}


@frozen
class MemoryScope:
    """Who talks, and where: what a face knows for certain, never what somebody says of themselves.

    `owner`: the owner of the home, on any surface. `direct`: somebody else, alone with the agent; `user` is
    the authenticated id. `group`: several people; `room` is the id of the chat. Without the id that it needs
    a conversation has no memory at all.
    """

    chat: Chat = "owner"
    platform: str = "cli"
    user: str = ""
    room: str = ""


OWNER = MemoryScope()
NOBODY = MemoryScope("direct")


@frozen
class MemoryFile:
    """One memory: its file, heading, limit in characters, and the folder below `memories/`.

    `place` says which of several memories of a conversation it is; `target` which of the two kinds.
    """

    name: str
    heading: str
    limit: int
    folder: tuple[str, ...] = ()
    place: Place = "global"
    target: Target = "memory"

    @property
    def called(self) -> str:
        """Its target, and its place where that is not the global one."""
        return self.target if self.place == "global" else f"{self.target} ({self.place})"

    def path(self, home: Home) -> str:
        return home.path("memories", *self.folder, self.name)


def memory_files(
    config: MemoryConfig, scope: MemoryScope = OWNER, project: str = ""
) -> tuple[MemoryFile, ...]:
    """The memories of a conversation in their order in the prompt: global, project, user or group.

    `project` is the root of the project that is worked in, "" for none. A memory that is switched off is left
    out. Only the owner has the global memory and that of a project: what is kept there was told in private.
    """
    found = []
    for target, on in (("memory", config.memory_enabled), ("user", config.user_profile_enabled)):
        limit = config.memory_char_limit if target == "memory" else config.user_char_limit
        for place, folder in _places(scope, project) if on else ():
            if target == "user" and place in ("project", "group"):
                continue  # a profile is of a person
            found.append(
                MemoryFile(_NAMES[target], _HEADINGS[target] + _OF[place], limit, folder, place, target)  # type: ignore[arg-type]
            )
    return tuple(found)


def _places(scope: MemoryScope, project: str) -> list[tuple[Place, tuple[str, ...]]]:
    match scope.chat:
        case "owner":
            places: list[tuple[Place, tuple[str, ...]]] = [("global", ())]
            return [*places, ("project", ("projects", folder_name(project)))] if project else places
        case "direct" if scope.user:
            return [("user", ("users", folder_name(scope.user, scope.platform)))]
        case "group" if scope.room:
            return [("group", ("groups", folder_name(scope.room, scope.platform)))]
    return []


def left_over(path: str) -> str:
    """Where a writer of a memory's file prepares the new one; between writes nothing is there."""
    target = os.path.realpath(path)
    return os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.tmp")


def folder_name(name: str, kind: str = "") -> str:
    """A folder's name that a person recognises and no two names share."""
    shown = re.sub(r"[^a-z0-9]+", "-", f"{kind} {os.path.basename(name) if not kind else name}".lower())
    digest = digest_of(f"{kind}\0{name}")[:12]
    return f"{shown.strip('-')[:40] or 'x'}-{digest}"
