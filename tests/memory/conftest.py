"""A turn with an external memory is held against the byte oracle too."""

from tests.agent.conftest import play

__all__ = ["play"]
