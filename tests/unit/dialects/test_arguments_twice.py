"""Arguments that are the JSON text of a JSON text: decoded twice, told, and the same whole and in pieces."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.stream.calls import decoded_twice
from interlingua.stream.fold import fold
from interlingua.types.content import BrokenToolCall, ToolCall
from interlingua.types.event import Event, StreamError, ToolCallDelta
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply

OBJECT = '{"city":"Oslo \\"N\\" \\u00e5"}'
TWICE = json.dumps(OBJECT)
CHUNK: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
ANSWER: dict[str, Any] = {"id": "r", "object": "response", "model": "m", "status": "completed"}
MESSAGE: dict[str, Any] = {"id": "a", "type": "message", "role": "assistant", "model": "m"}
COMPLETED = "response.completed"


def whole(name: str, body: object) -> Response[Any]:
    """What a whole answer is read as."""
    return get_dialect(name).decode_response(HttpReply(status=200, body=json.dumps(body).encode()), DecodeContext())


def events(name: str, said: list[Any]) -> list[Event]:
    """What a stream is read as."""
    decoder = get_dialect(name).stream_decoder(DecodeContext())
    body = "".join([f"data: {json.dumps(one)}\n\n" for one in said])
    return [*decoder.feed(body.encode()), *decoder.close()]


def chat(text: str) -> dict[str, Any]:
    """A whole answer with one call."""
    call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": text}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {**CHUNK, "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def chat_stream(pieces: list[str], finish: str | None = "tool_calls") -> list[Any]:
    """The same in pieces, with another call behind it."""
    first = {"index": 0, "id": "x", "type": "function", "function": {"name": "f", "arguments": ""}}
    rest = [{"index": 0, "function": {"arguments": piece}} for piece in pieces]
    other = {"index": 1, "id": "y", "type": "function", "function": {"name": "g", "arguments": "{}"}}
    deltas: list[Any] = [{"tool_calls": [call]} for call in (first, *rest, other)]
    told: list[Any] = [{**CHUNK, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    return [*told, {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]


def item(text: str) -> dict[str, Any]:
    """A call as an item."""
    return {"type": "function_call", "id": "i", "call_id": "x", "name": "f", "arguments": text, "status": "completed"}


def item_stream(pieces: list[str], *, place: bool = True) -> list[Any]:
    """The same in pieces."""
    at = {"item_id": "i", **({"output_index": 0} if place else {})}
    added = {"type": "response.output_item.added", **at, "item": {**item(""), "status": "in_progress"}}
    return [added, *[{"type": "response.function_call_arguments.delta", **at, "delta": piece} for piece in pieces]]


def block_stream(pieces: list[str]) -> list[Any]:
    """A call of Messages in pieces."""
    block: dict[str, Any] = {"type": "tool_use", "id": "x", "name": "f", "input": {}}
    began: dict[str, Any] = {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None}}
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    told = [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    return [began, {"type": "content_block_start", "index": 0, "content_block": block}, *told]


STOPPED: list[Any] = [
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
]


def codes(response: Response[Any]) -> list[str]:
    """What was changed, and where."""
    return [f"{change.action} {change.code} {change.path}" for change in response.changes]


TOLD = ["repaired arguments_twice /parts/0/arguments_json"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (TWICE, OBJECT),
        ('"{}"', "{}"),
        ('""', ""),
        ('" "', " "),
        ('"null"', "null"),
        (OBJECT, None),
        ("", None),
        ('"Oslo"', None),
        ('"[1]"', None),
        ('"{\\"a\\":1,\\"a\\":2}"', None),
        ('"{\\"a\\":NaN}"', None),
        ('"{\\"a\\":', None),
        (json.dumps(TWICE), None),
        (' "{}"', None),
    ],
)
def test_only_the_text_of_an_object_or_of_nothing_is_decoded_twice(text: str, found: str | None) -> None:
    """Anything else stays broken."""
    assert decoded_twice(text) == found


def test_whole_answers() -> None:
    """On Chat and on Responses."""
    for name, body in (("openai-chat", chat(TWICE)), ("openai-responses", {**ANSWER, "output": [item(TWICE)]})):
        response = whole(name, body)
        [call] = response.tool_calls
        assert (call.id, call.arguments_json, response.finish_reason) == ("x", OBJECT, "tool_calls")
        assert codes(response) == TOLD


@pytest.mark.parametrize("pieces", [[TWICE], list(TWICE), [TWICE[:1], TWICE[1:]], [TWICE[:9], TWICE[9:-1], '"']])
def test_streams_say_them_once_they_are_whole(pieces: list[str]) -> None:
    """However they are cut: one delta, the object's, and the change at the end."""
    found = events("openai-chat", chat_stream(pieces))
    assert [event.arguments for event in found if isinstance(event, ToolCallDelta)] == [OBJECT, "{}"]
    assert [call.arguments_json for call in fold(found).tool_calls] == [OBJECT, "{}"]
    assert codes(fold(found)) == TOLD
    last: dict[str, Any] = {"type": COMPLETED, "response": {**ANSWER, "output": [item(TWICE)]}}
    for place in (True, False):
        found = events("openai-responses", [*item_stream(pieces, place=place), last])
        assert [event.arguments for event in found if isinstance(event, ToolCallDelta)] == [OBJECT]
        assert fold(found).tool_calls[0].arguments_json == OBJECT
        assert codes(fold(found)) == TOLD
    found = events("anthropic", [*block_stream(pieces), *STOPPED])
    assert [event.arguments for event in found if isinstance(event, ToolCallDelta)] == [OBJECT]
    assert codes(fold(found)) == ["repaired foreign_shape /parts/0/arguments_json"]


