"""Laws of Chat Completions: nothing is lost, nothing depends on the cut, nothing but our own errors comes out."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects.openai_chat import DIALECT
from interlingua.stream.check import check
from interlingua.stream.fold import fold
from interlingua.stream.unfold import unfold
from interlingua.types.content import ToolCall
from interlingua.types.event import StreamEnd
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from tests.support.chat import DONE, chunk
from tests.support.chat_strategies import call_lists, chat_requests, chat_responses, tool_turns, wild_bodies
from tests.support.strategies import responses
from tests.support.trips import Trips, cut

TRIPS = Trips(DIALECT)


@given(chat_requests())
def test_a_request_survives_the_wire(request: Request) -> None:
    """What the dialect can say is read as it was said; a second trip changes no byte."""
    TRIPS.check_request(request)


@given(chat_responses())
def test_an_answer_survives_the_wire_whole_and_streamed(response: Response[Any]) -> None:
    """Both forms give the same response, with unknown members and seals."""
    TRIPS.check_answer(response)


@given(responses)
def test_an_unfolded_answer_folds_to_itself(response: Response[Any]) -> None:
    """And its events are lawful, whatever it holds."""
    made = list(unfold(response))
    assert check(made) == ()
    assert fold(made) == response


@given(chat_responses(), st.lists(st.integers(0, 100_000), max_size=8))
def test_no_cut_of_the_bytes_changes_the_events(response: Response[Any], places: list[int]) -> None:
    """Random cuts, and byte by byte."""
    TRIPS.check_cuts(TRIPS.streamed(response), places)


@given(chat_responses(), st.integers(0, 100_000))
def test_a_stream_cut_short_is_never_a_whole_answer(response: Response[Any], place: int) -> None:
    """Before the finish reason: an error with what came, lawful, and without calls to run."""
    raw = TRIPS.streamed(response)
    end = raw.index(b'"finish_reason":"') if b'"finish_reason":"' in raw else len(raw)
    partial = TRIPS.incomplete(raw[: place % (end + 1)])
    assert partial.tool_calls == ()


@st.composite
def interleavings(draw: st.DrawFn) -> tuple[list[ToolCall], bytes]:
    """Calls, and a stream in which their fragments come in any order that keeps each call's own."""
    calls = [call for call in draw(call_lists) if not call.freeform and not call.sealed and not call.extra]
    queues: list[list[bytes]] = []
    for place, call in enumerate(calls):
        head = {"index": place, "id": call.id, "function": {"name": call.name, "arguments": ""}}
        text = call.arguments_json
        pieces = (
            cut(text.encode(), draw(st.lists(st.integers(0, 99), max_size=3))) if text.isascii() else [text.encode()]
        )
        grown = [{"index": place, "function": {"arguments": piece.decode()}} for piece in pieces]
        queues.append([chunk(json.dumps({"tool_calls": [entry]})) for entry in (head, *grown)])
    opened = b"".join(queue.pop(0) for queue in queues)
    order = draw(st.permutations([place for place, queue in enumerate(queues) for _ in queue]))
    grown_all = b"".join(queues[place].pop(0) for place in order)
    return calls, opened + grown_all + chunk("{}", "tool_calls") + DONE


@given(interleavings())
def test_fragments_of_parallel_calls_may_interleave(given_stream: tuple[list[ToolCall], bytes]) -> None:
    """Every call has its own arguments."""
    calls, raw = given_stream
    found = TRIPS.events_of([raw])
    assert check(found) == ()
    last = found[-1]
    assert isinstance(last, StreamEnd)
    assert last.response.parts == tuple(calls)


@given(tool_turns(), st.integers(1, 3))
def test_a_prefix_of_the_conversation_is_a_prefix_of_the_bytes(history: list[Message], turns: int) -> None:
    """So that prompt caches hit: a further turn never changes the bytes before it."""
    places = [place for place, message in enumerate(history) if message.role == "user"]
    end = places[turns] if turns < len(places) else len(history)
    short = json.loads(TRIPS.sent(Request(messages=tuple(history[:end]))))["messages"]
    long = TRIPS.sent(Request(messages=tuple(history)))
    assert long.startswith(TRIPS.sent(Request(messages=tuple(history[:end])))[:-2])
    assert json.loads(long)["messages"][: len(short)] == short


@given(st.binary(max_size=200) | wild_bodies.map(msgspec.json.encode))
def test_any_bytes_are_read_or_refused_by_our_own_errors(body: bytes) -> None:
    """Requests under both policies, answers, errors; what was read can be written."""
    TRIPS.check_bytes(body)


@given(st.lists(wild_bodies.map(msgspec.json.encode) | st.binary(max_size=50), max_size=4), st.booleans())
def test_any_stream_is_lawful(bodies: list[bytes], is_done: bool) -> None:
    """Whole and in pieces of seven bytes, the same lawful events; they can be written."""
    raw = b"".join(b"data: " + body.replace(b"\n", b" ") + b"\n\n" for body in bodies) + (DONE if is_done else b"")
    TRIPS.check_stream(raw)


@given(wild_bodies, st.sampled_from(["request", "response", "chunk"]))
def test_the_normal_form_of_a_normal_form_is_itself(body: dict[str, Any], kind: str) -> None:
    """For every body that the dialect reads."""
    TRIPS.check_normal_form(body, kind)
