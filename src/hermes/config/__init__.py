"""config.yaml and the environment, read once into a value.

Reading never raises: what cannot be used is a notice, and the default of that one key stands. The
parser and the schema are imported only when there is a file to read.
"""

from __future__ import annotations

from hermes.config.records import (
    DEFAULTS,
    AgentConfig,
    Config,
    ContextConfig,
    Environment,
    McpConfig,
    MemoryConfig,
    ModelConfig,
    PluginsConfig,
    SecurityConfig,
    SessionsConfig,
    SkillsConfig,
    ToolsConfig,
    environment,
)
from hermes.paths import Home

__all__ = [
    "DEFAULTS",
    "AgentConfig",
    "Config",
    "ContextConfig",
    "Environment",
    "McpConfig",
    "MemoryConfig",
    "ModelConfig",
    "PluginsConfig",
    "SecurityConfig",
    "SessionsConfig",
    "SkillsConfig",
    "ToolsConfig",
    "environment",
    "load_config",
]


def load_config(home: Home) -> Config:
    """The configuration of a home; the defaults where there is none. Never raises."""
    from os import lstat

    try:
        lstat(home.config)
    except (FileNotFoundError, NotADirectoryError):
        return DEFAULTS
    except OSError:
        pass  # its reader says why
    from hermes.config.load import read_config

    return read_config(home).config
