"""Answers and errors of our own format, whole and streamed: ids, names, what fails, and every class of error."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest

from interlingua import errors
from interlingua.dialects._contract import DecodeContext, ServerContext, Undo
from interlingua.dialects.unified import DIALECT
from interlingua.dialects.unified.wire import ERROR_TYPES, type_of_error
from interlingua.errors import (
    APITimeoutError,
    DecodeError,
    Error,
    IncompleteStreamError,
    InternalServerError,
    MalformedArgumentsError,
    NotFoundError,
    OutputError,
    OverloadedError,
    RateLimitError,
    UnsupportedError,
    UpstreamError,
    UsageError,
)
from interlingua.stream.check import check
from interlingua.stream.unfold import unfold
from interlingua.types.change import Change
from interlingua.types.content import BrokenToolCall, Citation, Sealed, TextPart, ThinkingPart, ToolCall
from interlingua.types.event import (
    BlockStart,
    Event,
    Extra,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ToolCallDelta,
    ToolCallReady,
    UsageUpdate,
)
from interlingua.types.response import Alternative, Attempt, Response
from interlingua.types.usage import Usage
from interlingua.wire.http import HttpReply
from tests.support.cells import cells

CALL = ToolCall("c1", "get_weather", '{"city" : "Oslo"}')
NAMELESS: dict[str, Any] = {"type": "tool_call", "id": "c", "name": "", "arguments": {}}
CALLED = Response(parts=(TextPart("See."), CALL), finish_reason="tool_calls", model="m", id="r1")


def told(response: Response[Any], **context: Any) -> dict[str, Any]:
    """The parsed body of an answer."""
    return json.loads(DIALECT.encode_response(response, ServerContext(**context)).body)


def answered(body: dict[str, Any], **context: Any) -> Response[Any]:
    """The answer that a body is."""
    return DIALECT.decode_response(HttpReply(status=200, body=json.dumps(body).encode()), DecodeContext(**context))


def streamed(events: list[Event], **context: Any) -> bytes:
    """Events as a stream."""
    encoder = DIALECT.stream_encoder(ServerContext(**context))
    return b"".join(map(encoder.encode, events))


def events_of(raw: bytes, **context: Any) -> list[Event]:
    """The events of a stream, which are lawful."""
    decoder = DIALECT.stream_decoder(DecodeContext(**context))
    found = [*decoder.feed(raw), *decoder.close()]
    assert check(found) == ()
    return found


# Whole answers


def test_r47_arguments_are_parsed_and_calls_easy_to_find() -> None:
    """`tool_calls` and `text` beside the parts; the exact text of the arguments survives."""
    reply = DIALECT.encode_response(CALLED, ServerContext())
    assert b'"tool_calls":[{"id":"c1","name":"get_weather","arguments":{"city" : "Oslo"}}]' in reply.body
    assert json.loads(reply.body)["text"] == "See."
    assert DIALECT.decode_response(reply, DecodeContext()) == CALLED
    assert told(Response(parts=(), finish_reason="stop", model="m"))["tool_calls"] == []


def test_the_model_and_the_id_are_those_that_the_server_shows() -> None:
    """The context's, else the answer's own; an id is made where there is none."""
    body = told(CALLED, model="smart", make_id=lambda: "made")
    assert (body["model"], body["id"]) == ("smart", "r1")
    body = told(Response(parts=(), finish_reason="stop", model="a/b"), make_id=lambda: "made")
    assert (body["model"], body["id"]) == ("a/b", "made")


@pytest.mark.parametrize("is_streamed", [False, True])
def test_r19_own_ids_are_given_where_an_answer_is_read(is_streamed: bool) -> None:
    """Deltas, whole calls and the end have the same one; written, they are what the encoder was given."""
    numbers = count(1)
    made = {"make_id": lambda: f"call_{next(numbers):024}"}
    if is_streamed:
        events = events_of(streamed(list(unfold(CALLED))), **made)
        [start] = [event for event in events if isinstance(event, BlockStart) and event.block == "tool_call"]
        [ready] = [event for event in events if isinstance(event, ToolCallReady)]
        assert (start.id, ready.call.id) == (f"call_{1:024}", f"call_{1:024}")
        last = events[-1]
        assert isinstance(last, StreamEnd)
        response = last.response
    else:
        response = answered(told(CALLED), **made)
    assert [call.id for call in response.tool_calls] == [f"call_{1:024}"]
    assert told(response)["tool_calls"][0]["id"] == f"call_{1:024}"


@pytest.mark.parametrize("is_streamed", [False, True])
def test_ids_that_are_missing_or_repeated_are_made(is_streamed: bool) -> None:
    """Counting on from the history, each with an entry."""
    twice = (CALL, ToolCall("c1", "get_weather", "{}"), ToolCall("", "get_weather", "{}"))
    said = Response(parts=twice, finish_reason="tool_calls", model="m")
    undo = Undo(first_index=4, names={"get_weather": "get-weather"})
    if is_streamed:
        last = events_of(streamed(list(unfold(said))), undo=undo)[-1]
        assert isinstance(last, StreamEnd)
        response = last.response
    else:
        response = answered(told(said), undo=undo)
    assert [(call.id, call.name) for call in response.tool_calls] == [
        ("c1", "get-weather"),
        ("call_5", "get-weather"),
        ("call_6", "get-weather"),
    ]
    assert [(change.code, change.path) for change in response.changes] == [
        ("call_id_duplicate", "/parts/1/id"),
        ("call_id_made", "/parts/2/id"),
    ]


def test_a_choice_that_does_not_say_how_it_ended_is_other() -> None:
    """Only the answer itself has to."""
    said = {"type": "text", "text": "a"}
    response = answered({"model": "m", "parts": [said], "finish_reason": "stop", "alternatives": [{"parts": [said]}]})
    assert [one.finish_reason for one in (response, *response.alternatives)] == ["stop", "other"]


def test_a_finish_reason_that_the_parts_contradict_is_derived() -> None:
    """In the answer and in its alternatives."""
    call = {**NAMELESS, "name": "f"}
    other: dict[str, Any] = {"parts": [{**call, "id": "d"}], "finish_reason": "other"}
    response = answered({"model": "m", "parts": [call], "finish_reason": "stop", "alternatives": [other]})
    assert (response.finish_reason, response.alternatives[0].finish_reason) == ("tool_calls", "tool_calls")
    assert [(change.code, change.path) for change in response.changes] == [
        ("finish_reason_derived", "/finish_reason"),
        ("finish_reason_derived", "/alternatives/0/finish_reason"),
    ]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"model": "m", "parts": []}, ""),
        ({"model": "m", "parts": [{"type": "song"}], "finish_reason": "stop"}, "/parts/0/type"),
        ({"model": "m", "parts": [NAMELESS], "finish_reason": "stop"}, "/parts/0/name"),
    ],
)
def test_an_answer_that_is_none_is_an_error_with_its_place(body: dict[str, Any], path: str) -> None:
    """Members that are missing, parts that nobody knows."""
    with pytest.raises(DecodeError) as caught:
        answered(body)
    assert caught.value.path == path


def test_r48_a_broken_call_fails_the_answer_and_a_cut_one_does_not() -> None:
    """R48: a 502 that names the call; cut off at the length it stays a part, and is among no calls."""
    broken = BrokenToolCall("c1", "f", "{", "malformed")
    reply = DIALECT.encode_response(Response(parts=(broken,), finish_reason="tool_calls", model="m"), ServerContext())
    assert reply.status == 502
    for status in (200, 502):
        with pytest.raises(
            MalformedArgumentsError, match=r"the call 'c1' \(tool f\) are not one JSON object"
        ) as caught:
            raise_or_read(HttpReply(status=status, body=reply.body))
        assert caught.value.call == broken
    cut = Response(parts=(BrokenToolCall("c1", "f", "{", "cut_off"),), finish_reason="length", model="m")
    body = told(cut)
    assert (body["tool_calls"], body["parts"][0]["type"]) == ([], "broken_tool_call")
    assert answered(body) == cut
    other = Response(parts=(), finish_reason="stop", alternatives=(Alternative(parts=(broken,)),), model="m")
    assert DIALECT.encode_response(other, ServerContext()).status == 502


def raise_or_read(reply: HttpReply) -> Response[Any]:
    """The answer, or its error raised."""
    if reply.status >= 400:
        raise DIALECT.decode_error(reply, DecodeContext())
    return DIALECT.decode_response(reply, DecodeContext())


# Streams


def test_a_stream_that_only_repeats_at_the_end_is_completed() -> None:
    """Counts that only the end knows, arguments without deltas: what comes out is lawful all the same."""
    body = told(CALLED)
    raw = _frames(
        {"type": "stream_start", "model": "m", "id": "r1"},
        {"type": "block_start", "index": 0, "block": "text"},
        {"type": "text_delta", "index": 0, "text": "See."},
        {"type": "block_end", "index": 0, "part": {"type": "text", "text": "See."}},
        {"type": "block_start", "index": 1, "block": "tool_call", "id": "c1", "name": "get_weather"},
        {"type": "block_end", "index": 1, "part": body["parts"][1]},
        {"type": "stream_end", "response": {**body, "usage": {"input_tokens": 3}}},
    )
    events = events_of(raw)
    [delta] = [event for event in events if isinstance(event, ToolCallDelta)]
    assert json.loads(delta.arguments) == {"city": "Oslo"}
    assert [event.usage for event in events if isinstance(event, UsageUpdate)] == [Usage(input_tokens=3)]
    assert isinstance(events[-1], StreamEnd)
    assert events[-1].response.tool_calls[0].arguments == {"city": "Oslo"}


def _frames(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


LAWLESS: list[tuple[list[Any], str]] = [
    ([{"type": "text_delta", "index": 0, "text": "x"}], "L1"),
    ([{"type": "stream_start"}, {"type": "stream_start"}], "L1"),
    ([{"type": "stream_start"}, {"type": "block_start", "index": 1, "block": "text"}], "L4"),
    ([{"type": "stream_start"}, {"type": "block_end", "index": 0, "part": {"type": "text", "text": ""}}], "L3"),
    (
        [
            {"type": "stream_start"},
            {"type": "block_start", "index": 0, "block": "text"},
            {"type": "block_end", "index": 0, "part": {"type": "text", "text": "Hi"}},
        ],
        "L6",
    ),
    (
        [
            {"type": "stream_start"},
            {"type": "block_start", "index": 0, "block": "text"},
            {"type": "stream_end", "response": {"model": "m", "parts": [], "finish_reason": "stop"}},
        ],
        "the stream ends while a block is open",
    ),
    ([{"type": "stream_end", "response": {"model": "m", "parts": [], "finish_reason": "stop"}}], "before it began"),
    (
        [
            {"type": "stream_start"},
            {
                "type": "block_end",
                "index": 0,
                "part": {"type": "tool_call", "id": "c", "name": "f", "arguments": {}},
            },
        ],
        "the stream ends a call that did not begin",
    ),
    ([{"type": "stream_start"}, {"type": "block_start", "index": 0, "block": "tool_call"}], "must have a name"),
    ([[1]], "expected"),
    ([{"zzz": 1}], "missing required field `type`"),
]
"""Events, and what is said of them."""


@pytest.mark.parametrize(("events", "sentence"), LAWLESS)
def test_a_peer_that_breaks_a_law_ends_the_stream_with_an_error(events: list[Any], sentence: str) -> None:
    """The unlawful event is not given on; what came stays readable."""
    last = events_of(_frames(*events))[-1]
    assert isinstance(last, StreamError)
    assert last.error == "DecodeError"
    assert sentence in last.message


def test_events_of_a_later_version_are_passed_on() -> None:
    """As what they are, and written back so; unknown members of known events are passed over."""
    later = {"type": "mood", "warm": True}
    raw = _frames({"type": "stream_start", "zzz": 1}, later)
    events = events_of(raw)
    assert events[:2] == [StreamStart(), Extra("unified", later)]
    assert streamed(events[1:2]) == b'event: mood\ndata: {"type":"mood","warm":true}\n\n'
    odd = Extra("unified", {"type": "a\nb"})
    assert streamed([odd]).startswith(b'event: extra\ndata: {"type":"extra","dialect":"unified"')


def test_a_bare_error_and_a_bare_answer_are_understood() -> None:
    """SSE-22: what a proxy or a server that cannot stream puts in the place of a stream."""
    reply = DIALECT.encode_error(OverloadedError("No capacity.", status=529), ServerContext())
    last = events_of(reply.body)[-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.message) == ("OverloadedError", "No capacity.")
    events = events_of(DIALECT.encode_response(CALLED, ServerContext()).body)
    assert events[-1] == StreamEnd(CALLED)
    assert TextDelta(0, "See.") in events


def test_nothing_is_read_after_the_end() -> None:
    """And the transport's failure after it is none; before it, it is one, with what came."""
    raw = streamed(list(unfold(CALLED)))
    decoder = DIALECT.stream_decoder(DecodeContext())
    assert isinstance(decoder.feed(raw + raw)[-1], StreamEnd)
    assert (decoder.terminal, decoder.ended) == (True, True)
    assert decoder.fail(IncompleteStreamError("cut")) == []
    assert decoder.close() == []
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(raw[: raw.index(b"event: tool_call_delta")])
    [last] = decoder.fail(IncompleteStreamError("cut"))
    assert isinstance(last, StreamError)
    assert last.partial is not None
    assert last.partial.parts == (TextPart("See."), BrokenToolCall("c1", "get_weather", "", "cut_off"))


