"""The configuration as a value: one frozen record for each section. The defaults stand here and only here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field, fields
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from hermes.frozen import frozen
from hermes.provenance import Notice, digest_of


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


def plain(value: object) -> object:
    """A value as JSON has it: records and mappings as sorted dicts, tuples as lists."""
    if isinstance(value, Mapping):
        return {name: plain(value[name]) for name in sorted(value)}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in sorted(value.__dataclass_fields__)}
    return value


@frozen
class ModelConfig:
    """`model:`. `context_window` in tokens; `None` leaves it to what is known of the model."""

    default: str = ""
    provider: str = ""
    context_window: int | None = None
    base_url: str = ""


@frozen
class AgentConfig:
    """`agent:`. A personality is a text, or a mapping of `system_prompt`, `tone`, `style`, `description`."""

    system_prompt: str = ""
    tool_use_enforcement: bool | str | tuple[str, ...] = "auto"
    personalities: Mapping[str, str | Mapping[str, str]] = field(default_factory=_nothing)
    max_turns: int = 90
    turn_clock: bool = True
    cwd: str = ""
    guidance: Mapping[str, bool] = field(default_factory=_nothing)
    timezone: str = ""


@frozen
class ContextConfig:
    """`context:`. `import_roots` are absolute paths."""

    kinds: tuple[str, ...] = ("hermes", "agents", "claude", "cursor")
    imports: bool = False
    import_roots: tuple[str, ...] = ()


@frozen
class MemoryConfig:
    """`memory:`. Limits in characters, the time in seconds. `provider` "" is no memory beyond the session."""

    memory_enabled: bool = True
    user_profile_enabled: bool = True
    memory_char_limit: int = 2200
    user_char_limit: int = 1375
    provider: str = ""
    recall: bool = True
    recall_chars: int = 1200
    recall_threshold: float = 0.5
    recall_timeout: float = 2.0
    honcho: Mapping[str, str] = field(default_factory=_nothing)


@frozen
class SkillsConfig:
    """`skills:`. `dirs` are absolute paths; `index_tokens` None is 3,000 or 2 % of the window, the lesser."""

    disabled: tuple[str, ...] = ()
    dirs: tuple[str, ...] = ()
    index_tokens: int | None = None
    pinned: tuple[str, ...] = ()
    bundled: bool = True


@frozen
class SecurityConfig:
    """`security:`. `scan` maps a trust or scope to a mode for `high` and for `medium` findings.

    `second_opinion` is a model, `provider:name`, or "" for none.
    """

    scan: Mapping[str, Mapping[str, str]] = field(default_factory=_nothing)
    first_use: str = "notice"
    second_opinion: str = ""


@frozen
class SessionsConfig:
    """`sessions:`. `url` names a PostgreSQL; empty is a file in the home."""

    url: str = ""


@frozen
class ToolsConfig:
    """`tools:`. `enabled` None means every tool that is on by default.

    The others decide what may run, and shape no prompt: `approval` is `ask`, `auto` or `yolo`, `allow` holds
    what needs no asking, `confine` keeps file tools inside the project.
    """

    enabled: tuple[str, ...] | None = None
    approval: str = "ask"
    allow: tuple[str, ...] = ()
    confine: bool = False


@frozen
class PluginsConfig:
    """`plugins:`. `timeout` in seconds, for one call of a hook; `settings` by the name of the plugin."""

    enabled: tuple[str, ...] = ()
    timeout: float = 5.0
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=_nothing)


@frozen
class McpConfig:
    """`mcp:`. Times in seconds."""

    servers: Mapping[str, Mapping[str, Any]] = field(default_factory=_nothing)
    start_timeout: float = 5.0
    call_timeout: float = 60.0


@frozen
class CacheConfig:
    """`cache:`. Lifetimes by their names, "" for the provider's default.

    `keep_bodies`: for how many days, as `30d`, or of how many calls; None keeps all. `guard` is `tell`,
    `ask`, `stage` or `allow`.
    """

    marks: bool = True
    ttl: str = ""
    prompt_ttl: str = ""
    guard: str = "tell"
    keep_warm: bool = False
    keep_bodies: str | int | None = None
    diagnostics: bool = False


@frozen
class CompactionConfig:
    """`compaction:`. `threshold` is a part of the context window; the others count messages.

    `template` is what a summary must tell, "" for the built-in one.
    """

    threshold: float = 0.85
    keep_head: int = 1
    keep_tail: int = 12
    template: str = ""


@frozen
class LocalConfig:
    """`local:`. `context_window` is the most tokens of one; `states_mb` bounds what is kept on disk."""

    model_path: str = ""
    context_window: int = 8192
    idle_minutes: int = 15
    states_mb: int = 512


@frozen
class DelegationConfig:
    """`delegation:`. `max_depth` 1: sub-agents send none; `max_chars` is for all reports of one call.

    `classes` maps a kind of sub-agent to a mapping of `inherit`, `tools`, `max_turns`, `model`.
    """

    max_depth: int = 1
    max_parallel: int = 4
    max_turns: int = 50
    max_chars: int = 24_000
    classes: Mapping[str, Mapping[str, Any]] = field(default_factory=_nothing)


@frozen
class TelemetryConfig:
    """`telemetry:`. `endpoint` is an OTLP/HTTP receiver; empty leaves it to the SDK. `content` adds texts."""

    enabled: bool = False
    endpoint: str = ""
    content: bool = False


@frozen
class Config:
    """What config.yaml says, with the defaults where it says nothing or nothing usable.

    `platform_hints` maps a platform to a text or to a mapping of `append` and `replace`; `models` maps
    a part of a model's name to facts about it; `free` holds the sections that are kept as they are.
    `lines` has the first and the last line of each text that may come into a prompt, by the name of its
    key. `notices` tell what was wrong with the file. Both are no part of the digest.
    """

    model: ModelConfig = field(default_factory=ModelConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    context_file_max_chars: int | None = None
    context: ContextConfig = field(default_factory=ContextConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    skills: SkillsConfig = field(default_factory=SkillsConfig)
    platform_hints: Mapping[str, str | Mapping[str, str]] = field(default_factory=_nothing)
    security: SecurityConfig = field(default_factory=SecurityConfig)
    sessions: SessionsConfig = field(default_factory=SessionsConfig)
    tools: ToolsConfig = field(default_factory=ToolsConfig)
    plugins: PluginsConfig = field(default_factory=PluginsConfig)
    mcp: McpConfig = field(default_factory=McpConfig)
    cache: CacheConfig = field(default_factory=CacheConfig)
    compaction: CompactionConfig = field(default_factory=CompactionConfig)
    delegation: DelegationConfig = field(default_factory=DelegationConfig)
    local: LocalConfig = field(default_factory=LocalConfig)
    telemetry: TelemetryConfig = field(default_factory=TelemetryConfig)
    models: Mapping[str, Mapping[str, object]] = field(default_factory=_nothing)
    free: Mapping[str, object] = field(default_factory=_nothing)
    notices: tuple[Notice, ...] = ()
    lines: Mapping[str, tuple[int, int]] = field(default_factory=_nothing)

    @property
    def digest(self) -> str:
        """Digest of the effective values: equal meaning, equal digest, whatever the file looks like.

        The free sections, `cache`, `compaction`, `delegation`, `local`, `sessions` and `telemetry` stand
        apart: nothing in them shapes a prompt. What `plugins` and `mcp` bring to one is seen in its sections;
        their settings may hold secrets. Of `tools` only `enabled` counts.
        """
        import json

        apart = (
            *("cache", "compaction", "delegation", "free", "lines", "local", "mcp"),
            *("notices", "plugins", "sessions", "telemetry"),
        )
        kept = (f.name for f in fields(self) if f.name not in apart)
        values = {name: plain(getattr(self, name)) for name in kept}
        values["tools"] = {"enabled": plain(self.tools.enabled)}
        return digest_of(json.dumps(values, ensure_ascii=True, sort_keys=True, separators=(",", ":")))


DEFAULTS = Config()


@frozen
class Environment:
    """What the environment asks for, beside HERMES_HOME.

    `ephemeral_system_prompt` is added to each call; `no_color` as no-color.org has it; a `dumb_terminal`
    cannot move its cursor; `cwd` is a working directory that goes before the configured one; `host` holds
    the variables that tell of the host.
    """

    ephemeral_system_prompt: str = ""
    no_color: bool = False
    cwd: str = ""
    host: Mapping[str, str] = field(default_factory=_nothing)
    dumb_terminal: bool = False


_HOST = ("COMSPEC", "KUBERNETES_SERVICE_HOST", "PREFIX", "PROCESSOR_ARCHITECTURE", "SHELL", "container")


def environment(variables: Mapping[str, str] | None = None) -> Environment:
    """Read the environment, or the given variables in its place."""
    given = os.environ if variables is None else variables
    return Environment(
        ephemeral_system_prompt=given.get("HERMES_EPHEMERAL_SYSTEM_PROMPT", ""),
        no_color=bool(given.get("NO_COLOR", "")),
        dumb_terminal=given.get("TERM", "") == "dumb",
        cwd=given.get("TERMINAL_CWD", "").strip(),
        host={name: given[name] for name in _HOST if name in given},
    )


def secret(name: str) -> str:
    """The value of a variable that holds a secret, or "": read when it is needed, kept in no record."""
    return os.environ.get(name, "")


def secrets() -> tuple[str, ...]:
    """The values of all variables that hold a secret by their names, to be hidden; kept in no record."""
    found = (os.environ.get(name, "") for name in _secret_names(tuple(os.environ)))
    return tuple(sorted(v for v in found if len(v) >= 12 and not v.startswith(("/", "."))))


@lru_cache(maxsize=4)
def _secret_names(names: tuple[str, ...]) -> tuple[str, ...]:
    from hermes.config.masking import names_secret

    return tuple(name for name in names if names_secret(name))
