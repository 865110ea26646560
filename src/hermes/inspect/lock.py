"""A locked prompt: what it was when somebody last looked, in digests.

Digests only, no texts, so nothing private gets into a repository; a mark for each line (24 bits), so that
drift is told line by line without git. Paths are relative to the project, or begin with `~HERMES_HOME`.
What moves by nature is left out: the session line, the working directory, the host.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator
from dataclasses import field, replace
from datetime import UTC, datetime

from hermes.agent.prompt_builder import Sources
from hermes.agent.system_prompt import build_system_prompt, default_slots
from hermes.config import Config
from hermes.contracts import ModelProfile
from hermes.errors import UsageError
from hermes.files import is_inside
from hermes.frozen import frozen
from hermes.paths import Home
from hermes.prompt import PromptFacts, Section, SystemPrompt, WorkDir
from hermes.provenance import digest_of
from hermes.providers.profiles import profile_for
from hermes.providers.tokens import count_each, counting_method
from hermes.version import __version__

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
_SINCE = datetime(2000, 1, 1, tzinfo=UTC)


@frozen
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


@frozen
class LockedSection:
    """One section: its size and the digest of its text."""

    name: str
    chars: int
    tokens: int
    digest: str


@frozen
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


@frozen
class KeptOut:
    """A file that was looked at and is not in the prompt, with the reason."""

    section: str
    path: str
    reason: str

    @property
    def key(self) -> tuple[str, str]:
        return self.section, self.path


@frozen
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


@frozen
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
        marks = tuple((n, mark_of(t)) for n, t in zip(sorted(numbered), texts, strict=True))
        name = places.name(path)
        yield LockedSource(
            section.slot, name, len(whole), 0, digest_of(whole), tuple(transforms[path]), marks, texts
        )


def mark_of(line: str) -> str:
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
