"""Answers that hold nothing: an empty answer where they say how they ended, else an error that may be retried."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, InternalServerError, RateLimitError
from interlingua.stream.fold import fold
from interlingua.types.content import TextPart
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply

USAGE = {"prompt_tokens": 3, "completion_tokens": 0, "total_tokens": 3}
CHAT = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
CHUNK = {**CHAT, "object": "chat.completion.chunk"}
ANSWER = {"id": "r", "object": "response", "created_at": 1, "model": "m"}
MESSAGE = {"id": "a", "type": "message", "role": "assistant", "model": "m"}
COUNTS = {"promptTokenCount": 3, "totalTokenCount": 3}
LINE = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}

SILENT: list[tuple[str, dict[str, Any], str]] = [
    ("openai-chat", {**CHAT, "choices": [], "usage": USAGE}, "choice"),
    ("openai-chat", {**CHAT, "choices": None}, "choice"),
    ("openai-chat", {"choices": []}, "choice"),
    ("openai-chat", {"usage": USAGE}, "choice"),
    ("google", {"usageMetadata": COUNTS, "modelVersion": "m"}, "candidate"),
    ("google", {"candidates": []}, "candidate"),
    ("google", {"responseId": "r"}, "candidate"),
    ("google", {"promptFeedback": {"safetyRatings": []}}, "candidate"),
    ("openai-responses", ANSWER, "output"),
    ("openai-responses", {"id": "r", "output": None}, "output"),
    ("anthropic", MESSAGE, "content"),
    ("anthropic", {**MESSAGE, "content": None, "stop_reason": None}, "content"),
    ("cohere", {"id": "c", "finish_reason": "COMPLETE"}, "message"),
    ("cohere", {"id": "c", "usage": {"tokens": {"input_tokens": 3}}}, "message"),
]
ENDED: list[tuple[str, dict[str, Any], str]] = [
    ("google", {"promptFeedback": {"blockReason": "OTHER"}}, "content_filter"),
    ("openai-responses", {**ANSWER, "status": "completed", "output": None}, "stop"),
    ("openai-responses", {**ANSWER, "status": "completed"}, "stop"),
    ("openai-responses", {**ANSWER, "output": []}, "stop"),
    ("openai-responses", {**ANSWER, "status": "incomplete", "output": [],
                          "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
    ("anthropic", {**MESSAGE, "content": None, "stop_reason": "end_turn"}, "stop"),
    ("anthropic", {**MESSAGE, "stop_reason": "refusal"}, "refusal"),
    ("anthropic", {**MESSAGE, "content": []}, "other"),
    ("ollama", {**LINE, "done": True, "done_reason": "load"}, "stop"),
    ("cohere", {"id": "c", "message": {"role": "assistant"}, "finish_reason": "COMPLETE"}, "stop"),
    ("cohere", {"id": "c", "message": {"role": "assistant", "content": []}, "finish_reason": "MAX_TOKENS"}, "length"),
    ("cohere", {"id": "c", "message": {"role": "assistant"}}, "error"),
    ("ollama", {**LINE, "message": None, "done": True, "done_reason": "stop"}, "stop"),
]  # fmt: skip


def whole(name: str, body: object) -> Response[Any]:
    """What a whole answer under 200 is read as."""
    reply = HttpReply(status=200, body=json.dumps(body).encode())
    return get_dialect(name).decode_response(reply, DecodeContext())


def events(name: str, *said: object, end: str = "") -> list[Event]:
    """What a stream is read as."""
    decoder = get_dialect(name).stream_decoder(DecodeContext())
    start, stop = ("", "\n") if name == "ollama" else ("data: ", "\n\n")
    body = "".join([f"{start}{json.dumps(one)}{stop}" for one in said]) + end
    return [*decoder.feed(body.encode()), *decoder.close()]


@pytest.mark.parametrize(("name", "body", "what"), SILENT)
def test_an_answer_that_holds_nothing_and_does_not_say_why_may_be_asked_for_again(
    name: str, body: dict[str, Any], what: str
) -> None:
    """It is plainly of the dialect: its server failed."""
    with pytest.raises(InternalServerError) as caught:
        whole(name, body)
    assert caught.value.message == f"the answer has no {what}, and does not say why"
    assert (caught.value.retryable, caught.value.status) == (True, None)


@pytest.mark.parametrize(("name", "body", "reason"), ENDED)
def test_an_answer_that_says_how_it_ended_may_hold_nothing(name: str, body: dict[str, Any], reason: str) -> None:
    """It is an empty answer, with its reason."""
    response = whole(name, body)
    assert (response.parts, response.finish_reason) == ((), reason)


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere"])
@pytest.mark.parametrize("body", [{}, {"status_text": "ok"}])
def test_a_body_of_no_dialect_cannot_be_read(name: str, body: dict[str, Any]) -> None:
    """Nothing in it is an answer: the server is another one, and asking again is no use."""
    with pytest.raises(DecodeError) as caught:
        whole(name, body)
    assert caught.value.retryable is False


@pytest.mark.parametrize(
    "said", [[], [{**CHUNK, "choices": []}], [{**CHUNK, "choices": [], "usage": USAGE}], [{**CHUNK, "choices": None}]]
)
def test_a_chat_stream_that_ends_without_a_choice_is_such_an_answer(said: list[object]) -> None:
    """However much it counts; nothing was given out before the error but what was counted."""
    last = events("openai-chat", *said, end="data: [DONE]\n\n")[-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.message) == ("InternalServerError", "the answer has no choice, and does not say why")


def test_a_chat_stream_may_begin_without_a_choice() -> None:
    """As Azure's does."""
    begun: dict[str, Any] = {"choices": [], "id": "", "model": "", "object": "", "prompt_filter_results": []}
    said = {**CHUNK, "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    last = events("openai-chat", begun, said, {**CHUNK, "choices": [], "usage": USAGE}, end="data: [DONE]\n\n")[-1]
    assert isinstance(last, StreamEnd)
    assert last.response.parts == (TextPart("Hi"),)


def test_a_chat_stream_of_an_empty_choice_is_an_empty_answer() -> None:
    """The choice says how it ended."""
    said: dict[str, Any] = {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    told = events("openai-chat", said)
    assert (fold(told).parts, fold(told).finish_reason) == ((), "stop")


def test_streams_of_the_others_that_hold_nothing() -> None:
    """Google's ends before any end, which may be retried, too; the events of the others say that they are the end."""
    last = events("google", {"usageMetadata": COUNTS, "modelVersion": "m"})[-1]
    assert isinstance(last, StreamError)
    assert last.error == "IncompleteStreamError"
    assert fold(events("google", {"promptFeedback": {"blockReason": "OTHER"}})).finish_reason == "content_filter"
    completed = {"type": "response.completed", "response": {**ANSWER, "output": None}}
    assert fold(events("openai-responses", completed)).finish_reason == "stop"
    began = {"type": "message_start", "message": {**MESSAGE, "content": None, "stop_reason": None}}
    stopped = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 0}}
    assert fold(events("anthropic", began, stopped, {"type": "message_stop"})).finish_reason == "stop"


