"""Streams that say a thing twice say the same both times, and blocks open before they grow and close once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.testing.wirefacts.shapes import answer_faults, stream_faults


def _frames(*events: dict[str, Any]) -> str:
    return "".join([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events])


ITEM: dict[str, Any] = {
    "type": "message",
    "id": "msg_1",
    "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
}
RESPONSES: tuple[dict[str, Any], ...] = (
    {"type": "response.created", "response": {"id": "resp_1", "model": "m"}},
    {"type": "response.output_item.added", "output_index": 0, "item": {**ITEM, "content": []}},
    {"type": "response.output_text.delta", "output_index": 0, "delta": "Hel"},
    {"type": "response.output_text.delta", "output_index": 0, "delta": "lo"},
    {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
    {"type": "response.completed", "response": {"id": "resp_1", "model": "m"}},
)
UNIFIED: tuple[dict[str, Any], ...] = (
    {"type": "stream_start", "id": "a", "model": "m"},
    {"type": "block_start", "index": 0, "block": "text"},
    {"type": "text_delta", "index": 0, "text": "Hello"},
    {"type": "block_end", "index": 0, "part": {"type": "text", "text": "Hello"}},
    {"type": "stream_end", "response": {"id": "a", "model": "m", "parts": [{"type": "text", "text": "Hello"}]}},
)
ANTHROPIC: tuple[dict[str, Any], ...] = (
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_stop"},
)
STREAMS = {"openai-responses": RESPONSES, "unified": UNIFIED, "anthropic": ANTHROPIC}


@pytest.mark.parametrize("dialect", STREAMS)
def test_whole_streams_are_well(dialect: str) -> None:
    """Nothing is wrong with them, and nothing is said of formats that say everything once."""
    assert stream_faults(dialect, _frames(*STREAMS[dialect])) == []
    assert stream_faults("ollama", "not read") == []


@pytest.mark.parametrize(
    ("dialect", "lost", "fault"),
    [
        ("openai-responses", 1, "item 0 ends and was not added"),
        ("openai-responses", 3, "the pieces of item 0 are not what it says: 'Hel' != 'Hello'"),
        ("openai-responses", 4, "item 0 never ends"),
        ("unified", 1, "block 0 ends and was not open"),
        ("unified", 2, "the pieces of block 0 are not what it says: '' != 'Hello'"),
        ("unified", 3, "block 0 never ends"),
        ("anthropic", 0, "block 0 grows and is not open"),
        ("anthropic", 2, "block 0 never closes"),
    ],
)
def test_a_lost_event_is_seen(dialect: str, lost: int, fault: str) -> None:
    """One event less, and the first fault that shows it."""
    events = STREAMS[dialect]
    assert stream_faults(dialect, _frames(*events[:lost], *events[lost + 1 :]))[0] == fault


def test_names_are_those_of_the_beginning() -> None:
    """An answer that ends under another id is a fault, unless nobody knew it when it began."""
    last = {"type": "response.completed", "response": {"id": "resp_2", "model": "m"}}
    text = _frames(*RESPONSES[:-1], last)
    assert stream_faults("openai-responses", text) == [
        "the answer begins and ends under another id: 'resp_1' != 'resp_2'"
    ]
    assert stream_faults("openai-responses", text, named=False) == []


def test_calls_are_run_when_the_reason_says_so() -> None:
    """A translated answer with calls does not end in `stop` or `end_turn`."""
    chat = {"choices": [{"message": {"tool_calls": [{"id": "a"}]}, "finish_reason": "stop"}]}
    messages = {"content": [{"type": "tool_use"}], "stop_reason": "end_turn"}
    assert answer_faults("openai-chat", chat) == ["calls under the finish reason stop"]
    assert answer_faults("anthropic", messages) == ["calls under the stop reason end_turn"]
    assert answer_faults("anthropic", {**messages, "stop_reason": "tool_use"}) == []