def test_arguments_with_line_breaks_are_exact() -> None:
    """The deltas say them; the whole call stands on one line."""
    call = ToolCall("c1", "f", '{\r\n "a": "\\n"\n}')
    said = Response(parts=(call,), finish_reason="tool_calls", model="m")
    raw = streamed(list(unfold(said)))
    assert all(line.startswith((b"event:", b"data:", b"")) for line in raw.split(b"\n"))
    assert b"\r" not in raw
    last = events_of(raw)[-1]
    assert isinstance(last, StreamEnd)
    assert last.response == said


# Errors


@cells("kind", sorted(ERROR_TYPES))
def test_every_class_of_error_survives(kind: str) -> None:
    """Class, sentence, status, code, wait, request id, worth of a retry and tries."""
    attempts = (Attempt(model="a/b", outcome="failed", error="RateLimitError: no", status=429, duration_s=1.0),)
    error = ERROR_TYPES[kind](
        "No.", status=418, code="c", retryable=True, retry_after_s=2.5, request_id="r", attempts=attempts
    )
    reply = DIALECT.encode_error(error, ServerContext())
    assert reply.status == 418
    assert {("retry-after", "2.5"), ("x-request-id", "r")} <= set(reply.headers)
    found = DIALECT.decode_error(reply, DecodeContext())
    assert type(found) is type(error)
    for name in ("message", "status", "code", "retryable", "retry_after_s", "request_id", "attempts"):
        assert getattr(found, name) == getattr(error, name)


