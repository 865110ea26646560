"""hermes.lock: what a project's prompt was when somebody last looked, small enough to review.

Digests only, no texts, so nothing private gets into a repository; a mark for each line (24 bits), so that
drift is told line by line without git. Paths are relative to the project, or begin with `~HERMES_HOME`.
What moves by nature is left out: the session line, the working directory, the host.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

from hermes import __version__
from hermes.agent.prompt_builder import Sources
from hermes.agent.system_prompt import build_system_prompt, default_slots
from hermes.config import Config
from hermes.contracts import ModelProfile
from hermes.errors import FileRefused, PromptError, UsageError
from hermes.files import is_inside, read_file
from hermes.paths import Home
from hermes.prompt import PromptFacts, Section, SystemPrompt, WorkDir
from hermes.provenance import digest_of
from hermes.providers.profiles import profile_for
from hermes.providers.tokens import count_each, counting_method

FORMAT = 1
NAME = "hermes.lock"
ABOUT = "Written by `hermes prompt lock`; compare with `hermes prompt lock check`."

SCOPES = {
    "identity": "home",
    "tool guidance": "package",
    "model guidance": "package",
    "skills index": "home",
    "environment": "moves",
    "platform hint": "package",
    "system message": "home",
    "project context": "project",
    "working directory": "moves",
    "memory": "memory",
    "user profile": "memory",
    "external memory": "memory",
    "session line": "moves",
}
"""Whose each section is. `package` and `project` are locked always, `moves` never."""

_TELLING = frozenset(("shadowed", "duplicate", "blocked", "glob waits", "described", "manual", "broken"))
"""Verdicts whose detail is the same on every machine."""
_NOT_KEPT_OUT = frozenset(("loaded", "cut", "missing", "off"))
_PASSING = ("line ends normalised", "imported by ")
"""Beginnings of transforms that differ from checkout to checkout, or with every edit elsewhere."""
_ROW = 16
_SINCE = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LockFacts:
    """What a locked prompt is built from; a check builds from the same, whatever the machine prefers."""

    cwd: str = "."
    platform: str = "cli"
    provider: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    imports: bool = False
    context_file_max_chars: int | None = None
    home: bool = False
    memory: bool = False


@dataclass(frozen=True, slots=True)
class LockedSection:
    """One section: its size and the digest of its text."""

    name: str
    chars: int
    tokens: int
    digest: str


@dataclass(frozen=True, slots=True)
class LockedSource:
    """What one file gives to one section. `marks` are its line numbers, each with the mark of its text.

    `texts` are the lines themselves, known only of a prompt that was just built.
    """

    section: str
    path: str
    chars: int
    tokens: int
    digest: str
    transforms: tuple[str, ...] = ()
    marks: tuple[tuple[int, str], ...] = ()
    texts: tuple[str, ...] = field(default=(), compare=False)

    @property
    def key(self) -> tuple[str, str]:
        return self.section, self.path


@dataclass(frozen=True, slots=True)
class KeptOut:
    """A file that was looked at and is not in the prompt, with the reason."""

    section: str
    path: str
    reason: str

    @property
    def key(self) -> tuple[str, str]:
        return self.section, self.path


@dataclass(frozen=True, slots=True)
class Lock:
    """A locked prompt. `method` says how tokens were counted, `hermes` which version wrote it."""

    facts: LockFacts
    sections: tuple[LockedSection, ...] = ()
    sources: tuple[LockedSource, ...] = ()
    kept_out: tuple[KeptOut, ...] = ()
    method: str = field(default="", compare=False)
    hermes: str = field(default=__version__, compare=False)

    @property
    def chars(self) -> int:
        return sum(s.chars for s in self.sections)

    @property
    def tokens(self) -> int:
        return sum(s.tokens for s in self.sections)


def facts_of(prompt: PromptFacts, config: Config, root: str, *, home: bool, memory: bool) -> LockFacts:
    """The facts to lock for a prompt that is built in the project at `root`."""
    cwd = os.path.relpath(prompt.cwd.path, root).replace(os.sep, "/")
    return LockFacts(
        cwd=cwd,
        platform=prompt.platform,
        provider=prompt.model.provider,
        model=prompt.model.name,
        tools=tuple(sorted(prompt.tools)),
        kinds=tuple(k for k in config.context.kinds if home or k != "user"),
        imports=config.context.imports,
        context_file_max_chars=config.context_file_max_chars,
        home=home,
        memory=memory,
    )


def take(facts: LockFacts, root: str, sources: Sources) -> Lock:
    """Build the prompt for these facts in the project at `root`, and lock it.

    Without `facts.home` nothing of `sources` is used but the place of the home, so that every machine gets
    the same: no configuration, no files of the owner, no acceptances of the gate.
    """
    if not facts.home:
        sources = Sources(sources.home, Config())
    config = replace(
        sources.config,
        context=replace(sources.config.context, kinds=facts.kinds, imports=facts.imports),
        context_file_max_chars=facts.context_file_max_chars,
    )
    sources = replace(sources, config=config)
    window = config.model.context_window if facts.model == config.model.default else None
    profile = profile_for(facts.model, facts.provider, config.models, window)
    cwd = os.path.realpath(os.path.join(root, facts.cwd))
    if not (is_inside(cwd, root) and os.path.isdir(cwd)):
        raise UsageError(f"{facts.cwd}, which the lock names, is no directory in {root}")
    wanted = {"package", "project"} | ({"home"} if facts.home else set())
    wanted |= {"memory"} if facts.memory else set()
    slots = [s for s in default_slots(sources) if SCOPES.get(s.name) in wanted]
    built_from = PromptFacts(
        WorkDir(cwd), _SINCE, platform=facts.platform, model=profile, tools=frozenset(facts.tools)
    )
    return locked(build_system_prompt(slots, built_from), facts, profile, Places(root, sources.home))


@dataclass(frozen=True, slots=True)
class Places:
    """The directories that mean something on every machine."""

    root: str
    home: Home

    def name(self, path: str) -> str:
        """A path without anything of this machine."""
        known = sorted(((self.root, ""), (self.home.root, "~HERMES_HOME/")), key=lambda p: -len(p[0]))
        for base, prefix in known:
            if path.startswith(base.rstrip(os.sep) + os.sep):
                return prefix + path[len(base.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
        return f"~outside/{os.path.basename(path)}" if os.path.isabs(path) else path

    def text(self, text: str) -> str:
        """A text without the path of the home, which a cut marker may name."""
        return text.replace(self.home.root, "~HERMES_HOME")


def locked(prompt: SystemPrompt, facts: LockFacts, profile: ModelProfile, places: Places) -> Lock:
    """The lock of a built prompt."""
    sections = [s for s in prompt.sections if s.text]
    counts = count_each([places.text(s.text) for s in sections], profile)
    rows = tuple(
        LockedSection(s.slot, len(text), count.tokens, digest_of(text))
        for s, count in zip(sections, counts, strict=True)
        for text in (places.text(s.text),)
    )
    files = [source for s in sections if SCOPES.get(s.slot) != "package" for source in _sources(s, places)]
    file_counts = count_each(["\n".join(f.texts) for f in files], profile)
    return Lock(
        facts,
        rows,
        tuple(replace(f, tokens=count.tokens) for f, count in zip(files, file_counts, strict=True)),
        tuple(sorted(_kept_out(prompt, places), key=lambda k: k.key)),
        counting_method(profile),
    )


def _sources(section: Section, places: Places) -> Iterator[LockedSource]:
    """The files of a section in their order, each with the lines it gives."""
    lines: dict[str, dict[int, str]] = {}
    transforms: dict[str, dict[str, None]] = {}
    for span in section.spans:
        origin = span.origin
        if not origin.path or not origin.first_line or origin.trust == "package":
            continue
        done = transforms.setdefault(origin.path, {})
        done.update(dict.fromkeys(t for t in span.transforms if not t.startswith(_PASSING)))
        at = lines.setdefault(origin.path, {})
        for number, text in enumerate(section.text[span.start : span.end].split("\n"), origin.first_line):
            at[number] = at.get(number, "") + text
    for path, numbered in lines.items():
        last = max(numbered)
        if not numbered[last]:  # what follows the last line break
            del numbered[last]
        texts = tuple(places.text(text) for _, text in sorted(numbered.items()))
        whole = "\n".join(texts)
        marks = tuple((n, _mark(t)) for n, t in zip(sorted(numbered), texts, strict=True))
        name = places.name(path)
        yield LockedSource(
            section.slot, name, len(whole), 0, digest_of(whole), tuple(transforms[path]), marks, texts
        )


def _mark(line: str) -> str:
    """24 bits of a line's digest in four characters; white space at its end does not count."""
    digest = hashlib.sha256(line.rstrip().encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(digest[:3]).decode("ascii")


def _kept_out(prompt: SystemPrompt, places: Places) -> Iterator[KeptOut]:
    for section in prompt.sections:
        if SCOPES.get(section.slot) == "package":
            continue
        for d in section.decisions:
            if d.verdict in _NOT_KEPT_OUT or not d.path:
                continue
            detail = d.detail if d.verdict in _TELLING else ""
            yield KeptOut(section.slot, places.name(d.path), places.text(f"{d.verdict} {detail}".strip()))


# --- the file ---


def to_text(lock: Lock) -> str:
    """The lock as a text: one line for each section, source and decision, then the marks by paragraph."""
    total = {"chars": lock.chars, "tokens": lock.tokens, "method": lock.method}
    facts = {name: value for name, value in asdict(lock.facts).items() if value is not None}
    head = {"about": ABOUT, "format": FORMAT, "hermes": lock.hermes, "facts": facts, "total": total}
    parts = [f"{_json(name)}: {_json(value)}" for name, value in head.items()]
    parts.append(_rows("sections", [asdict(s) for s in lock.sections]))
    parts.append(_rows("sources", [_source_row(s) for s in lock.sources]))
    parts.append(_rows("kept out", [asdict(k) for k in lock.kept_out]))
    blocks = [
        f" {_json(f'{s.section}: {s.path}')}: [\n  " + ",\n  ".join(map(_json, _mark_rows(s))) + "\n ]"
        for s in lock.sources
    ]
    parts.append('"lines": {\n' + ",\n".join(blocks) + "\n}" if blocks else '"lines": {}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _rows(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return f"{_json(name)}: []"
    return f"{_json(name)}: [\n " + ",\n ".join(map(_json, rows)) + "\n]"


def _source_row(source: LockedSource) -> dict[str, Any]:
    row = {"chars": source.chars, "digest": source.digest, "path": source.path, "section": source.section}
    row["tokens"] = source.tokens
    return row | ({"transforms": source.transforms} if source.transforms else {})


def _mark_rows(source: LockedSource) -> Iterator[str]:
    """Rows that end with a paragraph, so that an edit touches the rows of its paragraph alone.

    Only where line numbers start anew a row begins with a number.
    """
    blank = _mark("")
    row, last = "", 0
    for number, mark in source.marks:
        if number != last + 1:
            if row:
                yield row
            row = f"{number}:"
        row += mark
        last = number
        if mark == blank or len(row.rpartition(":")[2]) >= 4 * _ROW:
            yield row
            row = ""
    if row:
        yield row


def read_lock(path: str) -> Lock:
    """Read a lock; UsageError when there is none, PromptError when it is damaged or of another format."""
    try:
        data = read_file(path).data
    except FileRefused as error:
        if error.verdict == "missing":
            raise UsageError(f"there is no {path}; write it with: hermes prompt lock") from None
        raise PromptError(f"{path} cannot be read: {error}") from None
    return from_text(data.decode("utf-8", "replace"), path)


def from_text(text: str, path: str = NAME) -> Lock:
    """The lock that `to_text` wrote; PromptError when it is damaged or of another format."""
    try:
        body = json.loads(text)
        if body["format"] != FORMAT:
            raise PromptError(f"{path} has format {body['format']}; this Hermes reads format {FORMAT}")
        return Lock(
            LockFacts(**{name: _typed(name, value) for name, value in body["facts"].items()}),
            tuple(LockedSection(**row) for row in body["sections"]),
            tuple(_read_source(row, body["lines"]) for row in body["sources"]),
            tuple(KeptOut(**row) for row in body["kept out"]),
            str(body["total"]["method"]),
            str(body["hermes"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise PromptError(
            f"{path} is damaged ({type(error).__name__}: {error}); restore it, or write it anew with: "
            "hermes prompt lock"
        ) from None


def _typed(name: str, value: Any) -> Any:
    default = {f.name: f.default for f in fields(LockFacts)}[name]
    if isinstance(default, tuple):
        return tuple(map(str, value))
    wanted = int if default is None else type(default)
    if not isinstance(value, wanted):
        raise TypeError(f"{name} is {value!r}")
    return value


def _read_source(row: Mapping[str, Any], lines: Mapping[str, Any]) -> LockedSource:
    marks: list[tuple[int, str]] = []
    at = 1
    for entry in lines[f"{row['section']}: {row['path']}"]:
        start, colon, packed = str(entry).rpartition(":")
        at = int(start) if colon else at
        for place in range(0, len(packed), 4):
            marks.append((at, packed[place : place + 4]))
            at += 1
    return LockedSource(**{**row, "transforms": tuple(row.get("transforms", ())), "marks": tuple(marks)})
