"""Laws of generateContent: nothing is lost, nothing depends on the cut, nothing but our own errors comes out."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import ServerContext
from interlingua.dialects.google import DIALECT
from interlingua.stream.check import check
from interlingua.stream.failure import failure_of
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from tests.support.google import STREAM_URL, URL
from tests.support.google_strategies import google_conversations, google_requests, google_responses, wild_bodies
from tests.support.strategies import responses
from tests.support.trips import Trips

TRIPS = Trips(DIALECT, model="gemini-3-pro", url=URL)
FRAMINGS = st.sampled_from([TRIPS.own, ServerContext(source=DIALECT.name, json_array=True)])


@given(google_requests())
def test_a_request_survives_the_wire(request: Request) -> None:
    """What the dialect can say is read as it was said; a second trip changes no byte."""
    TRIPS.check_request(request)


@given(google_responses(), FRAMINGS)
def test_an_answer_survives_the_wire_whole_and_streamed(response: Response[Any], framing: ServerContext) -> None:
    """Both forms give the same response, with unknown members and seals, in either framing."""
    TRIPS.check_answer(response, framing)


@given(google_responses(), FRAMINGS, st.lists(st.integers(0, 100_000), max_size=8))
def test_no_cut_of_the_bytes_changes_the_events(
    response: Response[Any], framing: ServerContext, places: list[int]
) -> None:
    """Random cuts, and byte by byte."""
    TRIPS.check_cuts(TRIPS.streamed(response, framing), places)


@given(google_responses(), st.integers(0, 100_000))
def test_a_stream_without_its_last_frame_is_never_a_whole_answer(response: Response[Any], place: int) -> None:
    """Before the finish reason: an error with what came, lawful."""
    raw = TRIPS.streamed(response)
    begun = raw.rindex(b"data: ")
    partial = TRIPS.incomplete(raw[: place % (begun + 1)])
    assert all(call in response.tool_calls for call in partial.tool_calls)


@given(responses, st.booleans())
def test_any_answer_can_be_told_and_is_a_lawful_stream(response: Response[Any], as_array: bool) -> None:
    """Whatever other dialects can say: no empty part, and read again as lawful events."""
    raw = TRIPS.streamed(response, ServerContext(json_array=as_array))
    if as_array:
        frames = json.loads(raw)
    else:
        frames = [json.loads(event.removeprefix("data: ")) for event in raw.decode().split("\r\n\r\n") if event]
    parts = [part for one in frames for each in one.get("candidates", ()) for part in each["content"].get("parts", ())]
    assert {} not in parts
    assert {"text": ""} not in parts
    assert check(TRIPS.events_of([raw])) == ()
    told = DIALECT.encode_response(response, ServerContext())
    assert (told.status >= 400) == (failure_of(response) is not None)
    assert told.status >= 400 or TRIPS.answered(told.body) is not None


@given(google_conversations(), st.integers(1, 3))
def test_a_prefix_of_the_conversation_is_a_prefix_of_the_bytes(history: list[Message], turns: int) -> None:
    """So that prompt caches hit: a further turn never changes the bytes before it."""
    places = [place for place, message in enumerate(history) if message.role == "user"]
    end = places[turns] if turns < len(places) else len(history)
    short = TRIPS.sent(Request(messages=tuple(history[:end])))
    assert TRIPS.sent(Request(messages=tuple(history))).startswith(short[:-2])


@given(st.binary(max_size=200) | wild_bodies.map(msgspec.json.encode))
def test_any_bytes_are_read_or_refused_by_our_own_errors(body: bytes) -> None:
    """Requests under both policies, answers, errors; what was read can be written."""
    TRIPS.check_bytes(body)


@given(st.lists(wild_bodies.map(msgspec.json.encode) | st.binary(max_size=50), max_size=5), st.booleans())
def test_any_stream_is_lawful(bodies: list[bytes], as_array: bool) -> None:
    """Whole and in pieces of seven bytes, the same lawful events; they can be written."""
    if as_array:
        raw = b"[" + b",".join(bodies) + b"]"
    else:
        raw = b"".join(b"data: " + body.replace(b"\n", b" ") + b"\n\n" for body in bodies)
    TRIPS.check_stream(raw, ServerContext(json_array=True))


@given(wild_bodies, st.sampled_from(["request", "response", "chunk"]))
def test_every_body_that_is_read_has_a_normal_form(body: dict[str, Any], kind: str) -> None:
    """And it is JSON."""
    TRIPS.check_normal_form(body, kind, STREAM_URL)
