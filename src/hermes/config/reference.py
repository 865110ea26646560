"""The table of all keys for the documentation, made from the schema."""

from __future__ import annotations

from hermes.config.load import in_yaml
from hermes.config.schema import KEYS


def reference_table() -> str:
    """A Markdown table of every key: name, what is expected, default, meaning."""
    rows = ["| key | expected | default | meaning |", "|---|---|---|---|"]
    for key in KEYS:
        also = f" (also `{key.alias}`)" if key.alias else ""
        rows.append(f"| `{key.name}`{also} | {key.form.words} | `{in_yaml(key.default)}` | {key.meaning} |")
    return "\n".join(rows) + "\n"
