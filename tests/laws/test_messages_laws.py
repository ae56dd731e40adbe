"""Laws of Anthropic Messages: nothing is lost, nothing depends on the cut, nothing but our own errors comes out."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import ServerContext
from interlingua.dialects.anthropic import DIALECT
from interlingua.stream.check import check
from interlingua.stream.failure import failure_of
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from tests.support.messages import STOP
from tests.support.messages_strategies import (
    conversations,
    messages_requests,
    messages_responses,
    wild_bodies,
    wild_events,
)
from tests.support.strategies import responses
from tests.support.trips import Trips

TRIPS = Trips(DIALECT)


@given(messages_requests())
def test_a_request_survives_the_wire(request: Request) -> None:
    """What the dialect can say is read as it was said; a second trip changes no byte."""
    TRIPS.check_request(request)


@given(messages_responses())
def test_an_answer_survives_the_wire_whole_and_streamed(response: Response[Any]) -> None:
    """Both forms give the same response, with unknown members and seals."""
    TRIPS.check_answer(response)


@given(messages_responses(), st.lists(st.integers(0, 100_000), max_size=8))
def test_no_cut_of_the_bytes_changes_the_events(response: Response[Any], places: list[int]) -> None:
    """Random cuts, and byte by byte."""
    TRIPS.check_cuts(TRIPS.streamed(response), places)


@given(messages_responses(), st.integers(0, 100_000))
def test_a_stream_cut_short_is_never_a_whole_answer(response: Response[Any], place: int) -> None:
    """Before `message_stop`: an error with what came, lawful; a call whose block did not stop is not run."""
    raw = TRIPS.streamed(response).removesuffix(STOP)
    partial = TRIPS.incomplete(raw[: place % (len(raw) + 1)])
    assert all(call in response.tool_calls for call in partial.tool_calls)


@given(responses)
def test_any_answer_can_be_told_and_is_a_lawful_stream(response: Response[Any]) -> None:
    """Whatever other dialects can say: one block at a time, dense, stopped once, and read again as lawful events."""
    raw = TRIPS.streamed(response, ServerContext())
    opened, is_open = 0, False
    for piece in raw.split(b"\n\n")[:-1]:
        body = json.loads(piece.partition(b"\ndata: ")[2])
        match body["type"]:
            case "content_block_start":
                assert (body["index"], is_open) == (opened, False)
                opened, is_open = opened + 1, True
            case "content_block_delta":
                assert (body["index"], is_open) == (opened - 1, True)
            case "content_block_stop":
                assert (body["index"], is_open) == (opened - 1, True)
                is_open = False
            case _:
                pass
    assert not is_open or failure_of(response) is not None  # nothing follows an error
    assert check(TRIPS.events_of([raw])) == ()
    told = DIALECT.encode_response(response, ServerContext())
    assert (told.status >= 400) == (failure_of(response) is not None)
    assert told.status >= 400 or json.loads(told.body)["content"] is not None


@given(conversations(), st.integers(1, 3))
def test_a_prefix_of_the_conversation_is_a_prefix_of_the_bytes(history: list[Message], turns: int) -> None:
    """So that prompt caches hit: a further turn never changes the bytes before it."""
    places = [place for place, message in enumerate(history) if message.role == "user"]
    end = places[turns] if turns < len(places) else len(history)
    short = TRIPS.sent(Request(messages=tuple(history[:end]), max_tokens=9))
    assert TRIPS.sent(Request(messages=tuple(history), max_tokens=9)).startswith(short[:-2])


@given(st.binary(max_size=200) | wild_bodies.map(msgspec.json.encode))
def test_any_bytes_are_read_or_refused_by_our_own_errors(body: bytes) -> None:
    """Requests under both policies, answers, errors; what was read can be written."""
    TRIPS.check_bytes(body)


@given(
    st.lists((wild_events | wild_bodies).map(msgspec.json.encode) | st.binary(max_size=50), max_size=5), st.booleans()
)
def test_any_stream_is_lawful(bodies: list[bytes], is_done: bool) -> None:
    """Whole and in pieces of seven bytes, the same lawful events; they can be written."""
    raw = b"".join(b"data: " + body.replace(b"\n", b" ") + b"\n\n" for body in bodies) + (STOP if is_done else b"")
    TRIPS.check_stream(raw)


@given(wild_bodies, st.sampled_from(["request", "response", "chunk"]))
def test_every_body_that_is_read_has_a_normal_form(body: dict[str, Any], kind: str) -> None:
    """And it is JSON."""
    TRIPS.check_normal_form(body, kind)
