"""Why a call hit the cache, or did not: from what was sent, the published rules and what the provider told.

Nothing is guessed: where what is known fits several causes, the verdict is `unknown` and names them.
"""

from __future__ import annotations

from typing import Literal

from hermes.contracts import ModelProfile
from hermes.frozen import frozen
from hermes.prompt import SystemPrompt
from hermes.text import many
from hermes.wire.diff import Difference, first_difference
from hermes.wire.economics import MILLION, Rates
from hermes.wire.prediction import Forecaster, Prediction
from hermes.wire.request import Wire

Cause = Literal[
    "hit",
    "first",
    "changed",
    "expired",
    "minimum",
    "look-back",
    "mark",
    "race",
    "route",
    "evicted",
    "no cache",
    "unknown",
]
CALM: tuple[Cause, ...] = ("hit", "first", "no cache")
"""Causes that blame nobody."""


@frozen
class Verdict:
    """What became of one call. Tokens: `read` and `written` as reported, `expected` by the rules, `missed`.

    `missed` are tokens that were cached before and were paid for again; `cost` is what that added, in US
    dollars, None when prices are not known. `action` is what ended the prefix, where that is on record.
    """

    call: int
    cause: Cause
    because: str
    advice: str = ""
    read: int = 0
    written: int = 0
    input: int = 0
    expected: int = 0
    missed: int = 0
    cost: float | None = None
    difference: Difference | None = None
    action: str = ""
    told: str = ""

    @property
    def is_calm(self) -> bool:
        return self.cause in CALM


@frozen
class _Finding:
    cause: Cause
    because: str
    advice: str = ""
    difference: Difference | None = None


def judge(
    wire: Wire,
    before: Wire | None,
    forecaster: Forecaster,
    expected: Prediction,
    profile: ModelProfile,
    prompt: SystemPrompt | None = None,
) -> Verdict:
    """The verdict on a call that `forecaster` was asked about last; `before` is the one it followed."""
    found = _finding(wire, before, forecaster, expected, prompt)
    usage = wire.usage
    missed = 0 if found.cause in CALM else max(expected.ideal - usage.cache_read, 0)
    return Verdict(
        wire.n,
        found.cause,
        found.because,
        found.advice,
        usage.cache_read,
        usage.cache_write,
        usage.input,
        expected.read,
        missed,
        extra_cost(missed, profile),
        found.difference,
        wire.epoch,
        wire.told,
    )


def unseen(wire: Wire) -> Verdict:
    """The verdict on a call whose bytes are kept no longer."""
    usage = wire.usage
    because = "its bytes are kept no longer (cache.keep_bodies), so nothing can be compared"
    if wire.forecast:
        because += f"; then, {wire.predicted:,} cached tokens were expected ({wire.forecast})"
    cause: Cause = "unknown"
    if wire.forecast in ("hit", "first") and usage.cache_read >= wire.predicted:
        cause, because = wire.forecast, "as was expected then; its bytes are kept no longer"  # type: ignore[assignment]
    return Verdict(
        wire.n, cause, because, "", usage.cache_read, usage.cache_write, usage.input, wire.predicted
    )


def extra_cost(missed: int, profile: ModelProfile) -> float | None:
    """US dollars that tokens cost more when they are paid for anew than when they come from a cache."""
    rates = Rates.of(profile)
    if not missed:
        return 0.0
    if rates.read is None or rates.write is None:
        return None
    return missed * (rates.write - rates.read) / MILLION


