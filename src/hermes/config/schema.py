"""Every key of config.yaml, one row each. Validation, the reference, `config show` and completion read it."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import NamedTuple, get_args

from hermes.config import forms
from hermes.config.forms import DIRECTORY, FILLED, FLAG, TEXT, Form, listed, mapped, one_of, record, whole
from hermes.config.model_facts import MODEL_FACTS
from hermes.config.records import DEFAULTS
from hermes.files import read_file
from hermes.provenance import Trust

CONTEXT_KINDS = ("hermes", "agents", "claude", "cursor", "user", "gemini", "copilot", "cline", "windsurf")

FREE = ("gateway", "providers")
"""Sections that are kept as they are."""

SHORT = {"model": "model.default"}
"""A section given as a bare text means this key."""


class Key(NamedTuple):
    """One key: its dotted name, its form, what it means in a line, and a name it also goes by."""

    name: str
    form: Form
    meaning: str
    alias: str = ""

    @property
    def default(self) -> object:
        found: object = DEFAULTS
        for part in self.name.split("."):
            found = getattr(found, part)
        return found

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, self.alias) if self.alias else (self.name,)


_NAMES = listed(FILLED, "a list of names", in_order=False)
_ORDERED_NAMES = listed(FILLED, "a list of names")
_DIRECTORIES = listed(DIRECTORY, "a list of absolute paths (or beginning with ~/)")
_PERSONALITY = forms.text_or(
    record(
        dict.fromkeys(("system_prompt", "tone", "style", "description"), FILLED),
        "a mapping of system_prompt, tone, style, description",
    ),
    "a text, or a mapping of system_prompt, tone, style, description",
)
_HINT = forms.text_or(
    record(
        {"append": FILLED, "replace": FILLED}, "a mapping of append or replace to a text", vital="replace"
    ),
    "a text, or a mapping of append or replace to a text",
)
INHERITED = ("identity", "memory", "preamble", "project", "skills", "user")
_CHILD = record(
    {
        "inherit": listed(one_of(*INHERITED), f"a list of any of {', '.join(INHERITED)}", in_order=False),
        "tools": listed(FILLED, "a list of names of tools and toolsets", in_order=False),
        "max_turns": whole(1),
        "model": FILLED,
    },
    "a mapping of inherit, tools, max_turns, model",
)
_MODE = one_of("block", "redact", "warn")
_SCAN = record({"high": _MODE, "medium": _MODE}, "a mapping of high and medium to block, redact or warn")
_TEXTS = mapped(TEXT, "a mapping from names to texts")
_SERVER = record(
    {
        "command": FILLED,
        "args": listed(TEXT, "a list of texts", twins=True),
        "env": _TEXTS,
        "cwd": DIRECTORY,
        "url": forms.ADDRESS,
        "headers": _TEXTS,
        "tools": _NAMES,
        "enabled": FLAG,
    },
    "a mapping of command, args, env, cwd, or of url, headers; tools and enabled with either",
)

KEYS: tuple[Key, ...] = (
    Key("model.default", TEXT, "The model that is used when none is named."),
    Key("model.provider", TEXT, "Who serves it."),
    Key(
        "model.context_window",
        whole(1, or_null=True),
        "Its context window in tokens; null leaves it to what is known of the model.",
        alias="model.context_length",
    ),
    Key("model.base_url", forms.ADDRESS, "Where it is served, when not at its provider's usual address."),
    Key("agent.system_prompt", TEXT, "A text of yours for every prompt, before the project's context."),
    Key(
        "agent.tool_use_enforcement",
        forms.ENFORCEMENT,
        "Whether the prompt insists that tools are used; auto asks the model's profile, "
        "a list names the models by parts of their names.",
    ),
    Key(
        "agent.personalities",
        mapped(_PERSONALITY, "a mapping from names to personalities"),
        "Personalities of your own, beside the built-in ones.",
        alias="personalities",
    ),
    Key("agent.max_turns", whole(1), "The most calls of the model in one turn."),
    Key("agent.turn_clock", FLAG, "Whether each turn tells the model what time it is."),
    Key("agent.cwd", TEXT, "The working directory when none is given.", alias="terminal.cwd"),
    Key(
        "agent.guidance",
        mapped(FLAG, "a mapping from names of guidance texts to true or false"),
        "Built-in guidance texts; false leaves one out.",
    ),
    Key(
        "agent.timezone",
        forms.ZONE,
        "The time zone of dates in the prompt; empty is the machine's.",
        alias="timezone",
    ),
    Key(
        "context_file_max_chars",
        whole(1000, or_null=True),
        "The most characters of one context file; null is 6 % of the window, from 20,000 to 500,000.",
    ),
    Key(
        "context.kinds",
        listed(one_of(*CONTEXT_KINDS), f"a list of any of {', '.join(CONTEXT_KINDS)}"),
        "The kinds of context files that are looked for, in this order.",
    ),
    Key("context.imports", FLAG, "Whether @path in a context file brings in that file."),
    Key(
        "context.import_roots",
        listed(DIRECTORY, _DIRECTORIES.words, in_order=False),
        "Directories outside the project from which @path may bring in files.",
    ),
    Key("memory.memory_enabled", FLAG, "Whether MEMORY.md goes into the prompt."),
    Key("memory.user_profile_enabled", FLAG, "Whether USER.md goes into the prompt."),
    Key("memory.memory_char_limit", whole(1), "The most characters of MEMORY.md."),
    Key("memory.user_char_limit", whole(1), "The most characters of USER.md."),
    Key(
        "memory.provider",
        TEXT,
        "The memory beyond the session: sessions (what was said in earlier ones), honcho, or one that a "
        "plugin brings; empty is none.",
    ),
    Key(
        "memory.recall", FLAG, "Whether what it recalls rides on each message; false leaves it to its tools."
    ),
    Key("memory.recall_chars", whole(100), "The most characters that are recalled for a message."),
    Key("memory.recall_threshold", forms.PART, "How relevant what is recalled must be."),
    Key(
        "memory.recall_timeout",
        forms.seconds(60),
        "How long a message waits for what is recalled, in seconds.",
    ),
    Key(
        "memory.honcho",
        record(
            dict.fromkeys(("workspace", "user", "assistant", "base_url"), FILLED),
            "a mapping of workspace, user, assistant, base_url",
            empty=True,
        ),
        "Where Honcho is and whom it remembers; its key is in HONCHO_API_KEY.",
    ),
    Key("skills.disabled", _NAMES, "Skills that are left out."),
    Key("skills.dirs", _DIRECTORIES, "More directories with skills.", alias="skills.external_dirs"),
    Key(
        "skills.index_tokens",
        whole(1, or_null=True),
        "The budget of the whole index; null is 3,000 tokens or 2 % of the window, whichever is less.",
    ),
    Key(
        "skills.pinned",
        _ORDERED_NAMES,
        "Skills that every new session begins with, in this order; their description is never shortened.",
    ),
    Key("skills.bundled", FLAG, "Whether the skills that come with Hermes are offered."),
    Key(
        "platform_hints",
        mapped(_HINT, "a mapping from platforms to a text, or to a mapping of append or replace"),
        "Text added to the built-in hint of a platform, or put in its place.",
    ),
    Key(
        "security.scan",
        mapped(
            _SCAN,
            "a mapping from package, owner, caller, project, third_party or a scope to modes",
            usual=(*get_args(Trust), "memory_write", "recall", "plugin"),
        ),
        "What is done about findings, by who vouches for the text: block, redact or warn. "
        "A scope is one of memory_write, recall, plugin.",
    ),
    Key(
        "security.first_use",
        one_of("allow", "notice", "deny"),
        "What is done about the context files of a project that was never worked in before.",
    ),
    Key(
        "security.second_opinion",
        TEXT,
        "A model (provider:name) that is asked about texts that would only be warned of; empty asks none.",
    ),
    Key(
        "sessions.url",
        TEXT,
        "A PostgreSQL (postgresql://…) for the sessions; empty keeps them in sessions.db in the home.",
    ),
    Key(
        "tools.enabled",
        listed(FILLED, "a list of names, or null", in_order=False),
        "The tools and toolsets that are on; null is the usual set.",
    ),
    Key("plugins.enabled", _NAMES, "The plugins that are loaded, by name; see: hermes plugins list"),
    Key("plugins.timeout", forms.seconds(60), "How long a plugin may take for one thing, in seconds."),
    Key(
        "plugins.settings",
        mapped(forms.MAPPING, "a mapping from plugins to their settings"),
        "What a plugin is told, by its name.",
    ),
    Key(
        "mcp.servers",
        mapped(_SERVER, "a mapping from names to servers"),
        "MCP servers by name: a command with args, env and cwd, or a url with headers. Values of env and "
        "headers may name variables of the environment, as in ${GITHUB_TOKEN}.",
    ),
    Key("mcp.start_timeout", forms.seconds(60), "How long a new session waits for MCP servers, in seconds."),
    Key("mcp.call_timeout", forms.seconds(3600), "How long a call of an MCP tool may take, in seconds."),
    Key("delegation.max_depth", whole(1), "How deep sub-agents may send sub-agents; 1: they send none."),
    Key("delegation.max_parallel", whole(1), "How many sub-agents of a conversation run at once."),
    Key("delegation.max_turns", whole(1), "The most calls of the model that a sub-agent makes."),
    Key("delegation.max_chars", whole(1000), "The most characters that the reports of one call take."),
    Key(
        "delegation.classes",
        mapped(_CHILD, "a mapping from kinds of sub-agents to what they inherit and have"),
        "Kinds of sub-agents of your own, or changes to default, explore and worker.",
    ),
    Key(
        "tools.approval",
        one_of("ask", "auto", "yolo"),
        "When a person is asked first: ask for every change and command that does more than read, "
        "auto for what is dangerous or leaves the project, yolo never.",
    ),
    Key(
        "tools.allow",
        _ORDERED_NAMES,
        "What runs without asking: a tool or toolset, `terminal: git commit` for commands that begin so, "
        "`write_file: ~/notes` for what lies there.",
    ),
    Key("tools.confine", FLAG, "Whether file tools and the terminal's directory stay inside the project."),
    Key("cache.marks", FLAG, "Whether requests are marked for providers that cache at marks."),
    Key(
        "cache.ttl",
        TEXT,
        "How long they keep what was sent, by its name, such as 1h; empty is their default.",
    ),
    Key("cache.prompt_ttl", TEXT, "The same for the prompt alone, when that is to be longer."),
    Key(
        "cache.guard",
        one_of("tell", "ask", "stage", "allow"),
        "Before something is done that makes the provider read everything anew: tell the price and wait for "
        "the word, ask, let it wait for the next boundary, or allow it.",
    ),
    Key(
        "cache.keep_warm",
        FLAG,
        "Whether a conversation that rests is kept in the cache, while that costs less than it saves.",
    ),
    Key(
        "cache.keep_bodies",
        forms.KEPT,
        "How long the bodies of past requests are kept; null keeps all. Digests always stay.",
    ),
    Key(
        "cache.diagnostics", FLAG, "Whether the provider is asked what it makes of a miss, where it can say."
    ),
    Key(
        "compaction.threshold",
        forms.PART,
        "How full the context window may be, as a part of it, before older messages are summarised.",
    ),
    Key("compaction.keep_head", whole(0), "How many of the first messages are kept word for word."),
    Key("compaction.keep_tail", whole(1), "How many of the last messages are kept word for word."),
    Key(
        "compaction.template",
        TEXT,
        "What a summary must tell, in place of the built-in template; its `## ` headings are required.",
    ),
    Key("local.model_path", TEXT, "A GGUF file in place of the model that comes with Hermes."),
    Key("local.context_window", whole(512), "The most tokens that a model on this machine is given."),
    Key("local.idle_minutes", whole(1), "How long the engine stays when nobody asks it, in minutes."),
    Key(
        "local.states_mb", whole(0), "The most megabytes of prompts that were read, kept for the next start."
    ),
    Key("telemetry.enabled", FLAG, "Whether spans and metrics are sent by OpenTelemetry."),
    Key("telemetry.endpoint", forms.ADDRESS, "Where to, over OTLP/HTTP; empty is what OTEL_… variables say."),
    Key("telemetry.content", FLAG, "Whether they have the texts of prompts, messages and tools."),
    Key(
        "models",
        mapped(MODEL_FACTS, "a mapping from parts of model names to facts"),
        "What you know better about a model: " + MODEL_FACTS.words.removeprefix("a mapping of ") + ".",
    ),
)

BY_NAME = {name: key for key in KEYS for name in key.names}
SECTIONS = frozenset(name.partition(".")[0] for name in BY_NAME if "." in name)


@lru_cache(maxsize=1)
def foreign() -> frozenset[str]:
    """Keys that other implementations keep in the same file; they are passed over without a warning each."""
    path = os.path.join(os.path.dirname(__file__), "foreign.txt")
    return frozenset(read_file(path).data.decode("ascii").split())


def is_foreign(name: str) -> bool:
    """Whether a key, or the section it stands in, belongs to another implementation."""
    return name in foreign() or name.partition(".")[0] in foreign()


def unknown_text(name: str) -> str:
    """What is said of a key that is not there, with the known one most like it."""
    choices = (*BY_NAME, *sorted(SECTIONS), *FREE)
    near = forms.nearest(name, choices) or forms.nearest(name.rpartition(".")[2], choices)
    shown = name if len(name) <= 60 else f"{name[:60]}…"
    return f"{shown} is not a key of Hermes; " + (
        f"did you mean {near}?" if near else "see: hermes config keys"
    )
