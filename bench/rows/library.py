"""What one call of the library costs, from Python values to Python values, over a canned server on loopback.

The load: ten tools and ten messages up, a text and two tool calls down; streams of some 225 events. The peer makes the
same calls with its own types. The server runs in a process of its own, so processor time here is the client's alone.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from functools import cache
from multiprocessing.queues import SimpleQueue
from typing import Any

import interlingua as il
from bench.measure import NotRun, cpu_us, ratio
from bench.rows import Row
from interlingua import aio
from interlingua.registry.resolve import default_registry
from interlingua.types.tool import Tool

EVENTS = 225
AT_ONCE = 64
TURNS = 5
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "City name, in English."},
        "days": {"type": "integer", "minimum": 1, "maximum": 7, "description": "How many days ahead."},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city"],
}
_TEXT = "What will the weather be in Oslo, and should I take an umbrella with me? " * 4


def _tool_name(number: int) -> str:
    return f"get_weather_{number}"


# The server


def _call(number: int) -> dict[str, Any]:
    arguments = '{"city": "Oslo", "days": 3}'
    return {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": _tool_name(number), "arguments": arguments},
    }


def _whole() -> bytes:
    message = {"role": "assistant", "content": "Let me look. " * 8, "tool_calls": [_call(1), _call(2)]}
    usage = {"prompt_tokens": 1500, "completion_tokens": 80, "total_tokens": 1580}
    body = json.dumps({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-test",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": usage,
    }).encode()  # fmt: skip
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-test",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    event = b"data: " + json.dumps(body).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(event), event)


def _streamed() -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    events = b"".join(_chunk({"content": "hello "}) for _ in range(EVENTS))
    return head + events + _chunk({}, "stop") + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


class _Canned(asyncio.Protocol):
    """Answers every request with the same bytes, told apart by one member of the body."""

    whole, streamed = _whole(), _streamed()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(rest) >= length:
            body, self._buffer = rest[:length], rest[length:]
            is_stream = b'"stream":true' in body.replace(b" ", b"")
            self._transport.write(self.streamed if is_stream else self.whole)  # pyright: ignore[reportAttributeAccessIssue] - a socket's transport writes


def _serve(ports: SimpleQueue[int]) -> None:
    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(_Canned, "127.0.0.1", 0)
        ports.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


@cache
def _base_url() -> str:
    context = multiprocessing.get_context("spawn")
    ports: SimpleQueue[int] = context.SimpleQueue()
    process = context.Process(target=_serve, args=(ports,), daemon=True)
    process.start()
    atexit.register(process.kill)
    return f"http://127.0.0.1:{ports.get()}/v1"


# Ours


@cache
def _spec() -> str:
    row = il.Provider(name="bench", base_url=_base_url(), dialects=("openai-chat",))
    default_registry().register_provider(row, key="k" * 40)
    return "bench/gpt-test"


TOOLS = tuple(
    Tool(name=_tool_name(number), description="Weather forecast for a city.", parameters=_PARAMETERS)
    for number in range(10)
)
MESSAGES = [
    il.user(_TEXT) if number % 2 == 0 else il.assistant(_TEXT)
    for number in range(9)
]  # fmt: skip


def _ours() -> Callable[[], object]:
    model = il.model(_spec(), system=_TEXT)
    return lambda: model.generate(MESSAGES, tools=TOOLS, max_tokens=500)


def _our_stream() -> Callable[[], object]:
    model = il.model(_spec(), system=_TEXT)

    def run() -> int:
        with model.stream(MESSAGES, tools=TOOLS) as stream:
            return sum(1 for _ in stream)

    return run


def _ours_awaited() -> Callable[[], Awaitable[object]]:
    model = aio.model(_spec(), system=_TEXT)
    return lambda: model.generate(MESSAGES, tools=TOOLS, max_tokens=500)


# The peer


def _body() -> dict[str, Any]:
    told = [{"role": message.role, "content": message.text} for message in MESSAGES]
    tools = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": _PARAMETERS},
        }
        for tool in TOOLS
    ]
    return {"model": "gpt-test", "messages": [{"role": "system", "content": _TEXT}, *told], "tools": tools}


def _openai() -> Any:
    try:
        import openai
    except ImportError:
        raise NotRun("the openai package is not installed") from None
    return openai


def _theirs() -> Callable[[], object]:
    client, body = _openai().OpenAI(base_url=_base_url(), api_key="k" * 40), _body()
    return lambda: client.chat.completions.create(**body, max_tokens=500)


def _their_stream() -> Callable[[], object]:
    client, body = _openai().OpenAI(base_url=_base_url(), api_key="k" * 40), _body()

    def run() -> int:
        return sum(1 for _ in client.chat.completions.create(**body, stream=True))

    return run


def _theirs_awaited() -> Callable[[], Awaitable[object]]:
    client, body = _openai().AsyncOpenAI(base_url=_base_url(), api_key="k" * 40), _body()
    return lambda: client.chat.completions.create(**body, max_tokens=500)


# Measuring what is awaited


async def _together(make: Callable[[], Callable[[], Awaitable[object]]], rounds: int) -> float:
    """Processor microseconds of one call when 64 are made at once; what starting costs is not counted."""
    call = make()

    async def work(times: int) -> None:
        for _ in range(times):
            await call()

    await asyncio.gather(*[work(1) for _ in range(AT_ONCE)])
    begin_s = time.process_time()
    await asyncio.gather(*[work(rounds) for _ in range(AT_ONCE)])
    return (time.process_time() - begin_s) / (rounds * AT_ONCE) * 1e6


def _awaited_us(make: Callable[[], Callable[[], Awaitable[object]]], rounds: int) -> float:
    return statistics.median(asyncio.run(_together(make, rounds)) for _ in range(TURNS))


def _awaited_ratio() -> float:
    _openai()
    return statistics.median(
        asyncio.run(_together(_ours_awaited, 20)) / asyncio.run(_together(_theirs_awaited, 1)) for _ in range(TURNS)
    )


ROWS = (
    Row("library/sync", "one call, blocking, 10 tools and 10 messages", None, "µs", lambda: cpu_us(_ours())),
    Row("library/aio-64", "one call, asyncio, 64 at once", None, "µs", lambda: _awaited_us(_ours_awaited, 20)),
    Row("library/stream", "one event of a stream, blocking", 10.0, "µs", lambda: cpu_us(_our_stream()) / EVENTS),
    Row(
        "library/sync-openai",
        "one call, blocking / openai SDK",
        1 / 15,
        "x",
        lambda: ratio(_ours(), _theirs(), turns=7),
        needs_peer=True,
    ),
    Row("library/aio-64-openai", "one call, 64 at once / openai SDK", 1 / 50, "x", _awaited_ratio, needs_peer=True),
    Row(
        "library/stream-openai",
        "one stream, blocking / openai SDK",
        None,
        "x",
        lambda: ratio(_our_stream(), _their_stream(), turns=5),
        needs_peer=True,
    ),
)
