"""The events of AG-UI 1.0: what its clients read of an answer, or of a run.

Rules
- A server-sent event for each, JSON without a name; `RUN_STARTED` first, `RUN_FINISHED` or `RUN_ERROR` last.
- The calls of a turn belong to the message of its text, or to one of their own; reasoning stands apart.
- A call that waits for an approval is an interrupt; its id holds the signature that `resume` brings back.

Loss: all choices but the first, media, citations, sealed state, parts that only one provider knows. Each is an entry in
the changes.
Source: AG-UI 1.0, its schema of events, read 2026-11-28.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.client.web.ag_ui_input import SEPARATOR
from interlingua.types.change import Changes
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    OpaquePart,
    ServerToolPart,
    ToolCall,
)
from interlingua.types.event import (
    Annotation,
    BlockEnd,
    BlockStart,
    RefusalDelta,
    Seal,
    StreamEnd,
    StreamError,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
)
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.client.web.chat import WebChat
    from interlingua.types.change import Change
    from interlingua.types.event import Event
    from interlingua.types.run import StopReason

__all__ = ["AG_UI", "AgUiEncoder"]

AG_UI = "ag-ui"
"""Its name where a dialect is named."""


def _event(kind: str, **members: object) -> bytes:
    return b"data: %b\n\n" % encode({"type": kind, **members})


class AgUiEncoder:
    """Bytes from the events of one answer, or of a run."""

    def __init__(self, changes: list[Change], chat: WebChat, *, ends_message: bool = True) -> None:
        """An encoder for one run of `chat`; `changes` takes what cannot be said.

        `ends_message`: whether the end of an answer is the end of the run; else `finished` is.
        """
        self._noted: Changes = Changes(AG_UI, "encode_response")
        self._changes = changes
        self._chat = chat
        self._ends_message = ends_message
        self._begun = False
        self._message = ""
        self._open: dict[int, tuple[str, str]] = {}
        self._calls: dict[int, str] = {}
        self._streamed: set[str] = set()
        self._waiting: list[ToolCall] = []
        self._run = {"threadId": chat.id or _new_id(), "runId": chat.run_id or _new_id()}

    def opening(self) -> bytes:
        """Nothing: a run begins with its first event."""
        return b""

    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds; may be empty."""
        if getattr(event, "choice", 0):
            return b""
        match event:
            case TextDelta(index=index, text=text) | RefusalDelta(index=index, text=text):
                return self._text(index, text)
            case ThinkingDelta(index=index, text=text):
                return self._reasoning(index, text)
            case ToolCallDelta(index=index, arguments=text):
                call_id = self._calls.get(index, "")
                self._streamed.add(call_id)
                return _event("TOOL_CALL_ARGS", toolCallId=call_id, delta=text) if call_id else b""
            case ToolCallReady(call=call):
                # The end of a call, with its beginning and its arguments where they were not told in pieces.
                events = b"" if call.id in self._calls.values() else self._call_start(call.id, call.name)
                if call.id not in self._streamed:
                    events += _event("TOOL_CALL_ARGS", toolCallId=call.id, delta=call.arguments_json)
                return events + _event("TOOL_CALL_END", toolCallId=call.id)
            case Annotation(index=index):
                self._noted.add("annotation_unsupported", f"/parts/{index}/annotations")
                return b""
            case Seal(index=index, sealed=sealed):
                self._noted.add("seal_foreign", f"/parts/{index}", f"sealed by {sealed.provider or sealed.dialect}")
                return b""
            case _:
                return self._frame(event)

    def _frame(self, event: Event) -> bytes:
        match event:
            case StreamStart():
                self._message = ""
                self._open.clear()
                self._calls.clear()
                return self._start()
            case BlockStart(index=index, block="tool_call", id=str(call_id), freeform=False) if call_id:
                self._calls[index] = call_id
                return self._call_start(call_id, event.name or "")
            case BlockEnd():
                return self._block_end(event)
            case StreamEnd(response=response):
                if response.alternatives:
                    self._noted.add("alternatives_unsupported", "/alternatives")
                if not self._ends_message:
                    return b""
                calls = [call.id for call in response.tool_calls]
                return self._end({"type": "success", "pendingToolCallIds": calls}, finishReason=response.finish_reason)
            case StreamError(message=message):
                return self.failed(message)
            case _:
                return b""

    # The run

    def _start(self) -> bytes:
        if self._begun:
            return b""
        self._begun = True
        return _event("RUN_STARTED", **self._run, protocolVersion="1.0")

    def finished(self, reason: StopReason) -> bytes:
        """The end of a run."""
        if reason == "error":
            return self.failed("the run ended by an error")
        if reason == "approval":
            interrupts = [self._interrupt(call) for call in self._waiting]
            return self._end({"type": "interrupt", "interrupts": interrupts}, stopReason=reason)
        return self._end({"type": "cancelled" if reason == "cancelled" else "success"}, stopReason=reason)

    def _end(self, outcome: dict[str, object], **result: object) -> bytes:
        self._changes.extend(self._noted.entries)
        return self._start() + _event("RUN_FINISHED", **self._run, result=result, outcome=outcome)

    def failed(self, message: str) -> bytes:
        """The end by an error."""
        self._changes.extend(self._noted.entries)
        return self._start() + _event("RUN_ERROR", message=message)

    # Calls

    def approval(self, call: ToolCall) -> bytes:
        """A call that waits: it is told at the end of the run."""
        self._waiting.append(call)
        return b""

    def progress(self, call: ToolCall | BrokenToolCall, text: str) -> bytes:
        """The bytes of a tool's progress while it runs."""
        return self._start() + _event("CUSTOM", name="tool-progress", value={"toolCallId": call.id, "text": text})

    def result(self, call_id: str, content: object, *, is_error: bool) -> bytes:
        """The result of a call; that it is an error stands in its text."""
        del is_error  # the event has no member for it
        text = content if isinstance(content, str) else encode(content).decode()
        event = _event("TOOL_CALL_RESULT", messageId=_new_id(), toolCallId=call_id, content=text, role="tool")
        return self._start() + event

    def _call_start(self, call_id: str, name: str) -> bytes:
        self._message = self._message or _new_id()
        return _event("TOOL_CALL_START", toolCallId=call_id, toolCallName=name, parentMessageId=self._message)

    def _interrupt(self, call: ToolCall) -> dict[str, object]:
        signer = self._chat.signer
        signature = f"{SEPARATOR}{signer.sign(self._chat.id, call)}" if signer.is_on else ""
        schema = {
            "type": "object",
            "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
            "required": ["approved"],
        }
        return {
            "id": f"{call.id}{signature}",
            "reason": "tool_approval",
            "message": f"May {call.name} run?",
            "toolCallId": call.id,
            "responseSchema": schema,
        }

    # Blocks

    def _text(self, index: int, text: str) -> bytes:
        begun = b""
        if index not in self._open:
            self._message = _new_id()
            self._open[index] = ("TEXT_MESSAGE", self._message)
            begun = _event("TEXT_MESSAGE_START", messageId=self._message, role="assistant")
        return begun + _event("TEXT_MESSAGE_CONTENT", messageId=self._open[index][1], delta=text)

    def _reasoning(self, index: int, text: str) -> bytes:
        begun = b""
        if index not in self._open:
            name = _new_id()
            self._open[index] = ("REASONING", name)
            begun = _event("REASONING_START", messageId=name)
            begun += _event("REASONING_MESSAGE_START", messageId=name, role="reasoning")
        return begun + _event("REASONING_MESSAGE_CONTENT", messageId=self._open[index][1], delta=text)

    def _block_end(self, event: BlockEnd) -> bytes:
        opened = self._open.pop(event.index, None)
        if opened is not None:
            kind, name = opened
            if kind == "TEXT_MESSAGE":
                return _event("TEXT_MESSAGE_END", messageId=name)
            return _event("REASONING_MESSAGE_END", messageId=name) + _event("REASONING_END", messageId=name)
        match event.part:
            case BrokenToolCall(id=call_id) if event.index in self._calls:
                return _event("TOOL_CALL_END", toolCallId=call_id)
            case ImagePart() | AudioPart() | DocumentPart() | ServerToolPart() | OpaquePart():
                kind = type(event.part).__name__
                self._noted.add("opaque_part", f"/parts/{event.index}", f"AG-UI has no {kind}", action="dropped")
                return b""
            case _:
                return b""


def _new_id() -> str:
    from secrets import token_hex

    return token_hex(12)
