"""The reader of Messages facts, on bodies of its own."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from interlingua.testing.facts import error_facts, request_facts, request_faults, response_facts, stream_facts

NAME = "anthropic"
USE = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
RESULT = {
    "type": "tool_result",
    "tool_use_id": "t1",
    "content": [{"type": "text", "text": '{"b":2}'}],
    "is_error": True,
}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
LINK = {"type": "image", "source": {"type": "url", "url": "https://example.org/"}}


def asked(**members: Any) -> Any:
    """The facts of a request."""
    return request_facts(NAME, {"model": "m", "messages": [], **members})


def test_the_facts_of_a_conversation() -> None:
    """Roles and texts in order, calls paired with results, media by digest, references, thinking and seals."""
    turn = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "redacted_thinking", "data": "d"}, USE]
    messages = [
        {"role": "user", "content": [IMAGE, {"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": turn},
        {"role": "user", "content": [{"type": "text", "text": "And?"}, RESULT, LINK]},
    ]
    facts = asked(system=[{"type": "text", "text": "Terse."}], messages=messages)
    assert facts["messages"] == [["system", "Terse."], ["user", "Hi"], ["user", "And?"]]
    assert facts["calls"] == [{"name": "f", "arguments": {"a": 1}}]
    assert facts["results"] == [{"call": 0, "content": {"b": 2}, "is_error": True}]
    assert facts["media"] == [["image/png", hashlib.sha256(b"\0\0\0").hexdigest()]]
    assert facts["references"] == [LINK]
    assert (facts["thinking"], facts["seals"]) == (["Hm."], ["s", "d"])
    assert request_faults(NAME, {"messages": messages}) == []
    assert request_faults(NAME, {"messages": messages[:2]}) == ["call 0: no result answers it"]


def test_the_facts_of_tools_choice_and_schema() -> None:
    """The caller's own tools and the provider's, every choice, both names of the schema."""
    tools: list[Any] = [{"name": "f"}, {"type": "web_search_1", "name": "w", "cache_control": {}}]
    facts = asked(
        tools=tools, tool_choice={"type": "tool", "name": "f"}, output_format={"type": "json_schema", "schema": {}}
    )
    assert facts["tools"] == [{"name": "f", "description": None, "schema": {"type": "object", "properties": {}}}]
    assert facts["server_tools"] == [{"type": "web_search_1", "name": "w"}]
    assert (facts["tool_choice"], facts["output_schema"]) == ({"name": "f"}, {})
    choices = {kind: asked(tools=tools, tool_choice={"type": kind})["tool_choice"] for kind in ("auto", "any", "none")}
    assert choices == {"auto": None, "any": "required", "none": "none"}


def test_the_facts_of_an_answer() -> None:
    """Input with cached, thinking within the output, calls over the stop reason."""
    usage = {
        "input_tokens": 1, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 4, "output_tokens": 8,
        "output_tokens_details": {"thinking_tokens": 3},
    }  # fmt: skip
    facts = response_facts(NAME, {"model": "m", "content": [{"type": "text", "text": "a"}, USE], "usage": usage})
    assert facts["usage"] == {"input": 7, "output": 8, "cache_read": 2, "cache_write": 4, "reasoning": 3}
    assert facts["choices"][0]["finish_reason"] == "tool_calls"
    assert facts["choices"][0]["text"] == "a"
    assert (
        response_facts(NAME, {"content": [], "stop_reason": "refusal"})["choices"][0]["finish_reason"]
        == "content_filter"
    )


def test_the_facts_of_a_stream() -> None:
    """Blocks by index, counts by name, the end by `message_stop`."""
    bodies: list[Any] = [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 3, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {**USE, "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a"'}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ":1}"}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    text = "".join([f"data: {json.dumps(body)}\n\n" for body in bodies])
    found = stream_facts(NAME, text)
    assert (found.end, found.error) == ("done", None)
    assert found.facts["choices"][0]["calls"] == [{"name": "f", "arguments": {"a": 1}}]
    assert found.facts["usage"] == {"input": 3, "output": 5, "cache_read": None, "cache_write": None, "reasoning": None}
    assert stream_facts(NAME, text.rsplit("data:", 1)[0]).end == "cut"
    failed = stream_facts(NAME, 'data: {"type":"error","error":{"type":"overloaded_error"}}\n\n')
    assert (failed.end, failed.error) == ("error", {"status": None, "class": "OverloadedError"})


@pytest.mark.parametrize(
    ("status", "kind", "name"),
    [
        (401, "authentication_error", "AuthenticationError"),
        (503, "api_error", "OverloadedError"),
        (500, "api_error", "InternalServerError"),
        (400, "invalid_request_error", "BadRequestError"),
        (529, "new_error", "OverloadedError"),
        (200, "api_error", "InternalServerError"),
    ],
)
def test_the_facts_of_an_error(status: int, kind: str, name: str) -> None:
    """Class by type, then by status."""
    facts = error_facts(NAME, status, {"type": "error", "error": {"type": kind, "message": "x"}})
    assert facts == {"status": status if status >= 400 else None, "class": name}
    assert error_facts(NAME, 200, {"content": []}) is None
