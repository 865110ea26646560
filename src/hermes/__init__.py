"""Hermes: the agent whose prompt you can see, trust and afford."""

__version__ = "0.1.0"
