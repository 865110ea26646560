"""Makes room in a long conversation: older messages give way to the model's own account of them."""

from hermes.agent.compaction.compactor import Compactor

__all__ = ["Compactor"]
