"""The decoders of every dialect: requests, whole answers and errors, streams.

What was read is written again, also in the canonical order of events; a stream must be lawful however it is cut. Where
mutation starts is what the dialect itself writes of one request and one answer that say much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fuzz.target import Target
from interlingua.dialects._contract import DecodeContext, DecodeOptions, Dialect, EncodeOptions, ServerContext
from interlingua.dialects._contract import Target as Whom
from interlingua.dialects.table import get_dialect
from interlingua.errors import RateLimitError
from interlingua.stream.check import check
from interlingua.stream.unfold import unfold
from interlingua.types.content import ImagePart, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.event import Event
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import Tool
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply, HttpRequest

__all__ = ["dialect_targets"]

URL = "http://fuzz/v1beta/models/m:generateContent"
"""Names the model for the one dialect that has it in the path; the others do not look."""
CALL = ToolCall("call_1", "f", '{"x":[1,{"y":"z"}]}')
REQUEST = Request(
    system=(TextPart("Be brief."),),
    messages=(
        Message("user", (TextPart("Hi"), ImagePart(b"\x89PNG\r\n\x1a\n", "image/png"))),
        Message("assistant", (ThinkingPart("Hm"), TextPart("So"), CALL)),
        Message("tool", (ToolResult("call_1", "f", "no", is_error=True),)),
        Message("user", (TextPart("Again"),)),
    ),
    tools=(
        Tool(
            name="f",
            description="An f.",
            parameters={"type": "object", "properties": {"x": {"type": "array", "description": "Some."}}},
        ),
    ),
    tool_choice="auto",
    max_tokens=9,
    temperature=0.5,
    stop=("END",),
)
RESPONSE = Response(
    parts=(ThinkingPart("Hm"), TextPart("So\n"), CALL),
    finish_reason="tool_calls",
    usage=Usage(input_tokens=3, output_tokens=2, cache_read_tokens=1),
    model="m",
    wire_model="m",
    id="r1",
)


def dialect_targets(name: str) -> dict[str, Target]:
    """The three targets of a dialect, by their names."""
    dialect = get_dialect(name)
    encoder = dialect.stream_encoder(ServerContext())
    request = dialect.encode_request(REQUEST, EncodeOptions(target=Whom(model="m"))).body
    answer = dialect.encode_response(RESPONSE, ServerContext()).body
    error = dialect.encode_error(RateLimitError("Slow.", status=429, retry_after_s=1), ServerContext()).body
    stream = b"".join(map(encoder.encode, unfold(RESPONSE)))
    return {
        f"{name}-request": Target(_request(dialect), (request,)),
        f"{name}-response": Target(_response(dialect), (answer, error)),
        f"{name}-stream": Target(_stream(dialect), (stream,)),
    }


def _request(dialect: Dialect) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        http = HttpRequest(url=URL, body=data)
        decoded = dialect.decode_request(http, DecodeOptions(history="mend"))
        dialect.encode_request(decoded.request, EncodeOptions(target=Whom(model="m")))

    return run


def _response(dialect: Dialect) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        for status in (200, 429):
            dialect.decode_error(HttpReply(status=status, body=data), DecodeContext())
        response = dialect.decode_response(HttpReply(status=200, body=data), DecodeContext())
        dialect.encode_response(response, ServerContext())
        dialect.encode_response(response, ServerContext(source=dialect.name))

    return run


def _stream(dialect: Dialect) -> Callable[[bytes], None]:
    """Lawful events, the same in pieces, that can be written."""

    def run(data: bytes) -> None:
        events = _events(dialect, [data])
        if broken := check(events):
            raise AssertionError(broken)
        if _events(dialect, [data[at : at + 7] for at in range(0, len(data), 7)]) != events:
            raise AssertionError("the cut of the bytes changed the events")
        encoder = dialect.stream_encoder(ServerContext())
        for event in events:
            encoder.encode(event)

    return run


def _events(dialect: Dialect, pieces: Sequence[bytes]) -> list[Event]:
    decoder = dialect.stream_decoder(DecodeContext())
    return [*(event for piece in pieces for event in decoder.feed(piece)), *decoder.close()]
