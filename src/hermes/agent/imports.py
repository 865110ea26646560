"""`@path` imports inside context files, off unless `context.imports` is on.

A path alone on its line is replaced by the file; one inside a sentence stays and the file follows at the
end. Nothing is imported from code, from outside the project without consent, in a circle, or deeper than
four files. What is not imported stays as text, with a notice.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from hermes.agent.context_files import Expand
from hermes.agent.workdir import Project
from hermes.errors import FileRefused, Verdict
from hermes.files import is_inside, read_file
from hermes.frozen import frozen
from hermes.provenance import Decision, Notice, Origin, Passage, digest_of
from hermes.text import code_regions, decode

MAX_HOPS = 4

_IMPORT = re.compile(r"(?<![^\s(\[\"'*_])@((?:\\ |[^\s\\`@<>\"'|])+)")
_WHOLE_LINE = re.compile(r"[ \t]*(?:[-*+][ \t]+)?\Z")
_SENTENCE_END = ".,;:!?)]*_"


def importer(project: Project, consented: tuple[str, ...]) -> Expand:
    """An expander for the files of one project. `consented` are directories outside it that may be read."""
    roots = (project.root, *(os.path.realpath(os.path.expanduser(root)) for root in consented))
    return _Importer(project, roots).expand


class _Found(NamedTuple):
    start: int
    end: int
    name: str
    whole_line: bool


@frozen
class _Importer:
    project: Project
    roots: tuple[str, ...]

    def expand(self, passage: Passage, path: str) -> Passage:
        return self._expand(passage, path, (os.path.realpath(path),))

    def _expand(self, passage: Passage, path: str, trail: tuple[str, ...]) -> Passage:
        if "@" not in passage:
            return passage
        parts: list[Passage] = []
        appended: list[Passage] = []
        at = 0
        for found in _imports(passage):
            content = self._load(passage, found, path, trail)
            if not content:
                appended.append(content)
            elif found.whole_line:
                parts += [passage.part(at, found.start), content]
                at = found.end
            else:
                heading = Passage.own(f"### {found.name}", "heading")
                appended += [Passage.joined("\n\n", [heading, content])]
        body = Passage.joined("", [*parts, passage.part(at)]).with_notes(passage.notices, passage.decisions)
        return Passage.joined("\n\n", [body, *appended]) if appended else body

    def _load(self, passage: Passage, found: _Found, path: str, trail: tuple[str, ...]) -> Passage:
        """The text of one import, or an empty passage that says why not."""
        importer = f"{self.project.shown(path)}:{passage.line_at(found.start)}"
        target = os.path.normpath(os.path.join(os.path.dirname(path), os.path.expanduser(found.name)))
        try:
            real, data = self._read(target, trail)
            decoded = decode(data)
        except FileRefused as error:
            if (
                error.verdict == "missing"
                and not found.whole_line
                and not found.name.endswith((".md", ".txt"))
            ):
                return Passage()  # a mention such as @team, not an import
            return _refused(target, error.verdict, f"@{found.name} in {importer} was not imported: {error}")
        origin = Origin("import", target, digest_of(data), trust="project")
        notes = [Notice("warning", f"@{found.name} is {decoded.problem}", origin)] if decoded.problem else []
        text = Passage.quote(decoded.text, origin, (*decoded.transforms, f"imported by {importer}")).trimmed()
        done = Decision(target, "import", "loaded" if text else "empty", f"by {importer}")
        return self._expand(text, target, (*trail, real)).with_notes(notes, (done,))

    def _read(self, target: str, trail: tuple[str, ...]) -> tuple[str, bytes]:
        real = os.path.realpath(target)
        if not any(is_inside(real, root) for root in self.roots):
            if not os.path.lexists(target):
                raise FileRefused("missing", f"no such file: {target}")
            reason = "it lies outside the project; add its folder to context.import_roots to consent"
            raise FileRefused("outside project", reason)
        if real in trail:
            raise FileRefused("duplicate", "it is being imported already (a circle)")
        if len(trail) > MAX_HOPS:
            raise FileRefused("off", f"imports go {MAX_HOPS} files deep at most")
        return real, read_file(real).data


def _refused(target: str, verdict: Verdict, text: str) -> Passage:
    detail = text.rpartition(": ")[2]
    origin = Origin("import", target)
    return Passage("", (), (Notice("warning", text, origin),), (Decision(target, "import", verdict, detail),))


def _imports(text: str) -> list[_Found]:
    code = code_regions(text)
    found = []
    for match in _IMPORT.finditer(text):
        if any(start <= match.start() < end for start, end in code):
            continue
        raw = match[1].rstrip(_SENTENCE_END)
        if not raw:
            continue
        end = match.start(1) + len(raw)
        line_start = text.rfind("\n", 0, match.start()) + 1
        line_end = text.find("\n", end)
        rest = text[end : line_end if line_end >= 0 else len(text)]
        before = text[line_start : match.start()]
        whole_line = bool(_WHOLE_LINE.match(before)) and not rest.strip()
        start = line_start if whole_line else match.start()
        found.append(_Found(start, end, raw.replace("\\ ", " "), whole_line))
    return found
