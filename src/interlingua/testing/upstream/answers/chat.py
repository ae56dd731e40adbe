"""Chat Completions answers: one object, or `data:` frames up to `[DONE]`.

Source: OpenAI Chat, sections 2, 3 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.answers.say import CREATED, Ids, Say, halves, words
from interlingua.testing.upstream.refusals import error_body
from interlingua.testing.upstream.verdict import Asked, Issued
from interlingua.testing.wirefacts.values import members
from interlingua.wire.json import encode
from interlingua.wire.sse import encode_event

__all__ = ["fail_chat", "stream_chat", "whole_chat"]


def whole_chat(say: Say, request: Asked, ids: Ids, _: Issued) -> dict[str, Any]:
    """The whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None, "refusal": say.refusal or None}
    calls = _calls(say, ids)
    if calls:
        message["tool_calls"] = calls
    message["annotations"] = []
    choice = {"message": message, "logprobs": None, "finish_reason": _finish(say, request)}
    choices = [{"index": place, **choice} for place in range(request.body.get("n") or 1)]
    head = _head(ids, request, "chat.completion")
    return {**head, "choices": choices, "usage": _usage(say), "service_tier": "default"}


def stream_chat(say: Say, request: Asked, ids: Ids, _: Issued) -> Iterator[bytes]:
    """The frames of the streamed answer."""
    head = _head(ids, request, "chat.completion.chunk")
    with_usage = members(request.body.get("stream_options")).get("include_usage") is True
    more = {"usage": None} if with_usage else {}

    def frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _frame({**head, "choices": [choice], **more})

    yield frame({"role": "assistant", "content": "" if say.text else None, "refusal": None})
    yield from [frame({"content": piece}) for piece in words(say.text)]
    yield from [frame({"refusal": piece}) for piece in words(say.refusal)]
    for place, call in enumerate(_calls(say, ids)):
        first = {**call, "index": place, "function": {**call["function"], "arguments": ""}}
        yield frame({"tool_calls": [first]})
        for piece in halves(call["function"]["arguments"]):
            yield frame({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
    yield frame({}, _finish(say, request))
    if with_usage:
        yield _frame({**head, "choices": [], "usage": _usage(say)})
    yield encode_event(b"[DONE]")


def fail_chat(status: int, message: str | None) -> bytes:
    """The frame of an error in a stream."""
    return _frame(error_body("openai-chat", status, message))


def _frame(body: dict[str, Any]) -> bytes:
    return encode_event(encode(body, nulls=8))


def _head(ids: Ids, request: Asked, kind: str) -> dict[str, Any]:
    return {"id": ids.next("chatcmpl-"), "object": kind, "created": CREATED, "model": request.model}


def _calls(say: Say, ids: Ids) -> list[dict[str, Any]]:
    return [
        {"id": ids.next("call_"), "type": "function", "function": {"name": call.name, "arguments": call.json}}
        for call in say.calls
    ]


def _finish(say: Say, request: Asked) -> str:
    if say.finish:
        return say.finish
    is_named = members(request.body.get("tool_choice")).get("type") == "function"
    return "tool_calls" if say.calls and not is_named else "stop"


def _usage(say: Say) -> dict[str, Any]:
    return {
        "prompt_tokens": say.input_tokens,
        "completion_tokens": say.output_tokens,
        "total_tokens": say.input_tokens + say.output_tokens,
        "prompt_tokens_details": {"cached_tokens": say.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": say.reasoning_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
