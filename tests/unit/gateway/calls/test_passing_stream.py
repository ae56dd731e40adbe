"""Streams of the client's own dialect that are odd somewhere: what goes out, to the byte."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.gateway.asgi import GatewayApp
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.records.record import Record
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport
from interlingua.wire.json import encode
from tests.support.gateway import MODELS, asking, body_of, gateway, header_of
from tests.unit.gateway.test_asgi import Client

SSE = (("content-type", "text/event-stream"),)
DONE = b"data: [DONE]\n\n"


def _chunk(delta: dict[str, Any], finish: str | None = None, **members: Any) -> bytes:
    """A chunk of Chat as the reference server writes it."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "chatcmpl-7", "object": "chat.completion.chunk", "created": 1795, "model": "gpt-4.1-2025"}
    return b"data: " + encode({**body, "choices": [choice], **members}, nulls=1) + b"\n\n"


def _call(call: dict[str, Any]) -> bytes:
    return _chunk({"tool_calls": [call]})


def _asked(dialect: str, pieces: list[bytes], *, stream: bool = True) -> tuple[GatewayReply, bytes]:
    """The reply to a client of a dialect whose upstream speaks it too, and says these pieces."""
    headers = SSE if stream else (("content-type", "application/json"),)
    script = AsyncReplayTransport(Line(pieces=tuple(pieces), headers=headers, times=None))

    async def ask() -> tuple[GatewayReply, bytes]:
        reply = await gateway()(asking(dialect, MODELS[dialect], stream=stream))
        return reply, await body_of(reply)

    with overriding(Override(lambda _: ReplayTransport(), lambda _: script, answers=True)):
        return asyncio.run(ask())


def _end(data: bytes) -> Any:
    """How our own client of Chat sees the end of a stream."""
    decoder = get_dialect("openai-chat").stream_decoder(DecodeContext())
    return [*decoder.feed(data), *decoder.close()][-1]


def test_end_01_nothing_follows_an_error() -> None:
    """Text, an error, more text, a finish and `[DONE]` in one read: the text and the error go out, and nothing else."""
    text, error = _chunk({"content": "A"}), b'data: {"error":{"message":"gone","type":"server_error"}}\n\n'
    _, data = _asked("openai-chat", [text + error + _chunk({"content": "C"}) + _chunk({}, "stop") + DONE])
    assert data.startswith(text + b'data: {"error":')
    assert data.count(b"data: ") == 2
    assert isinstance(_end(data), il.StreamError)


def test_pass_01_calls_that_all_say_index_0_come_apart() -> None:
    """Two calls with two ids under one index: what goes out has an index for each, behind the text as it came."""
    text = _chunk({"role": "assistant", "content": "Two."})
    calls = [
        _call({"index": 0, "id": call_id, "type": "function", "function": {"name": "get_weather", "arguments": args}})
        for call_id, args in (("call_a", '{"city":"Oslo"}'), ("call_b", '{"city":"Rome"}'))
    ]
    _, data = _asked("openai-chat", [text, *calls, _chunk({}, "tool_calls"), DONE])
    assert data.startswith(text + calls[0])
    assert data.removeprefix(text + calls[0]) == (
        _call({"index": 1, "id": "call_b", "type": "function", "function": {"name": "get_weather", "arguments": ""}})
        + b'data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1795,"model":"gpt-4.1-2025","choices":'
        b'[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\\"city\\":\\"Rome\\"}"}}]},'
        b'"finish_reason":null}]}\n\n' + _chunk({}, "tool_calls") + DONE
    )


def test_pass_01_a_call_without_an_index_gets_one() -> None:
    """The SDK's helper would fail on it with a TypeError."""
    call = {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    _, data = _asked("openai-chat", [_chunk({"tool_calls": [call]}), _chunk({}, "tool_calls"), DONE])
    assert b'"tool_calls":[{"index":0,"id":"call_a"' in data
    assert _end(data).response.tool_calls == (il.ToolCall("call_a", "f", "{}"),)


@pytest.mark.parametrize("arguments", [{"city": "Oslo"}, '"{\\"city\\":\\"Oslo\\"}"'], ids=["object", "twice"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_pass_01_arguments_are_text_of_an_object(arguments: Any, stream: bool) -> None:
    """An object, and text that was encoded twice, come as what the dialect has there; only that is called repaired."""
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    if stream:
        pieces = [_chunk({"role": "assistant", "tool_calls": [call]}), _chunk({}, "tool_calls"), DONE]
    else:
        choice = {"index": 0, "message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        pieces = [encode(body)]
    reply, data = _asked("openai-chat", pieces, stream=stream)
    assert rb'"arguments":"{\"city\":\"Oslo\"}"' in data
    code = "arguments_object" if isinstance(arguments, dict) else "arguments_twice"
    assert header_of(reply, "x-interlingua-changes") == (None if stream else f"repaired {code} /parts/0/arguments_json")


def test_pass_01_what_is_in_normal_form_is_not_called_changed() -> None:
    """Gemini's calls have no ids: ours are nowhere in what the client gets, so no header names them."""
    part: dict[str, Any] = {"functionCall": {"name": "f", "args": {}}}
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    body = encode({"candidates": [candidate], "modelVersion": "gemini-2.5-pro", "responseId": "r"})
    reply, data = _asked("google", [body], stream=False)
    assert data == body
    assert header_of(reply, "x-interlingua-changes") is None


@pytest.mark.parametrize("is_normal", [True, False], ids=["normal", "odd"])
async def test_pass_01_the_log_names_only_what_the_client_got(is_normal: bool) -> None:
    """Gemini's calls have no ids: what reading makes is not in what was passed on, only in what was encoded."""
    part: dict[str, Any] = {"functionCall" if is_normal else "function_call": {"name": "f", "args": {}}}
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    body = {"candidates": [candidate], "modelVersion": "g", "responseId": "r"}
    script = AsyncReplayTransport(Line(pieces=(b"data: " + encode(body) + b"\r\n\r\n",), headers=SSE))
    made, records = gateway(), list[Record]()
    made.recorder.sinks = (records.append,)
    app, client = GatewayApp(made), Client(asking("google", MODELS["google"], stream=True))
    with overriding(Override(lambda _: ReplayTransport(), lambda _: script, answers=True)):
        await app(client.scope, client.receive, client.send)
    assert [record.changes for record in records] == [0 if is_normal else 1]
