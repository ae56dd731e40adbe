"""Calls that the length limit cut off before their arguments: broken, kept and not run, whole and streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.stream.unfold import unfold
from interlingua.types.content import BrokenToolCall, TextPart, ToolCall
from interlingua.types.event import StreamEnd, ToolCallReady
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply

USE: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
CUT = BrokenToolCall("t1", "look", "", "cut_off")


def whole(name: str, body: dict[str, Any]) -> Response[Any]:
    """A whole answer, read."""
    return get_dialect(name).decode_response(HttpReply(status=200, body=json.dumps(body).encode()), DecodeContext())


def streamed(name: str, frames: list[dict[str, Any]]) -> Response[Any]:
    """A streamed answer, read; no broken call was sent as ready."""
    decoder = get_dialect(name).stream_decoder(DecodeContext())
    raw = "".join([f"event: {frame['type']}\ndata: {json.dumps(frame)}\n\n" for frame in frames])
    events = [*decoder.feed(raw.encode()), *decoder.close()]
    last = events[-1]
    assert isinstance(last, StreamEnd)
    ready = [event.call for event in events if isinstance(event, ToolCallReady)]
    assert ready == list(last.response.tool_calls)
    return last.response


@pytest.mark.parametrize(("stop", "part"), [("max_tokens", CUT), ("tool_use", ToolCall("t1", "look", "{}"))])
def test_end_04_a_call_without_input_at_the_limit_is_broken(stop: str, part: Any) -> None:
    """Anthropic's `max_tokens` behind a `tool_use` with the input `{}`; under `tool_use` it is a call without any."""
    body = {"type": "message", "id": "m", "model": "m", "content": [USE], "stop_reason": stop}
    assert whole("anthropic", body).parts == (part,)
    frames: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "type": "message", "model": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": USE},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}},
        {"type": "message_stop"},
    ]
    assert streamed("anthropic", frames).parts == (part,)


def test_end_04_an_incomplete_item_is_broken() -> None:
    """A Responses item `incomplete` with empty arguments, in its own event and in the whole answer."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "t1", "name": "look", "arguments": ""}
    cut = {**item, "status": "incomplete"}
    answer = {"id": "r", "object": "response", "model": "m", "status": "incomplete", "output": [cut]}
    limit = {**answer, "incomplete_details": {"reason": "max_output_tokens"}}
    frames: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "r", "model": "m", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": cut},
        {"type": "response.incomplete", "response": limit},
    ]
    for response in (whole("openai-responses", limit), streamed("openai-responses", frames)):
        [call] = response.parts
        assert isinstance(call, BrokenToolCall)
        assert (call.id, call.raw_arguments, call.reason, response.finish_reason) == ("t1", "", "cut_off", "length")


@pytest.mark.parametrize("name", ["anthropic", "google", "ollama"])
def test_end_04_a_cut_call_is_a_text_where_a_client_would_run_it(name: str) -> None:
    """Dialects whose calls hold an object have no half ones: whole and streamed it is sent as a text."""
    response: Response[Any] = Response(parts=(TextPart("Hm."), CUT), finish_reason="length", model="m")
    dialect = get_dialect(name)
    told = dialect.decode_response(dialect.encode_response(response, ServerContext()), DecodeContext())
    encoder, decoder = dialect.stream_encoder(ServerContext()), dialect.stream_decoder(DecodeContext())
    events = decoder.feed(b"".join([encoder.encode(event) for event in unfold(response)])) + decoder.close()
    last = events[-1]
    assert isinstance(last, StreamEnd)
    for answer in (told, last.response):
        assert (answer.text, answer.tool_calls, answer.finish_reason) == ("Hm.look()", (), "length")
