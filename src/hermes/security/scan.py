"""The scanner: reads a text as a model would and reports what tries to command it.

Linear in the length of the text; rules and automata are loaded by the first scan, not by the import.
"""

from __future__ import annotations

from hermes.security.findings import Finding, Severity
from hermes.security.version import scanner_version

__all__ = ["Finding", "Severity", "scan", "scanner_version"]


def scan(text: str) -> tuple[Finding, ...]:
    """Everything in the text that tries to command its reader, sorted by (start, end, id)."""
    from hermes.security.reading import read

    return read(text)
