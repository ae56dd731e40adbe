"""Short ways to write Anthropic Messages bytes, and to read what the dialect makes of them."""

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
    Facts,
    ServerContext,
    Target,
)
from interlingua.dialects.anthropic import DIALECT
from interlingua.errors import Error
from interlingua.testing.laws import assert_any_cut
from interlingua.types.change import Change
from interlingua.types.content import Part
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import Headers, HttpReply, HttpRequest

__all__ = [
    "NAME",
    "START",
    "STOP",
    "block",
    "codes",
    "decode",
    "decode_error",
    "encode",
    "encode_reply",
    "encode_stream",
    "ended",
    "event",
    "events",
    "failure",
    "known",
    "parts",
    "raw_stream",
    "reply",
    "request",
    "streamed",
    "wire",
]

NAME = DIALECT.name


def event(body: str) -> bytes:
    """One event of a stream (JSON text)."""
    return f"event: {json.loads(body)['type']}\ndata: {body}\n\n".encode()


START = event(
    '{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x",'
    '"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":1}}}'
)
STOP = event('{"type":"message_stop"}')


def block(index: int, start: str, *deltas: str) -> bytes:
    """One whole block of a stream: how it starts, and its deltas (JSON texts)."""
    return (
        event(f'{{"type":"content_block_start","index":{index},"content_block":{start}}}')
        + b"".join(event(f'{{"type":"content_block_delta","index":{index},"delta":{delta}}}') for delta in deltas)
        + event(f'{{"type":"content_block_stop","index":{index}}}')
    )


def ended(reason: str = "end_turn", usage: str = '{"output_tokens":7}') -> bytes:
    """The end of a stream."""
    delta = f'{{"stop_reason":{json.dumps(reason)},"stop_sequence":null}}'
    return event(f'{{"type":"message_delta","delta":{delta},"usage":{usage}}}') + STOP


# Answers


def reply(
    content: str, reason: str = "end_turn", rest: str = "", context: DecodeContext | None = None
) -> Response[Any]:
    """The response of a body with this content (JSON text)."""
    body = (
        f'{{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":{content},'
        f'"stop_reason":{json.dumps(reason)},"stop_sequence":null,"usage":{{"input_tokens":5,"output_tokens":7}}{rest}}}'
    )
    return DIALECT.decode_response(HttpReply(status=200, body=body.encode()), context or DecodeContext())


def encode_reply(response: Response[Any], context: ServerContext | None = None) -> Any:
    """The parsed body of an encoded answer."""
    return json.loads(DIALECT.encode_response(response, context or ServerContext()).body)


def decode_error(status: int, body: bytes, headers: Headers = ()) -> Error:
    """The error of a failed answer."""
    return DIALECT.decode_error(HttpReply(status=status, headers=headers, body=body), DecodeContext())


def events(raw: bytes, context: DecodeContext | None = None) -> list[Event]:
    """The events of a stream: lawful, and the same for every cut."""
    return assert_any_cut(DIALECT, raw, context)


def streamed(raw: bytes, context: DecodeContext | None = None) -> Response[Any]:
    """The response that a stream ends with."""
    last = events(raw, context)[-1]
    assert isinstance(last, StreamEnd), last
    return last.response


def parts(raw: bytes, context: DecodeContext | None = None) -> tuple[Part, ...]:
    """The parts that the blocks of a stream add up to."""
    return streamed(START + raw + ended(), context).parts


def failure(raw: bytes) -> StreamError:
    """The error that a stream ends with."""
    last = events(raw)[-1]
    assert isinstance(last, StreamError), last
    return last


def raw_stream(found: Sequence[Event], context: ServerContext | None = None) -> bytes:
    """An encoded stream."""
    encoder = DIALECT.stream_encoder(context or ServerContext())
    return b"".join(encoder.encode(event) for event in found)


def encode_stream(found: Sequence[Event], context: ServerContext | None = None) -> list[Any]:
    """The parsed data of an encoded stream; each event's name is its type."""
    bodies: list[Any] = []
    for piece in raw_stream(found, context).split(b"\n\n")[:-1]:
        name, _, data = piece.partition(b"\n")
        bodies.append(json.loads(data.removeprefix(b"data: ")))
        assert name == b"event: " + bodies[-1]["type"].encode()
    return bodies


# Requests


def known(**facts: Any) -> Target:
    """A target of whose model these facts are known."""
    return Target(model="claude-x", provider="anthropic", facts=Facts(**facts))


def encode(asked: Request, target: Target | None = None, **options: Any) -> Encoded:
    """An encoded request."""
    return DIALECT.encode_request(asked, EncodeOptions(target=target or Target(model="claude-x"), **options))


def wire(asked: Request, target: Target | None = None, **options: Any) -> Any:
    """The parsed body of an encoded request."""
    return json.loads(encode(asked, target, **options).body)


def decode(body: Any, headers: Headers = (), **options: Any) -> DecodedRequest:
    """What a client's body asks; what is missing of it is filled in."""
    filled = {"model": "claude-x", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]}
    whole: Any = body if isinstance(body, bytes) else {**filled, **body}
    raw = whole if isinstance(whole, bytes) else json.dumps(whole, ensure_ascii=False).encode()
    asked = HttpRequest(url="http://test/v1/messages", headers=headers, body=raw)
    return DIALECT.decode_request(asked, DecodeOptions(**options))


def request(*messages: Any, **rest: Any) -> Request:
    """The request of a body with these messages."""
    return decode({"messages": list(messages), **rest}).request


def codes(changes: Sequence[Change]) -> list[str]:
    """`action code path` of each change."""
    return [f"{change.action} {change.code} {change.path}" for change in changes]
