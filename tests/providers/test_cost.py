"""What it costs to put a request together: the new messages, however many were sent before."""

from __future__ import annotations

import time

import pytest

from hermes.contracts import ModelProfile
from hermes.fragments import Sent
from hermes.messages import Message
from hermes.providers.client import HttpModel
from hermes.providers.endpoints import Endpoint
from hermes.providers.keys import Key
from tests.providers.talks import CLAUDE, OPENAI, request

WIRES = {"anthropic": CLAUDE, "openai": OPENAI}


def seconds_a_request(messages: int, name: str, profile: ModelProfile) -> float:
    """CPU time of the quickest request behind so many messages."""
    wire = "anthropic-messages" if name == "anthropic" else "openai-chat"
    model = HttpModel(Endpoint(name, "http://127.0.0.1:9/v1", wire), profile, Key("", ""))
    said = (Message("user", "word " * 60), Message("assistant", "word " * 60))
    pair = model.codec.fragments(said, profile)
    sent, best = Sent(pair * (messages // 2)), 1.0
    for n in range(20):
        sent.add(pair[:1] if n % 2 else pair[1:])
        asked = request(said, fragments=sent.so_far())
        began = time.thread_time()
        model.pieces(asked)
        if n:  # the first joins all that was there
            best = min(best, time.thread_time() - began)
    return best


@pytest.mark.parametrize("name", WIRES)
def test_a_request_costs_what_is_new_in_it(name: str) -> None:
    assert seconds_a_request(10_000, name, WIRES[name]) < 3 * seconds_a_request(500, name, WIRES[name])
