"""`codec.bridge` on every cell: plain dicts in, plain dicts out, and no fact lost in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua import codec
from interlingua.dialects._contract import DecodeContext, DecodeOptions
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import UnsupportedError
from interlingua.testing.facts import whole_answer, whole_request, whole_stream
from interlingua.testing.framed import stream_text
from interlingua.testing.laws import events_of
from interlingua.types.content import ToolCall
from interlingua.types.event import BlockEnd, StreamEnd, StreamError
from tests.matrix import cases
from tests.matrix.cases import CASES, CELLS, Cell
from tests.matrix.play import unsaid_answer, unsaid_request
from tests.support.cells import cells

PLAIN = [cell for cell in CELLS if cell.case in CASES]
SAID = [cell for cell in PLAIN if (cell.target, cell.case) not in {("ollama", "document"), ("cohere", "document")}]


def _asked(cell: Cell, *, streamed: bool) -> tuple[codec.Bridge, dict[str, Any], str]:
    """A bridge between the cell's dialects, the client's body and the path it asks."""
    asked = cases.request(cell.source, CASES[cell.case].request, streamed=streamed)
    bridge = codec.bridge(cell.source, cell.target, model=cases.target(cell.target, cell.case).model)
    return bridge, json.loads(asked.body), asked.url.partition("gateway.example")[2]


@cells("cell", SAID, by=lambda cell: cell.source)
def test_a_bridge_loses_nothing_in_silence(cell: Cell) -> None:
    """Request and answer say the same on both sides, minus what `changes` names."""
    bridge, body, path = _asked(cell, streamed=False)
    sent = bridge.request(body, path=path)
    model = cases.target(cell.target, cell.case).model
    asked = cases.request(cell.source, CASES[cell.case].request, streamed=False)
    decoded = get_dialect(cell.source).decode_request(asked, DecodeOptions())
    assert unsaid_request(decoded.request, whole_request(cell.target, sent, model), bridge.changes) == []
    reply = cases.reply(cell.target, CASES[cell.case].answer)
    answer = bridge.response(json.loads(reply.body))
    response = get_dialect(cell.target).decode_response(reply, DecodeContext())
    assert unsaid_answer(response, whole_answer(cell.source, answer), bridge.changes) == []


@cells("cell", SAID, by=lambda cell: cell.source)
def test_a_bridge_streams_what_comes(cell: Cell) -> None:
    """The stream for the client, byte by byte from the service, says the same, minus what `changes` names."""
    bridge, body, path = _asked(cell, streamed=True)
    bridge.request(body, path=path)
    given = cases.stream(cell.target, CASES[cell.case].answer)
    assert given is not None
    told = b"".join(bridge.stream(given[place : place + 7] for place in range(0, len(given), 7)))
    again = whole_stream(cell.source, stream_text(cell.source, told))
    assert (again.end, again.error) == ("done", None)
    end = events_of(get_dialect(cell.target), [given])[-1]
    assert isinstance(end, StreamEnd)
    assert unsaid_answer(end.response, again.facts, bridge.changes) == []


@pytest.mark.parametrize("source", DIALECTS)
@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
def test_a_bridge_ends_a_stream_with_a_call_that_cannot_be_run_by_an_error(source: str, finish: str) -> None:
    """The client had pieces of the arguments: at an end it would run what it makes of them."""
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "delete", "arguments": '{"only":["a",'}}
    chunks: list[tuple[dict[str, Any], str | None]] = [
        ({"role": "assistant", "tool_calls": [call]}, None),
        ({}, finish),
    ]
    choices = [[{"index": 0, "delta": delta, "finish_reason": reason}] for delta, reason in chunks]
    frames = [b"data: " + json.dumps({"id": "c", "choices": one}).encode() + b"\n\n" for one in choices]
    bridge = codec.bridge(source, "openai-chat", model="gpt-4.1")
    told = b"".join(bridge.stream([*frames, b"data: [DONE]\n\n"]))
    again = whole_stream(source, stream_text(source, told))
    assert again.end != "done"
    assert again.error is not None
    events = events_of(get_dialect(source), [told])
    assert not [event for event in events if isinstance(event, BlockEnd) and isinstance(event.part, ToolCall)]
    assert isinstance(events[-1], StreamError)


@pytest.mark.parametrize("cell", [cell for cell in PLAIN if cell not in SAID], ids=str)
def test_a_bridge_refuses_a_document_that_ollama_cannot_take(cell: Cell) -> None:
    """What the target cannot take is an error that names it."""
    bridge, body, path = _asked(cell, streamed=False)
    with pytest.raises(UnsupportedError) as caught:
        bridge.request(body, path=path)
    assert [change.code for change in caught.value.changes] == ["documents"]
