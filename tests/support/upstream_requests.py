"""One request with everything for each dialect, as the strict upstream takes it."""

from __future__ import annotations

from copy import deepcopy
from json import dumps
from typing import Any

__all__ = ["PNG", "changed", "whole_request"]

PNG = "iVBORw0KGgo="
STRICT = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
LOOSE = {"type": "object", "properties": {"tz": {"type": "string"}}, "required": ["tz"]}

_CHAT: dict[str, Any] = {
    "model": "gpt-4.1",
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Weather?"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "auto"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}},
                {"id": "call_2", "type": "function", "function": {"name": "time", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "4"},
        {"role": "tool", "tool_call_id": "call_2", "content": "ERROR: no clock"},
        {"role": "user", "content": "Again."},
    ],
    "tools": [
        {"type": "function", "function": {"name": "weather", "strict": True, "parameters": STRICT}},
        {"type": "function", "function": {"name": "time", "parameters": LOOSE}},
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "response_format": {"type": "json_schema", "json_schema": {"name": "trip", "strict": True, "schema": STRICT}},
    "max_completion_tokens": 100,
}
_RESPONSES: dict[str, Any] = {
    "model": "gpt-6-astra",
    "instructions": "Be brief.",
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Weather?"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "seal"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": "{}"},
        {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "time", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "4"}]},
        {"type": "function_call_output", "call_id": "call_2", "output": "ERROR: no clock"},
    ],
    "tools": [
        {"type": "function", "name": "weather", "strict": True, "parameters": STRICT},
        {"type": "function", "name": "time", "strict": False, "parameters": LOOSE},
    ],
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "time"}]},
    "text": {"format": {"type": "json_schema", "name": "trip", "strict": True, "schema": STRICT}},
    "reasoning": {"effort": "medium", "summary": "auto"},
    "store": False,
}
_ANTHROPIC: dict[str, Any] = {
    "model": "claude-opus-4-7",
    "max_tokens": 4000,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "5m"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                {"type": "text", "text": "Weather?"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Two.", "signature": "seal"},
                {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}},
                {"type": "tool_use", "id": "toolu_2", "name": "time", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "4"},
                {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": True, "content": "no clock"},
                {"type": "text", "text": "Again."},
            ],
        },
    ],
    "tools": [{"name": "weather", "strict": True, "input_schema": STRICT}, {"name": "time", "input_schema": LOOSE}],
    "tool_choice": {"type": "auto"},
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": STRICT}},
}
_GOOGLE: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}, {"text": "Weather?"}]},
        {
            "role": "model",
            "parts": [
                {"text": "Two.", "thought": True},
                {"functionCall": {"id": "a", "name": "weather", "args": {}}, "thoughtSignature": "c2VhbA=="},
                {"functionCall": {"id": "b", "name": "time", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "a", "name": "weather", "response": {"output": 4}}},
                {"functionResponse": {"id": "b", "name": "time", "response": {"error": "no clock"}}},
            ],
        },
    ],
    "tools": [
        {
            "functionDeclarations": [
                {"name": "weather", "parametersJsonSchema": STRICT},
                {"name": "time", "parameters": {"type": "OBJECT", "properties": {"tz": {"type": "STRING"}}}},
            ]
        }
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    "generationConfig": {
        "maxOutputTokens": 100,
        "responseMimeType": "application/json",
        "responseJsonSchema": STRICT,
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"},
    },
}
_OLLAMA: dict[str, Any] = {
    "model": "qwen3",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?", "images": [PNG]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "a", "function": {"name": "time", "arguments": {}}}],
        },
        {"role": "tool", "tool_name": "time", "content": "ERROR: no clock"},
    ],
    "tools": [{"type": "function", "function": {"name": "time", "parameters": LOOSE}}],
    "think": True,
    "options": {"temperature": 0, "num_predict": 100},
}
_COHERE: dict[str, Any] = {
    "model": "command-a-reasoning-08-2025",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Weather?"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            ],
        },
        {
            "role": "assistant",
            "tool_plan": "I will look.",
            "tool_calls": [{"id": "time_a", "type": "function", "function": {"name": "time", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "time_a", "content": "ERROR: no clock"},
    ],
    "tools": [{"type": "function", "function": {"name": "time", "parameters": LOOSE}}],
    "tool_choice": "REQUIRED",
    "thinking": {"type": "enabled", "token_budget": 50},
    "max_tokens": 100,
    "temperature": 0,
}
_BEDROCK: dict[str, Any] = {
    "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
    "messages": [
        {
            "role": "user",
            "content": [{"text": "Weather?"}, {"image": {"format": "png", "source": {"bytes": PNG}}}],
        },
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Two lookups.", "signature": "c2ln"}}},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "weather", "input": {"city": "Oslo"}}},
                {"toolUse": {"toolUseId": "tooluse_2", "name": "time", "input": {}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "tooluse_1", "content": [{"json": {"celsius": 4}}]}},
                {"toolResult": {"toolUseId": "tooluse_2", "status": "error", "content": [{"text": "no clock"}]}},
                {"text": "Again."},
            ],
        },
    ],
    "toolConfig": {
        "tools": [
            {"toolSpec": {"name": "weather", "strict": True, "inputSchema": {"json": STRICT}}},
            {"toolSpec": {"name": "time", "description": "The time.", "inputSchema": {"json": LOOSE}}},
        ],
        "toolChoice": {"auto": {}},
    },
    "inferenceConfig": {"maxTokens": 100, "temperature": 0.5, "stopSequences": ["END"]},
    "outputConfig": {
        "textFormat": {
            "type": "json_schema",
            "structure": {"jsonSchema": {"name": "trip", "schema": dumps(STRICT)}},
        }
    },
    "requestMetadata": {"team": "weather"},
    "serviceTier": {"type": "default"},
}
_REQUESTS = {
    "openai-chat": _CHAT,
    "openai-responses": _RESPONSES,
    "anthropic": _ANTHROPIC,
    "google": _GOOGLE,
    "ollama": _OLLAMA,
    "cohere": _COHERE,
    "bedrock": _BEDROCK,
}


def whole_request(dialect: str) -> dict[str, Any]:
    """The request with everything."""
    return deepcopy(_REQUESTS[dialect])


def changed(body: dict[str, Any], place: str, value: Any = ...) -> dict[str, Any]:
    """The same body with `value` at a place such as `messages.0.content`, or without that place; `+` appends."""
    *steps, last = place.split(".")
    holder: Any = body
    for step in steps:
        holder = _inside(holder, step)
    key = int(last) if last.isdigit() else last
    if value is ...:
        del holder[key]
    elif key == "+":
        holder.append(value)
    else:
        holder[key] = value
    return body


def _inside(holder: Any, step: str) -> Any:
    return holder[int(step) if step.isdigit() else step]
