"""A turn with plugins is held against the byte oracle too."""

from tests.agent.conftest import play

__all__ = ["play"]
