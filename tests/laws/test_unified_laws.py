"""Laws of our own HTTP format: the contract survives it whole, nothing depends on the cut, its schema describes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects._members import is_list, is_object
from interlingua.dialects.unified import DIALECT
from interlingua.dialects.unified.schema import json_schema
from interlingua.errors import DecodeError, Error, MalformedArgumentsError
from interlingua.stream.check import check
from interlingua.stream.fold import error_of
from interlingua.stream.unfold import unfold
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import OpaqueTool, Tool
from interlingua.wire.http import HttpReply
from tests.support.strategies import tools
from tests.support.trips import Trips, cut
from tests.support.unified_strategies import (
    broken_responses,
    foreign,
    unified_conversations,
    unified_requests,
    unified_responses,
    wild_bodies,
    wild_events,
)

FEWER = settings(max_examples=settings().max_examples * 3 // 10)
"""For laws over everything that a request or an answer can say."""
TRIPS = Trips(DIALECT)
SCHEMA = json_schema()
FORMS = {
    name: jsonschema_rs.validator_for({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{name}"}]})
    for name in ("Request", "Response", "Error", "Event")
}


def streamed(events: list[Event]) -> bytes:
    """Events as a stream."""
    encoder = DIALECT.stream_encoder(ServerContext(source="unified"))
    return b"".join(map(encoder.encode, events))


def whole(response: Response[Any]) -> HttpReply:
    """An answer in one body."""
    return DIALECT.encode_response(response, ServerContext(source="unified"))


def data_of(raw: bytes) -> list[Any]:
    """The parsed data of every event."""
    return [json.loads(frame.partition(b"\ndata: ")[2]) for frame in raw.split(b"\n\n") if frame]


@FEWER
@given(unified_requests())
def test_a_request_survives_the_wire(request: Request) -> None:
    """Everything that a request can say is read as it was said; a second trip changes no byte; nothing is noted."""
    encoded = DIALECT.encode_request(request, TRIPS.asked)
    assert encoded.changes == ()
    assert TRIPS.read(encoded.body) == request
    assert TRIPS.sent(TRIPS.read(encoded.body)) == encoded.body
    assert list(FORMS["Request"].iter_errors(json.loads(encoded.body))) == []


@FEWER
@given(st.lists(tools, max_size=3))
def test_any_request_that_can_be_sent_keeps_to_the_rules_of_tools(found: list[Tool | OpaqueTool]) -> None:
    """R31: whatever the caller's tools are called and say, what is sent has legal names and descriptions."""
    given_tools = {tool.name: tool for tool in found if isinstance(tool, Tool)}
    body = json.loads(TRIPS.sent(Request(tools=tuple(given_tools.values()))))
    for tool in body.get("tools", []):
        assert re.fullmatch("[a-zA-Z0-9_]{1,64}", tool["name"])
        assert tool["description"].strip()
        properties = tool.get("parameters", {}).get("properties")
        described: dict[str, Any] = properties if is_object(properties) else {}
        assert all(schema is False or schema["description"].strip() for schema in described.values())


@FEWER
@given(unified_responses)
def test_an_answer_survives_the_wire_whole_and_streamed(response: Response[Any]) -> None:
    """Both forms give the same response, with the changes and tries that are no part of equality."""
    found = TRIPS.answered(whole(response).body)
    assert found == response
    assert (found.changes, found.attempts) == (response.changes, response.attempts)
    last = TRIPS.events_of([streamed(list(unfold(response)))])[-1]
    assert isinstance(last, StreamEnd)
    assert last.response == response
    assert (last.response.changes, last.response.attempts) == (response.changes, response.attempts)


@FEWER
@given(unified_responses)
def test_events_survive_the_wire(response: Response[Any]) -> None:
    """One event for each canonical one, in their order, and equal."""
    events = list(unfold(response))
    raw = streamed(events)
    assert [data["type"] for data in data_of(raw)] == [type(event).__struct_config__.tag for event in events]
    assert TRIPS.events_of([raw]) == events


@FEWER
@given(unified_responses)
def test_the_schema_describes_what_is_written(response: Response[Any]) -> None:
    """Answers and events, members of later versions aside."""
    known = foreign(response)
    assert list(FORMS["Response"].iter_errors(json.loads(whole(known).body))) == []
    for data in data_of(streamed(list(unfold(known)))):
        assert list(FORMS["Event"].iter_errors(data)) == []


@FEWER
@given(broken_responses)
def test_r48_an_answer_with_a_broken_call_is_an_error(response: Response[Any]) -> None:
    """Whole a 502, streamed an error in the place of the end; the answer rides along, and the call is named."""
    reply = whole(response)
    assert reply.status == 502
    error = DIALECT.decode_error(reply, DecodeContext())
    assert isinstance(error, MalformedArgumentsError)
    assert error.call in response.parts
    assert error.response == response
    last = TRIPS.events_of([streamed(list(unfold(response)))])[-1]
    assert isinstance(last, StreamError)
    raised = error_of(last)
    assert isinstance(raised, MalformedArgumentsError)
    assert raised.call in response.parts
    assert last.partial is not None
    assert last.partial.parts == response.parts


