"""Laws of Ollama's API: nothing is lost, nothing depends on the cut, nothing but our own errors comes out."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.ollama import DIALECT
from interlingua.errors import Error
from interlingua.stream.check import check
from interlingua.stream.unfold import unfold
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.ollama_strategies import ollama_requests, ollama_responses, tool_turns, wild_bodies
from tests.support.strategies import responses

OWN = ServerContext(source=DIALECT.name)
FEWER = settings(max_examples=settings().max_examples * 4 // 10)
ASKED = EncodeOptions(target=Target(model="m"))


def sent(request: Request) -> bytes:
    """The body of a request."""
    return DIALECT.encode_request(request, ASKED).body


def read(body: bytes, url: str = "http://test/api/chat", **options: Any) -> Request:
    """The request that a body is."""
    return DIALECT.decode_request(HttpRequest(url=url, body=body), DecodeOptions(**options)).request


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


@FEWER
@given(ollama_requests())
def test_a_request_survives_the_wire(request: Request) -> None:
    """What the dialect can say is read as it was said; a second trip changes no byte."""
    body = sent(request)
    assert read(body) == request
    assert sent(read(body)) == body
    assert DIALECT.encode_request(request, ASKED).changes == ()


@FEWER
@given(ollama_responses())
def test_an_answer_survives_the_wire_whole_and_streamed(response: Response[Any]) -> None:
    """Both forms give the same response, with unknown members."""
    assert answered(DIALECT.encode_response(response, OWN).body) == response
    last = events_of([streamed(response)])[-1]
    assert isinstance(last, StreamEnd)
    assert last.response == response


@FEWER
@given(ollama_responses(), st.lists(st.integers(0, 100_000), max_size=8))
def test_no_cut_of_the_bytes_changes_the_events(response: Response[Any], places: list[int]) -> None:
    """Random cuts, and byte by byte."""
    raw = streamed(response)
    whole = events_of([raw])
    assert check(whole) == ()
    assert events_of(cut(raw, places)) == whole
    if len(raw) < 2_000:
        assert events_of([raw[at : at + 1] for at in range(len(raw))]) == whole


@FEWER
@given(ollama_responses(), st.integers(0, 100_000))
def test_a_stream_cut_short_is_never_a_whole_answer(response: Response[Any], place: int) -> None:
    """Before its last line: an error with what came, lawful."""
    raw = streamed(response)
    end = raw.rstrip(b"\n").rfind(b"\n") + 1
    found = events_of([raw[: place % (end + 1)]])
    assert check(found) == ()
    last = found[-1]
    assert isinstance(last, StreamError)
    assert last.error == "IncompleteStreamError"
    assert last.partial is not None


@FEWER
@given(responses)
def test_any_answer_can_be_told(response: Response[Any]) -> None:
    """Whatever it holds, whole and streamed, in both forms; what is told can be read."""
    for path in ("/api/chat", "/api/generate"):
        context = ServerContext(path=path, model="m")
        answered(DIALECT.encode_response(response, context).body)
        assert isinstance(events_of([streamed(response, context)])[-1], StreamEnd)


@FEWER
@given(tool_turns(), st.integers(1, 3))
def test_a_prefix_of_the_conversation_is_a_prefix_of_the_bytes(history: list[Message], turns: int) -> None:
    """So that prompt caches hit: a further turn never changes the messages before it."""
    places = [place for place, message in enumerate(history) if message.role == "user"]
    end = places[turns] if turns < len(places) else len(history)
    short = sent(Request(messages=tuple(history[:end])))
    head = short[: short.rindex(b'],"stream"')]
    assert sent(Request(messages=tuple(history))).startswith(head)


@given(st.binary(max_size=200) | wild_bodies.map(msgspec.json.encode), st.sampled_from(["/api/chat", "/api/generate"]))
def test_any_bytes_are_read_or_refused_by_our_own_errors(body: bytes, path: str) -> None:
    """Requests under both policies, answers, errors; what was read can be written."""
    for policy in ("refuse", "mend"):
        try:
            request = read(body, f"http://test{path}", history=policy)
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


@given(st.lists(wild_bodies.map(msgspec.json.encode) | st.binary(max_size=50), max_size=4))
def test_any_stream_is_lawful(bodies: list[bytes]) -> None:
    """Whole and in pieces of seven bytes, the same lawful events; they can be written."""
    raw = b"\n".join(bodies)
    found = events_of([raw])
    assert check(found) == ()
    assert events_of([raw[at : at + 7] for at in range(0, len(raw), 7)]) == found
    for context in (OWN, ServerContext()):
        encoder = DIALECT.stream_encoder(context)
        assert isinstance(b"".join(map(encoder.encode, found)), bytes)


@given(wild_bodies, st.sampled_from(["request", "response", "chunk"]))
def test_every_body_that_is_read_has_a_normal_form(body: dict[str, Any], kind: str) -> None:
    """Whatever its members are."""
    try:
        if kind == "request":
            read(msgspec.json.encode(body))
        else:
            answered(msgspec.json.encode(body))
    except Error:
        return
    assert json.dumps(DIALECT.normal_form(kind, body))
