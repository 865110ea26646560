"""A Honcho on this machine: the routes of API v3 that are used, bodies read by the SDK's own strict models.

What it "concludes" is what was said, and two texts are as far apart as the words they do not share.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from hermes.sessions.search import folded

NOW = "2026-03-30T12:00:00Z"
KEY = "hch-test-key"


@dataclass
class Service:
    """What the server knows and has heard. `fail` answers are failures, of that status."""

    url: str = ""
    card: list[str] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    fail: int = 0

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        from honcho import api_types as api

        parts = path.strip("/").split("/")
        assert parts[:2] == ["v3", "workspaces"], path
        match (method, parts[2:]):
            case "POST", []:
                return {"id": api.WorkspaceCreateParams(**body).id, "created_at": NOW}
            case "POST", [workspace, "peers"]:
                peer = api.PeerCreateParams(**body)
                return {"id": peer.id, "workspace_id": workspace, "created_at": NOW}
            case "POST", [workspace, "sessions"]:
                session = api.SessionCreateParams(**body)
                return {"id": session.id, "workspace_id": workspace, "is_active": True, "created_at": NOW}
            case "POST", [workspace, "sessions", session_id, "messages"]:
                batch = api.MessageBatchCreateParams(**body)
                return [self._heard(m, workspace, session_id) for m in batch.messages]
            case "GET", [_, "peers", peer_id, "context"]:
                return {
                    "peer_id": peer_id,
                    "target_id": query.get("target", [peer_id])[0],
                    "representation": "\n".join(self.said),
                    "peer_card": self.card,
                }
            case "POST", [_, "conclusions", "query"]:
                asked = api.ConclusionQueryParams(**body)
                return [self._conclusion(i, t, asked) for i, t in enumerate(self.said) if near(t, asked)]
            case "POST", [_, "peers", peer_id, "chat"]:
                return {"content": f"about {peer_id}: {body['query']}"}
        raise AssertionError(f"no such route: {method} {path}")

    def _heard(self, message: Any, workspace: str, session: str) -> dict[str, Any]:
        told = {
            "id": uuid.uuid4().hex,
            "content": message.content,
            "peer_id": message.peer_id,
            "session_id": session,
            "workspace_id": workspace,
            "created_at": message.created_at.isoformat(),
            "token_count": len(message.content) // 4,
        }
        self.messages.append(told)
        return told

    def _conclusion(self, number: int, text: str, asked: Any) -> dict[str, Any]:
        filters = asked.filters
        return {
            "id": f"c{number}",
            "content": text,
            "observer_id": filters["observer_id"],
            "observed_id": filters["observed_id"],
            "created_at": NOW,
        }


def near(text: str, asked: Any) -> bool:
    """Whether a conclusion is as near as was asked for."""
    words, wanted = set(folded(text).split()), set(folded(asked.query).split())
    return 1 - len(words & wanted) / len(wanted) <= asked.distance


@contextmanager
def honcho_server() -> Iterator[Service]:
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            url = urlsplit(self.path)
            service.calls.append((self.command, url.path))
            status, answer = 200, None
            if self.headers["Authorization"] != f"Bearer {KEY}":
                status, answer = 401, {"detail": "no such key"}
            elif service.fail:
                status, answer = service.fail, {"detail": "out of order"}
            else:
                answer = service.answer(
                    self.command, url.path, parse_qs(url.query), json.loads(raw) if raw else None
                )
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
