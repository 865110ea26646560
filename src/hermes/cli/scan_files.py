"""Which files `hermes scan` reads, and what the gate would do with each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Literal, get_args

from hermes.agent.context_kinds import KINDS
from hermes.errors import FileRefused
from hermes.files import is_inside, read_file
from hermes.frozen import frozen
from hermes.paths import Home
from hermes.provenance import Notice, Origin, Passage, Trust, digest_of
from hermes.security.gate import Weighed, findings_in, objection, weigh
from hermes.security.policy import STRICT, Policies, Policy
from hermes.security.scan import Finding
from hermes.text import decode

Outcome = Literal["blocked", "redacted", "warned", "accepted", "clean", "not read", "no path"]
"""`no path`: it was asked for and cannot be read; `not read`: a file below a folder that cannot."""
PolicyName = Literal["project", "owner", "third_party", "strict"]
POLICY_NAMES: tuple[PolicyName, ...] = get_args(PolicyName)

_SUFFIXES = (".md", ".mdc", ".txt")
_NAMES = frozenset(
    file.rpartition("/")[2].lower() for kind in KINDS for file in kind.files if "*" not in file
)
_NOT_ENTERED = frozenset({".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__"})


@frozen
class Scanned:
    """One file after scanning. `done` says for each finding what the policy does about it; `notices` what
    failed beside it."""

    name: str
    policy: str
    outcome: Outcome
    text: str = ""
    digest: str = ""
    findings: tuple[Finding, ...] = ()
    done: tuple[str, ...] = ()
    problem: str = ""
    notices: tuple[Notice, ...] = ()

    @property
    def kept_out(self) -> bool:
        """Whether the file or a line of it would not come into a prompt."""
        return self.outcome in ("blocked", "redacted")


@frozen
class Rules:
    """The policies that hold, and the one that was asked for; without one it goes by where a file lies."""

    home: Home
    policies: Policies
    asked: PolicyName | None = None

    def of(self, path: str, in_skill: bool) -> tuple[str, Policy, Trust]:
        if self.asked == "strict":
            accepted = self.policies.of("third_party").accepted
            return "strict", Policy(STRICT.high, STRICT.medium, accepted), "third_party"
        trust: Trust = self.asked or "project"
        if self.asked is None and is_inside(os.path.abspath(path), self.home.root):
            trust = "owner"
        elif self.asked is None and in_skill:
            trust = "third_party"
        return trust, self.policies.of(trust), trust


def scan_path(path: str, rules: Rules, *, everything: bool = False) -> Iterator[Scanned]:
    """Scan a file, or the files below a directory; links are not followed there.

    FileRefused when the path itself cannot be read; below a directory that is an outcome.
    """
    if not os.path.isdir(path):
        yield scan_bytes(path, read_file(path).data, rules, os.path.basename(path) == "SKILL.md")
        return
    shut: list[OSError] = []
    for file, in_skill in files_below(path, shut, everything):
        try:
            yield scan_bytes(file, read_file(file).data, rules, in_skill)
        except FileRefused as refused:
            yield Scanned(file, "", "not read", problem=str(refused))
    for error in shut:
        yield Scanned(error.filename, "", "not read", problem=(error.strerror or str(error)).lower())


def files_below(folder: str, shut: list[OSError], everything: bool = False) -> Iterator[tuple[str, bool]]:
    """Files in order, each with whether it belongs to a skill: all of a skill, else what prompts are made of.

    Directories that cannot be listed go into `shut`.
    """
    skills: list[str] = []
    for at, folders, names in os.walk(folder, onerror=shut.append):
        folders[:] = sorted(name for name in folders if name not in _NOT_ENTERED)
        if "SKILL.md" in names:
            skills.append(at)
        in_skill = any(is_inside(at, skill) for skill in skills[-1:])
        for name in sorted(names):
            path = os.path.join(at, name)
            lower = name.lower()
            wanted = everything or in_skill or lower in _NAMES or lower.endswith(_SUFFIXES)
            if wanted and not os.path.islink(path):
                yield path, in_skill


def scan_bytes(name: str, data: bytes, rules: Rules, in_skill: bool = False) -> Scanned:
    """What the gate would do with these bytes. FileRefused when they are no text."""
    label, policy, trust = rules.of(name, in_skill)
    decoded = decode(data)
    digest = digest_of(data)
    passage = Passage.quote(decoded.text, Origin("file", name, digest, trust=trust), decoded.transforms)
    findings = findings_in(passage) if passage else ()
    weighed = weigh(passage, findings, policy)
    failed: tuple[Notice, ...] = ()
    if _outcome(weighed) == "warned":
        objects, failed = objection(passage, tuple(weighed.warn), policy)
        if objects:
            findings = (objects, *findings)
            weighed.block.append(objects)
    names = zip(("block", "redact", "warn", "accepted"), weighed, strict=True)
    done = {finding: name for name, group in names for finding in group}
    told = tuple(done.get(finding, "note") for finding in findings)
    return Scanned(name, label, _outcome(weighed), decoded.text, digest, findings, told, "", failed)


def _outcome(weighed: Weighed) -> Outcome:
    if weighed.block:
        return "blocked"
    if weighed.redact:
        return "redacted"
    if weighed.warn:
        return "warned"
    return "accepted" if weighed.accepted else "clean"
