"""UI messages of the AI SDK, as `useChat` sends them, read to canonical messages.

Rules
- One message of the assistant holds all its steps; each becomes a turn and the results of its calls.
- A call waits where the page answered the request for its approval, in the last message; its neighbours in the same
  step wait with it, as they did when the request was made.
- Parts that only the page knows (sources, data, files of an answer) are left out.

Source: package `ai` 7.0.173, `ui-messages.ts`, read 2026-11-28; the parts of 5 and 6 are among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.client.web.chat import WebChat, answered
from interlingua.client.web.reading import TWO_CALLS, bad, file_of_url, list_of, object_of, text_of
from interlingua.types.content import Json, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.client.web.signature import Signer
    from interlingua.types.content import Part

__all__ = ["read_ui_messages"]


class _Call(NamedTuple):
    """A part that is a call, and what stands in it."""

    call: ToolCall
    members: Mapping[str, Any]
    path: str

    @property
    def state(self) -> object:
        return self.members.get("state")

    @property
    def approval(self) -> Mapping[str, Any]:
        value = self.members.get("approval")
        return {} if value is None else object_of(value, f"{self.path}/approval")


def read_ui_messages(body: Mapping[str, Any], signer: Signer) -> WebChat:
    """The conversation in the body of `useChat`'s transport.

    Raises: DecodeError, with the place.
    """
    chat_id = text_of(body, "id", "", "")
    messages: list[Message] = []
    approvals: dict[str, bool | str] = {}
    waiting: list[_Call] = []
    if "messages" not in body:
        raise bad("/messages", "the conversation is missing")
    for place, members in enumerate(list_of(body, "messages", "")):
        path = f"/messages/{place}"
        role = text_of(members, "role", path)
        parts = list_of(members, "parts", path)
        waiting = []
        if role == "user":
            messages.extend(_user(parts, path))
        elif role == "assistant":
            steps, last = _assistant(parts, path)
            messages.extend(steps)
            approvals = {call.call.id: _verdict(call) for call in last if call.state == "approval-responded"}
            ids = [call.call.id for call in last]
            states = ("approval-responded", "input-available")
            names = {call.call.id for call in last if call.state in states} if approvals else set[str]()
            waiting = [call for call in last if call.call.id in names]
            for call in waiting:
                if ids.count(call.call.id) > 1:
                    raise bad(f"{call.path}/toolCallId", TWO_CALLS)
        elif role != "system":
            raise bad(f"{path}/role", f"user, assistant or system, not {role!r:.40}")
    for call in waiting:  # those of earlier messages run no more
        signer.check(chat_id, call.call, _signature(call), call.path)
        if approvals.get(call.call.id, True) is True:
            signer.approve(_signature(call))
    signer.accept()
    return WebChat(
        protocol="ai-sdk",
        id=chat_id,
        messages=answered(messages, frozenset([call.call.id for call in waiting])),
        approvals=approvals if waiting else {},
        regenerates=body.get("trigger") == "regenerate-message",
        signer=signer,
    )


def _user(parts: list[Mapping[str, Any]], path: str) -> list[Message]:
    content: list[Part] = []
    for place, members in enumerate(parts):
        here = f"{path}/parts/{place}"
        match text_of(members, "type", here):
            case "text":
                content.append(TextPart(text_of(members, "text", here)))
            case "file":
                content.append(file_of_url(text_of(members, "url", here), f"{here}/url"))
            case _:
                pass
    return [Message("user", tuple(content))] if content else []


def _assistant(parts: list[Mapping[str, Any]], path: str) -> tuple[list[Message], list[_Call]]:
    """The turns of an answer with their results, and the calls of the last one."""
    messages: list[Message] = []
    pending: list[Part] = []
    calls: list[_Call] = []

    def end_step() -> None:
        if pending:
            messages.append(Message("assistant", tuple(pending)))
        results = [result for call in calls if (result := _result(call)) is not None]
        if results:
            messages.append(Message("tool", tuple(results)))
        pending.clear()

    for place, members in enumerate(parts):
        here = f"{path}/parts/{place}"
        kind = text_of(members, "type", here)
        if kind == "step-start":
            end_step()
            calls = []
        elif kind == "text" and members.get("text"):
            pending.append(TextPart(text_of(members, "text", here)))
        elif kind == "reasoning" and members.get("text"):
            pending.append(ThinkingPart(text_of(members, "text", here)))
        elif (
            (kind == "dynamic-tool" or kind.startswith("tool-"))
            and members.get("state") != "input-streaming"  # a call is whole,
            and not members.get("providerExecuted")  # and not one that the provider ran
        ):
            calls.append(_Call(_call(members, kind, here), members, here))
            pending.append(calls[-1].call)
    end_step()
    return messages, calls


def _call(members: Mapping[str, Any], kind: str, path: str) -> ToolCall:
    name = text_of(members, "toolName", path) if kind == "dynamic-tool" else kind.removeprefix("tool-")
    value = members.get("input")
    freeform = isinstance(value, str)
    arguments = {"input": value} if freeform else {} if value is None else object_of(value, f"{path}/input")
    call_id = text_of(members, "toolCallId", path)
    if not call_id or not name:
        raise bad(path, "a call has an id and the name of its tool")
    return ToolCall(call_id, name, encode(dict(arguments)).decode(), freeform=freeform)


def _result(call: _Call) -> ToolResult | None:
    """The result of a call; None for one that has none yet."""
    members, made = call.members, call.call
    match call.state:
        case "output-available" if not members.get("preliminary"):
            output = members.get("output")
            content = output if isinstance(output, str) else Json(output)
            return ToolResult(call_id=made.id, name=made.name, content=content)
        case "output-error":
            error = text_of(members, "errorText", call.path, "")
            return ToolResult(call_id=made.id, name=made.name, content=error, is_error=True)
        case "output-denied":
            reason = call.approval.get("reason")
            text = f"the call of {made.name} was not approved{f': {reason}' if reason else ''}"
            return ToolResult(call_id=made.id, name=made.name, content=text, is_error=True)
        case _:
            return None


def _verdict(call: _Call) -> bool | str:
    """Whether a call may run; a text denies with that reason."""
    approval = call.approval
    if approval.get("approved") is True:
        return True
    reason = approval.get("reason")
    return reason if isinstance(reason, str) and reason else False


def _signature(call: _Call) -> object:
    metadata = call.members.get("callProviderMetadata")
    own = metadata.get(METADATA) if isinstance(metadata, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # whatever a page sends
    return own.get("signature") if isinstance(own, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # the same


METADATA = "interlingua"
"""Under what name our signature stands in a call's metadata."""
