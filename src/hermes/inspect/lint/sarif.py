"""Findings in SARIF 2.1.0, the form that code hosts and editors read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hermes.inspect.lint.baseline import Judged
from hermes.inspect.lint.finding import RULES, Finding, Place
from hermes.inspect.lint.subject import HOME
from hermes.version import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_NUMBERS = {rule: number for number, rule in enumerate(sorted(RULES))}


def sarif(judged: Judged, *, root: str, home: str) -> dict[str, Any]:
    """A log with one run. Paths are relative to the project's root (`ROOT`) or to the home (`HOME`)."""
    rules = [
        {
            "id": id_,
            "shortDescription": {"text": RULES[id_].title},
            "defaultConfiguration": {"level": RULES[id_].level},
        }
        for id_ in sorted(RULES)
    ]
    driver = {"name": "hermes prompt lint", "version": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"HOME": {"uri": _folder(home)}, "ROOT": {"uri": _folder(root)}},
        "results": [_result(finding) for finding in judged.new],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": _NUMBERS[finding.rule],
        "level": finding.level,
        "message": {"text": finding.message},
        "locations": [_location(finding.place)],
        "partialFingerprints": {"hermesPromptLint/v1": finding.fingerprint},
    }
    if finding.related:
        result["relatedLocations"] = [{"id": n, **_location(p)} for n, p in enumerate(finding.related, 1)]
    if finding.tokens:
        result["properties"] = {"tokens": finding.tokens}
    return result


def _location(place: Place) -> dict[str, Any]:
    if place.file.startswith("("):  # the prompt as a whole is no file
        return {"logicalLocations": [{"name": place.file.strip("()")}]}
    region = {"startLine": place.line, "startColumn": place.column, "endColumn": place.end_column}
    physical: dict[str, Any] = {"artifactLocation": _artifact(place.file)}
    if place.line:
        physical["region"] = {name: value for name, value in region.items() if value}
    return {"physicalLocation": physical}


def _artifact(file: str) -> dict[str, str]:
    if file.startswith(HOME + "/"):
        return {"uri": quote(file.removeprefix(HOME + "/")), "uriBaseId": "HOME"}
    if os.path.isabs(file):
        return {"uri": Path(file).as_uri()}
    return {"uri": quote(file), "uriBaseId": "ROOT"}


def _folder(path: str) -> str:
    return Path(path).as_uri().rstrip("/") + "/"
