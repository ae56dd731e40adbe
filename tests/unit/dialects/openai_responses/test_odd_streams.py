"""Streams of servers that count content parts their own way, and that end items without saying them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.types.content import Sealed, TextPart, ToolCall
from interlingua.types.event import StreamEnd
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply

DIALECT = get_dialect("openai-responses")
TEXT: dict[str, Any] = {"type": "output_text", "text": "Hello", "annotations": []}
ITEM: dict[str, Any] = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [TEXT]}
ANSWER: dict[str, Any] = {
    "id": "r1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-oss",
    "status": "completed",
    "output": [ITEM],
}


def streamed(index: int, done: dict[str, Any], last: dict[str, Any]) -> Response[Any]:
    """The answer that a stream adds up to: one text at a place, the end of its item, and the last snapshot."""
    place = {"item_id": "m1", "output_index": 0, "content_index": index}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**ANSWER, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**ITEM, "content": []}},
        {"type": "response.content_part.added", **place, "part": {**TEXT, "text": ""}},
        {"type": "response.output_text.delta", **place, "delta": "Hel"},
        {"type": "response.output_text.delta", **place, "delta": "lo"},
        {"type": "response.output_text.done", **place, "text": "Hello"},
        {"type": "response.content_part.done", **place, "part": TEXT},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": last},
    ]
    decoder = DIALECT.stream_decoder(DecodeContext())
    data = b"".join(
        b"event: " + one["type"].encode() + b"\ndata: " + json.dumps(one).encode() + b"\n\n" for one in events
    )
    end = [*decoder.feed(data), *decoder.close()][-1]
    assert isinstance(end, StreamEnd)
    return end.response


@pytest.mark.parametrize("index", [0, 1, 7])
@pytest.mark.parametrize("done", [ITEM, {}], ids=["done", "empty-done"])
@pytest.mark.parametrize("output", [[ITEM], []], ids=["snapshot", "no-snapshot"])
def test_tol_01_the_text_comes_once_wherever_its_part_is_counted(
    index: int, done: dict[str, Any], output: list[Any]
) -> None:
    """A server (vLLM) counts the parts of gpt-oss from 1; others end an item with an empty one; all equal the whole."""
    whole = DIALECT.decode_response(HttpReply(status=200, body=json.dumps(ANSWER).encode()), DecodeContext())
    assert streamed(index, done, {**ANSWER, "output": output}).parts == whole.parts


def test_tol_01_two_parts_that_are_counted_from_one_keep_their_places() -> None:
    """A part that only the snapshot holds is told behind those that were streamed."""
    more = {**ITEM, "content": [TEXT, {**TEXT, "text": "World"}]}
    texts = [getattr(part, "text", None) for part in streamed(1, more, {**ANSWER, "output": [more]}).parts]
    assert texts == ["Hello", "World"]


PENDING: dict[str, Any] = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "in_progress",
    "content": [],
}
ADDED: dict[str, Any] = {"type": "response.output_item.added", "output_index": 0, "item": PENDING}
DELTA = {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "Hi"}
COMPLETED: dict[str, Any] = {"type": "response.completed", "response": {**ANSWER, "output": []}}


def _read(*events: dict[str, Any]) -> StreamEnd:
    """The end of a stream of these events."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    data = "".join([f"data: {json.dumps(event)}\n\n" for event in events]).encode()
    end = [*decoder.feed(data), *decoder.close()][-1]
    assert isinstance(end, StreamEnd)
    return end


@pytest.mark.parametrize("item", ["absent", None, {}, [], {"type": "message"}])
def test_an_item_that_is_done_without_saying_what_it_is(item: object) -> None:
    """It is over: what was seen of it stays, under the id that it began with."""
    done: dict[str, Any] = {"type": "response.output_item.done", "output_index": 0, "item": item}
    if item == "absent":
        del done["item"]
    end = _read(ADDED, DELTA, done, COMPLETED)
    assert end.response.parts == (TextPart("Hi", sealed=Sealed("openai-responses", {"id": "msg_1"})),)


@pytest.mark.parametrize("item", ["absent", None, {}, {"type": "function_call", "id": "fc_1", "arguments": "[]"}])
def test_a_call_that_is_done_without_arguments_has_those_of_its_pieces(item: object) -> None:
    """Nothing, or an empty list, after the pieces says nothing; the call is whole before the answer ends."""
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "f",
        "arguments": "",
        "status": "in_progress",
    }
    added = {"type": "response.output_item.added", "output_index": 0, "item": call}
    piece = {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": '{"a":1}'}
    done: dict[str, Any] = {"type": "response.output_item.done", "output_index": 0, "item": item}
    if item == "absent":
        del done["item"]
    end = _read(added, piece, done, COMPLETED)
    assert end.response.parts == (ToolCall("c1", "f", '{"a":1}', sealed=Sealed("openai-responses", {"id": "fc_1"})),)
