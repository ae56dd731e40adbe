"""Laws of Ollama's API: nothing is lost, nothing depends on the cut, nothing but our own errors comes out."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.dialects._contract import ServerContext
from interlingua.dialects.ollama import DIALECT
from interlingua.stream.failure import failure_of
from interlingua.types.event import StreamEnd, StreamError
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from tests.support.ollama_strategies import ollama_requests, ollama_responses, tool_turns, wild_bodies
from tests.support.strategies import responses
from tests.support.trips import Trips

TRIPS = Trips(DIALECT, url="http://test/api/chat")
FEWER = settings(max_examples=settings().max_examples * 4 // 10)


@FEWER
@given(ollama_requests())
def test_a_request_survives_the_wire(request: Request) -> None:
    """What the dialect can say is read as it was said; a second trip changes no byte."""
    TRIPS.check_request(request)


@FEWER
@given(ollama_responses())
def test_an_answer_survives_the_wire_whole_and_streamed(response: Response[Any]) -> None:
    """Both forms give the same response, with unknown members."""
    TRIPS.check_answer(response)


@FEWER
@given(ollama_responses(), st.lists(st.integers(0, 100_000), max_size=8))
def test_no_cut_of_the_bytes_changes_the_events(response: Response[Any], places: list[int]) -> None:
    """Random cuts, and byte by byte."""
    TRIPS.check_cuts(TRIPS.streamed(response), places)


@FEWER
@given(ollama_responses(), st.integers(0, 100_000))
def test_a_stream_cut_short_is_never_a_whole_answer(response: Response[Any], place: int) -> None:
    """Before its last line: an error with what came, lawful."""
    raw = TRIPS.streamed(response)
    end = raw.rstrip(b"\n").rfind(b"\n") + 1
    TRIPS.incomplete(raw[: place % (end + 1)])


@FEWER
@given(responses)
def test_any_answer_can_be_told(response: Response[Any]) -> None:
    """Whatever it holds, whole and streamed, in both forms; what is told can be read, and a failure is an error."""
    has_failed = failure_of(response) is not None
    for path in ("/api/chat", "/api/generate"):
        context = ServerContext(path=path, model="m")
        told = DIALECT.encode_response(response, context)
        assert (told.status >= 400) == has_failed
        if not has_failed:
            TRIPS.answered(told.body)
        assert type(TRIPS.events_of([TRIPS.streamed(response, context)])[-1]) is (
            StreamError if has_failed else StreamEnd
        )


@FEWER
@given(tool_turns(), st.integers(1, 3))
def test_a_prefix_of_the_conversation_is_a_prefix_of_the_bytes(history: list[Message], turns: int) -> None:
    """So that prompt caches hit: a further turn never changes the messages before it."""
    places = [place for place, message in enumerate(history) if message.role == "user"]
    end = places[turns] if turns < len(places) else len(history)
    short = TRIPS.sent(Request(messages=tuple(history[:end])))
    head = short[: short.rindex(b'],"stream"')]
    assert TRIPS.sent(Request(messages=tuple(history))).startswith(head)


@given(st.binary(max_size=200) | wild_bodies.map(msgspec.json.encode), st.sampled_from(["/api/chat", "/api/generate"]))
def test_any_bytes_are_read_or_refused_by_our_own_errors(body: bytes, path: str) -> None:
    """Requests under both policies, answers, errors; what was read can be written."""
    TRIPS.check_bytes(body, f"http://test{path}")


@given(st.lists(wild_bodies.map(msgspec.json.encode) | st.binary(max_size=50), max_size=4))
def test_any_stream_is_lawful(bodies: list[bytes]) -> None:
    """Whole and in pieces of seven bytes, the same lawful events; they can be written."""
    raw = b"\n".join(bodies)
    TRIPS.check_stream(raw)


@given(wild_bodies, st.sampled_from(["request", "response", "chunk"]))
def test_every_body_that_is_read_has_a_normal_form(body: dict[str, Any], kind: str) -> None:
    """Whatever its members are."""
    TRIPS.check_normal_form(body, kind)
