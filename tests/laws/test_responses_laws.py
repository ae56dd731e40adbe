"""Laws of Responses: nothing is lost, nothing depends on the cut, nothing but our own errors comes out."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.openai_responses import DIALECT
from interlingua.errors import Error
from interlingua.stream.check import check
from interlingua.stream.unfold import unfold
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.responses_strategies import responses_requests, responses_responses, wild_bodies
from tests.support.strategies import responses

OWN = ServerContext(source=DIALECT.name)
ASKED = EncodeOptions(target=Target(model="m"))


def read(body: bytes) -> Request:
    """The request that a body is."""
    return DIALECT.decode_request(HttpRequest(url="http://test/", body=body), DecodeOptions()).request


def events_of(pieces: list[bytes]) -> list[Event]:
    """The events of a stream that comes in these pieces."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    return [*(event for piece in pieces for event in decoder.feed(piece)), *decoder.close()]


def told(response: Response[Any], context: ServerContext = OWN) -> bytes:
    """An answer as a stream."""
    encoder = DIALECT.stream_encoder(context)
    return b"".join(map(encoder.encode, unfold(response)))


def answered(body: bytes) -> Response[Any]:
    """A whole answer."""
    return DIALECT.decode_response(HttpReply(status=200, body=body), DecodeContext())


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """`data` in pieces."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@given(responses_requests())
def test_a_request_survives_the_wire(request: Request) -> None:
    """What the dialect can say is read as it was said; a second trip changes no byte."""
    encoded = DIALECT.encode_request(request, ASKED)
    assert encoded.changes == ()
    assert read(encoded.body) == request
    assert DIALECT.encode_request(read(encoded.body), ASKED).body == encoded.body


@given(responses_responses())
def test_an_answer_survives_the_wire_whole_and_streamed(response: Response[Any]) -> None:
    """Both forms give the same response, with unknown members and seals."""
    assert answered(DIALECT.encode_response(response, OWN).body) == response
    last = events_of([told(response)])[-1]
    assert isinstance(last, StreamEnd)
    assert last.response == response


@given(responses_responses(), st.lists(st.integers(0, 100_000), max_size=8))
def test_no_cut_of_the_bytes_changes_the_events(response: Response[Any], places: list[int]) -> None:
    """Random cuts, event by event, and byte by byte."""
    raw = told(response)
    whole = events_of([raw])
    assert check(whole) == ()
    assert events_of(cut(raw, places)) == whole
    assert events_of([piece + b"\n\n" for piece in raw.split(b"\n\n")[:-1]]) == whole
    if len(raw) < 2_000:
        assert events_of([raw[at : at + 1] for at in range(len(raw))]) == whole


@given(responses_responses(), st.integers(0, 100_000))
def test_a_stream_cut_short_is_never_a_whole_answer(response: Response[Any], place: int) -> None:
    """Before the last event: an error with what came, and lawful."""
    raw = told(response)
    end = raw.rindex(b"event: response.")
    found = events_of([raw[: place % (end + 1)]])
    assert check(found) == ()
    last = found[-1]
    assert isinstance(last, StreamError)
    assert last.error == "IncompleteStreamError"


@given(responses)
def test_any_answer_streams_as_it_is_told_whole(response: Response[Any]) -> None:
    """OUT-08: the last event is the answer that would not have been streamed; numbers have no gap."""
    context = ServerContext(source="google", model="m", created=1, make_id=lambda: "resp_1")
    whole = json.loads(DIALECT.encode_response(response, context).body)
    frames = [json.loads(piece.partition(b"data: ")[2]) for piece in told(response, context).split(b"\n\n")[:-1]]
    assert [frame["sequence_number"] for frame in frames] == list(range(len(frames)))
    assert frames[-1]["response"] == whole
    opened = [frame["output_index"] for frame in frames if frame["type"] == "response.output_item.added"]
    done = [frame["output_index"] for frame in frames if frame["type"] == "response.output_item.done"]
    assert opened == sorted(done) == list(range(len(whole["output"])))


@given(wild_bodies, st.lists(wild_bodies, max_size=5))
def test_no_body_breaks_anything_but_by_our_errors(body: object, frames: list[object]) -> None:
    """Requests, answers, errors and streams of JSON in the wrong places; what is read can be written."""
    raw = json.dumps(body).encode()
    for work in (read, answered):
        with suppress(Error):
            work(raw)
    DIALECT.decode_error(HttpReply(status=400, body=raw), DecodeContext())
    found = events_of([b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames])
    assert check(found) == ()
    encoder = DIALECT.stream_encoder(OWN)
    for event in found:
        encoder.encode(event)


@given(st.binary(max_size=200))
def test_no_bytes_break_a_stream(raw: bytes) -> None:
    """Arbitrary bytes end in exactly one terminal event."""
    assert check(events_of([raw])) == ()
