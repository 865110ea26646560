"""One call as it went over the wire: the body in pieces, when, to whom, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from hermes.frozen import frozen
from hermes.messages import Usage
from hermes.sessions.records import CallRecord


@frozen
class Wire:
    """One call. `head + b",".join(fragments) + tail` is the body, into which `marks` were put.

    `head_id` is the digest of the head. `at` is when it began and `first` how long until the answer did, in
    seconds; `first` is 0 when not known. `aside` calls stand beside the conversation. `epoch` is the reason
    for which it does not begin with the call before. `route` is who served it, `served` what model, as far as
    it was told; `predicted` and `forecast` what was expected then. A call that is `gone` has no bytes: they
    are not kept.
    """

    n: int
    at: float
    provider: str
    head_id: str
    head: bytes
    fragments: Sequence[bytes]
    tail: bytes
    marks: tuple[tuple[int, str], ...] = ()
    first: float = 0.0
    route: str = ""
    served: str = ""
    usage: Usage = field(default_factory=Usage)
    request_id: str = ""
    epoch: str = ""
    aside: bool = False
    predicted: int = 0
    predicted_write: int = 0
    forecast: str = ""
    told: str = ""
    gone: bool = False

    @property
    def body(self) -> bytes:
        """The body without marks."""
        return self.head + b",".join(self.fragments) + self.tail

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the body holds beside tools, system and messages."""
        return settings_of(self.tail)

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.settings.get("model", ""))


@lru_cache(maxsize=64)  # most calls of a session end alike
def settings_of(tail: bytes) -> Mapping[str, Any]:
    """What a body holds behind its messages; nothing when it cannot be read."""
    behind = tail.decode("utf-8", "replace").lstrip().removeprefix("]").lstrip().removeprefix(",")
    try:
        found = json.loads("{" + behind)
    except ValueError:
        found = {}
    return MappingProxyType(found if isinstance(found, dict) else {})


def moment_of(iso: str) -> float:
    """Seconds since 1970 of an ISO time; 0.0 when it is none."""
    try:
        return datetime.fromisoformat(iso).timestamp()
    except ValueError:
        return 0.0


def wire_of(
    call: CallRecord, provider: str, head: bytes, fragments: Sequence[bytes], tail: bytes, epoch: str = ""
) -> Wire:
    """A stored call, with its bytes."""
    return Wire(
        n=call.n,
        at=moment_of(call.started),
        provider=provider,
        head_id=call.head,
        head=head,
        fragments=fragments,
        tail=tail,
        marks=call.inserts,
        first=call.first / 1000,
        route=call.route,
        served=call.model,
        usage=call.usage,
        request_id=call.request_id,
        epoch=epoch,
        aside=call.stop == "aside",
        predicted=call.predicted,
        predicted_write=call.predicted_write,
        forecast=call.forecast,
        told=call.told,
    )
