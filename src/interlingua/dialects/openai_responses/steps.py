"""Items of tools that the service runs, or that are its own and run by the client: a call, its result, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import is_list, is_object
from interlingua.dialects._steps import files_in, joined, json_of, string_in
from interlingua.dialects.openai_responses.parts import NAME
from interlingua.types.content import ServerToolPart, Source
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.types.content import ServerToolStatus

__all__ = ["is_step", "read_step"]

ANSWERS = frozenset({"function_call_output", "custom_tool_call_output"})
"""Results that are the client's answers to calls of its own tools."""
FURTHER = frozenset({
    "mcp_approval_request", "mcp_approval_response", "mcp_list_tools", "program", "program_output",
    "tool_search_output",
})  # fmt: skip
STATES: dict[str, ServerToolStatus] = {
    "in_progress": "running", "searching": "running", "interpreting": "running", "calling": "running",
    "generating": "running", "queued": "running", "failed": "failed", "incomplete": "failed",
}  # fmt: skip
"""The states of items that are not those of a whole one."""
_BESIDE = frozenset({"type", "id", "call_id", "status", "acknowledged_safety_checks", "fingerprint", "result"})
"""Members of an item that are not what its tool was called with."""


def is_step(kind: str) -> bool:
    """Whether an item of this type, if it is no call of a function, is a step of a tool of the service."""
    return (kind.endswith(("_call", "_call_output")) or kind in FURTHER) and kind not in ANSWERS


def read_step(raw: dict[str, Any], kind: str, provider: str | None) -> ServerToolPart:
    """The step that an item is."""
    read = _called if "arguments" in raw else _READERS.get(kind, _output if kind.endswith("_output") else _other)
    name, arguments, output, sources = read(raw, kind)
    status = STATES.get(str(raw.get("status")), "completed")
    call_id = string_in(raw, "call_id", "approval_request_id", "id")
    if raw.get("error"):
        status = "failed"
    return ServerToolPart(NAME, kind, raw, name, call_id, arguments, output, sources, status, provider)


_Read = tuple[str, Any, "str | None", tuple[Source, ...]]
"""Name, input, output and sources."""


def _search(raw: dict[str, Any], kind: str) -> _Read:
    action = raw.get("action")
    if not is_object(action):
        return kind.removesuffix("_call"), {}, None, ()
    arguments = {name: value for name, value in action.items() if name != "sources" and value is not None}
    listed = files_in(action.get("sources"))
    return kind.removesuffix("_call"), arguments, None, listed


def _files(raw: dict[str, Any], kind: str) -> _Read:
    results: list[Any] = listed if is_list(listed := raw.get("results")) else []
    output = joined([string_in(one, "text") for one in results]) if results else None
    return kind.removesuffix("_call"), {"queries": raw.get("queries") or []}, output, files_in(results)


def _code(raw: dict[str, Any], kind: str) -> _Read:
    outputs = raw.get("outputs")
    output = joined([string_in(one, "logs", "url") for one in outputs]) if is_list(outputs) else None
    return kind.removesuffix("_call"), {"code": raw.get("code") or ""}, output, ()


def _called(raw: dict[str, Any], kind: str) -> _Read:
    """A call with arguments: of a tool of an MCP server, or of one that is named."""
    name = "/".join([one for one in (string_in(raw, "server_label"), string_in(raw, "name")) if one])
    error = raw.get("error")
    failure = error if isinstance(error, str) else encode(error).decode() if error else None
    output = raw.get("output")
    text = output if isinstance(output, str) else encode(output).decode() if output else None
    arguments = raw.get("arguments")
    return name or kind.removesuffix("_call"), {} if arguments is None else json_of(arguments), text or failure, ()


def _listed(raw: dict[str, Any], kind: str) -> _Read:
    tools: list[Any] = listed if is_list(listed := raw.get("tools")) else []
    label = string_in(raw, "server_label")
    return f"{label}/list_tools" if label else kind, {}, joined([string_in(one, "name") for one in tools]), ()


def _search_output(raw: dict[str, Any], kind: str) -> _Read:
    """The tools that a search found, each of which the request declares as well."""
    return kind.removesuffix("_output"), None, _listed(raw, kind)[2], ()


def _other(raw: dict[str, Any], kind: str) -> _Read:
    arguments = {name: value for name, value in raw.items() if name not in _BESIDE and value is not None}
    return kind.removesuffix("_call"), arguments, None, ()


def _output(raw: dict[str, Any], kind: str) -> _Read:
    output = raw.get("output", raw.get("result"))
    text: str | None
    if is_list(output):
        text = joined([joined([string_in(one, "stdout"), string_in(one, "stderr")]) for one in output])
    elif is_object(output):
        text = string_in(output, "text") or f"[{string_in(output, 'type') or 'output'}]"  # a picture of a screen
    else:
        text = output if isinstance(output, str) else ""
    return kind.removesuffix("_output").removesuffix("_call"), None, text, ()


_READERS: dict[str, Callable[[dict[str, Any], str], _Read]] = {
    "web_search_call": _search,
    "file_search_call": _files,
    "code_interpreter_call": _code,
    "mcp_list_tools": _listed,
    "tool_search_output": _search_output,
}
