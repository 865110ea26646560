"""The first time in a project: what its context files would bring in, before anyone has looked at them."""

from __future__ import annotations

from hermes.agent.context_kinds import ContextKind, Finder
from hermes.agent.workdir import Project, find_project, main_checkout
from hermes.config import Config
from hermes.errors import TrustError
from hermes.frozen import frozen
from hermes.paths import Home
from hermes.prompt import PromptFacts, SystemPrompt
from hermes.provenance import Notice, Origin
from hermes.security.gate import quoted
from hermes.security.trust import KnownProject, know_project, load_trust
from hermes.text import many


@frozen
class FirstUse:
    """A project that is not known yet: its root, and (path, digest) of each file that its prompt holds."""

    root: str
    files: tuple[tuple[str, str], ...]

    @property
    def notice(self) -> Notice:
        number = many(len(self.files), "context file")
        verb = "is" if len(self.files) == 1 else "are"
        text = (
            f"first time in this project: {number} by others {verb} loaded; "
            "see hermes prompt explain --decisions"
        )
        return Notice("info", text, Origin("project", self.root))

    def known(self, date: str) -> KnownProject:
        """The record that makes the next time not the first."""
        return KnownProject(self.root, date, tuple(sorted({digest for _, digest in self.files})))


def first_use(home: Home, prompt: SystemPrompt, facts: PromptFacts) -> FirstUse | None:
    """What a prompt takes from a project that is not known yet; None when it is, or when it takes nothing."""
    origins = [s.origin for s in prompt.spans if s.origin.trust == "project" and s.origin.digest]
    files = tuple(sorted({(o.path, o.digest) for o in origins if o.path}))
    if not files:
        return None
    root = find_project(facts.cwd.path).root
    return None if _is_known(home, root) else FirstUse(root, files)


def met(config: Config, home: Home, prompt: SystemPrompt, facts: PromptFacts) -> tuple[Notice, ...]:
    """Know a project from now on; the first time with a word about it."""
    seen = first_use(home, prompt, facts)
    if seen is None:
        return ()
    told = (seen.notice,) if config.security.first_use != "allow" else ()
    try:
        return (*told, *know_project(home, seen.known(facts.now.date().isoformat())))
    except TrustError:  # a home that cannot be written is told of already
        return told


def _is_known(home: Home, root: str) -> bool:
    """Whether the owner knows a project: itself, or the main checkout that it is a worktree of."""
    trusted = load_trust(home)
    return trusted.knows(root) or trusted.knows(main_checkout(root))


def kept_out(
    project: Project, home: Home, config: Config, kinds: tuple[ContextKind, ...]
) -> tuple[str, tuple[Notice, ...]]:
    """Why `security.first_use: deny` keeps a project's files out, and the notice where it has any."""
    if config.security.first_use != "deny" or _is_known(home, project.root):
        return "", ()
    reason = f"first use of this project; let its files in with: hermes trust {quoted(project.root)}"
    finder = Finder(project, home.root)
    if not any(finder.groups(kind) for kind in kinds if kind.scope != "home"):
        return reason, ()
    text = f"the context files of {project.root} were not loaded: {reason}"
    return reason, (Notice("warning", text, Origin("project", project.root)),)
