"""What a provider's prompt cache would have made of a request: the published rules, run over the bytes.

For tests and for looking ahead, never for bills. A token is taken to be four bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, AnyStr, NamedTuple

from hermes.contracts import CacheRules
from hermes.messages import Usage
from hermes.providers.cache_marks import unmarked

BYTES_PER_TOKEN = 4
LOOK_BACK = 20
MAX_MARKS = 4
_MARK_NAMES = ("cache_control", "prompt_cache_breakpoint")
_BEFORE_MESSAGES = ("tool_choice", "thinking", "output_config", "reasoning_effort")
"""Settings of which another value moves all messages."""
_SECONDS = {"5m": 300.0, "30m": 1800.0, "1h": 3600.0}


class BadMarks(ValueError):
    """Marks that the provider refuses with status 400."""


@dataclass(slots=True)
class PromptCache:
    """One provider's cache for one model. `clock` gives seconds; `answer` is asked once for each request.

    An answer begins `latency` seconds after its request: from then on what it wrote can be read. An entry
    lives on from its last use.
    """

    rules: CacheRules
    clock: Callable[[], float]
    latency: float = 0.0
    _prefixes: list[tuple[bytes, float]] = field(default_factory=list)  # with the time it can be read from
    _entries: dict[bytes, _Kept] = field(default_factory=dict)

    def forget(self) -> None:
        """Drop everything, as a provider may at any time."""
        self._prefixes.clear()
        self._entries.clear()

    def answer(self, body: bytes) -> Usage:
        """Input tokens of a body as it was sent, and those read and written. BadMarks when it is refused."""
        if self.rules.kind == "marks":
            places = tuple(_places(body))
            _check([place.lifetime for place in places if place.lifetime])
            return self._by_marks(places, LOOK_BACK)
        if self.rules.kind == "prefix" and self.rules.max_marks:
            *before, newest = _places(body)
            return self._by_marks((*before, newest._replace(lifetime="30m")), 1)
        prompt = _prompt(unmarked(body))
        if self.rules.kind != "prefix":
            return Usage(input=len(prompt) // BYTES_PER_TOKEN)
        return self._by_prefix(prompt)

    def _by_prefix(self, prompt: bytes) -> Usage:
        """The longest prefix that any request before shares, in whole steps, from the minimum on."""
        now = self.clock()
        shared = (common_length(prompt, old) for old, ready in self._prefixes if ready <= now)
        common = max(shared, default=0) // BYTES_PER_TOKEN
        step = self.rules.step or 1
        least = self.rules.minimum_tokens or 0
        read = common // step * step if common >= least else 0
        self._prefixes = [
            (old, ready) for old, ready in self._prefixes if ready > now or not prompt.startswith(old)
        ]
        self._prefixes.append((prompt, now + self.latency))
        return Usage(input=len(prompt) // BYTES_PER_TOKEN, cache_read=read)

    def _by_marks(self, places: tuple[_Place, ...], look_back: int) -> Usage:
        """Reads look back from each mark; writes happen at marks, each entry lives by its mark."""
        now, least = self.clock(), self.rules.minimum_tokens or 0
        marks = [n for n, place in enumerate(places) if place.lifetime]
        read, used = 0, b""
        for mark in marks:
            for place in places[mark::-1]:
                if place.position <= places[mark].position - look_back:
                    break
                kept = self._entries.get(place.digest)
                if kept and kept.ready <= now < kept.until:
                    if place.tokens > read:
                        read, used = place.tokens, place.digest
                    break
        if used:
            self._entries[used] = self._entries[used].used(now)
        written, long = read, 0
        for place in (places[n] for n in marks[-MAX_MARKS:] if places[n].tokens >= least):
            seconds = _SECONDS[place.lifetime]
            kept = self._entries.get(place.digest)
            fresh = _Kept(now + self.latency, now + seconds, seconds)
            if kept and kept.until > now:
                fresh = _Kept(kept.ready, max(kept.until, fresh.until), max(kept.seconds, seconds))
            self._entries[place.digest] = fresh
            if place.tokens > written:
                long += place.tokens - written if place.lifetime == "1h" else 0
                written = place.tokens
        return Usage(places[-1].tokens, read, written - read, cache_write_long=long)


class _Kept(NamedTuple):
    """An entry of a cache: readable from a time on, until another, for so many seconds after each use."""

    ready: float
    until: float
    seconds: float

    def used(self, now: float) -> _Kept:
        return self._replace(until=max(self.until, now + self.seconds))


class _Place(NamedTuple):
    """The end of a block: all up to it, how far it is, and the lifetime of a mark that stands here."""

    digest: bytes
    tokens: int
    position: int
    lifetime: str


def _places(body: bytes) -> Iterator[_Place]:
    """The ends of all blocks, tools first, then system, then messages; a run of calls is one position."""
    read = json.loads(body)
    seen, size, position, last_run = sha256(str(read.get("model")).encode()), 0, 0, ""
    settings = json.dumps([read.get(name) for name in _BEFORE_MESSAGES]).encode()
    for where, run, block in _blocks(read):
        if settings and where not in ("tools", "system", "developer"):
            seen.update(settings)
            settings = b""
        position += not run or run != last_run
        last_run = run
        mark = block.get("cache_control")
        point = "prompt_cache_breakpoint" in block
        plain = {name: value for name, value in block.items() if name not in _MARK_NAMES}
        text = json.dumps([where, plain], ensure_ascii=False, separators=(",", ":")).encode()
        seen.update(text)
        size += len(text)
        lifetime = mark.get("ttl", "5m") if mark else "30m" if point else ""
        yield _Place(seen.digest(), size // BYTES_PER_TOKEN, position, lifetime)


def _blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each block with where it stands and the run it belongs to: calls, results, or none."""
    for tool in body.get("tools", ()):
        yield "tools", "", tool
    for block in body.get("system", ()):
        yield "system", "", block
    for message in body["messages"]:
        content = message.get("content") or ()
        if isinstance(content, str):
            content = ({"type": "text", "text": content},)
        result = message["role"] == "tool"
        for block in content:
            run = "results" if result or block["type"] == "tool_result" else ""
            yield message["role"], run or ("calls" if block["type"] == "tool_use" else ""), block
        for call in message.get("tool_calls", ()):
            yield message["role"], "calls", call


def _check(lifetimes: list[str]) -> None:
    if len(lifetimes) > MAX_MARKS:
        raise BadMarks(f"at most {MAX_MARKS} cache marks may stand in a request, not {len(lifetimes)}")
    if unknown := sorted(set(lifetimes) - set(_SECONDS)):
        raise BadMarks(f"{unknown[0]} is not a lifetime of a cache mark")
    if sorted(lifetimes, key=lambda t: -_SECONDS[t]) != lifetimes:
        raise BadMarks("a mark with the longer lifetime must stand before one with the shorter")


def _prompt(body: bytes) -> bytes:
    """The part of a body that reaches the model as text; scalars stand before it and behind."""
    places = (body.find(name) for name in (b'"tools":[', b'"system":[', b'"messages":['))
    end = body.rfind(b'],"model":')
    return body[min(at for at in places if at >= 0) : end if end >= 0 else -2]


def common_length(a: AnyStr, b: AnyStr) -> int:
    """How many bytes or characters two texts share at the beginning."""
    if a.startswith(b):
        return len(b)
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
