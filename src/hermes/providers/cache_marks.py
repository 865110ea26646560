"""Where a request is marked for the provider's prompt cache.

Marks exist only in the copy that is sent: stored fragments and the canonical body have none, so a mark
that moves on never changes a byte that was sent as text. Rules and numbers come from the model's profile.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Self

from hermes.config.records import CacheConfig
from hermes.contracts import CacheRules, Codec, ModelProfile
from hermes.fragments import Fragments, Piece
from hermes.frozen import frozen
from hermes.messages import ModelRequest
from hermes.provenance import Notice
from hermes.providers.canonical import Head
from hermes.providers.tokens import estimate_tokens

Puts = tuple[tuple[int, str], ...]
"""What is put into the body that the codec makes, each at its offset in it, in order."""
BREAKPOINT = b',"prompt_cache_breakpoint":{"mode":"explicit"}'
_MARK = re.compile(
    rb',"(?:cache_control":\{"type":"ephemeral"(?:,"ttl":"\w+")?|prompt_cache_breakpoint":\{"mode":"explicit")\}'
)
_USER, _TOOL = b'{"role":"user","content":[', b'{"role":"tool",'
_INSTRUCTED = b'{"role":"developer","content":['
_ASSISTANT = b'{"role":"assistant"'
_BLOCK = re.compile(rb'"type":"(?:text|tool_use|tool_result|thinking|redacted_thinking|function)"')


@frozen
class MarkPolicy:
    """What the owner wants: no marks at all, or these lifetimes, by name, for the prompt and the messages.

    An empty name is the provider's default. `ask`: the provider shall compare each request with the one
    before and say what differs, where it can.
    """

    send: bool = True
    prompt: str = ""
    messages: str = ""
    ask: bool = False


@frozen
class Marks:
    """Where marks stand: numbers of system blocks and of fragments, each with the mark's bytes."""

    blocks: tuple[tuple[int, bytes], ...] = ()
    fragments: tuple[tuple[int, bytes], ...] = ()


@frozen
class Frame:
    """What all requests of an epoch share: the head, where marks may stand in it, tokens up to each place."""

    head: Head
    ends: tuple[int, ...]
    tokens: tuple[int, ...]

    @classmethod
    def of(cls, codec: Codec, request: ModelRequest, profile: ModelProfile) -> Self:
        head, ends = codec.layout(request, profile)
        if not ends:
            return cls(head, ends, ())
        total = sum(estimate_tokens(t.name + t.description + t.parameters, profile) for t in request.tools)
        tokens = []
        for text in filter(None, request.system):
            total += estimate_tokens(text, profile)
            tokens.append(total)
        return cls(head, ends, tuple(tokens))


def mark_policy(settings: CacheConfig, rules: CacheRules) -> tuple[MarkPolicy, tuple[Notice, ...]]:
    """`cache:` of config.yaml for one model: `marks: false`, `ttl: 1h`, `prompt_ttl: 1h`.

    A lifetime the model does not have is left out with a notice. So is an order that the provider refuses:
    what stands first must live at least as long as what follows.
    """
    notices: list[Notice] = []

    def lifetime(key: str, name: str, default: str) -> str:
        name = name or default
        if name and rules.ttls and name not in (t.name for t in rules.ttls):
            known = ", ".join(t.name for t in rules.ttls)
            text = f"cache.{key}: {name} is not a lifetime of this model ({known}); it is passed over"
            notices.append(Notice("warning", text))
            return default
        return name

    messages = lifetime("ttl", settings.ttl, "")
    prompt = lifetime("prompt_ttl", settings.prompt_ttl, messages)
    if _seconds(prompt, rules) < _seconds(messages, rules):
        text = (
            f"cache.prompt_ttl is shorter than cache.ttl, which providers refuse; {messages} stands for both"
        )
        notices.append(Notice("warning", text))
        prompt = messages
    return MarkPolicy(settings.marks, prompt, messages, settings.diagnostics), tuple(notices)


def _seconds(name: str, rules: CacheRules) -> int:
    """The lifetime by its name; the provider's default for an empty one."""
    for ttl in rules.ttls:
        if name in ("", ttl.name):
            return ttl.seconds or 0
    return 0