@pytest.mark.parametrize(("name", "body"), [("anthropic", MESSAGE), ("openai-responses", ANSWER)])
def test_a_whole_answer_in_place_of_a_stream_is_read_by_the_same_rule(name: str, body: dict[str, Any]) -> None:
    """As one event without a name."""
    last = events(name, body)[-1]
    assert isinstance(last, StreamError)
    assert last.error == "InternalServerError"
    assert "and does not say why" in last.message


@pytest.mark.parametrize("error", [{}, "", None, []])
def test_an_error_of_which_nothing_is_said_is_none(error: object) -> None:
    """`error: {}` beside an answer, whole and streamed."""
    message = {"role": "assistant", "content": "Hi"}
    bodies: dict[str, Any] = {
        "openai-chat": {**CHAT, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]},
        "anthropic": {**MESSAGE, "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"},
        "google": {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [{"text": "Hi"}]}}]},
        "ollama": {**LINE, "message": message, "done": True, "done_reason": "stop"},
    }
    for name, body in bodies.items():
        assert whole(name, {**body, "error": error}).parts == (TextPart("Hi"),)
        if name != "anthropic":
            assert fold(events(name, {**body, "error": error})).parts == (TextPart("Hi"),)


@pytest.mark.parametrize("body", [b"[]", b"[DONE]", b"[1]", b'["x"]', b'[{"text":"\\"error\\""}]', b'["error"]'])
def test_a_list_is_an_error_of_google_only_where_it_holds_one(body: bytes) -> None:
    """Any other list cannot be read, and says nothing of a reason."""
    with pytest.raises(DecodeError):
        get_dialect("google").decode_response(HttpReply(status=200, headers=(), body=body), DecodeContext())
    reply = HttpReply(status=200, headers=(), body=b'[{"error":{"code":429,"message":"slow down"}}]')
    with pytest.raises(RateLimitError, match="slow down"):
        get_dialect("google").decode_response(reply, DecodeContext())
