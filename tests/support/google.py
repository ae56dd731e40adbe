"""Bodies and frames of generateContent, and what our dialect makes of them, for tests."""

from __future__ import annotations

import json
from typing import Any

from interlingua.dialects._contract import (
    DecodeContext,
    DecodedRequest,
    DecodeOptions,
    Encoded,
    EncodeOptions,
    ServerContext,
    Target,
)
from interlingua.dialects.google import DIALECT
from interlingua.errors import Error
from interlingua.stream.fold import fold
from interlingua.testing.laws import assert_any_cut, encode_stream
from interlingua.types.change import Change
from interlingua.types.event import Event
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest

__all__ = [
    "DIALECT",
    "STREAM_URL",
    "URL",
    "candidate",
    "codes",
    "decode",
    "encode",
    "error",
    "events",
    "frame",
    "frames",
    "reply",
    "sent",
    "served",
    "shown",
    "streamed",
    "turn",
]

URL = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent"
STREAM_URL = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent"


def codes(changes: tuple[Change, ...]) -> list[str]:
    """The codes of changes, in order."""
    return [change.code for change in changes]


# Requests


def decode(body: Any, *, url: str = URL, history: Any = "refuse") -> DecodedRequest:
    """A client's request."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return DIALECT.decode_request(HttpRequest(url=url, body=data), DecodeOptions(history=history))


def turn(*parts: Any, role: str = "user") -> dict[str, Any]:
    """One content."""
    return {"role": role, "parts": list(parts)}


def encode(request: Request, *, target: Target | None = None, **options: Any) -> Encoded:
    """Our request to the service."""
    return DIALECT.encode_request(request, EncodeOptions(target=target or Target(model="gemini-3-pro"), **options))


def sent(*messages: Message, target: Target | None = None, **fields: Any) -> Any:
    """The body of a request with these messages."""
    return json.loads(encode(Request(messages=messages, **fields), target=target).body)


# Answers


def candidate(*parts: Any, finish: Any = "STOP", **members: Any) -> dict[str, Any]:
    """One candidate."""
    said = {} if finish is None else {"finishReason": finish}
    return {"content": {"role": "model", "parts": list(parts)}, **said, **members}


def reply(*parts: Any, finish: Any = "STOP", status: int = 200, body: Any = None, **context: Any) -> Response[Any]:
    """A whole answer, decoded."""
    given = {"candidates": [candidate(*parts, finish=finish)]} if body is None else body
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    return DIALECT.decode_response(HttpReply(status=status, body=data), DecodeContext(**context))


def error(status: int, body: Any, headers: tuple[tuple[str, str], ...] = ()) -> Error:
    """The error that an answer stands for."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return DIALECT.decode_error(HttpReply(status=status, headers=headers, body=data), DecodeContext())


def frame(*parts: Any, finish: Any = None, **members: Any) -> bytes:
    """One frame of a stream."""
    return b"data: " + json.dumps({"candidates": [candidate(*parts, finish=finish)], **members}).encode() + b"\r\n\r\n"


def events(data: bytes, **context: Any) -> list[Event]:
    """The events of a stream, the same for every cut."""
    return assert_any_cut(DIALECT, data, DecodeContext(**context))


def streamed(data: bytes, **context: Any) -> Response[Any]:
    """What a stream adds up to."""
    return fold(events(data, **context))


# Serving


def shown(response: Response[Any], **context: Any) -> Any:
    """The body that a client is shown."""
    return json.loads(DIALECT.encode_response(response, ServerContext(**context)).body)


def served(made: list[Event], **context: Any) -> bytes:
    """The bytes of a stream that a client is shown."""
    return encode_stream(DIALECT, made, ServerContext(**context))


def frames(data: bytes) -> list[Any]:
    """The frames of a stream of server-sent events."""
    return [json.loads(event.removeprefix("data: ")) for event in data.decode().split("\r\n\r\n") if event]
