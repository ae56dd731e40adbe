"""Requests and answers as OpenTelemetry wants them written: JSON texts of messages, tools, arguments, results.

Loss: media are their type and size, sealed state and what has no form here are left out.
Source: the JSON schemas of the GenAI semantic conventions (input messages, output messages, system instructions).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.client.telemetry.semantics import NAMES
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.tool import Tool
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.types.content import Part
    from interlingua.types.request import Request
    from interlingua.types.response import Response

__all__ = ["answered", "arguments_of", "request_attributes", "result_of"]


def request_attributes(request: Request) -> dict[str, str]:
    """The attributes of what a request asks."""
    messages = [{"role": message.role, "parts": _parts(message.parts)} for message in request.messages]
    attributes = {NAMES["input"]: _json(messages)}
    if request.system:
        attributes[NAMES["instructions"]] = _json(_parts(request.system))
    if request.tools:
        tools = [
            {
                "type": "function", "name": tool.name, "description": tool.description or "",
                "parameters": tool.parameters,
            }
            for tool in request.tools if isinstance(tool, Tool)
        ]  # fmt: skip
        attributes[NAMES["tools"]] = _json(tools)
    return attributes


def answered(response: Response[Any]) -> dict[str, str]:
    """The attributes of what a response says."""
    choices = [response, *response.alternatives]
    messages = [
        {"role": "assistant", "parts": _parts(choice.parts), "finish_reason": choice.finish_reason}
        for choice in choices
    ]
    return {NAMES["answer"]: _json(messages)}


def arguments_of(call: ToolCall | BrokenToolCall) -> str:
    """The arguments of a call, as they came."""
    return call.arguments_json if isinstance(call, ToolCall) else call.raw_arguments


def result_of(result: ToolResult) -> str:
    """The content of a result."""
    return _json(_content(result))


def _json(value: object) -> str:
    return encode(value).decode()


def _parts(parts: Iterable[Part]) -> list[dict[str, Any]]:
    return [_part(part) for part in parts]


def _part(part: Part | Json) -> dict[str, Any]:
    match part:
        case TextPart() | RefusalPart():
            return {"type": "text", "content": part.text}
        case ThinkingPart():
            return {"type": "reasoning", "content": part.text}
        case ToolCall():
            return {"type": "tool_call", "id": part.id, "name": part.name, "arguments": part.arguments}
        case BrokenToolCall():
            return {"type": "tool_call", "id": part.id, "name": part.name, "arguments": part.raw_arguments}
        case ToolResult():
            return {"type": "tool_call_response", "id": part.call_id, "response": _content(part)}
        case ImagePart() | AudioPart() | DocumentPart():
            kind = type(part).__name__.removesuffix("Part").lower()
            return {"type": kind, "mime_type": part.media_type, "size_bytes": part.size_bytes}
        case ServerToolPart() | OpaquePart():
            return _of_a_dialect(part)
        case Json():
            return {"type": "json", "content": part.value}


def _of_a_dialect(part: ServerToolPart | OpaquePart) -> dict[str, Any]:
    if isinstance(part, ServerToolPart):
        return {"type": "server_tool", "name": part.name, "input": part.input, "output": part.output}
    return {"type": "opaque", "dialect": part.dialect, "kind": part.kind}


def _content(result: ToolResult) -> Any:
    match result.content:
        case str() as text:
            return text
        case Json() as json:
            return json.value
        case parts:
            return [_part(part) for part in parts]
