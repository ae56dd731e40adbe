"""Every finish reason of every wire, read and told: the words are those of wire formats, not of our tables."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import InternalServerError
from interlingua.stream.unfold import unfold
from interlingua.types.content import TextPart, ToolCall
from interlingua.types.event import StreamEnd, StreamError
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply
from tests.support.cells import cells


def answer(dialect: str, word: Any) -> dict[str, Any]:
    """A text that ends with a word of the wire."""
    match dialect:
        case "openai-chat":
            choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": word}
            return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        case "openai-responses":
            status, _, reason = str(word).partition("/")
            text: dict[str, Any] = {"type": "output_text", "text": "Hi", "annotations": []}
            item: dict[str, Any] = {
                "type": "message",
                "id": "m",
                "role": "assistant",
                "status": status,
                "content": [text],
            }
            whole: dict[str, Any] = {"id": "r", "object": "response", "model": "m", "status": status, "output": [item]}
            return {**whole, "incomplete_details": {"reason": reason} if reason else None}
        case "anthropic":
            content = [{"type": "text", "text": "Hi"}]
            message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content}
            return {**message, "stop_reason": word, "stop_sequence": None, "usage": {}}
        case "google":
            content = {"parts": [{"text": "Hi"}], "role": "model"}
            return {"candidates": [{"content": content, "finishReason": word, "index": 0}]}
        case "cohere":
            message = {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}
            return {"id": "c", "message": message, "finish_reason": word}
        case _:
            message = {"role": "assistant", "content": "Hi"}
            return {
                "model": "m",
                "created_at": "2026-11-22T00:00:00Z",
                "message": message,
                "done": True,
                "done_reason": word,
            }


FILTERED = (
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"),
    *("IMAGE_RECITATION", "MODEL_ARMOR", "ESCALATION", 3, 4),
)
FAILED = (
    *("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE"),
    *("TOO_MANY_TOOL_CALLS", "PUP_LIMITED_DISABLED"),
)
WORDS: list[tuple[str, Any, str]] = [
    *[("openai-chat", word, "stop") for word in ("stop", "eos", "eos_token", "end_turn", "stop_sequence", "STOP")],
    *[("openai-chat", word, "length") for word in ("length", "max_tokens", "model_length", "MAX_TOKENS")],
    ("openai-chat", "model_context_window_exceeded", "length"),
    # They announce calls that are not there.
    *[("openai-chat", word, "stop") for word in ("tool_calls", "function_call", "tool", "tool_use")],
    ("anthropic", "tool_use", "stop"),
    *[("openai-chat", word, "error") for word in ("error", "insufficient_system_resource", "network_error", "abort")],
    *[("openai-chat", word, "content_filter") for word in ("content_filter", "content-filter", "sensitive", "SAFETY")],
    ("openai-chat", "refusal", "refusal"),
    ("openai-chat", "new_word", "other"),
    *[("openai-responses", word, "stop") for word in ("completed", "complete")],
    ("openai-responses", "incomplete/max_output_tokens", "length"),
    ("openai-responses", "incomplete/content_filter", "content_filter"),
    ("openai-responses", "incomplete/steered", "other"),
    *[("openai-responses", word, "error") for word in ("cancelled", "queued", "in_progress")],
    *[("anthropic", word, "stop") for word in ("end_turn", "stop_sequence")],
    *[("anthropic", word, "length") for word in ("max_tokens", "model_context_window_exceeded")],
    ("anthropic", "pause_turn", "pause"),
    ("anthropic", "refusal", "refusal"),
    ("anthropic", "new_word", "other"),
    *[("google", word, "stop") for word in ("STOP", 1)],
    *[("google", word, "length") for word in ("MAX_TOKENS", "CONTINUATION", 2)],
    *[("google", word, "content_filter") for word in FILTERED],
    *[("google", word, "error") for word in FAILED],
    *[("google", word, "other") for word in ("LANGUAGE", "OTHER", "NO_IMAGE", "IMAGE_OTHER", "NEW_WORD", 5)],
    *[("ollama", word, "stop") for word in ("stop", "load", "unload")],
    ("ollama", "length", "length"),
    ("ollama", "new_word", "other"),
    *[("cohere", word, "stop") for word in ("COMPLETE", "STOP_SEQUENCE", "TOOL_CALL")],  # the call is not there
    ("cohere", "MAX_TOKENS", "length"),
    *[("cohere", word, "error") for word in ("ERROR", "TIMEOUT")],
    ("cohere", "NEW_WORD", "other"),
]


@cells(("name", "word", "reason"), WORDS)
def test_each_word_is_read(name: str, word: Any, reason: str) -> None:
    """The canonical reason, with the wire's own word beside it, which goes back to a client of the same dialect."""
    dialect = get_dialect(name)
    body = json.dumps(answer(name, word)).encode()
    response = dialect.decode_response(HttpReply(status=200, body=body), DecodeContext())
    assert (response.finish_reason, response.finish_reason_raw) == (reason, str(word))
    told = dialect.encode_response(response, ServerContext(source=name))
    assert dialect.decode_response(told, DecodeContext()).finish_reason == reason


