"""What goes into a turn and what comes out of it."""

from __future__ import annotations

from hermes.provenance import Notice

__all__ = ["Notice"]
