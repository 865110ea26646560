"""A model behind HTTP: a codec, a connection and a reader of answers."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from hermes.contracts import Codec, ModelProfile
from hermes.errors import ModelError
from hermes.fragments import Fragments, Piece
from hermes.messages import ModelEvent, ModelRequest
from hermes.providers.cache_marks import (
    Frame,
    MarkPolicy,
    Puts,
    mark_places,
    place_marks,
    with_puts,
)
from hermes.providers.canonical import json_text
from hermes.providers.endpoints import Endpoint
from hermes.providers.failures import broken_stream, unreachable
from hermes.providers.http import Http
from hermes.providers.http1 import ProxyFor, system_proxy
from hermes.providers.keys import Key
from hermes.providers.openai_answer import ChatAnswer
from hermes.providers.openai_chat import OpenAiChat

if TYPE_CHECKING:  # one wire is enough for most
    from hermes.providers.anthropic_answer import MessagesAnswer

E = TypeVar("E")
T = TypeVar("T")

FRAMES = 16
"""Heads that are kept ready; each is as long as a prompt with its tools."""


def codec_for(endpoint: Endpoint) -> Codec:
    """The codec that an endpoint is spoken to with."""
    if endpoint.wire == "anthropic-messages":
        from hermes.providers.anthropic import AnthropicMessages

        return AnthropicMessages()
    return OpenAiChat(
        endpoint.reasoning, endpoint.usage, endpoint.limit, endpoint.cache_key, endpoint.progress
    )


def reader_for(endpoint: Endpoint) -> type[ChatAnswer] | type[MessagesAnswer]:
    """What an endpoint's answers are read with."""
    if endpoint.wire == "anthropic-messages":
        from hermes.providers.anthropic_answer import MessagesAnswer

        return MessagesAnswer
    return ChatAnswer


class HttpModel:
    """A model served over one of the two wires. Nothing is connected before the first call."""

    def __init__(
        self,
        endpoint: Endpoint,
        profile: ModelProfile,
        key: Key,
        policy: MarkPolicy = MarkPolicy(),  # noqa: B008 - it is a value
        proxy_for: ProxyFor = system_proxy,
    ) -> None:
        self.endpoint = endpoint
        self.profile = profile
        self.codec = codec_for(endpoint)
        self.http = Http(endpoint, key, proxy_for)
        self.policy = policy
        self._frames: dict[tuple[object, ...], Frame] = {}
        self._last: dict[str, str] = {}  # the id of the last answer in each session
        self._newest: tuple[tuple[object, ...], Frame] | None = None

    def __repr__(self) -> str:
        return f"HttpModel({self.endpoint.name}:{self.profile.name})"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Call the model; deltas as they come, then one `Completed`. ModelError when it fails."""
        messages = self.endpoint.wire == "anthropic-messages"
        answer = reader_for(self.endpoint)(
            lambda error: self._failed(request, error), len(request.fragments or request.messages)
        )
        path = "messages" if messages else "chat/completions"
        body, marks = self._asking(request, *self._body(request))
        began = time.monotonic()
        async with self.http.post(path, with_puts(body, marks), request.model) as reply:
            first = round(1000 * (time.monotonic() - began))
            if reply.is_stream:
                async for said in reply.events():
                    for event in self._heard(request, answer.take, said):
                        yield event
                    if answer.finished:
                        await reply.drain()
                        break
            else:
                whole = await reply.whole() or {"error": "an answer that is not JSON"}
                for event in self._heard(request, answer.chunk, whole):
                    yield event
            if not answer.is_whole:
                raise unreachable(self.endpoint, "the answer broke off in the middle")
            [done] = self._heard(request, lambda whole: [whole.completed()], answer)
            told = done.trace.told if self._asks else ""
            self._last[request.session_id] = done.request_id
            yield replace(done, trace=replace(done.trace, marks=marks, first=first, told=told))

    async def close(self) -> None:
        await self.http.close()

    def body(self, request: ModelRequest) -> bytes:
        """The bytes that a request is sent as, marks included."""
        return b"".join(self.pieces(request))

    def pieces(self, request: ModelRequest) -> list[Piece]:
        """The same as it is sent: in pieces, so that what was sent before is not copied again."""
        return with_puts(*self._body(request))

    def _body(self, request: ModelRequest) -> tuple[list[bytes], Puts]:
        """The body without marks, and where in it the marks stand."""
        fragments = Fragments.of(
            request.fragments or self.codec.fragments(tuple(request.messages), self.profile)
        )
        frame = self._frame(request)
        marks = place_marks(frame, fragments, self.profile, self.policy)
        body = [*frame.head, *fragments.joined(), self.codec.tail(request, self.profile)]
        return body, mark_places(frame, fragments, marks)

    @property
    def _asks(self) -> bool:
        """Whether the provider is asked what differs from the request before: Anthropic's own service can."""
        return self.policy.ask and self.endpoint.name == "anthropic"

    def _asking(self, request: ModelRequest, body: list[bytes], puts: Puts) -> tuple[list[bytes], Puts]:
        """The same, with the question put at the end of the body."""
        if not self._asks:
            return body, puts
        question = ',"diagnostics":' + json_text({"previous_message_id": self._last.get(request.session_id)})
        return body, (*puts, (sum(map(len, body)) - 1, question))

    def _heard(self, request: ModelRequest, read: Callable[[T], Iterable[E]], given: T) -> list[E]:
        """What is read of an answer; ModelError where it has not the form that its wire has."""
        try:
            return list(read(given))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise self._failed(request, f"an answer of another form: {error}") from error

    def _frame(self, request: ModelRequest) -> Frame:
        """The frame of a request; those of the last sessions are kept."""
        asked = (request.system, request.tools)
        if self._newest and self._newest[0] == asked:  # the same objects, most often
            return self._newest[1]
        frame = self._frames.pop(asked, None) or Frame.of(self.codec, request, self.profile)
        self._frames[asked] = frame  # the newest stands last
        self._newest = asked, frame
        if len(self._frames) > FRAMES:
            del self._frames[next(iter(self._frames))]
        return frame

    def _failed(self, request: ModelRequest, error: object) -> ModelError:
        return broken_stream(self.endpoint, self.http.key, request.model, error)