def test_an_answer_that_ends_before_its_item_does() -> None:
    """The last event holds no items: what the deltas said counts."""
    last: dict[str, Any] = {"type": COMPLETED, "response": {**ANSWER, "output": []}}
    for place in (True, False):
        found = fold(events("openai-responses", [*item_stream(list(TWICE), place=place), last]))
        assert (found.tool_calls[0].arguments_json, codes(found)) == (OBJECT, TOLD)


def test_a_text_that_is_no_object_stays_broken() -> None:
    """Whole and streamed, with all that came."""
    broken = BrokenToolCall("x", "f", '"Oslo"', "not_object")
    assert whole("openai-chat", chat('"Oslo"')).parts == (broken,)
    assert fold(events("openai-chat", chat_stream(list('"Oslo"')))).parts[0] == broken
    last: dict[str, Any] = {"type": COMPLETED, "response": {**ANSWER, "output": [item('"Oslo"')]}}
    [part] = fold(events("openai-responses", [*item_stream(list('"Oslo"')), last])).parts
    assert isinstance(part, BrokenToolCall)
    assert (part.raw_arguments, part.reason) == ('"Oslo"', "not_object")
    found = fold(events("anthropic", [*block_stream(list("5")), *STOPPED]))
    assert found.parts == (BrokenToolCall("x", "f", "5", "not_object"),)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("openai-chat", chat_stream(list(TWICE)[:5])[:-2]),
        ("openai-responses", item_stream(list(TWICE)[:5])),
        ("anthropic", block_stream(list(TWICE)[:5])),
    ],
)
def test_a_stream_that_breaks_keeps_what_was_held_back(name: str, said: list[Any]) -> None:
    """As a call that was cut off."""
    last = events(name, said)[-1]
    assert isinstance(last, StreamError)
    assert last.partial is not None
    [part] = last.partial.parts
    assert isinstance(part, BrokenToolCall)
    assert (part.name, part.raw_arguments, part.reason) == ("f", TWICE[:5], "cut_off")


@pytest.mark.parametrize("text", ["", " ", "null"])
def test_the_text_of_nothing_is_no_arguments(text: str) -> None:
    """Both are told."""
    response = whole("openai-chat", chat(json.dumps(text)))
    assert response.parts == (ToolCall("x", "f", "{}"),)
    assert codes(response) == [*TOLD, "repaired arguments_empty /parts/0/arguments_json"]
    streamed = fold(events("openai-chat", chat_stream([json.dumps(text)])))
    assert streamed.parts[0] == ToolCall("x", "f", "{}")
    assert codes(streamed) == codes(response)


@pytest.mark.parametrize(
    ("args", "text", "told"),
    [
        (OBJECT, OBJECT, ["foreign_shape"]),
        ('{\n "n": 1\n}', '{"n": 1}', ["foreign_shape"]),
        ("", "{}", ["foreign_shape", "arguments_empty"]),
    ],
)
def test_google_takes_text_arguments_for_what_they_say(args: str, text: str, told: list[str]) -> None:
    """Whole and streamed; an empty text is none."""
    call = {"name": "f", "id": "x", "args": args}
    content = {"role": "model", "parts": [{"functionCall": call}]}
    body: dict[str, Any] = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    for response in (whole("google", body), fold(events("google", [body]))):
        assert response.parts == (ToolCall("x", "f", text),)
        assert codes(response) == [f"repaired {code} /parts/0/arguments_json" for code in told]
