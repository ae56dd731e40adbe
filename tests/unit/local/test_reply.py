"""What the engine says, written as Chat Completions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.errors import DecodeError
from interlingua.local.chat import plan
from interlingua.local.reply import Done, Piece, ReplyWriter, error_body

TOOL = {"type": "function", "function": {"name": "go"}}
DONE = Done("stop", input_tokens=12, cached_tokens=4, output_tokens=3)
USAGE = {
    "prompt_tokens": 12,
    "completion_tokens": 3,
    "total_tokens": 15,
    "prompt_tokens_details": {"cached_tokens": 4},
}
HEAD = {"id": "chatcmpl-1", "created": 7, "model": "tiny"}


def writer(**members: Any) -> ReplyWriter:
    """A writer for a request with `members`."""
    body = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}], **members}
    return ReplyWriter(plan(json.dumps(body).encode()), id="chatcmpl-1", created=7, call_id=lambda: "call_1")


def streamed(target: ReplyWriter, pieces: list[Piece], done: Done) -> list[dict[str, Any]]:
    """Every chunk of an answer."""
    chunks = [chunk for piece in pieces for chunk in target.feed(piece)]
    return [json.loads(chunk) for chunk in [*chunks, *target.finish(done)]]


def whole(target: ReplyWriter, pieces: list[Piece], done: Done) -> dict[str, Any]:
    """The reply as one body."""
    for piece in pieces:
        list(target.feed(piece))
    return json.loads(target.whole(done))


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """A chunk as the dialect has it."""
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {**HEAD, "object": "chat.completion.chunk", "choices": choices}


def test_free_text_is_streamed_as_it_comes() -> None:
    """The role is said once, usage only when asked for."""
    pieces = [Piece("Hel"), Piece("lo")]
    assert streamed(writer(stream=True, stream_options={"include_usage": True}), pieces, DONE) == [
        chunk({"role": "assistant", "content": "Hel"}),
        chunk({"content": "lo"}),
        chunk({}, "stop"),
        {**HEAD, "object": "chat.completion.chunk", "choices": [], "usage": USAGE},
    ]
    assert len(streamed(writer(stream=True), pieces, DONE)) == 3


def test_a_whole_reply_says_the_same() -> None:
    """Text, finish reason and usage in one body."""
    message = {"role": "assistant", "content": "Hello"}
    assert whole(writer(), [Piece("Hel"), Piece("lo")], DONE) == {
        **HEAD,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": USAGE,
    }


def test_a_call_is_streamed_with_its_name_first() -> None:
    """Id and name come once, arguments in fragments of exact text."""
    pieces = [Piece('{"name": "go", "arg'), Piece('uments": {"a'), Piece('": 1}}')]
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "go", "arguments": ""}}
    assert streamed(writer(tools=[TOOL]), pieces, DONE) == [
        chunk({"role": "assistant", "tool_calls": [call]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '": 1}'}}]}),
        chunk({}, "tool_calls"),
    ]


def test_a_call_cut_by_a_limit_keeps_what_came_and_says_length() -> None:
    """Arguments are not closed, the finish reason is not tool_calls."""
    reply = whole(writer(tools=[TOOL]), [Piece('{"name": "go", "arguments": {"ci')], Done("length"))
    (choice,) = reply["choices"]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["content"] is None
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "go", "arguments": '{"ci'}


def test_reasoning_of_a_template_is_kept_apart() -> None:
    """Thinking is neither text nor lost."""
    pieces = [Piece("Hm.", thinking=True), Piece("Yes.")]
    message = whole(writer(), pieces, DONE)["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}


def test_an_answer_outside_the_grammar_is_an_error() -> None:
    """It is found while streaming, or at the end."""
    with pytest.raises(DecodeError):
        list(writer(tools=[TOOL]).feed(Piece("Sure!")))
    with pytest.raises(DecodeError):
        whole(writer(tools=[TOOL]), [Piece('{"reply": "no end')], DONE)


def test_errors_have_the_shape_of_the_dialect() -> None:
    """Message, type, member and code."""
    assert json.loads(error_body("No.", kind="server_error", code="c", param="p")) == {
        "error": {"message": "No.", "type": "server_error", "param": "p", "code": "c"}
    }
