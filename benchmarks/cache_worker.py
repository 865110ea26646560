"""A system under the bench, in its own process and its own Python: takes orders, one JSON line each."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

Orders = dict[str, Callable[..., object]]


def obey(orders: Orders) -> None:
    """Do what is ordered until the input ends. What the system prints goes to the error output."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        answer = orders[order.pop("do")](**order)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
