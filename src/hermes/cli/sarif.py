"""Scan results in SARIF 2.1.0, the form that code hosts and editors read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from hermes.cli.in_place import visible
from hermes.cli.scan_files import Scanned
from hermes.security.scan import Finding, scanner_version
from hermes.version import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"block": "error", "redact": "error", "warn": "warning", "accepted": "warning"}


def sarif(results: Sequence[Scanned]) -> dict[str, Any]:
    """A log with one run; what the owner accepted is in it, suppressed."""
    rules: dict[str, dict[str, Any]] = {}
    found, unread = [], []
    for scanned in results:
        if scanned.problem:
            unread.append(_unread(scanned))
        for finding, done in zip(scanned.findings, scanned.done, strict=True):
            rules.setdefault(
                finding.id,
                {
                    "id": finding.id,
                    "shortDescription": {"text": finding.why},
                    "properties": {"tags": ["security", finding.family]},
                },
            )
            found.append(_result(scanned, finding, done))
    driver = {
        "name": "hermes",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [rules[id_] for id_ in sorted(rules)],
        "properties": {"scanner": scanner_version()},
    }
    complete = all(scanned.outcome != "no path" for scanned in results)
    invocation = {"executionSuccessful": complete, "toolExecutionNotifications": unread}
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": found,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _unread(scanned: Scanned) -> dict[str, Any]:
    place = {"physicalLocation": {"artifactLocation": {"uri": _uri(scanned.name)}}}
    text = f"{visible(scanned.name)} was not read: {scanned.problem}"
    return {"level": "warning", "message": {"text": text}, "locations": [place]}


def _uri(name: str) -> str:
    return quote(name.replace("\\", "/"), errors="surrogateescape")


def _result(scanned: Scanned, finding: Finding, done: str) -> dict[str, Any]:
    hit = scanned.text[finding.start : finding.end]
    last = hit.rpartition("\n")[2]
    lines = hit.count("\n")
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.line + lines,
        "endColumn": len(last) + 1 if lines else finding.column + len(hit),
        "snippet": {"text": visible(hit[:500])},
    }
    result: dict[str, Any] = {
        "ruleId": finding.id,
        "level": _LEVELS.get(done, "note"),
        "message": {"text": f"{finding.why}; it reads: {finding.reads}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(scanned.name)},
                    "region": region,
                }
            }
        ],
        "properties": {"severity": finding.severity, "policy": scanned.policy, "done": done},
    }
    if done == "accepted":
        result["suppressions"] = [{"kind": "external", "justification": "accepted with hermes trust"}]
    return result
