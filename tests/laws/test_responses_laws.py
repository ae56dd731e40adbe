"""Laws of Responses: nothing is lost, nothing depends on the cut, nothing but our own errors comes out."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.openai_responses import DIALECT
from interlingua.errors import Error
from interlingua.stream.check import check
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply
from tests.support.responses_strategies import responses_requests, responses_responses, wild_bodies
from tests.support.strategies import responses
from tests.support.trips import Trips

TRIPS = Trips(DIALECT)


@given(responses_requests())
def test_a_request_survives_the_wire(request: Request) -> None:
    """What the dialect can say is read as it was said; a second trip changes no byte."""
    TRIPS.check_request(request)


@given(responses_responses())
def test_an_answer_survives_the_wire_whole_and_streamed(response: Response[Any]) -> None:
    """Both forms give the same response, with unknown members and seals."""
    TRIPS.check_answer(response)


@given(responses_responses(), st.lists(st.integers(0, 100_000), max_size=8))
def test_no_cut_of_the_bytes_changes_the_events(response: Response[Any], places: list[int]) -> None:
    """Random cuts, event by event, and byte by byte."""
    raw = TRIPS.streamed(response)
    TRIPS.check_cuts(raw, places)
    assert TRIPS.events_of([piece + b"\n\n" for piece in raw.split(b"\n\n")[:-1]]) == TRIPS.events_of([raw])


@given(responses_responses(), st.integers(0, 100_000))
def test_a_stream_cut_short_is_never_a_whole_answer(response: Response[Any], place: int) -> None:
    """Before the last event: an error with what came, and lawful."""
    raw = TRIPS.streamed(response)
    end = raw.rindex(b"event: response.")
    TRIPS.incomplete(raw[: place % (end + 1)])


@given(responses)
def test_any_answer_streams_as_it_is_told_whole(response: Response[Any]) -> None:
    """OUT-08: the last event is the answer that would not have been streamed; numbers have no gap."""
    context = ServerContext(source="google", model="m", created=1, make_id=lambda: "resp_1")
    whole = json.loads(DIALECT.encode_response(response, context).body)
    frames = [
        json.loads(piece.partition(b"data: ")[2]) for piece in TRIPS.streamed(response, context).split(b"\n\n")[:-1]
    ]
    assert [frame["sequence_number"] for frame in frames] == list(range(len(frames)))
    assert frames[-1]["response"] == whole
    opened = [frame["output_index"] for frame in frames if frame["type"] == "response.output_item.added"]
    done = [frame["output_index"] for frame in frames if frame["type"] == "response.output_item.done"]
    assert opened == sorted(done) == list(range(len(whole["output"])))


@given(wild_bodies, st.lists(wild_bodies, max_size=5))
def test_no_body_breaks_anything_but_by_our_errors(body: object, frames: list[object]) -> None:
    """Requests, answers, errors and streams of JSON in the wrong places; what is read can be written."""
    raw = json.dumps(body).encode()
    for work in (TRIPS.read, TRIPS.answered):
        with suppress(Error):
            work(raw)
    DIALECT.decode_error(HttpReply(status=400, body=raw), DecodeContext())
    found = TRIPS.events_of([b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames])
    assert check(found) == ()
    encoder = DIALECT.stream_encoder(TRIPS.own)
    for event in found:
        encoder.encode(event)


@given(st.binary(max_size=200))
def test_no_bytes_break_a_stream(raw: bytes) -> None:
    """Arbitrary bytes end in exactly one terminal event."""
    assert check(TRIPS.events_of([raw])) == ()