def mark_bytes(rules: CacheRules, lifetime: str) -> bytes:
    """A mark as it stands in a block, after its other fields."""
    if rules.kind != "marks":
        return BREAKPOINT
    if lifetime in ("", rules.ttls[0].name if rules.ttls else ""):
        return b',"cache_control":{"type":"ephemeral"}'
    return b',"cache_control":{"type":"ephemeral","ttl":"' + lifetime.encode("ascii", "replace") + b'"}'


def place_marks(frame: Frame, fragments: Sequence[bytes], profile: ModelProfile, policy: MarkPolicy) -> Marks:
    """Where a request is marked; it depends on nothing but the request.

    In order of use: the newest message; the end of the request before, when the newest is out of its reach;
    the end of tools and stable tier; the end of the context tier; the end of the volatile.
    """
    rules = profile.cache
    if not policy.send or not (rules.kind == "marks" or rules.max_marks):
        return Marks()
    newest = _markable(fragments, len(fragments))
    before = _markable(fragments, _last_assistant(fragments, newest))
    # Where the provider marks the newest by itself, it reads only at marks: the one before needs one always.
    by_itself = rules.kind != "marks"
    chosen: list[int] = []
    if newest >= 0 and _long_enough(frame, fragments, newest, profile):
        chosen.append(newest)
        far = by_itself or _positions(fragments[before + 1 : newest + 1]) >= (rules.look_back or 20)
        if before >= 0 and far and _long_enough(frame, fragments, before, profile):
            chosen.append(before)
    chosen = chosen[: rules.max_marks or 1]
    room = (rules.max_marks or 1) - len(chosen)
    least = rules.minimum_tokens or 0
    blocks = [n for n, tokens in enumerate(frame.tokens[: len(frame.ends)]) if tokens >= least][:room]
    prompt, message = mark_bytes(rules, policy.prompt), mark_bytes(rules, policy.messages)
    return Marks(
        tuple((n, prompt) for n in blocks),
        tuple((n, message) for n in sorted(chosen) if not (by_itself and n == newest)),
    )


def mark_places(frame: Frame, fragments: Fragments, marks: Marks) -> Puts:
    """The marks with their offsets in the body without marks."""
    begin = sum(map(len, frame.head))
    found = [(frame.ends[number], mark.decode("ascii")) for number, mark in marks.blocks]
    ends = ((begin + fragments.end(number), mark) for number, mark in marks.fragments)
    return (*found, *((end - len(b"}]}"), mark.decode("ascii")) for end, mark in ends))


def with_puts(pieces: Iterable[bytes], puts: Puts) -> list[Piece]:
    """The pieces of a body with what is put into it; of what stands around it nothing is copied."""
    found: list[Piece] = []
    waiting = deque(puts)
    at = 0
    for piece in pieces:
        rest: Piece = piece
        end = at + len(piece)
        while waiting and waiting[0][0] < end:
            offset, text = waiting.popleft()
            view = memoryview(rest)
            found += view[: offset - at], text.encode("ascii")
            rest, at = view[offset - at :], offset
        found.append(rest)
        at = end
    return found


def unmarked(body: bytes) -> bytes:
    """The canonical body of a sent one. Exact: only marks of ours can look like one (see `canonical`)."""
    return _MARK.sub(b"", body)


def _long_enough(frame: Frame, fragments: Sequence[bytes], last: int, profile: ModelProfile) -> bool:
    """Whether the prompt up to the end of a fragment is long enough to be cached."""
    missing = (profile.cache.minimum_tokens or 0) - (frame.tokens[-1] if frame.tokens else 0)
    for fragment in islice(fragments, last + 1):
        if missing <= 0:
            break
        missing -= estimate_tokens(fragment.decode("utf-8"), profile)
    return missing <= 0


def _markable(fragments: Sequence[bytes], end: int) -> int:
    """The last fragment before `end` that can carry a mark, or -1."""
    for number in range(end - 1, -1, -1):
        if fragments[number].startswith((_USER, _TOOL, _INSTRUCTED)) and fragments[number].endswith(b"}]}"):
            return number
    return -1


def _last_assistant(fragments: Sequence[bytes], end: int) -> int:
    """The last fragment before `end` that the model said, or 0."""
    for number in range(end - 1, -1, -1):
        if fragments[number].startswith(_ASSISTANT):
            return number
    return 0


def _positions(fragments: Sequence[bytes]) -> int:
    """At most how many positions a provider counts here: every block, and every text that is no block."""
    plain = _ASSISTANT + b',"content":"'
    return sum(len(_BLOCK.findall(fragment)) + fragment.startswith(plain) for fragment in fragments)
