"""A choice among tools of which none is sent is not sent either, and has an entry."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua import codec

HELLO: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
SEARCH: dict[str, Any] = {"type": "web_search_preview", "name": "f"}
FUNCTION: dict[str, Any] = {"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT", "properties": {}}}]}
MODELS = {
    "openai-responses": "m", "anthropic": "claude-opus-5", "google": "gemini-3-pro", "ollama": "m",
    "cohere": "command-a", "bedrock": "m",
}  # fmt: skip


def test_the_choice_of_a_function_that_the_model_does_not_take_is_left_out() -> None:
    """It was sent without the function, which OpenAI answers with 400."""
    bridge = codec.bridge("google", "openai-chat", model="gpt-5.6", allow=["tools"])
    calling = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}}
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": [FUNCTION], "toolConfig": calling}
    sent = bridge.request(body, path="/v1beta/models/m:generateContent")
    assert sorted(sent) == ["messages", "model"]
    assert [(change.action, change.code, change.path) for change in bridge.changes] == [
        ("dropped", "tools", "/tools/0"),
        ("dropped", "parameter_unsupported", "/tool_choice"),
    ]


@pytest.mark.parametrize("target", sorted(MODELS))
def test_a_choice_beside_a_tool_that_only_another_provider_runs_has_an_entry(target: str) -> None:
    """Cohere's had none."""
    bridge = codec.bridge("openai-chat", target, model=MODELS[target], allow=["server_tools"])
    sent = bridge.request({**HELLO, "tools": [SEARCH], "tool_choice": "required"})
    assert not {"tools", "tool_choice", "toolConfig"} & sent.keys()
    assert {change.path for change in bridge.changes} >= {"/tools/0", "/tool_choice"}


def test_a_server_that_takes_a_choice_without_tools_still_gets_one() -> None:
    """Where the caller offers none at all."""
    bridge = codec.bridge("openai-responses", "openai-chat", model="m")
    sent = bridge.request({"model": "m", "input": "hi", "tool_choice": "required", "parallel_tool_calls": False})
    assert (sent["tool_choice"], sent["parallel_tool_calls"]) == ("required", False)
    assert not bridge.changes
