"""The instructions of a folder, told when a tool call first goes there."""

from __future__ import annotations

import os
import re
import stat as stat_of
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hermes.agent.context_files import Loaded, Reading, load_file
from hermes.agent.context_kinds import DEFAULT_KINDS, Candidate, ContextKind
from hermes.agent.hint_folders import kept_out
from hermes.agent.workdir import Project, find_project
from hermes.errors import FileRefused
from hermes.files import is_inside, list_directory
from hermes.messages import Annex, Message, ToolCall
from hermes.prompts import prompt_text
from hermes.provenance import Notice, Origin, digest_of
from hermes.security.gate import safe_name
from hermes.security.policy import Policies

if TYPE_CHECKING:
    from hermes.agent.path_rules import PathRule
    from hermes.agent.prompt_builder import Sources
    from hermes.prompt import SystemPrompt, WorkDir

HINT, POINTER = "hint", "hint pointer"
"""Kinds of annex: a file's text, which a summary keeps word for word; names of files to be read."""

MAX_CHARS = 8_000
MAX_CHARS_A_CALL = 16_000
MAX_FILES = 4
MAX_POINTERS = 20
PARENTS = 5

_FILES = (
    ("agents", "AGENTS.override.md"),
    ("agents", "AGENTS.md"),
    ("claude", "CLAUDE.md"),
    ("cursor", ".cursorrules"),
)
_ID = re.compile(r'<added kind="hint(?: pointer)?" id="([0-9a-f .]+)">')


class Hinted(NamedTuple):
    """What is to be said of the places a call went to: to the model, and to the person."""

    annexes: tuple[Annex, ...] = ()
    notices: tuple[Notice, ...] = ()


class Conversation(NamedTuple):
    """What the tracker looks at of a session: its frozen prompt, and the messages the model sees.

    `stands` gives the directory in which the call left its shell, "" when that is not known.
    """

    prompt: SystemPrompt | None = None
    visible: Sequence[Message] = ()
    stands: Callable[[], str] = str


class _Found(NamedTuple):
    """A file that is to be told, and the order of that: which path led to it, how deep it lies."""

    turn: int
    depth: int
    candidate: Candidate
    loaded: Loaded
    patterns: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{_short(self.candidate.shown)}.{self.loaded.digest[:12]}"


