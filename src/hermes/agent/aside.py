"""A question beside the conversation: asked, answered, on record as a call, and no part of what was said."""

from __future__ import annotations

from contextlib import aclosing

from hermes.agent.bookkeeping import call_record
from hermes.agent.session import Session
from hermes.contracts import Model
from hermes.errors import ModelError
from hermes.messages import Completed, ModelRequest


async def ask_aside(session: Session, model: Model, request: ModelRequest) -> Completed:
    """The answer to a request that `Session.aside` made. ModelError when there is none."""
    started = session.clock().isoformat(timespec="milliseconds")
    answer: Completed | None = None
    async with aclosing(model.stream(request)) as stream:
        async for event in stream:
            if isinstance(event, Completed):
                answer = event
    if answer is None:
        raise ModelError("it ended without an answer")
    session.called_aside(request, model.codec, model.profile, call_record(answer, started))
    return answer
