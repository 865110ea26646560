"""What the ledger costs: a call pays for what is new in it, in time and in the store."""

from __future__ import annotations

import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import apsw
import pytest

from hermes.contracts import ModelProfile
from hermes.fragments import Fragments, Sent
from hermes.messages import Usage
from hermes.provenance import digest_of
from hermes.wire.ledger import Ledger
from hermes.wire.request import Wire
from tests.wire.rig import CLAUDE, GPT, Rig

HEAD = b'{"system":[{"type":"text","text":"' + b"Be brief. " * 2000 + b'"}],"messages":['
TAIL = b'],"model":"claude-sonnet-4-5","max_tokens":8192,"stream":true}'


def conversation(turns: int) -> Fragments:
    """Messages of about 400 bytes."""
    found = []
    for n in range(turns):
        found.append(b'{"role":"user","content":[{"type":"text","text":"%06d %s"}]}' % (n, b"word " * 70))
        found.append(b'{"role":"assistant","content":[{"type":"text","text":"%s"}]}' % (b"word " * 70))
    return Sent(found).so_far()


def call(n: int, fragments: Fragments, profile: ModelProfile) -> Wire:
    size = len(HEAD) + fragments.end(len(fragments) - 1) + 1
    marks = ((size - 4, ',"cache_control":{"type":"ephemeral"}'),) if profile.cache.kind == "marks" else ()
    usage = Usage(size // 4, (size - 800) // 4, 200)
    return Wire(n, 10.0 * n, profile.provider, digest_of(HEAD), HEAD, fragments, TAIL, marks, usage=usage)


def seconds_a_call(messages: int, profile: ModelProfile, calls: int = 40) -> float:
    """CPU time of the quickest call behind so many messages."""
    sent = conversation(messages // 2 + calls)
    ledger, best = Ledger(), 1.0
    for n in range(calls):
        wire = call(n + 1, sent.first(messages + 2 * n + 1), profile)
        began = time.thread_time()
        ledger.expect(wire, profile)
        ledger.enter(wire)
        if n:  # the first call reads all that was there
            best = min(best, time.thread_time() - began)
    return best


@pytest.mark.parametrize("profile", [CLAUDE, GPT], ids=lambda p: p.name)
def test_a_call_at_a_thousand_messages_takes_less_than_a_millisecond(profile: ModelProfile) -> None:
    assert seconds_a_call(1000, profile) < 0.001


@pytest.mark.parametrize("profile", [CLAUDE, GPT], ids=lambda p: p.name)
def test_a_call_costs_what_is_new_in_it(profile: ModelProfile) -> None:
    assert seconds_a_call(4000, profile) < 2 * seconds_a_call(200, profile)


def test_the_store_grows_by_what_is_new(tmp_path: Path) -> None:
    """Each call adds its own row, of one size; nothing of what was sent before is stored again."""
    sizes: list[tuple[int, int]] = []

    async def scene(rig: Rig) -> None:
        for n in range(40):
            await rig.say(f"{n:04} and so on")
            sizes.append(stored(tmp_path / "sessions.db"))

    Rig(tmp_path).play(scene)
    calls = [b[0] - a[0] for a, b in pairwise(sizes[5:])]
    rest = [b[1] - a[1] for a, b in pairwise(sizes[5:])]
    assert max(calls) <= min(calls) + 16
    assert max(calls) < 500
    assert max(rest) < 400


def stored(path: Path) -> tuple[int, int]:
    """Bytes of what is stored of calls, and of fragments, heads and tails."""
    row = (
        "SELECT sum(length(chain) + length(usage) + length(trace) + length(inserts) + length(request_id)"
        " + length(model) + 40) FROM calls"
    )
    with closing(apsw.Connection(str(path))) as raw:
        (calls,) = raw.execute(row).fetchone() or (0,)
        (fragments,) = raw.execute("SELECT sum(length(body)) FROM fragments").fetchone() or (0,)
        (blobs,) = raw.execute("SELECT sum(length(body)) FROM blobs").fetchone() or (0,)
    return int(calls), int(fragments) + int(blobs)
