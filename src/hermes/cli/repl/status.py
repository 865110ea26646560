"""The line below the input: what answers, how full its window is, what the cache held, what it has cost."""

from __future__ import annotations

from dataclasses import field

from prompt_toolkit.utils import get_cwidth

from hermes.cli.screen import plain
from hermes.frozen import frozen
from hermes.messages import Usage
from hermes.wire.economics import dollars


@frozen
class Status:
    """What the line tells. `used` and `window` in tokens, `spent` in dollars; `last`: of the last call."""

    model: str
    session: str = ""
    used: int = 0
    window: int | None = None
    last: Usage = field(default_factory=Usage)
    spent: float | None = None
    queued: int = 0
    personality: str = ""
    seconds: int | None = None
    note: str = ""


def status_line(status: Status, width: int) -> str:
    """The line for a terminal of that width: what matters least is left out first."""
    ranked = [(rank, n, text) for n, (rank, text) in enumerate(_fields(status)) if text]
    while len(ranked) > 1 and get_cwidth(_joined(ranked)) > width:
        ranked.remove(max(ranked))
    return fit(_joined(ranked), width)


def _fields(status: Status) -> tuple[tuple[int, str], ...]:
    """Each field in the order it stands, with its rank: 0 stays longest."""
    last = status.last
    return (
        (0, status.note),
        (1, f"{status.seconds} s, Ctrl-C stops" if status.seconds is not None else ""),
        (2, f"{status.queued} queued" if status.queued else ""),
        (3, plain(status.model) or "no model"),
        (8, status.personality),
        (9, status.session[:8]),
        (5, _context(status.used, status.window)),
        (6, f"cache {100 * last.cache_read // last.input} %" if last.input else ""),
        (4, dollars(status.spent) if status.spent is not None else ""),
    )


def _context(used: int, window: int | None) -> str:
    if not window:
        return f"{short(used)} tokens" if used else ""
    return f"{short(used)}/{short(window)} {100 * used // window} %"


def short(tokens: int) -> str:
    """A number of tokens in a few characters."""
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k" if tokens < 100_000 else f"{tokens // 1000}k"


def _joined(ranked: list[tuple[int, int, str]]) -> str:
    return " · ".join(text for _, _, text in ranked)


def fit(text: str, width: int) -> str:
    """The text in so many columns, its end cut off where it is longer."""
    if get_cwidth(text) <= width:
        return text
    while text and get_cwidth(text) >= width:
        text = text[:-1]
    return text + "…"