class SubdirectoryHintTracker:
    """Follows the tool calls of a conversation in one working directory.

    Each folder is looked at once. What has been told is read from the conversation itself, so that it is
    told once however often a process begins anew, and again when a summary has dropped it. `home` is the
    folder of Hermes' own files; `kinds` are the context kinds that are on; `barred` says why nothing may
    be told.
    """

    def __init__(
        self,
        cwd: str | os.PathLike[str],
        *,
        reading: Reading | None = None,
        home: str = "",
        kinds: Iterable[str] = DEFAULT_KINDS,
    ) -> None:
        self.project: Project = find_project(os.path.realpath(cwd))
        self.shell = self.project.cwd
        self.reading = reading or Reading(MAX_CHARS, Policies())
        wanted = frozenset(kinds)
        self._names = tuple(name for kind, name in _FILES if kind in wanted)
        self._kinds = wanted
        self._kind = ContextKind("hint", self._names, "cwd")
        self._home = os.path.realpath(home) if home else ""
        self.barred = ""
        self._own_home = os.path.realpath(os.path.expanduser("~"))
        self._visible: Sequence[Message] = ()
        self._read = 0
        self._prompt: SystemPrompt | None = None
        self._forget()

    def _forget(self) -> None:
        self._looked = set(self.project.chain)
        self._visited: set[str] = set()  # paths whose folders were looked at
        self._files: set[str] = set()
        self._digests: set[str] = set()
        self._pointed: set[str] = set()
        self._rules: tuple[PathRule, ...] | None = None

    # -- one call -----------------------------------------------------------------------------------------

    def __call__(self, conversation: Conversation, call: ToolCall, result: Message) -> Hinted:  # noqa: ARG002
        """The hints for a call that was made in a conversation."""
        self._catch_up(conversation)
        return self.check(call.arguments, conversation.stands)

    def check(self, arguments: str | Mapping[str, object], stands: Callable[[], str] = str) -> Hinted:
        """The hints for the arguments of a call; nothing when it went nowhere new."""
        from hermes.agent.touched import places_of  # its patterns are what only a call of a tool pays

        places = places_of(arguments, self.project.cwd, self.shell)
        if places.ran:
            self.shell = stands() or places.cwd
        notices: list[Notice] = []
        if not places.whole:
            text = "a tool call names more than is looked at for hints of its folders; the first part was"
            notices.append(Notice("info", text, Origin(HINT)))
        found: list[_Found] = []
        for turn, path in enumerate(places.paths):
            fresh = path not in self._visited
            for folder in self._new_folders(path):
                if told := self._look(folder, notices):
                    found.append(_Found(turn, folder.count(os.sep), *told))
            if fresh and self._rules != ():
                found += self._rules_for(turn, path, notices)
        if not found:
            return Hinted((), tuple(notices))
        return self._told(found, notices)

    def _new_folders(self, path: str) -> list[str]:
        """The folder of a path and those above it that nobody has looked at, outermost first."""
        root = self.project.root
        if path in self._visited:
            return []
        self._visited.add(path)
        if path in self._looked:
            return []
        if not is_inside(path, root):
            path = os.path.realpath(path)
            if not is_inside(path, root):
                return []
        folder = path if _is_folder(path) else os.path.dirname(path)
        new: list[str] = []
        while len(new) <= PARENTS and folder not in self._looked and is_inside(folder, root):
            new.append(folder)
            folder = os.path.dirname(folder)
        self._looked.update(new)
        return new[::-1]

    def _rules_for(self, turn: int, path: str, notices: list[Notice]) -> Iterator[_Found]:
        """The rules for a path that were not told yet."""
        if self._rules is None:
            from hermes.agent.path_rules import path_rules

            decisions = self._prompt.decisions if self._prompt is not None else ()
            kinds = () if self.barred else self._kinds
            self._rules, told = path_rules(self.project, kinds, decisions)
            notices += told
        fitting = [rule for rule in self._rules if rule.fits(path)]
        if not fitting or _is_folder(path):
            return
        self._rules = tuple(rule for rule in self._rules if rule not in fitting)
        for rule in fitting:
            if _short(rule.candidate.shown) in self._files:
                continue
            loaded = load_file(rule.candidate, self.project, self.reading)
            notices += loaded.notices
            if loaded.passage:
                yield _Found(turn, 0, rule.candidate, loaded, rule.globs)

    # -- one folder ---------------------------------------------------------------------------------------

    def _look(self, folder: str, notices: list[Notice]) -> tuple[Candidate, Loaded] | None:
        """The file of a folder that is to be told; None when it has none or it was told before."""
        try:
            names = list_directory(folder)
        except FileRefused as error:
            notices.append(Notice("warning", f"{self.project.shown(folder)} cannot be listed ({error})"))
            return None
        candidates = self._candidates(folder, names)
        if not candidates:
            return None
        if reason := self._kept_out(folder) or self._kept_out(os.path.realpath(folder)):
            text = f"{candidates[0].shown} is not told as a hint: {reason}"
            notices.append(Notice("info", text, Origin(HINT, candidates[0].path)))
            return None
        return self._first(folder, candidates, notices)

    def _candidates(self, folder: str, names: Iterable[str]) -> list[Candidate]:
        by_lower: dict[str, str] = {}
        for name in names:
            if len(name) in _LENGTHS and (lower := name.lower()) in _LOWER:
                by_lower.setdefault(lower, name)
                if name in self._names:
                    by_lower[lower] = name
        if not by_lower:
            return []
        paths = [os.path.join(folder, by_lower[n.lower()]) for n in self._names if n.lower() in by_lower]
        return [Candidate(self._kind, path, self.project.shown(path)) for path in paths]

    def _kept_out(self, folder: str) -> str:
        """Why a folder is not asked for hints; "" when it is."""
        if self.barred:
            return self.barred
        if folder == self._own_home or (self._home and is_inside(folder, self._home)):
            return "it lies in a home folder"
        return kept_out(folder[len(self.project.root) :])

    def _first(
        self, folder: str, candidates: list[Candidate], notices: list[Notice]
    ) -> tuple[Candidate, Loaded] | None:
        """The first file that says anything."""
        real = os.path.realpath(folder)
        if real != folder and real in self._looked:
            return None
        self._looked.add(real)
        passed: list[str] = []
        for candidate in candidates:
            if _short(candidate.shown) in self._files:
                return None
            loaded = load_file(candidate, self.project, self.reading, real)
            if self._was_told(loaded):
                text = f"{candidate.shown} says what was told before; it is not repeated"
                notices.append(Notice("info", text, Origin(HINT, candidate.path)))
                return None
            notices += loaded.notices
            if loaded.passage:
                if passed:
                    text = f"{candidate.shown} stands in for {', '.join(passed)}, which could not be used"
                    notices.append(Notice("warning", text))
                return candidate, loaded
            if loaded.verdict != "empty":
                passed.append(candidate.shown)
        return None

    # -- what is told -------------------------------------------------------------------------------------

    def _told(self, found: list[_Found], notices: list[Notice]) -> Hinted:
        """The first files whole, the deepest of each path before those above it; of the rest the names."""
        whole: list[_Found] = []
        rest: list[_Found] = []
        room = MAX_CHARS_A_CALL
        for one in sorted(found, key=lambda f: (f.turn, -f.depth)):
            if self._was_told(one.loaded):
                text = f"{one.candidate.shown} says what was told before; it is not repeated"
                notices.append(Notice("info", text, Origin(HINT, one.candidate.path)))
                continue
            size = len(one.loaded.passage)
            if len(whole) < MAX_FILES and (size <= room or not whole):
                room -= size
                whole.append(one)
                self._files.add(_short(one.candidate.shown))
                self._digests.add(one.loaded.digest[:12])
            else:
                rest.append(one)
        annexes = [_annex(one) for one in sorted(whole, key=lambda f: (f.turn, f.depth))]
        if rest and (pointer := self._pointer(rest, notices)):
            annexes.append(pointer)
        return Hinted(tuple(annexes), tuple(notices))

    def _pointer(self, rest: list[_Found], notices: list[Notice]) -> Annex | None:
        """The names of files there was no room for; their folders are looked at again when touched."""
        self._visited.clear()
        for one in rest:
            self._looked.discard(os.path.dirname(one.candidate.path))
            self._rules = None if one.patterns else self._rules
        new = [one for one in rest if _short(one.candidate.shown) not in self._pointed][:MAX_POINTERS]
        if not new:
            return None
        self._pointed.update(_short(one.candidate.shown) for one in new)
        names = ", ".join(one.candidate.shown for one in new)
        more = f" and {len(rest) - len(new)} more" if len(rest) > len(new) else ""
        text = f"one call entered more folders than are told at once; only named: {names}{more}"
        notices.append(Notice("info", text, Origin(HINT)))
        ids = " ".join(one.id for one in new)
        lines = [str(prompt_text("notes/hint_pointers")), *(f"- {safe_name(o.candidate.shown)}" for o in new)]
        return Annex(POINTER, _fence(POINTER, ids, "\n".join(lines)))

    # -- what was told ------------------------------------------------------------------------------------

    def _was_told(self, loaded: Loaded) -> bool:
        """Whether a file stands in the prompt already, or was told since."""
        digest = loaded.digest[:12]
        sections = self._prompt.sections if digest and self._prompt is not None else ()
        return digest in self._digests or any(
            span.origin.digest.startswith(digest) for section in sections for span in section.spans
        )

    def _catch_up(self, conversation: Conversation) -> None:
        """Read what the conversation holds, from where it was read last."""
        if conversation.prompt is not self._prompt or conversation.visible is not self._visible:
            self._forget()
            self._prompt, self._visible, self._read = conversation.prompt, conversation.visible, 0
        for message in conversation.visible[self._read :]:
            for annex in message.annex:
                if annex.kind in (HINT, POINTER) and (found := _ID.match(annex.text)):
                    for file, _, digest in (one.partition(".") for one in found[1].split()):
                        if annex.kind == POINTER:
                            self._pointed.add(file)
                        else:
                            self._files.add(file)
                            self._digests.add(digest)
        self._read = len(conversation.visible)


