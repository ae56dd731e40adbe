"""Bad codecs, on which the corpus command must fail: one that understands nothing, one that loses a call."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from interlingua.dialects._contract import (
    DecodeContext,
    DecodedRequest,
    DecodeOptions,
    Dialect,
    Encoded,
    EncodeOptions,
    ServerContext,
    StreamDecoder,
)
from interlingua.dialects._streams.frames import ResumingEncoder
from interlingua.dialects.unified.passing import Frames, is_normal
from interlingua.errors import Error, UpstreamError
from interlingua.types.change import Changes
from interlingua.types.content import ToolCall
from interlingua.types.event import Event, Extra, StreamEnd, StreamStart
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest

NAME = "openai-chat"


# The identity codec: the whole body rides in `extra`, and every round trip is perfect.


def identity() -> Dialect:
    """A dialect that carries bodies along unread."""
    return Dialect(
        name=NAME,
        encode_request=_encode_request,
        decode_response=_decode_response,
        decode_error=_decode_error,
        stream_decoder=_stream_decoder,
        decode_request=_decode_request,
        encode_response=_encode_response,
        encode_error=_encode_error,
        stream_encoder=_stream_encoder,
        frame_check=Frames,
        is_normal=is_normal,
        normal_form=_normal_form,
    )


def _encode_request(request: Request, options: EncodeOptions) -> Encoded:
    return Encoded(path="/chat/completions", body=msgspec.json.encode(request.extra.get(NAME, {})))


def _decode_request(request: HttpRequest, options: DecodeOptions) -> DecodedRequest:
    body = msgspec.json.decode(request.body)
    return DecodedRequest(model=body.get("model", ""), request=Request(extra={NAME: body}))


def _decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
    body = msgspec.json.decode(reply.body)
    if "error" in body:
        raise UpstreamError("an error")
    return Response(extra={NAME: body})


def _encode_response(response: Response[Any], context: ServerContext) -> HttpReply:
    return HttpReply(status=200, body=msgspec.json.encode(response.extra.get(NAME, {})))


def _decode_error(reply: HttpReply, context: DecodeContext) -> Error:
    return UpstreamError(reply.body.decode(), status=reply.status)


def _encode_error(error: Error, context: ServerContext) -> HttpReply:
    return HttpReply(status=error.status or 500, body=error.message.encode())


def _stream_decoder(context: DecodeContext) -> StreamDecoder:
    return cast("StreamDecoder", _Decoder())


def _stream_encoder(context: ServerContext) -> _Encoder:
    return _Encoder()


def _normal_form(kind: str, body: object) -> object:
    return body


class _Decoder:
    terminal = ended = False

    def __init__(self) -> None:
        self.data = b""

    def feed(self, data: bytes) -> list[Event]:
        self.data += data
        return []

    def close(self) -> list[Event]:
        text = self.data.decode()
        return [StreamStart(), Extra(NAME, text), StreamEnd(Response(extra={NAME: {"stream": text}}))]

    def fail(self, error: Error) -> list[Event]:
        return []


class _Encoder(ResumingEncoder):
    def encode(self, event: Event) -> bytes:
        return event.raw.encode() if isinstance(event, Extra) else b""


# The losing codec: a real one, but the last call is gone, in whatever direction it goes.


def losing(real: Dialect) -> Dialect:
    """`real`, except that the last tool call of a request or an answer never gets through."""

    def decode_request(request: HttpRequest, options: DecodeOptions) -> DecodedRequest:
        decoded = real.decode_request(request, options)
        return msgspec.structs.replace(decoded, request=_without_last_call(decoded.request))

    def decode_response(reply: HttpReply, context: DecodeContext) -> Response[Any]:
        response = real.decode_response(reply, context)
        return msgspec.structs.replace(response, parts=_but_last(response.parts))

    def stream_decoder(context: DecodeContext) -> StreamDecoder:
        return cast("StreamDecoder", _LosingDecoder(real.stream_decoder(context)))

    return msgspec.structs.replace(
        real, decode_request=decode_request, decode_response=decode_response, stream_decoder=stream_decoder
    )


def _but_last(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    calls = [place for place, part in enumerate(parts) if isinstance(part, ToolCall)]
    return parts if not calls else (*parts[: calls[-1]], *parts[calls[-1] + 1 :])


def _without_last_call(request: Request) -> Request:
    messages = list(request.messages)
    callers = [place for place, message in enumerate(messages) if message.tool_calls]
    if callers:
        message = messages[callers[-1]]
        messages[callers[-1]] = msgspec.structs.replace(message, parts=_but_last(message.parts))
        messages = [_without_results(message, _ids(messages)) for message in messages]
    return msgspec.structs.replace(request, messages=tuple(messages))


def _ids(messages: list[Message]) -> set[str]:
    return {call.id for message in messages for call in message.tool_calls}


def _without_results(message: Message, ids: set[str]) -> Message:
    lost = {result.call_id for result in message.tool_results} - ids
    parts = tuple(part for part in message.parts if getattr(part, "call_id", None) not in lost)
    return msgspec.structs.replace(message, parts=parts)


class _LosingDecoder:
    """Leaves the last call out of the response that ends the stream, and out of the events before it."""

    def __init__(self, inner: StreamDecoder) -> None:
        self.inner = inner
        self.events: list[Event] = []

    @property
    def terminal(self) -> bool:
        return self.inner.terminal

    @property
    def ended(self) -> bool:
        return self.inner.ended

    @property
    def changes(self) -> Changes:
        return self.inner.changes

    @property
    def compared(self) -> bytes:
        return b""

    def feed(self, data: bytes) -> list[Event]:
        self.events += self.inner.feed(data)
        return []

    def close(self) -> list[Event]:
        events = [*self.events, *self.inner.close()]
        end = events[-1]
        if not isinstance(end, StreamEnd):
            return events
        parts = _but_last(end.response.parts)
        lost = [place for place, part in enumerate(end.response.parts) if not any(part is kept for kept in parts)]
        kept = [event for event in events[:-1] if getattr(event, "index", None) not in lost]
        return [*kept, StreamEnd(msgspec.structs.replace(end.response, parts=parts))]

    def fail(self, error: Error) -> list[Event]:
        return self.inner.fail(error)
