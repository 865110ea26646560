"""The forms of `models:`, all that a profile holds of a model. `providers.facts` names the same facts."""

from __future__ import annotations

import re

from hermes.config import forms
from hermes.config.forms import AMOUNT, FILLED, FLAG, Complain, Form, Malformed, listed, one_of, record, whole

TOKENIZERS = ("", "cl100k_base", "o200k_base", "o200k_harmony", "qwen3.5")
WEIGHTS = 6


def _day(value: object, _: Complain) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-[01]\d-[0-3]\d", value):
        raise Malformed
    return value


def _weights(value: object, complain: Complain) -> tuple[float, ...]:
    if not isinstance(value, list) or len(value) != WEIGHTS:
        raise Malformed
    return tuple(float(str(forms.RATIO.read(item, complain))) for item in value)


def _tokenizer(value: object, complain: Complain) -> object:
    return value if value == "" else one_of(*TOKENIZERS[1:]).read(value, complain)


_TTL = record(
    {"name": FILLED, "write": AMOUNT, "seconds": whole(1, or_null=True)}, "a mapping of name, write, seconds"
)


def _ttls(value: object, complain: Complain) -> tuple[object, ...]:
    if not isinstance(value, list) or not value:
        raise Malformed
    for item in value:
        if not isinstance(item, dict) or not {"name", "write"} <= item.keys():
            raise Malformed
    return tuple(_TTL.read(item, complain) for item in value)


def _facts(entries: dict[str, Form], more: str = "") -> Form:
    return record(entries, f"a mapping of {', '.join(entries)}{more}")


CACHE = _facts(
    {
        "kind": one_of("marks", "prefix", "none", "unknown"),
        "minimum_tokens": whole(1),
        "step": whole(1),
        "max_marks": whole(1),
        "look_back": whole(1),
        "ttls": Form("a list such as [{name: 5m, seconds: 300, write: 1.25}]", _ttls),
        "read": AMOUNT,
        "answers": FLAG,
        "ping": whole(0),
    },
)
PRICES = _facts(
    {**dict.fromkeys(("input", "output", "cache_read", "cache_write"), AMOUNT), "tiered": FLAG},
    ", in US dollars for a million tokens",
)
MODEL_FACTS = _facts(
    {
        "context_window": whole(1),
        "output_limit": whole(1),
        "family": FILLED,
        "guidance": listed(FILLED, "a list of names of guidance texts"),
        "tokenizer": Form(f"one of {', '.join(TOKENIZERS[1:])}, or empty", _tokenizer, literal=True),
        "chars_per_token": forms.RATIO,
        "char_weights": Form(f"{WEIGHTS} numbers above 0 and at most 100", _weights),
        "instruction_role": one_of("system", "developer"),
        "system_mid_conversation": FLAG,
        "strict_template": FLAG,
        "small": FLAG,
        "cache": CACHE,
        "prices": PRICES,
        "as_of": Form("the day they were true, such as 2026-11-30", _day, literal=True),
    },
)
