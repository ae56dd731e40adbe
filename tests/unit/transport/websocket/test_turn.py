"""A request of HTTP as a turn of a WebSocket: what is sent, and when the new items alone are."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.errors import DecodeError
from interlingua.transport.websocket.turn import Latest, Turn, turn_of
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode

USER = {"role": "user", "content": "Weather?"}
CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"Oslo"}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "-2"}
ANSWER: dict[str, Any] = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Cold.", "annotations": [], "logprobs": []}],
}


def _turn(*items: object, **members: Any) -> Turn:
    body = encode({"model": "m", "input": list(items), "stream": True, **members})
    request = HttpRequest(url="https://h/v1/responses", dialect="openai-responses", body=body)
    turn = turn_of(request)
    assert turn is not None
    return turn


def _after(turn: Turn, *output: object) -> Latest | None:
    """What a connection can go on from after a turn that was answered like that."""
    turn.take(encode({"type": "response.completed", "response": {"id": "resp_1", "output": list(output)}}))
    return turn.latest


def _sent(turn: Turn, latest: Latest | None) -> Any:
    return decode_any(turn.event(latest))


def test_a_first_turn_says_everything() -> None:
    """The members of the body beside a type, without those of HTTP alone."""
    turn = _turn(USER, stream_options={"include_obfuscation": False})
    assert _sent(turn, None) == {"type": "response.create", "model": "m", "input": [USER]}
    assert not turn.is_continued


@pytest.mark.parametrize(
    "echo",
    [
        [CALL],
        [{**CALL, "id": "fc_1", "status": "completed"}],
        [{"type": "reasoning", "id": "rs_1", "summary": []}, CALL],
    ],
    ids=["bare", "as it came", "with reasoning"],
)
def test_what_goes_on_sends_the_new_items_alone(echo: list[object]) -> None:
    """However the items of the answer come back: ids, states and reasoning do not count."""
    output: list[Any] = [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {**CALL, "id": "fc_1", "status": "completed"},
    ]
    latest = _after(_turn(USER), *output)
    turn = _turn(USER, *echo, RESULT, tools=[])
    told = {"type": "response.create", "model": "m", "input": [RESULT], "tools": [], "previous_response_id": "resp_1"}
    assert _sent(turn, latest) == told
    assert turn.is_continued


@pytest.mark.parametrize("content", ["Cold.", [{"type": "output_text", "text": "Cold."}]])
def test_a_message_comes_back_in_any_form(content: object) -> None:
    """As a text, or as parts without what the client does not keep."""
    latest = _after(_turn(USER), ANSWER)
    turn = _turn(USER, {"role": "assistant", "content": content}, {"role": "user", "content": "Sure?"})
    assert _sent(turn, latest)["input"] == [{"role": "user", "content": "Sure?"}]


@pytest.mark.parametrize(
    ("items", "members"),
    [
        ([USER, {**CALL, "arguments": "{}"}, RESULT], {}),
        ([{"role": "user", "content": "Weather!"}, CALL, RESULT], {}),
        ([USER, CALL], {}),
        ([USER], {}),
        ([USER, RESULT, CALL], {}),
        ([USER, CALL, RESULT], {"model": "another"}),
        ([USER, CALL, RESULT], {"previous_response_id": "resp_0"}),
        ([USER, CALL, RESULT], {"conversation": "conv_1"}),
    ],
    ids=["other arguments", "edited", "nothing new", "shorter", "another order", "model", "an id", "a conversation"],
)
def test_whatever_else_is_sent_whole(items: list[object], members: dict[str, Any]) -> None:
    """What is not plainly the same conversation, one item longer, says everything itself."""
    latest = _after(_turn(USER), CALL)
    turn = _turn(*items, **members)
    assert _sent(turn, latest)["input"] == items
    assert not turn.is_continued


def test_images_are_compared_whole() -> None:
    """Two that differ are two conversations."""
    images = [{"role": "user", "content": [{"type": "input_image", "image_url": f"data:,{one}"}]} for one in "ab"]
    latest = _after(_turn(images[0]), ANSWER)
    assert _turn(images[0], ANSWER, USER).fits(latest) == 2
    assert _turn(images[1], ANSWER, USER).fits(latest) == 0


@pytest.mark.parametrize("kind", ["response.failed", "error"])
def test_a_turn_that_failed_is_gone_on_from_by_nobody(kind: str) -> None:
    """Its connection begins anew."""
    turn = _turn(USER)
    turn.take(encode({"type": kind, "response": {"id": "resp_1", "output": []}}))
    assert turn.is_over
    assert turn.latest is None


def test_events_are_frames_of_a_stream() -> None:
    """Each with its name; the one that ends it has the whole answer."""
    turn = _turn(USER)
    created = b'{"type":"response.created","response":{"id":"resp_1"}}'
    assert turn.take(created) == b"event: response.created\ndata: " + created + b"\n\n"
    assert not turn.is_over
    turn.take(encode({"type": "response.completed", "response": {"id": "resp_1", "output": [ANSWER]}}))
    assert turn.is_over
    assert decode_any(turn.reply().body) == {"id": "resp_1", "output": [ANSWER]}


def test_an_error_event_is_a_reply_with_its_status() -> None:
    """Its headers, with the time to wait, and the error in the body."""
    turn = _turn(USER)
    error = {"code": "rate_limit_exceeded", "message": "slow down"}
    turn.take(encode({"type": "error", "status": 429, "error": error, "headers": {"Retry-After": "3", "x": 1}}))
    reply = turn.reply()
    assert (reply.status, decode_any(reply.body)) == (429, {"error": error})
    assert reply.headers == (("retry-after", "3"), ("content-type", "application/json"))


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"type":1}', b'{"type":"a\\nb"}', b"\xff"])
def test_what_is_no_event_is_an_error(text: bytes) -> None:
    """It never becomes a frame."""
    with pytest.raises(DecodeError):
        _turn(USER).take(text)


def test_an_end_without_a_response_is_an_error() -> None:
    """Where a whole answer is wanted."""
    turn = _turn(USER)
    turn.take(b'{"type":"response.completed"}')
    with pytest.raises(DecodeError, match="without a response"):
        turn.reply()


@pytest.mark.parametrize(
    "change",
    [
        {"method": "GET"},
        {"dialect": "openai-chat"},
        {"url": "https://h/v1/responses/compact"},
        {"body": b"no json"},
        {"body": b"[]"},
        {"body": b'{"model":"m","background":true}'},
    ],
)
def test_other_requests_are_none(change: dict[str, Any]) -> None:
    """HTTP carries them."""
    told: dict[str, Any] = {"url": "https://h/v1/responses", "dialect": "openai-responses", "body": b"{}", **change}
    assert turn_of(HttpRequest(**told)) is None
