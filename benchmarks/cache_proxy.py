"""Stands between an agent and the engine: answers by script where it must, and keeps the accounts.

Every request reaches the engine, so that its cache sees what a provider's would. Where the script wants a
tool called, the engine reads the prompt and writes one token, and the agent gets the scripted call instead:
a model of 135 M does not call tools on purpose.
"""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from engine import Engine

MODEL = "bench-model"
ANSWER_TOKENS = 12
"""The longest answer that the engine may write."""
STATED_WINDOW = 1_000_000
"""What agents are told: some refuse a small window. The script stays below the true one."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A scripted tool call."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Say:
    """A scripted text; "" lets the engine speak."""

    text: str = ""


Answer = Call | Say


class Asked(NamedTuple):
    """One request of a session: tokens of its prompt, those reused as the engine says, those that could be.

    What could be reused is the whole prompt of the request before, and of the answer that the engine wrote
    to it as much as the new request repeats. `came` and `first` are when it came here and when its first
    token came, in seconds of a clock of this process.
    """

    turn: str
    prompt: int
    reused: int
    could: int
    came: float
    first: float


class Heard(NamedTuple):
    """What the engine answered, why it ended there, and when its first token came."""

    text: str
    usage: Json
    stop: str
    first: float


class Proxy:
    """The endpoint that an agent is given. `turn` names the turn under way, `script` its answers to come."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.turn = ""
        self.script: deque[Answer] = deque()
        self.asked: list[Asked] = []
        self.broken = ""  # why the accounts cannot be trusted
        self.aside = 0  # requests that are not of the session: titles, summaries, probes
        self._made = 0
        self._before: list[int] = []  # tokens of the last prompt
        self._held: list[int] = []  # and of the answer behind it
        self._one = threading.Lock()
        proxy = self

        class Handler(_Handler):
            owner = proxy

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: Json) -> tuple[Answer, Heard]:
        """Ask the engine, write the accounts, and give what the agent is to hear."""
        came = time.monotonic()
        with self._one:
            if not body.get("tools"):
                self.aside += 1
                return Say(), self._ask(body, ANSWER_TOKENS)
            wanted = self.script.popleft() if self.script else Say()
            spoken = wanted == Say()
            heard = self._ask(body, ANSWER_TOKENS if spoken else 1)
            self._account(body, heard, spoken, came)
            if spoken and not heard.text.strip():
                wanted = Say("Noted.")
            return wanted, heard

    def _account(self, body: Json, heard: Heard, spoken: bool, came: float) -> None:
        prompt = self.engine.prompt(body)
        tokens = self.engine.tokens(prompt)
        reported = int(heard.usage["prompt_tokens"])
        if reported != len(tokens):
            self.broken = f"{len(tokens)} tokens counted, {reported} reported"
        reused = int(heard.usage["prompt_tokens_details"]["cached_tokens"])
        self.asked.append(Asked(self.turn, len(tokens), reused, self._could(tokens), came, heard.first))
        self._before = self._held = tokens
        if spoken:
            self._held = self.engine.tokens(prompt + heard.text)
            if heard.stop == "length":  # the last token was written, but never read
                self._held.pop()

    def _could(self, tokens: list[int]) -> int:
        same = next(
            (i for i, (a, b) in enumerate(zip(self._held, tokens, strict=False)) if a != b),
            min(len(self._held), len(tokens)),
        )
        return max(len(self._before), same)

    def _ask(self, body: Json, most: int) -> Heard:
        asked: Json = {k: body[k] for k in ("messages", "tools") if k in body}
        asked |= {"model": MODEL, "max_tokens": most, "temperature": 0, "seed": 1, "stream": True}
        asked |= {"stream_options": {"include_usage": True}, "tool_choice": "none"}
        request = urllib.request.Request(
            f"{self.engine.url}/v1/chat/completions",
            json.dumps(asked).encode(),
            {"content-type": "application/json"},
        )
        usage: Json = {}
        text, stop, first = "", "", 0.0
        with urllib.request.urlopen(request, timeout=600) as answer:
            for line in answer:
                if not line.startswith(b"data: {"):
                    continue
                event = json.loads(line[6:])
                usage = event.get("usage") or usage
                for choice in event.get("choices", ()):
                    piece = choice["delta"].get("content") or ""
                    first = first or (time.monotonic() if piece else 0.0)
                    text += piece
                    stop = choice.get("finish_reason") or stop
        return Heard(text, usage, stop, first or time.monotonic())

    def message(self, answer: Answer, heard: Heard) -> tuple[Json, str]:
        """What is said to the agent, and why it ended there."""
        if isinstance(answer, Say):
            return {"role": "assistant", "content": answer.text or heard.text}, "stop"
        self._made += 1
        function = {"name": answer.name, "arguments": answer.arguments}
        call = {"id": f"call_{self._made:04d}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


class _Handler(BaseHTTPRequestHandler):
    """The little of HTTP that agents need here."""

    owner: Proxy
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        return

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            model = {"id": MODEL, "object": "model", "created": 1, "owned_by": "bench"}
            self._send({"object": "list", "data": [{**model, "context_length": STATED_WINDOW}]})
        else:
            self._send({"error": {"message": "not here"}}, 404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if not self.path.endswith("/chat/completions"):
            self._send({"error": {"message": "not here"}}, 404)
            return
        try:
            answer, heard = self.owner.answer(body)
        except urllib.error.HTTPError as error:
            told = error.read()
            self.owner.broken = f"status {error.code}: {told[:300]!r}"
            self._write(told, "application/json", error.code)
            return
        message, stop = self.owner.message(answer, heard)
        base = {"id": f"chatcmpl-{len(self.owner.asked)}", "created": int(time.time()), "model": MODEL}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": stop}
            self._send({**base, "object": "chat.completion", "choices": [choice], "usage": heard.usage})
            return
        events = "".join(f"data: {json.dumps(e)}\n\n" for e in _events(base, message, stop, heard.usage))
        self._write(f"{events}data: [DONE]\n\n".encode(), "text/event-stream")

    def _send(self, body: Json, status: int = 200) -> None:
        self._write(json.dumps(body).encode(), "application/json", status)

    def _write(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _events(base: Json, message: Json, stop: str, usage: Json) -> Iterator[Json]:
    chunk = {**base, "object": "chat.completion.chunk"}
    delta = dict(message)
    if calls := delta.get("tool_calls"):
        delta["tool_calls"] = [{**call, "index": i} for i, call in enumerate(calls)]
    for part, reason in ((delta, None), ({}, stop)):
        yield {**chunk, "choices": [{"index": 0, "delta": part, "finish_reason": reason}]}
    yield {**chunk, "choices": [], "usage": usage}
