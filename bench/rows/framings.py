"""What reading and writing the wire costs before any dialect: figures to inform, without bars."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from bench.measure import cpu_us, ratio
from bench.rows import Row
from interlingua.wire.arguments import check_arguments
from interlingua.wire.json import WireStruct, decode_any, decode_wire, encode_wire
from interlingua.wire.ndjson import JsonArrayDecoder, NdjsonDecoder
from interlingua.wire.sse import SseDecoder, encode_event


class FunctionWire(WireStruct):
    """A function of a tool."""

    name: str
    description: str | None = None
    parameters: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class ToolWire(WireStruct):
    """A tool."""

    type: str
    function: FunctionWire


class MessageWire(WireStruct):
    """A message."""

    role: str
    content: str | None = None


class RequestWire(WireStruct):
    """A request with as many fields as the measurement needs."""

    model: str
    messages: list[MessageWire] = []
    tools: list[ToolWire] = []
    temperature: float | None = None


def _request() -> dict[str, Any]:
    """A request of about 7 kB: ten messages, ten tools."""
    properties = {
        "city": {"type": "string", "description": "City name, in English."},
        "days": {"type": "integer", "minimum": 1, "maximum": 7, "description": "How many days ahead."},
        "units": {"type": "string", "enum": ["metric", "imperial"]},
    }
    schema = {"type": "object", "properties": properties, "required": ["city"], "additionalProperties": False}
    tools = [
        {
            "type": "function",
            "function": {"name": f"tool_{n}", "description": "Weather forecast.", "parameters": schema},
        }
        for n in range(10)
    ]
    messages = [{"role": ("user", "assistant")[n % 2], "content": "What is the weather like? " * 8} for n in range(10)]
    return {"model": "some-model", "messages": messages, "tools": tools, "temperature": 0.5}


REQUEST = json.dumps(_request(), separators=(",", ":")).encode()
REQUEST_WITH_NEWS = json.dumps(_request() | {"news": {"a": 1}}, separators=(",", ":")).encode()
EVENT = (
    b'{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{"content":" hello"},"finish_reason":null}]}'
)
ARGUMENTS = '{"city":"Oslo","days":3}'

_bare = msgspec.json.Decoder(RequestWire)
_value = _bare.decode(REQUEST)
_news = decode_wire(REQUEST_WITH_NEWS, RequestWire)
_sse, _lines, _array = SseDecoder(), NdjsonDecoder(), JsonArrayDecoder()
_array.feed(b"[")
_sse_bytes, _line_bytes, _array_bytes = encode_event(EVENT), EVENT + b"\n", EVENT + b",\n"


def _stdlib() -> None:
    json.dumps(json.loads(REQUEST))


def _round_trip() -> None:
    encode_wire(decode_wire(REQUEST, RequestWire))


def _round_trip_with_news() -> None:
    encode_wire(decode_wire(REQUEST_WITH_NEWS, RequestWire))


ROWS = (
    Row(
        "json/round-trip",
        "7 kB request: decode_wire + encode_wire / stdlib",
        None,
        "x",
        lambda: ratio(_round_trip, _stdlib),
    ),
    Row(
        "json/unknown-members",
        "the same with an unknown member",
        None,
        "x",
        lambda: ratio(_round_trip_with_news, _stdlib),
    ),
    Row(
        "json/decode",
        "decode_wire / msgspec alone",
        None,
        "x",
        lambda: ratio(lambda: decode_wire(REQUEST, RequestWire), lambda: _bare.decode(REQUEST)),
    ),
    Row(
        "json/decode-any",
        "decode_any / msgspec alone",
        None,
        "x",
        lambda: ratio(lambda: decode_any(REQUEST), lambda: msgspec.json.decode(REQUEST)),
    ),
    Row(
        "json/encode",
        "encode_wire / msgspec alone",
        None,
        "x",
        lambda: ratio(lambda: encode_wire(_value), lambda: msgspec.json.encode(_value)),
    ),
    Row(
        "json/encode-unknown",
        "encode_wire with an unknown member / without",
        None,
        "x",
        lambda: ratio(lambda: encode_wire(_news), lambda: encode_wire(_value)),
    ),
    Row("json/arguments", "check_arguments, 24 bytes", None, "µs", lambda: cpu_us(lambda: check_arguments(ARGUMENTS))),
    Row("sse/decode", "one event", None, "µs", lambda: cpu_us(lambda: _sse.feed(_sse_bytes))),
    Row("sse/encode", "one event", None, "µs", lambda: cpu_us(lambda: encode_event(EVENT))),
    Row("ndjson/decode", "one line", None, "µs", lambda: cpu_us(lambda: _lines.feed(_line_bytes))),
    Row("json-array/decode", "one object", None, "µs", lambda: cpu_us(lambda: _array.feed(_array_bytes))),
)
