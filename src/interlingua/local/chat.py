"""Chat Completions for a local model: a request body to a plan, what the engine said to a reply.

Rules
- What the engine cannot take (images, audio, files, `n`, log-probabilities, custom tools) is refused in the dialect's
  own error shape, naming the member; hints that change nothing (`user`, `metadata`, `store` …) are left aside. The row
  of the provider knows them, so that whoever asks through the library or the gateway is told.
- Tool choice and schemas go through one grammar (`grammar`), never through the engine's own tool parsing.
- At most one call an answer: parallel calls are not offered.
- A temperature that is not given is 0 under a grammar and `TEXT_TEMPERATURE` for free text; an answer that is given no
  limit ends at `MAX_TOKENS` with finish reason `length`.

Loss: `stop` holds for free text only, because a stop word inside JSON would break it.

Not responsible for: running anything (`engine`), bytes on a wire (`transport`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from interlingua.errors import Error
from interlingua.local.grammar import JsonSchema, Schema, ToolShape, union_schema
from interlingua.local.prompt import Turn, render
from interlingua.wire import json

__all__ = ["MAX_TOKENS", "TEXT_TEMPERATURE", "ChatError", "Plan", "plan"]

MAX_TOKENS = 1_024
"""Tokens of an answer for which the request gives no limit."""
TEXT_TEMPERATURE = 0.2
"""Temperature of free text for which the request gives none."""

_SAMPLING = (
    "frequency_penalty", "logit_bias", "min_p", "presence_penalty", "seed", "temperature", "top_k", "top_p",
)  # fmt: skip
_REFUSED = ("audio", "functions", "logprobs", "prediction", "web_search_options")
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_TEXT_PARTS = frozenset({"text", "refusal"})


class ChatError(Error):
    """A request that the local model cannot take, in the dialect's own words."""

    def __init__(self, message: str, *, param: str | None = None, code: str = "invalid_value") -> None:
        """`param` is the member at fault."""
        super().__init__(message, status=400, code=code)
        self.param = param
        """The member at fault, or None."""


class Plan(NamedTuple):
    """The question to the engine, and how its answer is to be read."""

    model: str
    """The model as the client named it."""
    turns: tuple[Turn, ...]
    """The conversation as the model is shown it."""
    schema: Schema | None
    """The union of what the answer may be, to be read and mapped back; None for free text."""
    callable: tuple[str, ...]
    """The tools that the answer may call."""
    sampling: dict[str, Any]
    """Settings under the engine's own names."""
    stream: bool
    """Whether the client wants a stream."""
    usage: bool
    """Whether the stream is to end with a usage frame."""


def plan(body: bytes, *, replies_after_results: bool = False) -> Plan:
    """The plan for one request body.

    `replies_after_results` is for weights too small to stop calling: after a result they are offered none but to reply.
    Raises: ChatError, for what cannot be served; DecodeError, LimitExceededError, for a body that is no JSON;
    SchemaError, for a schema that the grammar cannot enforce.
    """
    request = json.decode_any(body)
    if not isinstance(request, dict):
        raise ChatError("the body must be a JSON object")
    request = cast("dict[str, Any]", request)
    for member in _REFUSED:
        if request.get(member):
            raise ChatError(f"the local model does not take {member}", param=member, code="unsupported_parameter")
    if request.get("n") not in {None, 1}:
        raise ChatError("the local model gives one choice: n must be 1", param="n", code="unsupported_value")
    messages: Any = request.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ChatError("messages must be a list with at least one message", param="messages")
    messages = cast("list[dict[str, Any]]", messages)
    for place, message in enumerate(messages):
        _check_message(message, f"messages[{place}]")
    tools, called, forced = _offer(request)
    if replies_after_results and messages[-1]["role"] == "tool" and not forced:
        called = []
    output = None if forced else _output_schema(request)
    schema = union_schema(called, reply=bool(tools) and not forced, output=output)
    options: dict[str, Any] = request.get("stream_options") or {}
    free = schema is None
    sampling: dict[str, Any] = {name: request[name] for name in _SAMPLING if request.get(name) is not None}
    sampling.setdefault("temperature", TEXT_TEMPERATURE if free else 0)
    limit = request.get("max_completion_tokens") or request.get("max_tokens")
    sampling["max_tokens"] = MAX_TOKENS if limit is None else limit
    if free and request.get("stop"):
        sampling["stop"] = request["stop"]
    return Plan(
        model=str(request.get("model") or "local"),
        turns=render(messages, tools, reply=not forced, output=output),
        schema=schema,
        callable=tuple(tool.name for tool in called),
        sampling=sampling,
        stream=bool(request.get("stream")),
        usage=bool(options.get("include_usage")),
    )


