"""Hermes for the bench scripts that measure two systems side by side.

The scripts import this module as `adapters/ours.py`, cheaply, to learn how to start us; their workers call
the functions. Everything goes through the ways a session goes; nothing is kept but what they keep.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from hermes.agent.prompt_builder import Sources
    from hermes.prompt import PromptFacts

NAME = "ours"
_CHECKOUT = Path(__file__).resolve().parents[1]
PYTHON = str(_CHECKOUT / ".venv" / "bin" / "python")
BIN = str(_CHECKOUT / ".venv" / "bin" / "hermes")
HOME_VAR = "HERMES_HOME"
ENV: dict[str, str] = {}
TOOL = "bench_noop"
FEATURES = {"agents_md_chain": True, "scan_cap_chars": None}

MODEL, PROVIDER, WINDOW = "anthropic/claude-sonnet-4", "openrouter", 200_000
TOOLS = frozenset(
    (
        *("memory", "session_search", "skill_manage", "skill_view", "skills_list"),
        *("read_file", "write_file", "patch", "search_files", "terminal", "process"),
        *("todo", "clarify", "delegate_task", "execute_code"),
    )
)


def commands() -> dict[str, list[str]]:
    """What is started cold: the library, and the command that answers at once."""
    library = "import hermes.agent.system_prompt, hermes.agent.prompt_builder"
    return {
        "import": [PYTHON, "-c", library],
        "version": [BIN, "--version"],
        "help": [BIN, "--help"],
    }


def write_config(
    home: str | os.PathLike[str], base_url: str = "http://127.0.0.1:9/v1", memory: bool = True
) -> dict[str, str]:
    """A configuration of the same facts as the rival's; returns the environment to set."""
    folder = Path(home)
    folder.mkdir(parents=True, exist_ok=True)
    switch = str(memory).lower()
    text = (
        "model:\n  default: bench-model\n  provider: custom\n"
        f"  base_url: {base_url}\n  context_window: 1000000\n"
        f"memory:\n  memory_enabled: {switch}\n  user_profile_enabled: {switch}\n"
    )
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    return {HOME_VAR: str(folder), **ENV}


def import_prompt() -> None:
    """What a process imports to build a prompt."""
    import hermes.agent.prompt_builder
    import hermes.agent.system_prompt  # noqa: F401


def _facts(
    sources: Sources, cwd: str | os.PathLike[str], model: str = MODEL, window: int = WINDOW
) -> PromptFacts:
    from datetime import datetime

    from hermes.agent.workdir import resolve_cwd
    from hermes.prompt import PromptFacts
    from hermes.providers.profiles import profile_for

    return PromptFacts(
        cwd=resolve_cwd(os.fspath(cwd))[0],
        now=datetime.now().astimezone(),
        session_id="bench-session",
        model=profile_for(model, PROVIDER, sources.config.models, window),
        tools=TOOLS,
    )


class Prompt:
    """The prompt of a new session; each build reads configuration, host, memory and files anew.

    What the scanner found is written with each build that found something new: a worker of the bench scripts
    ends without the handlers by which a process saves it at its end.
    """

    def __init__(
        self,
        home: str,
        cwd: str | os.PathLike[str],
        model: str = MODEL,
        window: int = WINDOW,
    ) -> None:
        os.environ[HOME_VAR] = str(home)
        os.chdir(cwd)
        self.cwd, self.model, self.window = os.fspath(cwd), model, window

    def build(self) -> str:
        from hermes.agent.system_prompt import build_system_prompt, default_slots, load_sources
        from hermes.security.found import FOUND

        sources = load_sources()
        facts = _facts(sources, self.cwd, self.model, self.window)
        text = build_system_prompt(default_slots(sources), facts, config_digest=sources.config.digest).text
        FOUND.save()
        return text

    def reload_memory(self) -> None:
        """Both memory files, read again."""
        from hermes.agent.system_prompt import default_slots, load_sources

        sources = load_sources()
        facts = _facts(sources, self.cwd)
        for slot in default_slots(sources):
            if slot.name in ("memory", "user profile"):
                slot.passage(facts)


def drop_skill_caches(disk: bool) -> None:
    """Forget the library and the indexes of this process; with `disk`, those of the disk too."""
    from hermes.paths import get_hermes_home
    from hermes.skills.kept_index import forget_indexes
    from hermes.skills.library import forget

    home = get_hermes_home()
    forget(home, disk=disk)
    forget_indexes(home if disk else None)


class _Stage:
    """The sources and facts that single stages share, read once as a session does."""

    def __init__(self) -> None:
        from hermes.agent.system_prompt import load_sources

        self.sources = load_sources()
        self.facts = _facts(self.sources, os.getcwd())
        self.limit = self.sources.limit(self.facts)


_stages: dict[str, _Stage] = {}


def _stage() -> _Stage:
    home = os.environ.get(HOME_VAR, "")
    return _stages.get(home) or _stages.setdefault(home, _Stage())


