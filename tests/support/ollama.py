"""Short ways to write Ollama's bytes, and to read what the dialect makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from interlingua.dialects._contract import (
    DecodeContext,
    DecodedRequest,
    DecodeOptions,
    Encoded,
    EncodeOptions,
    Quirks,
    ServerContext,
    Target,
)
from interlingua.dialects.ollama import DIALECT
from interlingua.testing.laws import assert_any_cut
from interlingua.types.change import Change
from interlingua.types.event import Event, StreamEnd
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest

__all__ = [
    "CALLS",
    "CHAT",
    "GENERATE",
    "answer",
    "codes",
    "decode",
    "encode",
    "encode_reply",
    "encode_stream",
    "events",
    "line",
    "quirky",
    "streamed",
    "wire",
]

CHAT = "http://localhost:11434/api/chat"
GENERATE = "http://localhost:11434/api/generate"
CALLS: list[dict[str, Any]] = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {"x": 1}}}]},
]
"""A question and a call without an id."""


def decode(body: dict[str, Any] | str, url: str = CHAT, options: DecodeOptions | None = None) -> DecodedRequest:
    """A client's request."""
    text = body if isinstance(body, str) else json.dumps({"model": "m", **body})
    return DIALECT.decode_request(HttpRequest(url=url, body=text.encode()), options or DecodeOptions())


def quirky(**quirks: Any) -> EncodeOptions:
    """Options for a server with these quirks."""
    return EncodeOptions(target=Target(model="m", quirks=Quirks(**quirks)))


def encode(request: Request, options: EncodeOptions | None = None) -> Encoded:
    """A request as it is sent."""
    return DIALECT.encode_request(request, options or quirky())


def wire(request: Request, options: EncodeOptions | None = None) -> Any:
    """Its body, without what every body says."""
    body = json.loads(encode(request, options).body)
    return {name: value for name, value in body.items() if name not in ("model", "stream")}


def answer(body: dict[str, Any] | str, context: DecodeContext | None = None) -> Response[Any]:
    """A whole answer."""
    text = body if isinstance(body, str) else json.dumps(body)
    return DIALECT.decode_response(HttpReply(status=200, body=text.encode()), context or DecodeContext())


def encode_reply(response: Response[Any], context: ServerContext | None = None) -> tuple[Any, list[str]]:
    """The body of a whole answer to a client, and the codes of what it lost."""
    changes: list[Change] = []
    given = context or ServerContext()
    taking = ServerContext(
        source=given.source, model=given.model, path=given.path, created=given.created, changes=changes
    )
    return json.loads(DIALECT.encode_response(response, taking).body), codes(changes)


def line(content: str = "", done: bool = False, **members: Any) -> bytes:
    """One line of a stream; `message` members are given in `message`."""
    message = {"role": "assistant", "content": content, **members.pop("message", {})}
    body = {"model": "m", "created_at": "2026-11-21T10:00:00Z", "message": message, "done": done, **members}
    return json.dumps(body, separators=(",", ":")).encode() + b"\n"


def events(data: bytes, context: DecodeContext | None = None) -> list[Event]:
    """The events of a stream: lawful, and the same for every cut."""
    return assert_any_cut(DIALECT, data, context)


def streamed(data: bytes, context: DecodeContext | None = None) -> Response[Any]:
    """What a stream that comes to its end adds up to."""
    last = events(data, context)[-1]
    assert isinstance(last, StreamEnd), last
    return last.response


def encode_stream(found: Iterable[Event], context: ServerContext | None = None) -> list[Any]:
    """The lines that a client gets."""
    encoder = DIALECT.stream_encoder(context or ServerContext())
    return [json.loads(text) for text in b"".join([encoder.encode(event) for event in found]).splitlines()]


def codes(changes: Iterable[Change]) -> list[str]:
    """Code and path of every change."""
    return [f"{change.code} {change.path}" for change in changes]
