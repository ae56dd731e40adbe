"""Answers of compatible servers that say less, or something else, than the vendor's own do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import InternalServerError
from interlingua.stream.fold import fold
from interlingua.types.content import TextPart
from interlingua.types.event import Event, StreamEnd, StreamError, StreamStart
from interlingua.wire.http import HttpReply

RESPONSES = get_dialect("openai-responses")
ITEM: dict[str, Any] = {
    "type": "message", "id": "i", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
}  # fmt: skip
WHOLE: dict[str, Any] = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "output": [ITEM],
}
DELTA = {"type": "response.output_text.delta", "delta": "Hi", "item_id": "i", "output_index": 0, "content_index": 0}


def events(*said: dict[str, Any]) -> list[Event]:
    """What a stream of these events is read as."""
    decoder = RESPONSES.stream_decoder(DecodeContext())
    body = "".join(f"data: {json.dumps(one)}\n\n" for one in said)
    return [*decoder.feed(body.encode()), *decoder.close()]


def test_a_stream_without_its_first_event_is_named_by_its_last() -> None:
    """No `response.created`: the start says nothing, the end says the names, and the fold agrees."""
    told = events(DELTA, {"type": "response.completed", "response": WHOLE})
    assert told[0] == StreamStart()
    end = told[-1]
    assert isinstance(end, StreamEnd)
    assert (end.response.model, end.response.wire_model, end.response.id) == ("m", "m", "r")
    assert fold(told) == end.response


def test_names_of_the_start_stand() -> None:
    """What the start named is not named anew; what it left out is."""
    created = {"type": "response.created", "response": {"object": "response", "model": "first"}}
    told = events(created, DELTA, {"type": "response.completed", "response": WHOLE})
    end = told[-1]
    assert isinstance(end, StreamEnd)
    assert (end.response.model, end.response.wire_model, end.response.id) == ("first", "first", "r")
    assert fold(told) == end.response


def test_a_stream_that_fails_is_named_by_its_failure() -> None:
    """The same where the last event says that the answer failed."""
    failed = {"id": "r", "model": "m", "status": "failed", "error": {"code": "server_error", "message": "No."}}
    end = events(DELTA, {"type": "response.failed", "response": failed})[-1]
    assert isinstance(end, StreamError)
    assert (end.error, end.message) == ("InternalServerError", "No.")
    assert end.partial is not None
    assert (end.partial.model, end.partial.id) == ("m", "r")


@pytest.mark.parametrize("error", [{}, "", None, [], False])
def test_an_error_that_says_nothing_is_none(error: object) -> None:
    """`error: {}` beside a whole answer, and in the last event of a stream."""
    whole: dict[str, Any] = {**WHOLE, "error": error}
    response = RESPONSES.decode_response(HttpReply(status=200, body=json.dumps(whole).encode()), DecodeContext())
    assert [part.text for part in response.parts if isinstance(part, TextPart)] == ["Hi"]
    end = events(DELTA, {"type": "response.completed", "response": whole})[-1]
    assert isinstance(end, StreamEnd)


def test_an_answer_that_failed_with_an_empty_error_has_failed() -> None:
    """The status says so; nobody says why."""
    failed: dict[str, Any] = {**WHOLE, "status": "failed", "error": {}}
    with pytest.raises(InternalServerError, match="the answer failed"):
        RESPONSES.decode_response(HttpReply(status=200, body=json.dumps(failed).encode()), DecodeContext())
    end = events(DELTA, {"type": "response.completed", "response": failed})[-1]
    assert isinstance(end, StreamError)
    assert (end.error, end.message) == ("InternalServerError", "the answer failed")


def test_an_error_event_without_a_word_is_an_error() -> None:
    """`type: error` and nothing else."""
    end = events({"type": "error", "error": {}})[-1]
    assert isinstance(end, StreamError)
    assert (end.error, end.message) == ("InternalServerError", "the stream failed")


def test_an_event_of_another_type_with_a_message_is_no_error() -> None:
    """Only an event without a type is judged by its members."""
    told = events({"type": "response.note", "message": "Hello."}, {"type": "response.completed", "response": WHOLE})
    assert isinstance(told[-1], StreamEnd)