TOLD: dict[str, dict[str, Any]] = {
    "openai-chat": {
        **dict.fromkeys(("stop", "pause", "other"), "stop"),
        **dict.fromkeys(("content_filter", "refusal"), "content_filter"),
        "length": "length",
        "tool_calls": "tool_calls",
    },
    "openai-responses": {
        **dict.fromkeys(("stop", "tool_calls", "pause", "other"), "completed"),
        "length": "incomplete/max_output_tokens",
        **dict.fromkeys(("content_filter", "refusal"), "incomplete/content_filter"),
        "error": "failed",
    },
    "anthropic": {
        **dict.fromkeys(("stop", "other"), "end_turn"),
        **dict.fromkeys(("content_filter", "refusal"), "refusal"),
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "pause": "pause_turn",
    },
    "google": {
        **dict.fromkeys(("stop", "tool_calls", "pause"), "STOP"),
        **dict.fromkeys(("content_filter", "refusal"), "SAFETY"),
        "other": "OTHER",
        "length": "MAX_TOKENS",
    },
    "ollama": {
        **dict.fromkeys(("stop", "tool_calls", "content_filter", "refusal", "pause", "other"), "stop"),
        "length": "length",
    },
    "cohere": {
        **dict.fromkeys(("stop", "content_filter", "refusal", "pause", "other"), "COMPLETE"),
        "length": "MAX_TOKENS",
        "tool_calls": "TOOL_CALL",
    },
}
APPROXIMATED = {
    "openai-chat": {"pause", "other"},
    "openai-responses": {"pause", "other"},
    "anthropic": {"content_filter", "other"},
    "google": {"refusal", "pause"},
    "ollama": {"content_filter", "refusal", "pause", "other"},
    "cohere": {"content_filter", "refusal", "pause", "other"},
}


def told_word(name: str, body: Any) -> Any:
    """The finish reason in an answer on the wire."""
    match name:
        case "openai-chat":
            return body["choices"][0]["finish_reason"]
        case "openai-responses":
            details = body["incomplete_details"]
            return f"{body['status']}/{details['reason']}" if details else body["status"]
        case "anthropic":
            return body["stop_reason"]
        case "google":
            return body["candidates"][0]["finishReason"]
        case "cohere":
            return body["finish_reason"]
        case _:
            return body["done_reason"]


@cells(("name", "reason"), [(name, reason) for name, told in TOLD.items() for reason in told])
def test_each_reason_is_told_in_a_word_of_the_wire(name: str, reason: Any) -> None:
    """Clients know no other words; an entry says where the word says less."""
    call = (ToolCall("call_1", "f", "{}"),) if reason == "tool_calls" else ()
    response: Response[Any] = Response(parts=(TextPart("Hi"), *call), finish_reason=reason)
    changes: list[Any] = []
    told = get_dialect(name).encode_response(response, ServerContext(changes=changes, make_id=lambda: "id_1"))
    assert told_word(name, json.loads(told.body)) == TOLD[name][reason]
    codes = {change.code for change in changes}
    assert ("finish_reason_approximated" in codes) == (reason in APPROXIMATED[name])


