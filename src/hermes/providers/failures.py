"""A provider's refusals, in words that say what to do. No key and no body of a request ever stands in one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hermes.errors import ModelError
from hermes.providers.endpoints import Endpoint
from hermes.providers.http1 import SILENT, UNTRUSTED
from hermes.providers.keys import Key, remedy

_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|exceed_context|too (?:long|many tokens)|maximum (?:context|prompt)"
    r"|request_too_large|reduce the length",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(
    r"insufficient[_ ](?:quota|balance|credit|funds)|billing|credit balance", re.IGNORECASE
)
_NO_MODEL = re.compile(
    r"model\b.{0,80}(?:not (?:exist|found)|no such|unknown|invalid)|model_not_found", re.IGNORECASE
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")

_BY_TYPE = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "invalid_request_error": 400,
    "overloaded_error": 529,
    "api_error": 500,
    "server_error": 500,
}
"""What a failure in the midst of a stream would have been as a status."""


def refused(
    endpoint: Endpoint,
    key: Key,
    model: str,
    status: int,
    body: bytes,
    headers: Mapping[str, str],
    names: Sequence[str] = (),
) -> ModelError:
    """The error for an answer with a failing status. `names` are the models that the provider has."""
    error = _error_of(body)
    said, code = _words(error, key), _code(error)
    retry_after = _retry_after(headers)
    kind, advice = _judged(endpoint, key, model, status, f"{code} {said}", names)
    if kind == "rate" and retry_after is not None:
        advice += f"; it asks to wait {retry_after:.0f} s"
    text = f"{endpoint.name}: {advice}" + (f" (it says: {said})" if said else f" (status {status})")
    return ModelError(text, kind=kind, status=status, retry_after=retry_after)


def broken_stream(endpoint: Endpoint, key: Key, model: str, error: object) -> ModelError:
    """The error that a provider reports in the midst of its answer."""
    body = json.dumps({"error": error}).encode()
    code = _code(error)
    status = int(code) if code.isdigit() else _BY_TYPE.get(code.partition(" ")[0], 500)
    return refused(endpoint, key, model, status, body, {})


def unreachable(endpoint: Endpoint, problem: str) -> ModelError:
    """The error for a provider that no connection can be made to, or that breaks one off."""
    where = endpoint.host or endpoint.base_url
    if problem == UNTRUSTED:
        advice = (
            "if you know it, put it into a file that SSL_CERT_FILE names; if not, somebody may stand between"
        )
        return ModelError(f"{endpoint.name}: {problem} ({where}); {advice}", kind="request")
    if problem == SILENT:
        longer = f"providers.{endpoint.name}.timeout sets how long is waited"
        advice = f"it was silent for {endpoint.timeout:g} s; {longer}"
    elif endpoint.is_local:
        start = f"start it ({endpoint.start})" if endpoint.start else "start it"
        advice = f"is the server at {where} running? If not, {start}"
    else:
        advice = f"is there a network, and does providers.{endpoint.name} name the right address, {where}?"
    return ModelError(f"{endpoint.name}: {problem}; {advice}", kind="network")


def unreadable(endpoint: Endpoint, headers: Mapping[str, str]) -> ModelError | None:
    """The error for an answer that says it is well and, by its head, is none that can be read."""
    packed = headers.get("content-encoding", "")
    if "html" in headers.get("content-type", ""):
        place = f"put the address of its API into providers.{endpoint.name}.base_url; most end in /v1"
        text = f"{endpoint.host or endpoint.base_url} answers with a page for people; {place}"
    elif packed not in ("", "identity"):
        text = f"its answers are packed ({packed}), which was not asked for; have the server send them plain"
    else:
        return None
    return ModelError(f"{endpoint.name}: {text}", kind="request")


def _judged(
    endpoint: Endpoint, key: Key, model: str, status: int, said: str, names: Sequence[str]
) -> tuple[str, str]:
    """The kind of a failure and what to do about it."""
    held = f"the key in {key.found_in}" if key.found_in else "a call without a key"
    credit = f"the credit of {held} is used up; add some there, or use another provider"
    long = f"the request is longer than {model} takes; compress the session, or take a model with more room"
    moved = f"it answers with a redirection; put the right address into providers.{endpoint.name}.base_url"
    rows = (
        (status == 402 or (status in (400, 403, 429) and _NO_CREDIT.search(said)), "auth", credit),
        (status == 401, "auth", f"{held} was refused; {remedy(endpoint)}"),
        (status in (400, 413, 422, 500) and _TOO_LONG.search(said), "context", long),
        (
            status == 404 or (status == 400 and _NO_MODEL.search(said)),
            "request",
            f"there is no model {model}{_nearest(endpoint, model, names)}",
        ),
        (status == 403, "auth", f"{held} may not use {model}; ask for access there, or take another model"),
        (status == 429, "rate", "too many requests for now; wait, or use another provider"),
        (
            status in (408, 409) or status >= 500,
            "overloaded",
            "it is overloaded or failing for now; try again",
        ),
        (300 <= status < 400, "request", moved),
    )
    found = ((kind, advice) for applies, kind, advice in rows if applies)
    return next(found, ("request", "it refused the request"))


def _nearest(endpoint: Endpoint, model: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(model, names, 3, 0.5) or [n for n in names if model.lower() in n.lower()][:3]
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; see: hermes models list {endpoint.name}"


def _error_of(body: bytes) -> object:
    """What a body tells of an error; its text when it is not the JSON that all providers agree on."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        text = body[:2000].decode("utf-8", "replace")
        return "" if "<html" in text.lower() else text
    if isinstance(data, list) and data:  # Google wraps it in a list
        data = data[0]
    if isinstance(data, Mapping):
        return data.get("error") or data.get("detail") or data.get("message") or ""
    return str(data)


def _code(error: object) -> str:
    if not isinstance(error, Mapping):
        return ""
    return " ".join(str(error[k]) for k in ("code", "type", "status") if error.get(k) not in (None, ""))


def _words(error: object, key: Key) -> str:
    """The provider's own words, on one line, without the key and without the marks around it."""
    said: Any = error.get("message") if isinstance(error, Mapping) else error
    text = said if isinstance(said, str) else json.dumps(said) if said else ""
    text = _CONTROL.sub(" ", key.hidden_in(text)).strip()
    text = re.sub(r"\b(?:sk|pk|key|gsk|xai|AIza)[-_][\w*.-]{6,}", "…", text)
    return text if len(text) <= 300 else f"{text[:300]}…"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after`, the latter in seconds or as a date."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(float(milliseconds) / 1000, 0.0)
        value = headers.get("retry-after", "")
        if re.fullmatch(r"\d+(?:\.\d+)?", value):
            return float(value)
        if value and (sent := headers.get("date")):  # by the provider's own clock
            from email.utils import parsedate_to_datetime

            wait = parsedate_to_datetime(value) - parsedate_to_datetime(sent)
            return max(wait.total_seconds(), 0.0)
    except (ValueError, TypeError):
        pass
    return None
