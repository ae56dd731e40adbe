"""Short ways to write Chat Completions bytes, and to read what the dialect makes of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from interlingua.dialects.openai_chat import DIALECT
from interlingua.errors import Error
from interlingua.testing.laws import assert_any_cut
from interlingua.types.change import Change
from interlingua.types.content import Part
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.request import Request
from interlingua.types.response import FinishReason, Response
from interlingua.wire.http import Headers, HttpReply, HttpRequest

__all__ = [
    "DONE",
    "answer",
    "chunk",
    "codes",
    "decode",
    "decode_error",
    "encode",
    "encode_reply",
    "encode_stream",
    "events",
    "failure",
    "parts",
    "quirky",
    "reply",
    "request",
    "stream",
    "streamed",
    "wire",
]

NAME = DIALECT.name
DONE = b"data: [DONE]\n\n"
"""What ends a stream."""


# Answers whole


def reply(
    message: str, finish: str | None = "stop", rest: str = "", context: DecodeContext | None = None
) -> Response[Any]:
    """The response of a body whose only choice has this message (JSON text)."""
    body = (
        f'{{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{message},'
        f'"finish_reason":{json.dumps(finish)}}}]{rest}}}'
    )
    return DIALECT.decode_response(HttpReply(status=200, body=body.encode()), context or DecodeContext())


def encode_reply(response: Response[Any], context: ServerContext | None = None) -> Any:
    """The parsed body of an encoded answer."""
    return json.loads(DIALECT.encode_response(response, context or ServerContext()).body)


def decode_error(status: int, body: bytes, headers: Headers = ()) -> Error:
    """The error of a failed answer."""
    return DIALECT.decode_error(HttpReply(status=status, headers=headers, body=body), DecodeContext())


def answer(*said: Part, finish: FinishReason = "tool_calls", **rest: Any) -> Response[Any]:
    """A response of these parts."""
    return Response(parts=said, finish_reason=finish, **rest)


# Answers streamed


def chunk(delta: str, finish: str | None = None, choice: int = 0, rest: str = "") -> bytes:
    """One event: a chunk with this delta (JSON text)."""
    text = (
        f'{{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":{choice},'
        f'"delta":{delta},"finish_reason":{json.dumps(finish)}}}]{rest}}}'
    )
    return b"data: " + text.encode() + b"\n\n"


def stream(*deltas: str, finish: str | None = "tool_calls") -> bytes:
    """A whole stream: one chunk a delta, then the finish reason in a chunk of its own and `[DONE]`."""
    return b"".join(chunk(delta) for delta in deltas) + chunk("{}", finish) + DONE


def events(raw: bytes, context: DecodeContext | None = None) -> list[Event]:
    """The events of a stream: lawful, and the same for every cut."""
    return assert_any_cut(DIALECT, raw, context)


def streamed(raw: bytes, context: DecodeContext | None = None) -> Response[Any]:
    """The response that a stream ends with."""
    last = events(raw, context)[-1]
    assert isinstance(last, StreamEnd), last
    return last.response


def parts(raw: bytes, context: DecodeContext | None = None) -> tuple[Part, ...]:
    """The parts that a stream adds up to."""
    return streamed(raw, context).parts


def failure(raw: bytes, context: DecodeContext | None = None) -> StreamError:
    """The error that a stream ends with."""
    last = events(raw, context)[-1]
    assert isinstance(last, StreamError), last
    return last


def encode_stream(found: Sequence[Event], context: ServerContext | None = None) -> list[Any]:
    """The parsed data of an encoded stream; `[DONE]` as that text."""
    encoder = DIALECT.stream_encoder(context or ServerContext())
    raw = b"".join(encoder.encode(event) for event in found)
    data = [piece.removeprefix(b"data: ") for piece in raw.split(b"\n\n")[:-1]]
    return ["[DONE]" if piece == b"[DONE]" else json.loads(piece) for piece in data]


# Requests


def quirky(provider: str = "", model: str = "m", **flags: Any) -> Target:
    """A target with these quirks."""
    return Target(model=model, provider=provider, quirks=Quirks(**flags))


def encode(asked: Request, target: Target | None = None, **options: Any) -> Encoded:
    """An encoded request."""
    return DIALECT.encode_request(asked, EncodeOptions(target=target or Target(model="m"), **options))


def wire(asked: Request, target: Target | None = None, **options: Any) -> Any:
    """The parsed body of an encoded request."""
    return json.loads(encode(asked, target, **options).body)


def decode(body: str | bytes, options: DecodeOptions | None = None) -> DecodedRequest:
    """A client's request: the whole body (bytes), or its messages (JSON text)."""
    whole = body if isinstance(body, bytes) else b'{"model":"m","messages":%b}' % body.encode()
    return DIALECT.decode_request(HttpRequest(url="http://test/", body=whole), options or DecodeOptions())


def request(body: str | bytes, options: DecodeOptions | None = None) -> Request:
    """What a client asks."""
    return decode(body, options).request


def codes(changes: tuple[Change, ...]) -> list[str]:
    """`code path` of each change."""
    return [f"{change.code} {change.path}" for change in changes]