BROKEN: Response[Any] = Response(
    parts=(TextPart("Hi"),), finish_reason="error", finish_reason_raw="MALFORMED_FUNCTION_CALL", model="google/g"
)
BROKEN_OFF = "google/g broke its answer off, with the finish reason 'MALFORMED_FUNCTION_CALL'; ask again"
"""The sentence of that failure."""


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "google", "ollama", "cohere", "unified", "bedrock"])
def test_end_02_a_failed_answer_is_told_as_an_error(name: str) -> None:
    """Whole with a status of its own, streamed as the error event of the dialect; what came is read with neither."""
    dialect = get_dialect(name)
    told = dialect.encode_response(BROKEN, ServerContext())
    assert told.status == (502 if name == "unified" else 500)
    error = dialect.decode_error(told, DecodeContext())
    assert (type(error), error.message, error.retryable) == (InternalServerError, BROKEN_OFF, True)
    encoder, decoder = dialect.stream_encoder(ServerContext()), dialect.stream_decoder(DecodeContext())
    raw = b"".join([encoder.encode(event) for event in unfold(BROKEN)])
    last = [*decoder.feed(raw), *decoder.close()][-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.message) == ("InternalServerError", BROKEN_OFF)


def test_end_02_a_failed_answer_of_responses_is_its_status() -> None:
    """Responses has a status for it: the whole answer says `failed` with the error, and so does the last event."""
    dialect = get_dialect("openai-responses")
    told = dialect.encode_response(BROKEN, ServerContext())
    answer = json.loads(told.body)
    error = {"code": "server_error", "message": BROKEN_OFF}
    assert (told.status, answer["status"], answer["error"]) == (200, "failed", error)
    encoder = dialect.stream_encoder(ServerContext())
    frames = b"".join([encoder.encode(event) for event in unfold(BROKEN)]).decode().strip().split("\n\n")
    name, _, data = frames[-1].partition("\ndata: ")
    last = json.loads(data)["response"]
    assert (name, last["status"], last["error"]) == ("event: response.failed", "failed", error)


@pytest.mark.parametrize("content", ["", None, "half"])
@pytest.mark.parametrize("word", ["stop", "error", None])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_the_word_of_the_provider_behind_a_router_says_that_it_failed(
    content: str | None, word: str | None, is_streamed: bool
) -> None:
    """OpenRouter tells GLM's `network_error` as `stop`: whole and streamed it is a failure, never a clean end."""
    dialect, native = get_dialect("openai-chat"), {"native_finish_reason": "network_error"}
    base = {"id": "gen-1", "created": 1, "model": "z-ai/glm-5", "provider": "Z.AI"}
    message = {"role": "assistant", "content": content}
    if is_streamed:
        chunk = {**base, "object": "chat.completion.chunk"}
        first = {"index": 0, "delta": message, "finish_reason": None, "native_finish_reason": None}
        last = {"index": 0, "delta": {"content": ""}, "finish_reason": word, **native}
        frames = [b"data: " + json.dumps({**chunk, "choices": [one]}).encode() + b"\n\n" for one in (first, last)]
        decoder, check = dialect.stream_decoder(DecodeContext()), dialect.frame_check()
        read = [decoder.feed(frame) for frame in frames]
        assert [check.is_normal(frame, events) for frame, events in zip(frames, read, strict=True)] == [True, False]
        end = [*decoder.feed(b"data: [DONE]\n\n"), *decoder.close()][-1]
        assert isinstance(end, StreamEnd)
        response = end.response
    else:
        choice = {"index": 0, "message": message, "finish_reason": word, **native}
        body = {**base, "object": "chat.completion", "choices": [choice]}
        response = dialect.decode_response(HttpReply(status=200, body=json.dumps(body).encode()), DecodeContext())
    assert (response.finish_reason, response.finish_reason_raw) == ("error", "network_error")
    assert response.text == (content or "")
    told = get_dialect("anthropic").encode_response(response, ServerContext())
    assert (told.status, b"network_error" in told.body) == (500, True)


def test_a_native_word_of_a_whole_answer_changes_nothing() -> None:
    """`STOP` of Gemini behind `stop`; a length behind `length`."""
    body = answer("openai-chat", "stop")
    body["choices"][0]["native_finish_reason"] = "STOP"
    reply = HttpReply(status=200, body=json.dumps(body).encode())
    response = get_dialect("openai-chat").decode_response(reply, DecodeContext())
    assert (response.finish_reason, response.finish_reason_raw) == ("stop", "stop")