def tracker_of(sources: Sources, workdir: WorkDir) -> SubdirectoryHintTracker:
    """The tracker of a conversation, under the same rules as the context files of its prompt."""
    config = sources.config
    limit = min(MAX_CHARS, config.context_file_max_chars or MAX_CHARS)
    tracker = SubdirectoryHintTracker(
        workdir.path,
        reading=Reading(limit, sources.policies),
        home=sources.home.root,
        kinds=config.context.kinds,
    )
    if config.context.imports:
        from hermes.agent.imports import importer

        tracker.reading = tracker.reading._replace(
            expand=importer(tracker.project, tuple(config.context.import_roots))
        )
    if not workdir.authority:
        tracker.barred = f"the working directory was chosen by the {workdir.chosen_by}"
    elif config.security.first_use == "deny":
        from hermes.agent.context_kinds import kinds_in_order
        from hermes.agent.first_use import kept_out as not_trusted

        kinds = kinds_in_order(config.context.kinds)
        tracker.barred = not_trusted(tracker.project, sources.home, config, kinds)[0]
    return tracker


_LOWER = frozenset(name.lower() for _, name in _FILES)
_LENGTHS = frozenset(map(len, _LOWER))


def _annex(one: _Found) -> Annex:
    name = safe_name(one.candidate.shown)
    folder = os.path.dirname(name) or name
    if one.patterns:
        head = prompt_text("notes/hint_rule").format(name=name, patterns=safe_name(", ".join(one.patterns)))
    else:
        head = prompt_text("notes/hint").format(name=name, folder=folder)
    return Annex(HINT, _fence(HINT, one.id, f"{head}\n\n{one.loaded.passage}"))


def _fence(kind: str, ids: str, text: str) -> str:
    inner = text.replace("</added", "<\\/added")
    return f'<added kind="{kind}" id="{ids}">\n{inner}\n</added>'


def _short(text: str) -> str:
    return digest_of(text)[:12]


def _is_folder(path: str) -> bool:
    try:
        return stat_of.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False
