"""Conversations that web pages send, read to canonical values: `il.web_chat`.

Rules
- Everything in it is what the page says: an application that does not believe its pages keeps the conversation itself
  and takes `last` and `approvals` alone.
- No call runs because a page says that there was one. A call waits only where the page answered a request for its
  approval, in the page's last message; with a `secret`, only where that request was made here, for these arguments.
- An approval is accepted once, so that a page that sends its conversation again runs nothing again.
- Calls without a result that do not wait are answered with an error result, so that every provider takes the history.
- System texts of a page are left out: the application's own say what the model is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

import msgspec

from interlingua.client.web.signature import VALID_S, Signer
from interlingua.errors import DecodeError, UsageError, WireError
from interlingua.types.content import ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.run import Decision, RunRecord
from interlingua.types.tool import Tool

__all__ = ["Protocol", "WebChat", "answered", "web_chat"]

Protocol: TypeAlias = Literal["ai-sdk", "ag-ui"]
"""Protocols of pages: UI messages of the AI SDK 5 to 7, or AG-UI 1.0."""


class WebChat(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation as a web page sent it; a history for `model.stream`, and what `agent.stream` goes on with."""

    protocol: Protocol
    """The protocol of the page, and of the answer of `sse`."""
    id: str
    """The page's id of the conversation; empty when it has none."""
    run_id: str = ""
    """The page's id of this run (AG-UI)."""
    messages: tuple[Message, ...] = ()
    """All that was said, oldest first."""
    approvals: dict[str, bool | str] = {}
    """The decisions, by call id: whether the call may run; a text denies with that reason."""
    tools: tuple[Tool, ...] = ()
    """Tools that the page itself runs (AG-UI)."""
    regenerates: bool = False
    """Whether the last answer is to be given again."""
    signer: Signer = Signer(None)
    """Signs requests for approvals."""

    @property
    def last(self) -> Message | None:
        """The last message of the user; None where an approval or a result came last."""
        return self.messages[-1] if self.messages and self.messages[-1].role == "user" else None

    @property
    def record(self) -> RunRecord:
        """A run that goes on with it."""
        decisions = {
            call_id: Decision(approved=verdict is True, why=verdict if isinstance(verdict, str) else "")
            for call_id, verdict in self.approvals.items()
        }
        return RunRecord(messages=self.messages, decisions=decisions)


def web_chat(
    body: bytes | str | Mapping[str, Any],
    protocol: Protocol = "ai-sdk",
    *,
    secret: str | None = None,
    accepted: str = "memory",
    valid_s: float = VALID_S,
) -> WebChat:
    """The conversation in the body that a web page sent: `useChat` of the AI SDK, or a client of AG-UI.

    With a `secret`, at least 16 characters long, requests for approvals are signed, and an answer to one that was not
    made here is refused, as is one that was accepted before, and one that comes later than `valid_s` after the request.
    `accepted` names where accepted ones are noted: `memory` (of this process), the path of a SQLite file, or `redis://…`
    for several workers. `stream.sse(chat)` and `run.sse(chat)` answer in the page's own protocol.

    Loss: system texts, sources, data parts and reasoning without text; the page keeps them.
    Raises: DecodeError, with the place, for a body that is no conversation, for files that are no data: URL, and for an
        approval that was not asked for here, was accepted before or comes too late; UsageError for another protocol and
        for a secret that is too short; ConfigError for a place that is none; APIConnectionError for one that is gone.
    Source: package `ai` 7.0.173, its schema of UI messages; AG-UI 1.0, `RunAgentInput`; read 2026-11-28.
    """
    if protocol == "ai-sdk":
        from interlingua.client.web.ui_messages import read_ui_messages as read
    elif protocol == "ag-ui":
        from interlingua.client.web.ag_ui_input import read_run_input as read
    else:
        raise UsageError(f"web_chat: protocol takes ai-sdk or ag-ui, not {protocol!r:.60}")  # pyright: ignore[reportUnreachable]  # callers without types
    return read(_members(body), Signer(secret, accepted=accepted, valid_s=valid_s))


def _members(body: object) -> Mapping[str, Any]:
    from interlingua.wire.json import decode_any, encode

    try:
        if not isinstance(body, bytes | bytearray | str):
            # `json.loads` takes halves of surrogate pairs and NaN, which no reader here does.
            body = encode(dict(cast("Mapping[str, Any]", body)) if isinstance(body, Mapping) else body)
        value = decode_any(body)
    except UsageError as error:
        raise DecodeError(f"the body is not JSON: {error.message}") from None
    except WireError as error:
        raise DecodeError(f"the body is not JSON: {error.message}") from None
    if not isinstance(value, dict):
        raise DecodeError("the body is not an object")
    return cast("dict[str, Any]", value)


def answered(turns: list[Message], waiting: frozenset[str]) -> tuple[Message, ...]:
    """The messages, with an error result for each call that has none and does not wait."""
    messages: list[Message] = []
    for place, message in enumerate(turns):
        messages.append(message)
        if message.role != "assistant":
            continue
        following = turns[place + 1] if place + 1 < len(turns) else None
        results = following.tool_results if following is not None and following.role == "tool" else ()
        there = {result.call_id for result in results}
        missing = [
            ToolResult(call_id=part.id, name=part.name, content=NO_RESULT, is_error=True)
            for part in message.parts
            if isinstance(part, ToolCall) and part.id not in there and part.id not in waiting
        ]
        if missing and following is not None and following.role == "tool":
            turns[place + 1] = msgspec.structs.replace(following, parts=(*following.parts, *missing))
        elif missing:
            messages.append(Message("tool", tuple(missing)))
    return tuple(messages)


NO_RESULT = "this call was not run: the user went on without it"
"""The result of a call that nobody answered."""
