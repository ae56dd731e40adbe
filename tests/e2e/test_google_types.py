"""What we send and show, judged by the official SDK's types and its own parsing of answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("google.genai", reason="the SDK is not installed")

from google.genai import types
from google.genai.chats import _validate_response

from interlingua.dialects._contract import ServerContext
from interlingua.stream.unfold import unfold
from interlingua.types.content import (
    DocumentPart,
    ImagePart,
    Json,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, assistant, system, user
from interlingua.types.request import Request
from interlingua.types.response import Alternative, Response
from interlingua.types.tool import AllowedTools, Tool
from interlingua.types.usage import Usage
from tests.support.google import DIALECT, encode, frames, served

PNG = ImagePart(b"\x89PNG\r\n\x1a\n", "image/png")
PDF = DocumentPart(b"%PDF", "application/pdf", "a.pdf")
PARAMETERS: dict[str, Any] = {"type": "object", "properties": {"city": {}}}
CALLS = (ToolCall("a", "get_weather", '{"city":"Oslo"}'), ToolCall("b", "get_time", "{}"))
RESULTS = Message(
    "tool", (ToolResult("a", "get_weather", (Json({"c": 4}), PNG)), ToolResult("b", "get_time", "no", is_error=True))
)
REQUEST = Request(
    messages=(system("Be brief."), user("Hi", PNG, PDF), assistant(*CALLS), RESULTS),
    tools=(Tool(name="get_weather", description="d", parameters=PARAMETERS), Tool(name="get_time")),
    tool_choice=AllowedTools(("get_time", "get_weather"), "required"),
    output_schema={"type": "object"},
    max_tokens=9,
    temperature=1.0,
    top_k=4,
    stop=("x",),
    effort="low",
    thinking_summary="auto",
    metadata={"team": "a"},
)
RESPONSE: Response[Any] = Response(
    parts=(ThinkingPart("Hm."), TextPart("Both."), *CALLS),
    finish_reason="tool_calls",
    usage=Usage(input_tokens=9, output_tokens=5, cache_read_tokens=1, reasoning_tokens=2),
    model="gemini-3-pro",
    id="r-1",
    alternatives=(Alternative(parts=(TextPart("Other."),), finish_reason="length"),),
)


def test_a_request_is_what_the_sdk_s_types_say() -> None:
    """Each member by its type; the types forbid members that they do not know."""
    body = json.loads(encode(REQUEST).body)
    contents = [types.Content.model_validate(content) for content in body["contents"]]
    assert [content.role for content in contents] == ["user", "model", "user"]
    types.Content.model_validate(body["systemInstruction"])
    tools = [types.Tool.model_validate(tool) for tool in body["tools"]]
    assert [tool.name for tool in tools[0].function_declarations or ()] == ["get_weather", "get_time"]
    types.ToolConfig.model_validate(body["toolConfig"])
    config = types.GenerationConfig.model_validate(body["generationConfig"])
    assert (config.max_output_tokens, config.thinking_config and config.thinking_config.include_thoughts) == (9, True)
    assert body.keys() == {"systemInstruction", "contents", "tools", "toolConfig", "generationConfig", "labels"}


def test_an_answer_is_what_the_sdk_s_types_say() -> None:
    """Whole: strict about members, and good enough for the SDK's chat history."""
    body = json.loads(DIALECT.encode_response(RESPONSE, ServerContext()).body)
    parsed = types.GenerateContentResponse.model_validate(body)
    assert _validate_response(parsed)
    assert [call.name for call in parsed.function_calls or ()] == ["get_weather", "get_time"]
    assert parsed.usage_metadata is not None
    assert (parsed.usage_metadata.candidates_token_count, parsed.usage_metadata.thoughts_token_count) == (3, 2)


@pytest.mark.parametrize(
    "response", [RESPONSE, Response[Any](parts=(TextPart("Hello"),), finish_reason="stop", model="m")]
)
def test_out_16_every_frame_is_an_answer_to_the_sdk(response: Response[Any]) -> None:
    """Each frame is valid by itself, and the last has the finish reason."""
    parsed = [types.GenerateContentResponse.model_validate(one) for one in frames(served(list(unfold(response))))]
    assert all(_validate_response(one) for one in parsed)
    last = parsed[-1].candidates or []
    assert last[0].finish_reason in (types.FinishReason.STOP, types.FinishReason.MAX_TOKENS)
