"""Short ways to write Responses bytes, and to read what the dialect makes of them."""

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
from interlingua.dialects.openai_responses import DIALECT
from interlingua.errors import Error
from interlingua.testing.laws import assert_any_cut
from interlingua.types.change import Change
from interlingua.types.content import Part, Sealed
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.request import Request
from interlingua.types.response import FinishReason, Response
from interlingua.wire.http import Headers, HttpReply, HttpRequest

__all__ = [
    "DIALECT",
    "NAME",
    "added",
    "answer",
    "call_item",
    "codes",
    "completed",
    "decode",
    "decode_error",
    "done",
    "encode",
    "encode_reply",
    "encode_stream",
    "event",
    "events",
    "failure",
    "message_item",
    "parts",
    "quirky",
    "reply",
    "request",
    "seal",
    "stream",
    "streamed",
    "wire",
]

NAME = DIALECT.name


def seal(**data: Any) -> Sealed:
    """A seal of nobody in particular."""
    return Sealed(NAME, data)


def message_item(text: str, item_id: str = "msg_1", **members: Any) -> dict[str, Any]:
    """A message with one text."""
    content: list[Any] = [{"type": "output_text", "text": text, "annotations": []}]
    head = {"type": "message", "id": item_id, "role": "assistant", "status": "completed"}
    return {**head, "content": content, **members}


def call_item(call_id: str, name: str, arguments: str, item_id: str = "fc_1", **members: Any) -> dict[str, Any]:
    """A call of a function."""
    head = {"type": "function_call", "id": item_id, "call_id": call_id, "name": name}
    return {**head, "arguments": arguments, "status": "completed", **members}


# Answers whole


def reply(*items: dict[str, Any], context: DecodeContext | None = None, **members: Any) -> Response[Any]:
    """The response of a body with these items."""
    body = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": items, **members}
    return DIALECT.decode_response(HttpReply(status=200, body=json.dumps(body).encode()), context or DecodeContext())


def encode_reply(response: Response[Any], context: ServerContext | None = None) -> Any:
    """The parsed body of an encoded answer."""
    return json.loads(DIALECT.encode_response(response, context or ServerContext()).body)


def decode_error(status: int, body: bytes, headers: Headers = ()) -> Error:
    """The error of a failed answer."""
    return DIALECT.decode_error(HttpReply(status=status, headers=headers, body=body), DecodeContext())


def answer(*said: Part, finish: FinishReason = "stop", **rest: Any) -> Response[Any]:
    """A response of these parts."""
    return Response(parts=said, finish_reason=finish, **rest)


# Answers streamed


def event(kind: str, **members: Any) -> bytes:
    """One event, named in its data alone."""
    return b"data: " + json.dumps({"type": f"response.{kind}", **members}).encode() + b"\n\n"


def added(item: dict[str, Any], index: int = 0) -> bytes:
    """An item opens."""
    return event("output_item.added", output_index=index, item=item)


def done(item: dict[str, Any], index: int = 0) -> bytes:
    """An item is whole."""
    return event("output_item.done", output_index=index, item=item)


def completed(*items: dict[str, Any], status: str = "completed", **members: Any) -> bytes:
    """The last event."""
    body = {"id": "resp_1", "object": "response", "status": status, "model": "m", "output": items, **members}
    return event(status, response=body)


def stream(*pieces: bytes, **members: Any) -> bytes:
    """A whole stream around these events."""
    head: dict[str, Any] = {"id": "resp_1", "object": "response", "status": "in_progress", "model": "m", "output": []}
    return event("created", response=head) + b"".join(pieces) + completed(**members)


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
    """The parsed data of an encoded stream; each event is named as its data says, and numbered."""
    encoder = DIALECT.stream_encoder(context or ServerContext())
    raw = b"".join(encoder.encode(event) for event in found)
    told: list[Any] = []
    for number, piece in enumerate(raw.split(b"\n\n")[:-1]):
        name, _, data = piece.partition(b"\n")
        body = json.loads(data.removeprefix(b"data: "))
        assert name.decode() == f"event: {body['type']}"
        assert body.pop("sequence_number") == number
        told.append(body)
    return told


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


def decode(body: dict[str, Any] | list[Any], options: DecodeOptions | None = None) -> DecodedRequest:
    """A client's request: the whole body, or its input."""
    whole = {"model": "m", "input": body} if isinstance(body, list) else {"model": "m", **body}
    asked = HttpRequest(url="http://test/", body=json.dumps(whole).encode())
    return DIALECT.decode_request(asked, options or DecodeOptions())


def request(body: dict[str, Any] | list[Any], options: DecodeOptions | None = None) -> Request:
    """What a client asks."""
    return decode(body, options).request


def codes(changes: tuple[Change, ...]) -> list[str]:
    """`code path` of each change."""
    return [f"{change.code} {change.path}" for change in changes]