def test_every_error_of_ours_has_a_type() -> None:
    """The list is closed; a class of somebody else's is sent as the root."""
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Error)]
    assert {type_of_error(kind) for kind in classes} == ERROR_TYPES.keys()
    assert type_of_error(APITimeoutError) == "api_timeout_error"

    class OddError(Error):
        """Not ours."""

    assert json.loads(DIALECT.encode_error(OddError("x"), ServerContext()).body)["error"]["type"] == "error"


def test_what_a_class_knows_beyond_the_others_survives() -> None:
    """The place, the refusals, the deadline, the fault, and what had come."""
    refused = Change("refused", "audio", "/messages/0/parts/0", "ollama", "encode_request")
    partial = Response(parts=(TextPart("So far"),), finish_reason="error", model="m")
    assert _there(DecodeError("x", path="/a/0")).path == "/a/0"
    assert _there(UnsupportedError("x", changes=(refused,))).changes == (refused,)
    assert _there(APITimeoutError("x", phase="idle")).phase == "idle"
    assert _there(IncompleteStreamError("x", partial=partial)).partial == partial
    output = _there(OutputError("x", fault="truncated", response=partial))
    assert (output.fault, output.response) == ("truncated", partial)


def _there(error: Any) -> Any:
    return DIALECT.decode_error(DIALECT.encode_error(error, ServerContext()), DecodeContext())


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (404, b"<html>Not here</html>", NotFoundError, "<html>Not here</html>"),
        (502, b"", InternalServerError, "an empty body"),
        (429, b'{"error":{"type":"too_much_error","message":"Slow."}}', RateLimitError, "Slow."),
        (409, b'{"error":"text"}', UpstreamError, "text"),
    ],
)
def test_what_is_no_error_of_ours_has_the_class_of_its_status(
    status: int, body: bytes, kind: type[Error], message: str
) -> None:
    """A proxy's page, nothing at all, a type of a later version."""
    found = DIALECT.decode_error(HttpReply(status=status, headers=(("retry-after", "3"),), body=body), DecodeContext())
    assert (type(found), found.message, found.status, found.retry_after_s) == (kind, message, status, 3)


NAN: dict[str, Any] = {"x": float("nan")}


@pytest.mark.parametrize(
    "answer",
    [
        Response(extra={"x": NAN}),
        Response(extra={"x": {"y": [NAN]}}),
        Response(usage=Usage(extra={"x": NAN})),
        Response(cost_usd=float("nan")),
        Response(attempts=(Attempt(model="p/m", outcome="served", duration_s=float("inf")),)),
        Response(parts=(TextPart("a", extra={"x": NAN}),)),
        Response(parts=(TextPart("a", (Citation("x", NAN),)),)),
        Response(parts=(ThinkingPart("a", Sealed("x", NAN)),)),
        Response(parts=(ToolCall("c", "look", "{}", extra={"x": NAN}),)),
    ],
)
def test_no_number_that_json_has_not_is_written(answer: Response[Any]) -> None:
    """Wherever in an answer it stands."""
    with pytest.raises(UsageError, match="not finite"):
        DIALECT.encode_response(answer, ServerContext(model="m"))