def _check_message(message: Any, where: str) -> None:
    members = cast("dict[str, Any]", message) if isinstance(message, dict) else {}
    if members.get("role") not in _ROLES:
        raise ChatError(f"{where} must be an object with a known role", param=where)
    content = members.get("content")
    if isinstance(content, list):
        for place, part in enumerate(cast("list[dict[str, Any]]", content)):
            if (kind := part.get("type")) not in _TEXT_PARTS:
                at = f"{where}.content[{place}]"
                raise ChatError(f"the local model takes text only, not {kind}", param=at, code="unsupported_value")
    elif content is not None and not isinstance(content, str):
        raise ChatError(f"{where}.content must be a string or a list of parts", param=f"{where}.content")


def _offer(request: Mapping[str, Any]) -> tuple[list[ToolShape], list[ToolShape], bool]:
    """The tools that the model is told of, those that it may call, and whether it must call one."""
    tools = [_tool(tool, f"tools[{place}]") for place, tool in enumerate(request.get("tools") or ())]
    match request.get("tool_choice"):
        case None | "auto":
            return tools, tools, False
        case "none":
            return [], [], False
        case "required":
            return tools, _chosen(tools, [tool.name for tool in tools]), True
        case {"type": "function", "function": {"name": str(name)}}:
            return tools, _chosen(tools, [name]), True
        case {"type": "allowed_tools", "allowed_tools": {"mode": str(mode), "tools": allowed}}:
            entries = cast("list[dict[str, Any]]", allowed if isinstance(allowed, list) else [])
            names = [_tool(entry, "tool_choice").name for entry in entries]
            return tools, _chosen(tools, names), mode == "required"
        case _:
            raise ChatError("the local model does not know this tool_choice", param="tool_choice")


def _chosen(tools: Sequence[ToolShape], names: Sequence[str]) -> list[ToolShape]:
    by_name = {tool.name: tool for tool in tools}
    if missing := [name for name in names if name not in by_name]:
        raise ChatError(f"tool_choice names {missing[0]}, which is not among the tools", param="tool_choice")
    if not names:
        raise ChatError("tool_choice wants a call, but no tools are given", param="tool_choice")
    return [by_name[name] for name in names]


def _tool(tool: Mapping[str, Any], where: str) -> ToolShape:
    match tool:
        case {"type": "function", "function": {"name": str(name), **members}}:
            parameters: Any = members.get("parameters")
            schema: dict[str, Any] = {"type": "object", "properties": {}} if parameters is None else parameters
            return ToolShape(name, str(members.get("description") or ""), schema)
        case _:
            raise ChatError("the local model takes function tools only", param=where, code="unsupported_value")


def _output_schema(request: Mapping[str, Any]) -> JsonSchema | None:
    match request.get("response_format"):
        case None | {"type": "text"}:
            return None
        case {"type": "json_object"}:
            return {"type": "object"}
        case {"type": "json_schema", "json_schema": {"schema": schema}}:
            return cast("Mapping[str, Any]", schema)
        case _:
            raise ChatError("the local model does not know this response_format", param="response_format")
