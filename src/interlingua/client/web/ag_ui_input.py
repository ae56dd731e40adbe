"""The input of a run of AG-UI, as its clients send it, read to canonical messages.

Rules
- A call waits where an entry of `resume` answers the interrupt of its approval, in the last turn.
- Reasoning, activities and the page's state are left out; the context stands before the first message of the user.

Source: AG-UI 1.0, `RunAgentInput`, read 2026-11-28; parts of kind `binary` are those of 0.x.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.client.web.chat import WebChat, answered
from interlingua.client.web.reading import TWO_CALLS, bad, file_of_base64, file_of_url, list_of, object_of, text_of
from interlingua.stream.calls import make_call
from interlingua.types.content import BrokenToolCall, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.tool import Tool, empty_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.client.web.signature import Signer
    from interlingua.types.content import Part

__all__ = ["read_run_input"]


def read_run_input(body: Mapping[str, Any], signer: Signer) -> WebChat:
    """The conversation in the input of a run.

    Raises: DecodeError, with the place.
    """
    thread_id = text_of(body, "threadId", "")
    messages: list[Message] = []
    calls: list[tuple[ToolCall | BrokenToolCall, str]] = []
    names: dict[str, str] = {}
    for place, members in enumerate(list_of(body, "messages", "")):
        path = f"/messages/{place}"
        match text_of(members, "role", path):
            case "user":
                said_by_user = _user(members, path)
                calls = [] if said_by_user else calls
                messages.extend(said_by_user)
            case "assistant":
                turn = _calls(members, path)
                names |= {call.id: call.name for call, _ in turn}
                content = members.get("content")
                texts: list[Part] = [TextPart(content)] if isinstance(content, str) and content else []
                parts = (*texts, *(call for call, _ in turn))
                if messages and messages[-1].role == "assistant":
                    messages[-1] = Message("assistant", (*messages[-1].parts, *parts))
                    calls.extend(turn)
                elif parts:
                    messages.append(Message("assistant", parts))
                    calls = turn
            case "tool":
                result = _result(members, path, names)
                if messages and messages[-1].role == "tool":
                    messages[-1] = Message("tool", (*messages[-1].parts, result))
                else:
                    messages.append(Message("tool", (result,)))
            case "system" | "developer" | "reasoning" | "activity":
                pass
            case role:
                raise bad(f"{path}/role", f"no role of AG-UI is {role!r:.40}")
    approvals = _approvals(body, thread_id, calls, signer)
    chat = WebChat(
        protocol="ag-ui",
        id=thread_id,
        run_id=text_of(body, "runId", ""),
        messages=answered(_with_context(messages, body), frozenset(approvals)),
        approvals=approvals,
        tools=tuple([_tool(members, f"/tools/{place}") for place, members in enumerate(list_of(body, "tools", ""))]),
        signer=signer,
    )
    signer.accept()
    return chat


def _user(members: Mapping[str, Any], path: str) -> list[Message]:
    content = members.get("content")
    if isinstance(content, str):
        return [Message("user", (TextPart(content),))] if content else []
    parts = [_part(part, f"{path}/content/{place}") for place, part in enumerate(list_of(members, "content", path))]
    return [Message("user", tuple(parts))] if parts else []


def _part(members: Mapping[str, Any], path: str) -> Part:
    match text_of(members, "type", path):
        case "text":
            return TextPart(text_of(members, "text", path))
        case "image" | "audio" | "video" | "document":
            source = object_of(members.get("source"), f"{path}/source")
            value = text_of(source, "value", f"{path}/source")
            if source.get("type") == "data":
                return file_of_base64(value, f"{path}/source/value")
            return file_of_url(value, f"{path}/source/value")
        case "binary" if members.get("data") is not None:
            return file_of_base64(text_of(members, "data", path), f"{path}/data")
        case "binary":
            return file_of_url(text_of(members, "url", path, ""), f"{path}/url")
        case kind:
            raise bad(f"{path}/type", f"no part of AG-UI is {kind!r:.40}")


def _calls(members: Mapping[str, Any], path: str) -> list[tuple[ToolCall | BrokenToolCall, str]]:
    calls: list[tuple[ToolCall | BrokenToolCall, str]] = []
    for place, call in enumerate(list_of(members, "toolCalls", path)):
        here = f"{path}/toolCalls/{place}"
        function = object_of(call.get("function"), f"{here}/function")
        name = text_of(function, "name", f"{here}/function")
        arguments = text_of(function, "arguments", f"{here}/function")
        calls.append((make_call(text_of(call, "id", here), name, arguments), here))
    return calls


def _result(members: Mapping[str, Any], path: str, names: Mapping[str, str]) -> ToolResult:
    call_id = text_of(members, "toolCallId", path)
    error = None if members.get("error") is None else text_of(members, "error", path)
    content = members.get("content")
    if not isinstance(content, str):
        parts = [_part(part, f"{path}/content/{place}") for place, part in enumerate(list_of(members, "content", path))]
        content = "\n".join([part.text for part in parts if isinstance(part, TextPart)])
    return ToolResult(
        call_id=call_id, name=names.get(call_id, ""), content=error or content, is_error=error is not None
    )


def _approvals(
    body: Mapping[str, Any], thread_id: str, calls: list[tuple[ToolCall | BrokenToolCall, str]], signer: Signer
) -> dict[str, bool | str]:
    """The decisions in `resume` on the calls of the last turn."""
    mine = {call.id: (call, path) for call, path in calls if isinstance(call, ToolCall)}
    approvals: dict[str, bool | str] = {}
    for place, entry in enumerate(list_of(body, "resume", "")):
        path = f"/resume/{place}"
        call_id, signature = text_of(entry, "interruptId", path), ""
        if signer.is_on:
            call_id, _, signature = call_id.rpartition(SEPARATOR)
        if [call.id for call, _ in calls].count(call_id) > 1:
            raise bad(f"{path}/interruptId", TWO_CALLS)
        if call_id not in mine:
            raise bad(f"{path}/interruptId", "no call of the last turn waits for that")
        signer.check(thread_id, mine[call_id][0], signature, path)
        approvals[call_id] = _verdict(entry)
        if approvals[call_id] is True:
            signer.approve(signature)
    return approvals


def _verdict(entry: Mapping[str, Any]) -> bool | str:
    """`{"approved": true}` as the payload lets the call run; all else denies, with its `reason` where there is one."""
    payload = entry.get("payload")
    if entry.get("status") != "resolved" or not isinstance(payload, dict):
        return payload is True and entry.get("status") == "resolved"
    members = object_of(payload, "/resume")  # pyright: ignore[reportUnknownArgumentType]  # whatever a page sends
    reason = members.get("reason")
    return True if members.get("approved") is True else reason if isinstance(reason, str) and reason else False


def _with_context(messages: list[Message], body: Mapping[str, Any]) -> list[Message]:
    context = [
        f"{text_of(entry, 'description', f'/context/{place}')}: {text_of(entry, 'value', f'/context/{place}')}"
        for place, entry in enumerate(list_of(body, "context", ""))
    ]
    if not context or not messages or messages[0].role != "user":
        return messages
    return [Message("user", (TextPart("\n".join(context)), *messages[0].parts)), *messages[1:]]


def _tool(members: Mapping[str, Any], path: str) -> Tool:
    parameters = members.get("parameters")
    return Tool(
        name=text_of(members, "name", path),
        description=text_of(members, "description", path, ""),
        parameters=empty_parameters() if parameters is None else dict(object_of(parameters, f"{path}/parameters")),
    )


SEPARATOR = "."
"""Between the id of a call and the signature, in the id of its interrupt."""
