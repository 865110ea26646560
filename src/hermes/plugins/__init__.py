"""Plugins: found by name, loaded when they are enabled, each behind a time limit. The hooks: `hooks.py`."""
