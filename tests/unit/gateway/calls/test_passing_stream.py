"""Streams of the client's own dialect that are odd somewhere: what goes out, to the byte."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import interlingua as il
from interlingua.client.call.values import CallTarget
from interlingua.dialects._contract import DecodeContext, Encoded, ServerContext
from interlingua.dialects.table import get_dialect, stream_type
from interlingua.gateway.asgi import GatewayApp
from interlingua.gateway.calls.passing_stream import PassedStream, joined
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.records.record import Record
from interlingua.registry.resolve import Registry
from interlingua.testing.framed import stream_text
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport
from interlingua.wire.json import encode
from tests.support.cells import cells
from tests.support.gateway import MODELS, asking, body_of, gateway, header_of
from tests.support.wrong_answers import STREAMS, TWICE, WHOLES
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
    headers = (("content-type", stream_type(dialect) if stream else "application/json"),)
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


async def test_id_09_ids_that_are_made_do_not_stand_in_the_history() -> None:
    """A server without ids is asked twice: the call of the second turn has another id than that of the first."""
    call = {"index": 0, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    pieces = (_chunk({"role": "assistant", "tool_calls": [call]}), _chunk({}, "tool_calls"), DONE)
    script = AsyncReplayTransport(Line(pieces=pieces, headers=SSE, times=None))
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]
    ids: list[str] = []
    with overriding(Override(lambda _: ReplayTransport(), lambda _: script, answers=True)):
        for _ in range(3):
            asked = asking("openai-chat", MODELS["openai-chat"], stream=True, messages=messages)
            [made] = _end(await body_of(await gateway()(asked))).response.tool_calls
            ids.append(made.id)
            told = {"id": made.id, "type": "function", "function": {"name": "f", "arguments": "{}"}}
            messages += [{"role": "assistant", "content": None, "tool_calls": [told]}]
            messages += [{"role": "tool", "tool_call_id": made.id, "content": "4"}]
    assert ids == ["call_0", "call_2", "call_4"]


TEXT_FRAMES = {"openai-chat": 0, "openai-responses": 3, "anthropic": 2, "google": 0, "ollama": 0, "cohere": 2}
"""The place of the first text in the normal streams, which is "Hello"."""


@pytest.mark.parametrize("dialect", TEXT_FRAMES)
def test_pass_01_a_long_stream_goes_on_behind_what_was_passed(dialect: str) -> None:
    """3,000 pieces of text go out as they came; one with half a surrogate is encoded behind them, in the same block."""
    frames, place = STREAMS[dialect]["normal text"], TEXT_FRAMES[dialect]
    target = CallTarget(Registry({}).resolve(MODELS[dialect], client=dialect)[0], get_dialect(dialect))
    stream = PassedStream(target, Encoded(path="", body=b"{}"), (), target.dialect.stream_decoder(DecodeContext()))
    before = [*frames[:place], *[frames[place]] * 3_000]
    for frame in before:
        stream.fed(frame)
    passed = stream.take_bytes(ServerContext)
    stream.fed(frames[place].replace(b"Hello", b"Bye \\ud83d"))
    stream.fed(frames[place])
    rest = stream.take_bytes(lambda: ServerContext(source=dialect))
    events = target.dialect.stream_decoder(DecodeContext()).feed(passed + rest)
    assert passed == b"".join(before)
    assert stream.is_encoded
    assert [event.index for event in events if isinstance(event, il.BlockStart)] == [0]
    text = "".join([event.text for event in events if isinstance(event, il.TextDelta)])
    assert text.removeprefix("Hello" * 3_000) in ("Bye \ufffdHello", "Bye \ufffdHell")  # Gemini keeps the last one back


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these members, none of which stands twice."""
    members = dict(pairs)
    assert len(members) == len(pairs), pairs
    return members


@cells("stream", [False, True], ids=["whole", "streamed"])
@cells(("dialect", "name"), [(one, name) for one in STREAMS for name in TWICE if name in STREAMS[one]])
def test_pass_01_a_member_that_stands_twice_is_not_passed_on(dialect: str, name: str, stream: bool) -> None:
    """Whatever its reader would take: the client gets the value that was read, once, and everything behind it."""
    pieces = list(STREAMS[dialect][name]) if stream else [WHOLES[dialect][name]]
    _, data = _asked(dialect, pieces, stream=stream)
    lines = stream_text(dialect, data).encode().splitlines() if stream else []
    texts = [line.removeprefix(b"data: ") for line in lines if b"{" in line] if stream else [data]
    bodies = [json.loads(text, object_pairs_hook=_once) for text in texts]
    assert b"Bye" not in data
    assert b'"a":1' not in data
    assert len(bodies) >= (2 if stream else 1)
    if stream:
        events = get_dialect(dialect).stream_decoder(DecodeContext()).feed(data)
        assert "".join([event.text for event in events if isinstance(event, il.TextDelta)]).startswith("Hello")
    else:
        assert b'"Hello"' in data


def test_joined_events_say_the_same_in_fewer() -> None:
    """Neighbours of one block are one piece, but for a blank one; others stay, and so does their order."""
    events = [
        il.TextDelta(0, "a"), il.TextDelta(0, "b"), il.TextDelta(1, "c"), il.ToolCallDelta(2, "{"),
        il.ToolCallDelta(2, "}"), il.TextDelta(1, "d"), il.ThinkingDelta(3, "e"), il.ThinkingDelta(3, "f"),
        il.ThinkingDelta(3, "\n\n"), il.ThinkingDelta(3, "g"), il.ThinkingDelta(3, "h"),
    ]  # fmt: skip
    assert joined(events) == [
        il.TextDelta(0, "ab"), il.TextDelta(1, "c"), il.ToolCallDelta(2, "{}"), il.TextDelta(1, "d"),
        il.ThinkingDelta(3, "ef"), il.ThinkingDelta(3, "\n\n"), il.ThinkingDelta(3, "gh"),
    ]  # fmt: skip


def test_frames_that_wait_are_bounded() -> None:
    """An upstream that says nothing but counts, for ever, is not kept for ever: those frames are left out."""
    target = CallTarget(
        Registry({}).resolve(MODELS["openai-chat"], client="openai-chat")[0], get_dialect("openai-chat")
    )
    stream = PassedStream(target, Encoded(path="", body=b"{}"), (), target.dialect.stream_decoder(DecodeContext()))
    text, padding = _chunk({"role": "assistant", "content": "A"}), {"obfuscation": "x" * 100_000}
    stream.fed(text)
    for _ in range(90):
        stream.fed(_chunk({}, **padding))
    stream.fed(_chunk({"content": "B"}))
    data = stream.take_bytes(lambda: ServerContext(source="openai-chat"))
    assert data == text + _chunk({"content": "B"})