@FEWER
@given(unified_responses, st.lists(st.integers(0, 100_000), max_size=8))
def test_no_cut_of_the_bytes_changes_the_events(response: Response[Any], places: list[int]) -> None:
    """Random cuts, and byte by byte."""
    raw = streamed(list(unfold(response)))
    found = TRIPS.events_of([raw])
    assert check(found) == ()
    assert TRIPS.events_of(cut(raw, places)) == found
    if len(raw) < 2_000:
        assert TRIPS.events_of([raw[at : at + 1] for at in range(len(raw))]) == found


@given(unified_responses, st.integers(0, 100_000))
def test_a_stream_cut_short_is_never_a_whole_answer(response: Response[Any], place: int) -> None:
    """Before the end event: an error with what came, lawful; a call whose block did not end is not run."""
    raw = streamed(list(unfold(response)))
    end = raw.rindex(b"event: stream_end")
    found = TRIPS.events_of([raw[: place % (end + 1)]])
    assert check(found) == ()
    last = found[-1]
    assert isinstance(last, StreamError)
    assert last.error == "IncompleteStreamError"
    assert last.partial is not None
    assert all(call in response.tool_calls for call in last.partial.tool_calls)


@FEWER
@given(unified_conversations(), st.integers(1, 3))
def test_a_prefix_of_the_conversation_is_a_prefix_of_the_bytes(history: list[Message], turns: int) -> None:
    """So that prompt caches hit: a further turn never changes the bytes before it."""
    places = [place for place, message in enumerate(history) if message.role == "user"]
    end = places[turns] if turns < len(places) else len(history)
    short = TRIPS.sent(Request(messages=tuple(history[:end])))
    assert TRIPS.sent(Request(messages=tuple(history))).startswith(short[:-2])


@FEWER
@given(unified_requests(), st.integers(0, 1_000))
def test_an_unknown_member_is_refused_wherever_it_stands(request: Request, number: int) -> None:
    """R47: the 400 names the place; values that are free may hold anything."""
    body = json.loads(TRIPS.sent(request))
    places = list(_objects(body, ""))
    path, found = places[number % len(places)]
    found["zzz"] = 1
    with pytest.raises(DecodeError) as caught:
        TRIPS.read(msgspec.json.encode(body))
    assert (caught.value.path, caught.value.code, caught.value.status) == (f"{path}/zzz", "unknown_member", 400)


FREE = {
    *("arguments", "parameters", "output_schema", "raw", "data", "value", "content", "metadata", "extra", "logit_bias"),
}


def _objects(value: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a body that has known members, with its place; the root comes first."""
    if is_object(value):
        yield path, value
    pairs: Iterable[tuple[str | int, Any]] = value.items() if is_object(value) else ()
    for name, item in enumerate(value) if is_list(value) else pairs:
        if name not in FREE:
            yield from _objects(item, f"{path}/{name}")


@given(st.binary(max_size=200) | wild_bodies.map(msgspec.json.encode))
def test_any_bytes_are_read_or_refused_by_our_own_errors(body: bytes) -> None:
    """Requests, answers, errors; what was read can be written."""
    refused: Error | None = None
    try:
        request = TRIPS.read(body)
        assert TRIPS.read(TRIPS.sent(request)) == request
    except Error as error:
        refused = error
    assert refused is None or DIALECT.encode_error(refused, ServerContext()).status in (400, 413)
    try:
        response = TRIPS.answered(body)
        whole(response)
        assert check(list(unfold(response))) == ()
    except Error:
        pass
    assert isinstance(DIALECT.decode_error(HttpReply(status=400, body=body), DecodeContext()), Error)


@given(
    st.lists((wild_events | wild_bodies).map(msgspec.json.encode) | st.binary(max_size=50), max_size=5), st.booleans()
)
def test_any_stream_is_lawful(bodies: list[bytes], is_started: bool) -> None:
    """Whole and in pieces of seven bytes, the same lawful events; they can be written."""
    start = b'event: stream_start\ndata: {"type":"stream_start","model":"m"}\n\n' if is_started else b""
    raw = start + b"".join(b"data: " + body.replace(b"\n", b" ") + b"\n\n" for body in bodies)
    found = TRIPS.events_of([raw])
    assert check(found) == ()
    assert TRIPS.events_of([raw[at : at + 7] for at in range(0, len(raw), 7)]) == found
    assert isinstance(streamed(found), bytes)


@given(wild_bodies, st.sampled_from(["request", "response", "chunk"]))
def test_every_body_that_is_read_has_a_normal_form(body: dict[str, Any], kind: str) -> None:
    """And it is JSON."""
    try:
        if kind == "request":
            TRIPS.read(msgspec.json.encode(body))
        else:
            TRIPS.answered(msgspec.json.encode(body))
    except Error:
        return
    assert json.dumps(DIALECT.normal_form(kind, body))


@FEWER
@given(unified_requests(), unified_responses)
def test_what_is_written_again_has_the_same_normal_form(request: Request, response: Response[Any]) -> None:
    """Read and written once more: bodies of one normal form."""
    body = TRIPS.sent(request)
    spelled = json.loads(body)
    for message in spelled["messages"]:
        if "content" in message:
            message["parts"] = [{"type": "text", "text": message.pop("content")}]
    again = json.loads(TRIPS.sent(TRIPS.read(msgspec.json.encode(spelled))))
    assert DIALECT.normal_form("request", spelled) == DIALECT.normal_form("request", again)
    answer = json.loads(whole(response).body)
    bare = {name: member for name, member in answer.items() if name not in ("text", "tool_calls")}
    assert DIALECT.normal_form("response", bare) == DIALECT.normal_form("response", answer)
