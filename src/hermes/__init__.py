"""Hermes: the agent whose prompt you can see, trust and afford."""

from __future__ import annotations

from hermes.version import __version__

TYPE_CHECKING = False  # type checkers take it for true; `typing` itself would be half of `hermes --version`
if TYPE_CHECKING:
    from typing import Any

    from hermes.config import Config
    from hermes.run_agent import AIAgent

__all__ = ["AIAgent", "Config", "__version__"]


def __getattr__(name: str) -> Any:
    """The agent and the configuration are imported when they are asked for: who only builds a prompt needs
    neither, and `hermes --version` needs nothing."""
    if name == "AIAgent":
        from hermes.run_agent import AIAgent

        return AIAgent
    if name == "Config":
        from hermes.config import Config

        return Config
    raise AttributeError(f"module 'hermes' has no attribute {name!r}")
