"""What translation costs: each body decoded and encoded again, against the standard library's loads and dumps of it.

The bodies are those of PERF's load: ten tools and ten messages up (about 7 kB), text and two tool calls down, streams
of text in chunks as the reference server sends them, padding included.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

from bench.measure import cpu_us, ratio
from bench.rows import Row
from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.wire.http import HttpReply, HttpRequest

CHAT = get_dialect("openai-chat")
WORDS = ("The", " weather", " in", " Oslo", " is", " \u201cmild\u201d", ",", " 4", "\u00b0C", ".\n")
PADDINGS = ("kQ3ab", "x9", "Zp0qL7r", "w", "Hh4")


def _tool(number: int) -> dict[str, Any]:
    properties = {
        "city": {"type": "string", "description": "City name, in English."},
        "days": {"type": "integer", "minimum": 1, "maximum": 7, "description": "How many days ahead."},
        "units": {"type": "string", "enum": ["metric", "imperial"]},
        "hourly": {"type": "boolean", "description": "Whether to give every hour."},
    }
    parameters = {"type": "object", "properties": properties, "required": ["city"], "additionalProperties": False}
    description = f"Weather forecast number {number} for a city, with wind, rain and temperature."
    function = {"name": f"forecast_{number}", "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _call(number: int) -> dict[str, Any]:
    function = {"name": "forecast_1", "arguments": '{"city":"Oslo","days":3,"units":"metric"}'}
    return {"id": f"call_{number:020}", "type": "function", "function": function}


def request_body() -> bytes:
    """A request of about 7 kB: ten messages, ten tools."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are a helpful assistant. Be brief."}]
    result = '{"celsius":4,"wind":"NW 5","rain_mm":0.3}'
    for turn in range(3):
        messages += [
            {"role": "user", "content": f"What is the weather in Oslo on day {turn}, and what should I wear there?"},
            {"role": "assistant", "content": None, "tool_calls": [_call(turn)]},
            {"role": "tool", "tool_call_id": f"call_{turn:020}", "content": result},
        ]
    body = {"model": "gpt-x", "messages": messages, "tools": [_tool(number) for number in range(10)]}
    return json.dumps({**body, "tool_choice": "auto", "max_completion_tokens": 1000}, separators=(",", ":")).encode()


def reply_body() -> bytes:
    """A reply with text and two tool calls."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "Checking both cities now.",
        "refusal": None,
        "annotations": [],
    }
    usage = {
        "prompt_tokens": 1210,
        "completion_tokens": 61,
        "total_tokens": 1271,
        "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 20, "audio_tokens": 0},
    }
    choice = {"index": 0, "message": {**message, "tool_calls": [_call(1), _call(2)]}, "finish_reason": "tool_calls"}
    body = {"id": "chatcmpl-9x", "object": "chat.completion", "created": 1795000000, "model": "gpt-x"}
    return json.dumps({**body, "choices": [choice], "usage": usage, "service_tier": "default"}).encode()


def chunk_bodies(count: int) -> list[bytes]:
    """That many chunks of text."""
    return [_chunk(WORDS[place % len(WORDS)], PADDINGS[place % len(PADDINGS)]) for place in range(count)]


def _chunk(text: str, padding: str) -> bytes:
    head = {"id": "chatcmpl-9y", "object": "chat.completion.chunk", "created": 1795000001, "model": "gpt-x"}
    choice = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": None}
    body = {**head, "service_tier": "default", "system_fingerprint": "fp_1", "choices": [choice], "usage": None}
    return json.dumps({**body, "obfuscation": padding}, separators=(",", ":"), ensure_ascii=False).encode()


def _standard(bodies: list[bytes]) -> Callable[[], object]:
    return lambda: [json.dumps(json.loads(body)) for body in bodies]


def request_trip() -> object:
    """A request decoded and encoded again."""
    decoded = CHAT.decode_request(REQUEST, DecodeOptions())
    return CHAT.encode_request(decoded.request, EncodeOptions(target=Target(model=decoded.model)))


def fresh_body() -> bytes:
    """The request with a text and a description of a tool that never came before: nothing known helps."""
    return REQUEST.body.replace(b" day 0,", b" day %d," % next(_NUMBERS)).replace(
        b" number 0 ", b" number %d " % next(_NUMBERS)
    )


def cold_trip() -> object:
    """A request that never came before decoded and encoded again, the making of it included."""
    decoded = CHAT.decode_request(HttpRequest(url=REQUEST.url, body=fresh_body()), DecodeOptions())
    return CHAT.encode_request(decoded.request, EncodeOptions(target=Target(model=decoded.model)))


def reply_trip() -> object:
    """A reply decoded and encoded again."""
    return CHAT.encode_response(CHAT.decode_response(REPLY, DecodeContext()), ServerContext())


def stream_trip(frames: list[bytes]) -> Callable[[], object]:
    """Frames decoded, as if each came by itself, and encoded again."""

    def run() -> object:
        decoder, encoder = CHAT.stream_decoder(DecodeContext()), CHAT.stream_encoder(ServerContext())
        return [encoder.encode(event) for frame in frames for event in decoder.feed(frame)]

    return run


def _frames(count: int) -> list[bytes]:
    return [b"data: " + body + b"\n\n" for body in chunk_bodies(count)]


def _flatness() -> float:
    """What an event of a long stream costs for each unit of one of a short stream."""
    return ratio(stream_trip(_frames(4000)), stream_trip(_frames(200))).over(20)


REQUEST = HttpRequest(url="https://bench.example/v1/chat/completions", body=request_body())
REPLY = HttpReply(status=200, body=reply_body())
STREAM = 220
_NUMBERS = count(10)

ROWS = (
    Row(
        "codec/request",
        "openai-chat request of 10 messages and 10 tools, decode + encode, against stdlib json",
        None,
        "x",
        lambda: ratio(request_trip, _standard([REQUEST.body])),
    ),
    Row(
        "codec/request-cold",
        "the same, no two requests alike, their making included on both sides",
        None,
        "x",
        lambda: ratio(cold_trip, lambda: json.dumps(json.loads(fresh_body()))),
    ),
    Row(
        "codec/reply",
        "openai-chat reply with 2 calls, decode + encode, against stdlib json",
        None,
        "x",
        lambda: ratio(reply_trip, _standard([REPLY.body])),
    ),
    Row(
        "codec/event",
        "openai-chat stream event, decode + encode, against stdlib json",
        None,
        "x",
        lambda: ratio(stream_trip(_frames(STREAM)), _standard(chunk_bodies(STREAM))),
    ),
    Row("codec/flat", "an event of 4,000 against one of 200: flat in stream length", 1.2, "x", _flatness),
    Row("codec/request-us", "the same request, decode + encode", None, "µs", lambda: cpu_us(request_trip)),
    Row("codec/reply-us", "the same reply, decode + encode", None, "µs", lambda: cpu_us(reply_trip)),
    Row(
        "codec/event-us",
        "the same event, decode + encode",
        None,
        "µs",
        lambda: cpu_us(stream_trip(_frames(STREAM))).over(STREAM),
    ),
)
