"""The message in which an answer broke off: a client of Responses is not told that it is completed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua import codec

ASKED: dict[str, Any] = {"model": "m", "input": "hi"}


def _bridge(*, stream: bool) -> codec.Bridge:
    bridge = codec.bridge("openai-responses", "openai-chat", model="m")
    bridge.request({**ASKED, "stream": True} if stream else dict(ASKED))
    return bridge


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n".encode()


def _statuses(frames: bytes) -> list[str]:
    """The statuses of the message, where its item is done and in the answer at the end."""
    events = [json.loads(line[6:]) for line in frames.decode().splitlines() if line.startswith("data: {")]
    done = [event["item"]["status"] for event in events if event["type"] == "response.output_item.done"]
    return done + [item["status"] for item in events[-1]["response"]["output"]]


CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("finish", "status"), [("stop", "completed"), ("length", "incomplete"), ("content_filter", "incomplete")]
)
def test_the_message_has_the_status_of_the_end(finish: str, status: str) -> None:
    """Whole and streamed: half a message was `completed` in an answer that was `incomplete`."""
    message = {"role": "assistant", "content": "Hel"}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    whole = _bridge(stream=False).response({"id": "c", "object": "chat.completion", "choices": [choice]})
    assert [item["status"] for item in whole["output"]] == [status]
    frames = b"".join(
        _bridge(stream=True).stream([_chunk({"content": "Hel"}), _chunk({}, finish), b"data: [DONE]\n\n"])
    )
    assert _statuses(frames) == [status, status]


def test_a_message_that_was_cut_is_incomplete_in_the_answer_that_failed() -> None:
    """The connection ended in the middle of it."""
    assert _statuses(b"".join(_bridge(stream=True).stream([_chunk({"content": "Hel"})]))) == [
        "incomplete",
        "incomplete",
    ]


def test_a_message_before_a_call_is_completed() -> None:
    """The answer ended behind it."""
    frames = [_chunk({"content": "Hello."}), _chunk({"tool_calls": [CALL]}), _chunk({}, "length"), b"data: [DONE]\n\n"]
    assert _statuses(b"".join(_bridge(stream=True).stream(frames)))[0] == "completed"
