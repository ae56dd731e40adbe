"""Blocks that interleave are told one after the other, where clients take a stream as a list of items."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.stream.order import InOrder
from interlingua.types.content import Part, TextPart, ToolCall
from interlingua.types.event import (
    BlockEnd,
    BlockStart,
    Event,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
)
from interlingua.types.response import Response

FIRST, SECOND = ToolCall("c1", "f", '{"a":1}'), ToolCall("c2", "g", '{"b":2}')
PARTS: tuple[Part, ...] = (FIRST, SECOND, TextPart("Hi"))
END = StreamEnd(Response(parts=PARTS, finish_reason="tool_calls", model="m"))
INTERLEAVED: list[Event] = [
    StreamStart(model="m"),
    BlockStart(0, "tool_call", id="c1", name="f"),
    ToolCallDelta(0, '{"a"'),
    BlockStart(1, "tool_call", id="c2", name="g"),
    ToolCallDelta(1, '{"b"'),
    BlockStart(2, "text"),
    TextDelta(2, "H"),
    ToolCallDelta(0, ":1}"),
    ToolCallDelta(1, ":2}"),
    TextDelta(2, "i"),
    BlockEnd(1, SECOND),
    ToolCallReady(1, SECOND),
    BlockEnd(2, TextPart("Hi")),
    BlockEnd(0, FIRST),
    ToolCallReady(0, FIRST),
    END,
]


def _bytes(dialect: str, events: list[Event]) -> bytes:
    encoder = get_dialect(dialect).stream_encoder(ServerContext())
    return b"".join([encoder.encode(event) for event in events])


def _frames(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in data.decode().splitlines() if line.startswith("data: ")]


def test_his_03_items_come_one_after_the_other() -> None:
    """Two calls that interleave and a text: every item of Responses is done before the next one is added."""
    frames = _frames(_bytes("openai-responses", INTERLEAVED))
    lives = [
        (frame["type"].rpartition(".")[2], frame["output_index"])
        for frame in frames
        if frame["type"].startswith("response.output_item.")
    ]
    assert lives == [("added", 0), ("done", 0), ("added", 1), ("done", 1), ("added", 2), ("done", 2)]
    assert [frame["sequence_number"] for frame in frames] == list(range(len(frames)))
    assert [item.get("name") for item in frames[-1]["response"]["output"]] == ["f", "g", None]


@pytest.mark.parametrize("dialect", ["openai-responses", "google", "ollama", "cohere", "anthropic", "unified"])
def test_his_03_a_stream_that_interleaves_is_the_whole_answer(dialect: str) -> None:
    """Texts and calls in the order in which they began, whole and streamed."""
    decoder = get_dialect(dialect).stream_decoder(DecodeContext())
    end = [*decoder.feed(_bytes(dialect, INTERLEAVED)), *decoder.close()][-1]
    assert isinstance(end, StreamEnd)
    told = get_dialect(dialect)
    whole = told.decode_response(told.encode_response(END.response, ServerContext()), DecodeContext())
    assert [(call.name, call.arguments_json) for call in end.response.tool_calls] == [
        ("f", '{"a":1}'),
        ("g", '{"b":2}'),
    ]
    assert end.response.tool_calls == whole.tool_calls
    assert end.response.text == whole.text == "Hi"


def test_a_block_that_waits_is_told_when_the_stream_breaks() -> None:
    """What came is told before the error."""
    order, error = InOrder(), StreamError("APIConnectionError", "reset")
    begun = INTERLEAVED[:6]
    assert [one for event in begun for one in order.take(event)] == begun[:3]
    assert order.take(error) == [*begun[3:], error]


def test_each_choice_has_an_order_of_its_own() -> None:
    """A block of another choice waits for nobody."""
    order = InOrder()
    events: list[Event] = [BlockStart(0, "text"), BlockStart(0, "text", choice=1), TextDelta(0, "a", choice=1)]
    assert [one for event in events for one in order.take(event)] == events
    assert order.take(BlockStart(1, "text", choice=1)) == []
    assert order.take(BlockEnd(0, TextPart("a"), choice=1)) == [
        BlockEnd(0, TextPart("a"), choice=1),
        BlockStart(1, "text", choice=1),
    ]
