"""The protocols and shared records between the parts, on one page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What is known of a model; `None` and `unknown` mean: not known, so nothing is assumed.

    `context_window` and `output_limit` in tokens. `guidance` names the texts this family needs.
    `tokenizer` is an encoding name, or "" when only an estimate is possible.
    """

    name: str = ""
    provider: str = ""
    family: str = "unknown"
    context_window: int | None = None
    output_limit: int | None = None
    guidance: tuple[str, ...] = ()
    tokenizer: str = ""
    chars_per_token: float = 4.0
    source: str = ""
