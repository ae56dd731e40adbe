"""Bodies that have nearly every member of their dialect, and each of these alone beside a short conversation."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator
from typing import Any, cast

from tests.support.pictures import png_chunk

__all__ = ["BODIES", "HISTORY", "alone", "changed_at", "places_in"]

PNG = (
    b"\x89PNG\r\n\x1a\n"
    + png_chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + png_chunk(b"IDAT", zlib.compress(bytes(4)))
    + png_chunk(b"IEND", b"")
)
P64 = base64.b64encode(PNG).decode()
PIC = f"data:image/png;base64,{P64}"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "openai-chat": (
        "/v1/chat/completions",
        {
            "messages": [
                {"role": "system", "content": "s"},
                {
                    "role": "user",
                    "name": "u",
                    "content": [
                        {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}},
                        {"type": "image_url", "image_url": {"url": PIC, "detail": "low"}},
                        {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
                        {"type": "file", "file": {"file_data": "aGk=", "filename": "a.pdf"}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": "x",
                    "reasoning_content": "r",
                    "refusal": None,
                    "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "w", "arguments": "{}"}},
                        {"id": "c2", "type": "custom", "custom": {"name": "z", "input": "q"}},
                    ],
                },
                {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "ok"}]},
                {"role": "tool", "tool_call_id": "c2", "content": "ok"},
                {"role": "user", "content": "go"},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {"name": "w", "description": "d", "parameters": SCHEMA, "strict": True},
                },
                {
                    "type": "custom",
                    "custom": {
                        "name": "z",
                        "description": "d",
                        "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "x"}},
                    },
                },
            ],
            "functions": [{"name": "f", "parameters": SCHEMA}],
            "tool_choice": {"type": "function", "function": {"name": "w"}},
            "function_call": {"name": "f"},
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "n", "schema": SCHEMA, "strict": True, "description": "d"},
            },
            "max_tokens": 5,
            "max_completion_tokens": 6,
            "stop": ["a"],
            "logit_bias": {"1": 2},
            "metadata": {"a": "b"},
            "reasoning_effort": "low",
            "reasoning": {"effort": "low", "max_tokens": 5, "summary": "auto"},
            "stream_options": {"include_usage": True},
            "stream": False,
            "temperature": 1,
            "n": 1,
            "seed": 1,
            "logprobs": True,
            "top_logprobs": 2,
            "modalities": ["text"],
            "audio": {"voice": "a", "format": "wav"},
            "prediction": {"type": "content", "content": "x"},
            "user": "u",
            "store": False,
            "service_tier": "auto",
            "verbosity": "low",
            "web_search_options": {},
            "parallel_tool_calls": True,
        },
    ),
    "openai-responses": (
        "/v1/responses",
        {
            "input": [
                {"role": "user", "content": "hi"},
                {
                    "type": "message",
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "t"},
                        {"type": "input_image", "image_url": PIC, "detail": "low"},
                        {"type": "input_file", "file_data": "data:application/pdf;base64,aGk=", "filename": "a"},
                    ],
                },
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [{"type": "summary_text", "text": "s"}],
                    "encrypted_content": "e",
                    "content": [{"type": "reasoning_text", "text": "x"}],
                },
                {
                    "type": "message",
                    "role": "assistant",
                    "id": "msg_1",
                    "status": "completed",
                    "content": [
                        {"type": "output_text", "text": "o", "annotations": []},
                        {"type": "refusal", "refusal": "no"},
                    ],
                },
                {
                    "type": "function_call",
                    "id": "fc_1",
                    "call_id": "c1",
                    "name": "w",
                    "arguments": "{}",
                    "namespace": "ns",
                },
                {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "r"}]},
                {"type": "custom_tool_call", "call_id": "c2", "name": "z", "input": "i"},
                {"type": "custom_tool_call_output", "call_id": "c2", "output": "o"},
                {"type": "item_reference", "id": "msg_2"},
                {
                    "type": "additional_tools",
                    "role": "developer",
                    "tools": [{"type": "function", "name": "q", "parameters": SCHEMA}],
                },
                {"type": "compaction", "encrypted_content": "gx"},
            ],
            "tools": [
                {"type": "function", "name": "w", "parameters": SCHEMA, "strict": True, "description": "d"},
                {"type": "custom", "name": "z", "format": {"type": "text"}},
                {
                    "type": "namespace",
                    "name": "ns",
                    "description": "d",
                    "tools": [{"type": "function", "name": "w", "parameters": SCHEMA}],
                },
                {"type": "web_search", "filters": {"allowed_domains": ["a"]}},
            ],
            "tool_choice": {"type": "function", "name": "w"},
            "text": {
                "format": {"type": "json_schema", "name": "n", "schema": SCHEMA, "strict": True},
                "verbosity": "low",
            },
            "reasoning": {"effort": "low", "summary": "auto"},
            "instructions": "i",
            "max_output_tokens": 100,
            "metadata": {"a": "b"},
            "include": ["x"],
            "store": False,
            "previous_response_id": "resp_x",
            "conversation": {"id": "c"},
            "prompt": {"id": "p", "variables": {"a": "b"}},
            "truncation": "auto",
            "stream_options": {"a": 1},
            "parallel_tool_calls": True,
            "user": "u",
            "context_management": [{"type": "compaction"}],
        },
    ),
    "anthropic": (
        "/v1/messages",
        {
            "max_tokens": 100,
            "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": P64}},
                        {
                            "type": "document",
                            "source": {"type": "text", "media_type": "text/plain", "data": "d"},
                            "title": "t",
                            "citations": {"enabled": True},
                        },
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "t", "signature": "c2ln"},
                        {"type": "redacted_thinking", "data": "d"},
                        {"type": "text", "text": "x", "citations": [{"type": "char_location", "cited_text": "a"}]},
                        {"type": "tool_use", "id": "t1", "name": "w", "input": {"city": "O"}},
                        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
                        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "t1",
                            "content": [{"type": "text", "text": "r"}],
                            "is_error": False,
                        }
                    ],
                },
            ],
            "tools": [
                {
                    "name": "w",
                    "description": "d",
                    "input_schema": SCHEMA,
                    "cache_control": {"type": "ephemeral"},
                    "input_examples": [{}],
                },
                {"type": "web_search_20250305", "name": "web_search", "max_uses": 1},
            ],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "metadata": {"user_id": "u"},
            "stop_sequences": ["a"],
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "low"},
            "output_format": {"type": "json_schema", "schema": SCHEMA},
            "mcp_servers": [{"type": "url", "url": "u", "name": "n"}],
            "container": "c",
            "service_tier": "auto",
            "temperature": 1,
            "top_k": 1,
            "top_p": 1,
            "stream": False,
            "context_management": {"edits": []},
            "cache_control": {"type": "ephemeral"},
        },
    ),
    "google": (
        "/v1beta/models/M:generateContent",
        {
            "contents": [
                {
                    "role": "user",
                    "parts": [
                        {"text": "hi"},
                        {"inlineData": {"mimeType": "image/png", "data": P64}},
                        {"fileData": {"fileUri": "u", "mimeType": "m"}},
                    ],
                },
                {
                    "role": "model",
                    "parts": [
                        {"text": "t", "thought": True, "thoughtSignature": "c2ln"},
                        {"functionCall": {"id": "1", "name": "w", "args": {"a": 1}}},
                        {"executableCode": {"language": "PYTHON", "code": "x"}},
                        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "x"}},
                    ],
                },
                {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "w", "response": {"r": 1}}}]},
            ],
            "systemInstruction": {"parts": [{"text": "s"}]},
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "w",
                            "description": "d",
                            "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
                            "parametersJsonSchema": SCHEMA,
                        }
                    ]
                },
                {"googleSearch": {}},
            ],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["w"]}},
            "generationConfig": {
                "temperature": 1,
                "stopSequences": ["a"],
                "responseMimeType": "application/json",
                "responseSchema": {"type": "OBJECT"},
                "responseJsonSchema": SCHEMA,
                "thinkingConfig": {"thinkingBudget": 1, "includeThoughts": True, "thinkingLevel": "LOW"},
                "maxOutputTokens": 5,
                "responseModalities": ["TEXT"],
                "speechConfig": {"languageCode": "de"},
                "candidateCount": 1,
                "topK": 1,
            },
            "safetySettings": [{"category": "a", "threshold": "b"}],
            "cachedContent": "c",
            "labels": {"a": "b"},
        },
    ),
    "ollama": (
        "/api/chat",
        {
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": "hi", "images": [P64]},
                {
                    "role": "assistant",
                    "content": "x",
                    "thinking": "t",
                    "tool_calls": [{"id": "a", "function": {"name": "w", "arguments": {"a": 1}, "index": 0}}],
                },
                {"role": "tool", "content": "r", "tool_name": "w", "tool_call_id": "a"},
            ],
            "tools": [{"type": "function", "function": {"name": "w", "description": "d", "parameters": SCHEMA}}],
            "format": SCHEMA,
            "options": {"temperature": 1, "num_predict": 5, "stop": ["a"], "num_ctx": 5},
            "think": True,
            "keep_alive": "5m",
            "stream": False,
        },
    ),
    "cohere": (
        "/v2/chat",
        {
            "messages": [
                {"role": "system", "content": "s"},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "hi"},
                        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{P64}", "detail": "low"}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": [{"type": "thinking", "thinking": "t"}],
                    "tool_plan": "p",
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "w", "arguments": "{}"}}],
                    "citations": [{"start": 0, "end": 1, "text": "p", "sources": [], "type": "PLAN"}],
                },
                {
                    "role": "tool",
                    "tool_call_id": "a",
                    "content": [{"type": "document", "document": {"id": "d", "data": {"text": "r"}}}],
                },
            ],
            "tools": [{"type": "function", "function": {"name": "w", "description": "d", "parameters": SCHEMA}}],
            "strict_tools": False,
            "tool_choice": "REQUIRED",
            "documents": ["d", {"id": "d", "data": {"title": "t", "text": "x"}}],
            "citation_options": {"mode": "FAST"},
            "response_format": {"type": "json_object", "json_schema": SCHEMA},
            "safety_mode": "STRICT",
            "max_tokens": 5,
            "stop_sequences": ["a"],
            "temperature": 1,
            "seed": 1,
            "frequency_penalty": 0.5,
            "presence_penalty": 0.5,
            "k": 1,
            "p": 0.5,
            "logprobs": True,
            "thinking": {"type": "enabled", "token_budget": 5},
            "priority": 1,
            "stream": False,
        },
    ),
    "unified": (
        "/unified/v1/generate",
        {
            "messages": [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": "x",
                    "tool_calls": [{"id": "call_a", "name": "w", "arguments": {"city": "x"}}],
                },
                {"role": "tool", "tool_call_id": "call_a", "content": "r"},
            ],
            "tools": [
                {
                    "name": "w",
                    "description": "d",
                    "parameters": {
                        "type": "object",
                        "properties": {"city": {"type": "string", "description": "c"}},
                        "required": ["city"],
                    },
                }
            ],
            "tool_choice": "auto",
            "max_tokens": 5,
            "stream": False,
        },
    ),
}

"""Path and body by dialect; `M` in a path stands for the model."""
HISTORY = {"openai-responses": "input", "google": "contents"}
"""The member that holds the conversation, where it is not `messages`."""


def alone(dialect: str) -> Iterator[dict[str, Any]]:
    """Bodies of a short conversation with one member, one tool or one turn of the large body each."""
    _, body = BODIES[dialect]
    history = HISTORY.get(dialect, "messages")
    hello: dict[str, Any] = (
        {"role": "user", "parts": [{"text": "hi"}]} if dialect == "google" else {"role": "user", "content": "hi"}
    )
    plain: dict[str, Any] = {history: [hello]}
    if dialect == "anthropic":
        plain["max_tokens"] = 100
    for name, value in body.items():
        if name != history:
            yield {**plain, name: value}
    for tool in body["tools"]:
        yield {**plain, "tools": [tool]}
    turns = body[history]
    for place, turn in enumerate(turns):
        yield {**plain, history: [hello, *turns[place : place + 3], hello]}
        part = "parts" if dialect == "google" else "content"
        for block in turn[part] if isinstance(turn.get(part), list) else ():
            yield {**plain, history: [{**turn, part: [block]}, hello]}


def places_in(value: object, before: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The steps to every value below this one."""
    for step, child in _children(value):
        yield (*before, step)
        yield from places_in(child, (*before, step))


def changed_at(value: object, steps: tuple[str | int, ...], other: object) -> Any:
    """The value with another one at a place."""
    if not steps:
        return other
    first, rest = steps[0], steps[1:]
    changed = {step: changed_at(child, rest, other) if step == first else child for step, child in _children(value)}
    return changed if isinstance(value, dict) else list(changed.values())


def _children(value: object) -> list[tuple[str | int, object]]:
    if isinstance(value, dict):
        return list(cast("dict[str | int, object]", value).items())
    return list(enumerate(cast("list[object]", value))) if isinstance(value, list) else []
