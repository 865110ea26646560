"""A turn with MCP servers is held against the byte oracle too."""

from tests.agent.conftest import play

__all__ = ["play"]