def slack(expected: Prediction, forecaster: Forecaster) -> int:
    """So many tokens less than at best are no miss.

    Some caches count in steps; and where no rule foresees a miss, a few tokens are no proof of one.
    """
    step = forecaster.rules.step or 1
    if expected.expected != "hit" or forecaster.exact:
        return step - 1
    return max(step, 32, expected.ideal // 50)


def _finding(
    wire: Wire, before: Wire | None, forecaster: Forecaster, expected: Prediction, prompt: SystemPrompt | None
) -> _Finding:
    usage, why = wire.usage, expected.expected
    short = expected.ideal - usage.cache_read > slack(expected, forecaster)
    if not usage.input:
        found = _Finding("unknown", "the provider reported no tokens for this call")
    elif why == "no cache":
        found = _Finding("no cache", "this model has no prompt cache")
    elif why == "abstained":
        found = _by_bytes(wire, before, prompt)
    elif dropped := _dropped(wire, forecaster, expected):
        found = dropped
    elif before is None or (why == "first" and same_cache(before, wire)):
        found = _Finding("first", "nothing had been sent before that could be read")
    elif why == "first":  # the first of another model
        found = changed(wire, before, prompt)
    elif not short and (expected.ideal or usage.cache_read):
        found = _Finding("hit", "all that had been sent before came from the cache")
    elif why == "hit":
        found = _broken(wire, before, forecaster)
    else:
        found = _by_rule(wire, before, expected, prompt)
    return found


def same_cache(a: Wire, b: Wire) -> bool:
    """Whether two calls could share a cache at all."""
    return (a.provider, a.model) == (b.provider, b.model)


def _by_rule(wire: Wire, before: Wire, expected: Prediction, prompt: SystemPrompt | None) -> _Finding:
    """A miss that the rules foresaw."""
    match expected.expected:
        case "changed":
            return changed(wire, before, prompt)
        case "expired":
            return _Finding(
                "expired",
                f"the cached prefix lives {_time(expected.limit)} after its last use, and "
                f"{_time(expected.found)} had passed",
                "use a longer lifetime (cache.ttl: 1h) where pauses are longer than that",
            )
        case "look-back":
            return _Finding(
                "look-back",
                f"the newest cached prefix was {expected.found:.0f} positions before the next mark, and the "
                f"provider looks back over {expected.limit}",
                "put a mark between: at the end of the request before",
            )
        case "race":
            return _Finding(
                "race",
                f"this call began {expected.found:.1f} s before the answer that makes the prefix readable",
                "let the first of several parallel calls begin to answer before the others start",
            )
        case "unmarked":
            return _Finding(
                "mark",
                "no mark stood behind the cached prefix, and this provider reads at marks only",
                "send marks: cache.marks must not be false, and no proxy may take them away",
            )
    return _minimum(expected)


def _minimum(expected: Prediction) -> _Finding:
    return _Finding(
        "minimum",
        f"the prompt is shorter than the {expected.limit:,} tokens from which this model's cache begins",
        "nothing needs to be done: it is cached from that length on",
    )


def changed(wire: Wire, before: Wire, prompt: SystemPrompt | None) -> _Finding:
    """The prefix itself is another: where it differs first, and what is to be done."""
    found = first_difference(before, wire, prompt)
    if found is None:
        return _Finding("unknown", "the bytes are the same, and nothing explains the miss")
    because = f"{found.where} changed: {found.name}, {found.how}" if found.name else f"{found.where} changed"
    return _Finding("changed", because, _ADVICE[found.where], found)


_ADVICE = {
    "model": "caches are kept for each model: switch models at the beginning of a session",
    "settings": "keep this setting as it is through a session",
    "tools": "keep the list of tools, its order and every schema as they were when the session began",
    "system": "keep what moves out of the system text: say it on the newest message",
    "messages": "never change a message that was sent: say what is new in a new one",
}


def _dropped(wire: Wire, forecaster: Forecaster, expected: Prediction) -> _Finding | None:
    """Whether marks that were sent did not arrive: what was cached ends before them."""
    if forecaster.rules.kind != "marks" or not forecaster.marks(wire):
        return None
    usage = wire.usage
    cached, should = usage.cache_read + usage.cache_write, expected.read + expected.write
    least = forecaster.rules.minimum_tokens or 0
    marks = [forecaster.tokens(mark) for mark, _ in forecaster.marks(wire)]
    # What the provider did not cache must be more than what stands behind the last mark can be.
    behind = max(forecaster.tokens(len(forecaster.layout) - 1) - marks[-1], 0)
    margin = 0 if forecaster.exact else 64 + behind // 2
    if should < least or usage.input - cached <= behind + margin or usage.input < least + margin:
        return None
    advice = (
        "look for a proxy or router between that takes marks away; cache.marks: false if none may be sent"
    )
    if not cached:
        return _Finding(
            "mark",
            f"nothing was read or written, though {many(len(marks), 'mark')} went with it: none arrived",
            advice,
        )
    return _Finding(
        "mark",
        f"the cache ends at {cached:,} tokens, the last mark that was sent stands at {marks[-1]:,}",
        advice,
    )


def _broken(wire: Wire, before: Wire, forecaster: Forecaster) -> _Finding:
    """A miss that the rules did not foresee: same bytes, in time, within reach."""
    key = "prompt_cache_key"
    if wire.settings.get(key) != before.settings.get(key):
        return _Finding("route", f"{key} is another, which leads to another machine", "keep it for a session")
    if wire.route and before.route and wire.route != before.route:
        return _Finding(
            "route",
            f"{wire.route} served this call, {before.route} the one before; each has a cache of its own",
            "pin the provider or worker for a session, or send a routing key",
        )
    if wire.served and before.served and wire.served != before.served:
        return _Finding(
            "route",
            f"{wire.served} answered this call, {before.served} the one before",
            "name the dated version of the model",
        )
    if not forecaster.proven:
        return _Finding(
            "unknown",
            "same bytes as before, but no call of this conversation was reported to have read from a cache "
            "or written to it: this provider keeps none, or does not say so",
        )
    ttls = forecaster.rules.ttls
    promised = forecaster.rules.by_marks or bool(ttls and ttls[0].seconds)
    when = "in time" if promised else f"{_time(wire.at - before.at)} later, for which no lifetime is promised"
    if wire.route and wire.route == before.route:
        return _Finding(
            "evicted",
            f"same bytes, {when}, served by {wire.route} as before: the provider had dropped the prefix",
            "nothing can be done here; when it happens often, ask for a longer lifetime",
        )
    return _Finding(
        "unknown",
        f"same bytes, {when}, within reach: the provider dropped the prefix, or another worker served the "
        "call; it does not say who did",
    )


def _by_bytes(wire: Wire, before: Wire | None, prompt: SystemPrompt | None) -> _Finding:
    """Where the rules of a cache are not known, only the bytes can be compared."""
    if before is None:
        return _Finding("first", "nothing had been sent before that could be read")
    if wire.usage.cache_read >= before.usage.input * 0.9 > 0:
        return _Finding("hit", "nearly all that had been sent before came from the cache")
    if first_difference(before, wire, prompt) is not None:
        return changed(wire, before, prompt)
    return _Finding("unknown", "same bytes as before, and the rules of this provider's cache are not known")


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
