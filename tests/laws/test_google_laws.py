"""Laws of generateContent: nothing is lost, nothing depends on the cut, nothing but our own errors comes out."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.google import DIALECT
from interlingua.errors import Error
from interlingua.stream.check import check
from interlingua.stream.unfold import unfold
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.google import STREAM_URL, URL
from tests.support.google_strategies import google_conversations, google_requests, google_responses, wild_bodies
from tests.support.strategies import responses

OWN = ServerContext(source=DIALECT.name)
ASKED = EncodeOptions(target=Target(model="gemini-3-pro"))
FRAMINGS = st.sampled_from([OWN, ServerContext(source=DIALECT.name, json_array=True)])


def sent(request: Request) -> bytes:
    """The body of a request."""
    return DIALECT.encode_request(request, ASKED).body


def read(body: bytes, **options: Any) -> Request:
    """The request that a body is."""
    return DIALECT.decode_request(HttpRequest(url=URL, body=body), DecodeOptions(**options)).request


def events_of(pieces: list[bytes]) -> list[Event]:
    """The events of a stream that comes in these pieces."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    return [*(event for piece in pieces for event in decoder.feed(piece)), *decoder.close()]


def streamed(response: Response[Any], context: ServerContext = OWN) -> bytes:
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


@given(google_requests())
def test_a_request_survives_the_wire(request: Request) -> None:
    """What the dialect can say is read as it was said; a second trip changes no byte."""
    encoded = DIALECT.encode_request(request, ASKED)
    assert read(encoded.body) == request
    assert sent(read(encoded.body)) == encoded.body
    assert encoded.changes == ()


@given(google_responses(), FRAMINGS)
def test_an_answer_survives_the_wire_whole_and_streamed(response: Response[Any], framing: ServerContext) -> None:
    """Both forms give the same response, with unknown members and seals, in either framing."""
    assert answered(DIALECT.encode_response(response, OWN).body) == response
    last = events_of([streamed(response, framing)])[-1]
    assert isinstance(last, StreamEnd)
    assert last.response == response


@given(google_responses(), FRAMINGS, st.lists(st.integers(0, 100_000), max_size=8))
def test_no_cut_of_the_bytes_changes_the_events(
    response: Response[Any], framing: ServerContext, places: list[int]
) -> None:
    """Random cuts, and byte by byte."""
    raw = streamed(response, framing)
    whole = events_of([raw])
    assert check(whole) == ()
    assert events_of(cut(raw, places)) == whole
    if len(raw) < 2_000:
        assert events_of([raw[at : at + 1] for at in range(len(raw))]) == whole


@given(google_responses(), st.integers(0, 100_000))
def test_a_stream_without_its_last_frame_is_never_a_whole_answer(response: Response[Any], place: int) -> None:
    """Before the finish reason: an error with what came, lawful."""
    raw = streamed(response)
    begun = raw.rindex(b"data: ")
    found = events_of([raw[: place % (begun + 1)]])
    assert check(found) == ()
    last = found[-1]
    assert isinstance(last, StreamError)
    assert last.error == "IncompleteStreamError"
    assert last.partial is not None
    assert all(call in response.tool_calls for call in last.partial.tool_calls)


@given(responses, st.booleans())
def test_any_answer_can_be_told_and_is_a_lawful_stream(response: Response[Any], as_array: bool) -> None:
    """Whatever other dialects can say: no empty part, and read again as lawful events."""
    raw = streamed(response, ServerContext(json_array=as_array))
    if as_array:
        frames = json.loads(raw)
    else:
        frames = [json.loads(event.removeprefix("data: ")) for event in raw.decode().split("\r\n\r\n") if event]
    parts = [part for one in frames for each in one.get("candidates", ()) for part in each["content"].get("parts", ())]
    assert {} not in parts
    assert {"text": ""} not in parts
    assert check(events_of([raw])) == ()
    assert answered(DIALECT.encode_response(response, ServerContext()).body) is not None


@given(google_conversations(), st.integers(1, 3))
def test_a_prefix_of_the_conversation_is_a_prefix_of_the_bytes(history: list[Message], turns: int) -> None:
    """So that prompt caches hit: a further turn never changes the bytes before it."""
    places = [place for place, message in enumerate(history) if message.role == "user"]
    end = places[turns] if turns < len(places) else len(history)
    short = sent(Request(messages=tuple(history[:end])))
    assert sent(Request(messages=tuple(history))).startswith(short[:-2])


@given(st.binary(max_size=200) | wild_bodies.map(msgspec.json.encode))
def test_any_bytes_are_read_or_refused_by_our_own_errors(body: bytes) -> None:
    """Requests under both policies, answers, errors; what was read can be written."""
    for policy in ("refuse", "mend"):
        try:
            request = read(body, history=policy)
            DIALECT.encode_request(request, ASKED)
        except Error:
            continue
    try:
        response = answered(body)
        DIALECT.encode_response(response, OWN)
        DIALECT.encode_response(response, ServerContext())
        assert check(list(unfold(response))) == ()
    except Error:
        pass
    assert isinstance(DIALECT.decode_error(HttpReply(status=400, body=body), DecodeContext()), Error)


@given(st.lists(wild_bodies.map(msgspec.json.encode) | st.binary(max_size=50), max_size=5), st.booleans())
def test_any_stream_is_lawful(bodies: list[bytes], as_array: bool) -> None:
    """Whole and in pieces of seven bytes, the same lawful events; they can be written."""
    if as_array:
        raw = b"[" + b",".join(bodies) + b"]"
    else:
        raw = b"".join(b"data: " + body.replace(b"\n", b" ") + b"\n\n" for body in bodies)
    found = events_of([raw])
    assert check(found) == ()
    assert events_of([raw[at : at + 7] for at in range(0, len(raw), 7)]) == found
    for context in (OWN, ServerContext(json_array=True)):
        encoder = DIALECT.stream_encoder(context)
        assert isinstance(b"".join(map(encoder.encode, found)), bytes)


@given(wild_bodies, st.sampled_from(["request", "response", "chunk"]))
def test_every_body_that_is_read_has_a_normal_form(body: dict[str, Any], kind: str) -> None:
    """And it is JSON."""
    try:
        if kind == "request":
            DIALECT.decode_request(HttpRequest(url=STREAM_URL, body=msgspec.json.encode(body)), DecodeOptions())
        else:
            answered(msgspec.json.encode(body))
    except Error:
        return
    assert json.dumps(DIALECT.normal_form(kind, body))
