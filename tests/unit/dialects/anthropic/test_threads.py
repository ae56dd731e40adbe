"""Threads: conversations that the service keeps, which the SDK's tool runner asks for unasked."""

from __future__ import annotations

from typing import Any

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodeOptions, EncodeOptions, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode

ANTHROPIC = get_dialect("anthropic")
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "4 degrees"}]}
GOES_ON = {"type": "continue", "previous_message_id": "msg_1"}


def _decoded(thread: object) -> il.Request:
    said = RESULT if thread is GOES_ON else {"role": "user", "content": "Hi"}
    body = {"model": "m", "max_tokens": 9, "messages": [said], "thread": thread}
    http = HttpRequest(url="http://localhost/v1/messages", body=encode(body, nulls=1))
    return ANTHROPIC.decode_request(http, DecodeOptions()).request


def test_a_thread_is_state_of_the_service() -> None:
    """What it holds is not in the request; a result of a call that it holds is no orphan."""
    request = _decoded(GOES_ON)
    assert request.continues == il.ServerState("anthropic", {"thread": GOES_ON})
    assert request.messages == (il.Message("tool", (il.ToolResult("toolu_1", "", "4 degrees"),)),)


def test_its_own_service_gets_it_back() -> None:
    """To a target of the same dialect the members go as they came."""
    body = decode_any(ANTHROPIC.encode_request(_decoded(GOES_ON), EncodeOptions()).body)
    assert (body["thread"], body["messages"]) == (GOES_ON, [RESULT])


@pytest.mark.parametrize("thread", [GOES_ON, {"type": "create"}], ids=["continue", "create"])
@pytest.mark.parametrize("dialect", ["openai-chat", "google"])
def test_another_service_refuses_in_the_words_that_the_sdk_knows(thread: dict[str, Any], dialect: str) -> None:
    """Half a conversation must not look like a whole one; told this code, the SDK sends all of it, without a thread."""
    with pytest.raises(il.UnsupportedError, match="a conversation kept by anthropic") as refused:
        get_dialect(dialect).encode_request(_decoded(thread), EncodeOptions())
    exhausted = il.ChainExhaustedError("no target answered")
    exhausted.__cause__ = refused.value
    for error in (refused.value, exhausted):
        told = decode_any(ANTHROPIC.encode_error(error, ServerContext()).body)["error"]
        assert told["details"] == {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}


def test_no_thread_is_no_state() -> None:
    """A member that says nothing is nothing, and other refusals have no such code."""
    assert _decoded(None).continues is None
    told = decode_any(ANTHROPIC.encode_error(il.UnsupportedError("no images"), ServerContext()).body)
    assert "details" not in told["error"]