def skills_index() -> str:
    from hermes.agent.prompt_builder import SkillsSlot

    stage = _stage()
    return str(SkillsSlot(stage.sources).passage(stage.facts))


def context_files(cwd: str | os.PathLike[str], window: int = WINDOW) -> str:
    from hermes.agent.prompt_builder import build_context_files_prompt
    from hermes.providers.profiles import context_limit_chars, profile_for

    sources = _stage().sources
    limit = context_limit_chars(profile_for(MODEL, PROVIDER, None, window))
    return str(
        build_context_files_prompt(cwd, skip_soul=True, home=sources.home, config=sources.config, limit=limit)
    )


def scan(text: str) -> list[str]:
    from hermes.security import scan as scanner

    return [finding.id for finding in scanner.scan(text)]


def truncate(text: str, limit: int) -> str:
    from hermes.provenance import Origin, Passage
    from hermes.text import cut

    return str(cut(Passage.quote(text, Origin("file", "AGENTS.md")), limit, "AGENTS.md")[0])


def load_soul() -> str:
    from hermes.agent.prompt_builder import load_soul_md

    stage = _stage()
    return str(load_soul_md(stage.sources.home, limit=stage.limit) or "")


def find_version() -> str:
    from hermes import __version__

    return __version__


def oneshot(text: str) -> list[str]:
    """One question on the command line, and its answer."""
    return [BIN, "chat", "-q", text]


_AGENT = frozenset({"Agent", "Store", "cache_markers"})


def __getattr__(name: str) -> object:
    """The agent, its store and the marks: imported where a case needs them."""
    if name not in _AGENT:
        raise AttributeError(name)
    import sys

    if (here := str(_CHECKOUT / "benchmarks")) not in sys.path:
        sys.path.append(here)
    import adapter_agent

    return getattr(adapter_agent, name)


class Memory:
    """The memory tool of one process, called as a model calls it; `limit` in characters for both files."""

    def __init__(self, home: str, limit: int | None = None) -> None:
        from dataclasses import replace

        import hermes.tools.memory_answers  # noqa: F401  as a process has it that has remembered before
        from hermes.config.records import MemoryConfig
        from hermes.memory.scope import memory_files
        from hermes.paths import Home
        from hermes.security.gate import findings_in
        from hermes.security.policy import Policies
        from hermes.tools.memory_tool import memory_tool

        findings_in("As a process has it that has built a prompt.")
        config = MemoryConfig()
        if limit is not None:
            config = replace(config, memory_char_limit=limit, user_char_limit=limit)
        self.tool = memory_tool(Home(str(home)), memory_files(config), Policies())
        self.runner: asyncio.Runner | None = None

    def _call(self, **arguments: str) -> bool:
        import asyncio
        import json

        from hermes.tooling import ToolContext, ToolError

        self.runner = self.runner or asyncio.Runner()
        try:
            self.runner.run(self.tool.call(json.dumps(arguments), ToolContext("bench")))
        except ToolError:
            return False
        return True

    def add(self, text: str, target: str = "memory") -> bool:
        return self._call(action="add", target=target, content=text)

    def replace(self, old: str, new: str, target: str = "memory") -> bool:
        return self._call(action="replace", target=target, entry=old, content=new)

    def remove(self, old: str, target: str = "memory") -> bool:
        return self._call(action="remove", target=target, entry=old)

    @staticmethod
    def file(home: str, target: str = "memory") -> Path:
        return Path(home) / "memories" / ("USER.md" if target == "user" else "MEMORY.md")

    @staticmethod
    def parse(raw: str) -> list[str]:
        """The entries of a file, by the documented format."""
        from hermes.memory.entries import parse

        return parse(raw)


class Hints:
    """What is told of the folders that a call entered, as the agent asks for it after each call."""

    def __init__(self, root: str) -> None:
        from hermes.agent.subdirectory_hints import Conversation, SubdirectoryHintTracker
        from hermes.messages import Message, ToolCall

        self._call, self._message = ToolCall, Message
        self._tracker = SubdirectoryHintTracker(root)
        self._visible: list[Message] = []
        self._seen = Conversation(None, self._visible)

    def check(self, tool: str, arguments: dict[str, object]) -> str | None:
        call, result = self._call("1", tool, arguments), self._message("tool")  # type: ignore[arg-type]
        told = self._tracker(self._seen, call, result)
        if told.annexes:
            self._visible.append(self._message("tool", "", told.annexes))
        return "\n\n".join(annex.text for annex in told.annexes) or None


# --- not built yet; a suite that needs one of these fails by its name ---


def _missing(what: str) -> NotImplementedError:
    return NotImplementedError(f"{what} is not built yet; leave out the suites that need it")


def server(home: str, port: int, model_url: str, uncapped: bool = False) -> tuple[object, ...]:
    raise _missing("the API server")
