"""A streamed answer on its way to a client: the bytes of its dialect, signs of life, and one end.

Rules
- A stream ends once: with the dialect's own end, or with its own error; nothing comes after either.
- Who sends it may put `keep_alive` between two pieces while nothing comes.
- It is not to be cached, buffered or compressed on its way.
- Left in the middle, it closes the upstream at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects.table import stream_type
from interlingua.errors import Error
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.replies import limit_headers, trail_headers
from interlingua.stream.build import stream_error
from interlingua.types.event import StreamError
from interlingua.wire.json import encode
from interlingua.wire.limits import rate_limits
from interlingua.wire.sse import encode_comment

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from interlingua.client.aio.pump import AsyncPump
    from interlingua.client.core import Live, Outcome
    from interlingua.dialects._contract import StreamEncoder
    from interlingua.gateway.asked import Asked
    from interlingua.types.event import Event
    from interlingua.types.response import Attempt
    from interlingua.wire.http import Headers

__all__ = ["STREAM_HEADERS", "keep_alive_of", "streamed"]

STREAM_HEADERS: Headers = (("cache-control", "no-cache, no-transform"), ("x-accel-buffering", "no"))
"""What keeps a stream from being held back on its way."""
_COMMENT = encode_comment("keep-alive")


def streamed(
    asked: Asked,
    pump: AsyncPump[None],
    events: list[Event],
    live: Live,
    attempts: tuple[Attempt, ...],
    outcome: Outcome,
) -> GatewayReply:
    """The reply of a stream that has begun with `events`."""
    encoder = asked.dialect.stream_encoder(asked.context(live.lane.dialect.name))
    name = asked.dialect.name
    headers = (
        ("content-type", stream_type(name, json_array=asked.decoded.json_array)),
        *STREAM_HEADERS,
        *limit_headers(name, rate_limits(live.headers)),
        *trail_headers(attempts, (*asked.decoded.changes, *live.encoded.changes)),
    )
    body = _pieces(pump, encoder, events, outcome)
    return GatewayReply(headers=headers, body=body, keep_alive=keep_alive_of(asked))


async def _pieces(
    pump: AsyncPump[None], encoder: StreamEncoder, events: list[Event], outcome: Outcome
) -> AsyncGenerator[bytes]:
    batch: list[Event] | None = events
    encode_event = encoder.encode
    try:
        while batch is not None:
            data = b"".join([encode_event(event) for event in batch])
            if data:
                yield data
            batch = await pump.pull()
    except Error as error:
        yield encode_event(failure(error, outcome))
    finally:
        await pump.close()


def failure(error: Error, outcome: Outcome) -> StreamError:
    """The event of an error that ends a stream, with what had come."""
    return stream_error(error, outcome.response or outcome.partial)


def keep_alive_of(asked: Asked) -> bytes:
    """What shows a client that a silent stream is alive: harmless to every official SDK of its dialect."""
    match asked.dialect.name:
        case "anthropic":
            return b'event: ping\ndata: {"type": "ping"}\n\n'
        case "google":
            return b"\n"  # its Python SDK takes a comment for data
        case "ollama":
            return _ollama_piece(asked)
        case _:
            return _COMMENT


def _ollama_piece(asked: Asked) -> bytes:
    """A piece without content; an empty line would be read as JSON."""
    empty = (
        {"response": ""} if asked.http.path.endswith("/generate") else {"message": {"role": "assistant", "content": ""}}
    )
    return encode({"model": asked.decoded.model, "created_at": "1970-01-01T00:00:00Z", **empty, "done": False}) + b"\n"
