"""What is done about a finding, by who vouches for the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from hermes.provenance import Trust

Mode = Literal["block", "redact", "warn"]


@dataclass(frozen=True, slots=True)
class Policy:
    """The mode for high and for medium findings, and the content digests the owner has accepted."""

    high: Mode = "block"
    medium: Mode = "warn"
    accepted: frozenset[str] = frozenset()


STRICT = Policy(high="block", medium="block")


@dataclass(frozen=True, slots=True)
class Policies:
    """One policy for each kind of trust."""

    default: Policy = field(default_factory=Policy)
    by_trust: tuple[tuple[Trust, Policy], ...] = (("third_party", STRICT),)

    def of(self, trust: Trust) -> Policy:
        return dict(self.by_trust).get(trust, self.default)
