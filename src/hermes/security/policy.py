"""What is done about a finding, by who vouches for the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from hermes.frozen import frozen
from hermes.provenance import Trust

if TYPE_CHECKING:
    from hermes.security.scan import Finding

Mode = Literal["block", "redact", "warn"]
Scope = Literal["memory_write", "recall", "plugin"]
"""Texts that may be ruled apart from their trust; without a rule of their own they are third-party."""

MODES: tuple[Mode, ...] = get_args(Mode)
SCOPES: tuple[Scope, ...] = get_args(Scope)


class SecondOpinion(Protocol):
    """Judges a text that would be let in with warnings.

    Returns why it must stay out, or "" when it may come in. A judge that fails lets the text in as the
    policy says, with a notice.
    """

    def __call__(self, text: str, findings: tuple[Finding, ...], /) -> str: ...


@frozen
class Policy:
    """The mode for high and for medium findings; a low one never keeps anything out.

    `accepted` holds the digests that the owner has accepted: of a file's bytes, as its `Origin` has it, or of
    a text that is no file.
    """

    high: Mode = "block"
    medium: Mode = "warn"
    accepted: frozenset[str] = frozenset()
    second_opinion: SecondOpinion | None = None

    def keeps_out(self, finding: Finding) -> bool:
        """Whether what was found does not come into a prompt: with its line or with its whole text."""
        return finding.severity != "low" and self.mode(finding) != "warn"

    def mode(self, finding: Finding) -> Mode:
        """What is done about a finding that nobody accepted."""
        match finding.severity:
            case "high":
                return self.high
            case "medium":
                return self.medium
            case _:
                return "warn"


STRICT = Policy(high="block", medium="block")
LENIENT = Policy(high="warn", medium="warn")
_DEFAULTS: tuple[tuple[Trust | Scope, Policy], ...] = (("caller", LENIENT), ("third_party", STRICT))


@frozen
class Policies:
    """One policy for each kind of trust, and for the scopes that have one of their own."""

    default: Policy = Policy()
    by_trust: tuple[tuple[Trust | Scope, Policy], ...] = _DEFAULTS

    @classmethod
    def from_config(
        cls,
        scan: Mapping[str, Mapping[str, str]],
        accepted: frozenset[str] = frozenset(),
        second_opinion: SecondOpinion | None = None,
    ) -> Policies:
        """The defaults, changed by `security.scan` of config.yaml; what is no mode there changes nothing."""
        base = cls()
        ruled: tuple[Trust | Scope, ...] = (*get_args(Trust), *(s for s in SCOPES if s in scan))
        by_trust = []
        for who in ruled:
            usual, wanted = base.of(who), scan.get(who, {})
            high, medium = _mode(wanted.get("high"), usual.high), _mode(wanted.get("medium"), usual.medium)
            by_trust.append((who, Policy(high, medium, accepted, second_opinion)))
        return cls(Policy(accepted=accepted, second_opinion=second_opinion), tuple(by_trust))

    def of(self, who: Trust | Scope) -> Policy:
        for name, policy in self.by_trust:
            if name == who:
                return policy
        return self.of("third_party") if who in SCOPES else self.default


def _mode(given: str | None, usual: Mode) -> Mode:
    return next((mode for mode in MODES if mode == given), usual)
