"""Changes to the skills of a home, one method each. SkillError says what stands against one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field

from hermes.config import Config
from hermes.errors import FileRefused, SkillError
from hermes.files import is_inside, read_file
from hermes.frozen import frozen
from hermes.one_writer import state_of
from hermes.paths import Home
from hermes.provenance import digest_of
from hermes.security.policy import Policies
from hermes.skills import folder
from hermes.skills.check import checked_category, checked_name, checked_path, checked_skill, checked_text
from hermes.skills.known import directories
from hermes.skills.library import load_library
from hermes.skills.records import Library, Place, Skill
from hermes.text import decode, many

_SEEN = (
    "skill_view sees it now; the index in the prompt shows it from the next session, /refresh or "
    "compaction on."
)


@frozen
class Wish:
    """The arguments of a call, beside its action."""

    name: str
    content: str
    category: str
    path: str
    old_string: str
    new_string: str

    def need(self, what: str, action: str) -> str:
        value: str = getattr(self, what)
        if not value:
            raise SkillError(f"{action} needs the argument {what!r}")
        return value


@frozen
class Desk:
    """Where skills are written. `seen` has the digests of files as the conversation saw them."""

    home: Home
    config: Config
    policies: Policies
    seen: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def actions(self) -> Mapping[str, Callable[[Wish], str]]:
        return {
            "create": self.create,
            "edit": self.edit,
            "patch": self.patch,
            "remove": self.remove,
            "write_file": self.write_file,
            "remove_file": self.remove_file,
            "restore": self.restore,
        }

    def create(self, wish: Wish) -> str:
        name = checked_name(wish.name)
        where = folder.folder_of(self.home, checked_category(wish.category), name)
        self._no_twin(name, where)
        text = wish.need("content", "create")
        notes = self._checked(text, wish.category, name)
        others = [s for s in self._library().skills if s.name == name]
        folder.add_folder(self.home, where, {"SKILL.md": text.encode()})
        self.seen[os.path.realpath(os.path.join(where, "SKILL.md"))] = digest_of(text.encode())
        if others:
            notes += f" It stands in the place of {others[0].address} from now on."
        return f"Created the skill {name} at {where}.{notes} {_SEEN}"

    def edit(self, wish: Wish) -> str:
        at = self._file_of(wish.name)
        text = wish.need("content", "edit")
        notes = self._checked(text, self._category(at), os.path.basename(os.path.dirname(at)))
        self._put(at, text.encode(), self._known(at))
        return f"Replaced SKILL.md of the skill {wish.name}.{notes} {_SEEN}"

    def patch(self, wish: Wish) -> str:
        at = self._file_of(wish.name)
        place, of = os.path.dirname(at), "SKILL.md"
        if wish.path and wish.path != "SKILL.md":
            of = checked_path(wish.path)
            at = os.path.join(place, *of.split("/"))
        before, text = _read(self.home, at)
        real = os.path.realpath(at)
        unseen = self.seen.get(real, before) != before  # by somebody else, and not looked at yet
        count = text.count(wish.need("old_string", "patch"))
        if count != 1:
            found = "does not stand in it" if not count else f"stands in it {many(count, 'time')}"
            raise SkillError(f"{of} of the skill {wish.name} was not changed: old_string {found}")
        changed = text.replace(wish.old_string, wish.new_string)
        if of == "SKILL.md":
            notes = self._checked(changed, self._category(at), os.path.basename(place))
            data = changed.encode()
        else:
            notes, data = "", checked_text(changed, of, self.policies)
        self._put(at, data, before)
        if unseen:
            self.seen[real] = ""
        return f"Changed {of} of the skill {wish.name}.{notes} {_SEEN if of == 'SKILL.md' else ''}".rstrip()

    def remove(self, wish: Wish) -> str:
        kept = folder.remove(self.home, os.path.dirname(self._file_of(wish.name)))
        return (
            f"Removed the skill {kept.name}; it is kept at {kept.path}, and restore brings it back. "
            "skill_view no longer finds it; the index in the prompt names it until the next session, "
            "/refresh or compaction."
        )

    def write_file(self, wish: Wish) -> str:
        at = self._file_of(wish.name)
        path = checked_path(wish.need("path", "write_file"))
        data = checked_text(wish.content, path, self.policies)
        target = os.path.join(os.path.dirname(at), *path.split("/"))
        self._put(target, data, self._known(target))
        return f"Wrote {path} ({many(len(data), 'byte')}) of the skill {wish.name}. skill_view sees it now."

    def remove_file(self, wish: Wish) -> str:
        at = self._file_of(wish.name)
        path = checked_path(wish.need("path", "remove_file"))
        target = os.path.join(os.path.dirname(at), *path.split("/"))
        if not os.path.lexists(target) or os.path.isdir(target):
            files = ", ".join(folder.files_in(os.path.dirname(at)))
            raise SkillError(f"the skill {wish.name} has no file {path}; it has {files}")
        kept = folder.remove(self.home, target)
        return f"Removed {path} of the skill {wish.name}; it is kept at {kept.path}."

    def restore(self, wish: Wish) -> str:
        name = f"{wish.name}/{checked_path(wish.path)}" if wish.path else wish.name
        back = folder.restore(self.home, name)
        return f"Restored {back.name} as it was when it was removed. {_SEEN}"

    # -- what is there, and what was seen of it --------------------------------------------------------------

    def _known(self, path: str) -> str:
        """The digest that a file must still have, to be replaced as a whole."""
        path = os.path.realpath(path)
        return self.seen.get(path, state_of(path))

    def _put(self, path: str, data: bytes, expected: str) -> None:
        folder.put_file(self.home, path, data, expected)
        self.seen[os.path.realpath(path)] = digest_of(data)

    # -- what a change needs to know ----------------------------------------------------------------------

    def _library(self) -> Library:
        return load_library(self.home, directories(self.config.skills), policies=self.policies)

    def _checked(self, text: str, category: str, name: str) -> str:
        """What is to be said of a SKILL.md of this text; SkillError when it would be none."""
        where = folder.folder_of(self.home, category, name)
        place = Place(os.path.join(where, "SKILL.md"), category, name, "home", "third_party")
        skill, notices = checked_skill(text, place, self.policies)
        if skill.name != name:
            raise SkillError(
                f"the front matter says name: {skill.name}, but the folder is {name}; say name: {name}"
            )
        return "".join(f" Note: {n.text.removeprefix(place.path + ': ')}." for n in notices)

    def _no_twin(self, name: str, where: str) -> None:
        """SkillError when the home has such a skill, or the place for it lies in another one."""
        library = self._library()
        for skill in (*library.skills, *library.shadowed):
            if skill.root == "home" and skill.name == name:
                raise SkillError(f"there is a skill {skill.qualified} already; change it with edit or patch")
            if skill.root == "home" and is_inside(where, os.path.dirname(skill.path)):
                raise SkillError(f"{where} lies in the skill {skill.qualified}; choose another category")
        if os.path.lexists(where):
            raise SkillError(
                f"there is something at {where} already; mend it with edit, or choose another name"
            )

    def _file_of(self, name: str) -> str:
        """The SKILL.md of a skill of the home, one that does not load included."""
        library = self._library()
        found = library.resolve(name)
        if isinstance(found, Skill):
            if found.root == "bundled":
                raise SkillError(
                    f"{found.name} comes with Hermes and is not changed, so that updates reach it. Create a "
                    "skill of the same name with what you want: yours then stands in its place"
                )
            if found.root != "home":
                raise SkillError(
                    f"{found.name} lies in {os.path.dirname(found.path)}, a folder of skills.dirs, and is "
                    "changed there by hand. Create one of the same name: yours then stands in its place"
                )
            return found.path
        broken = [
            d.path
            for d in library.decisions
            if d.verdict in ("broken", "blocked", "unreadable", "too large")
            and os.path.basename(d.path).lower() == "skill.md"
            and os.path.basename(os.path.dirname(d.path)) == name.rpartition("/")[2]
            and is_inside(os.path.realpath(d.path), os.path.realpath(self.home.skills))
        ]
        if len(broken) == 1:
            return broken[0]
        near = f"; did you mean {', '.join(found.candidates)}?" if found.candidates else ""
        raise SkillError(f"{found.reason}{near}")

    def _category(self, at: str) -> str:
        category = os.path.relpath(os.path.dirname(os.path.dirname(at)), self.home.skills)
        return "" if category == "." else category.replace(os.sep, "/")


def _read(home: Home, path: str) -> tuple[str, str]:
    """The digest of a file and its text."""
    try:
        data = read_file(folder.within(home, path)).data
        return digest_of(data), decode(data).text
    except FileRefused as refused:
        raise SkillError(f"{path} cannot be read: {refused}") from None
