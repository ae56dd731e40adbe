"""The UI message stream of the AI SDK, version 1: what its `useChat` and `readUIMessageStream` read.

Rules
- A server-sent event for each part, JSON without a name; `[DONE]` at the end, also after an error part.
- Blocks are sent as they come, each with an id of its own; a thinking block without readable text is not told.
- Arguments are sent as their text comes, and again as a value when they are whole. The text of a freeform call is told
  when it is whole.
- The message gets no id: the client's own is the one that its application stores.

Loss: all choices but the first, sealed state, parts that only one provider knows. Each is an entry in the changes.
Source: package `ai` 7.0.173, its page "Stream Protocols" and the schema of its chunks, read 2026-11-22.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from interlingua.client.web.ui_messages import METADATA
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
from interlingua.wire.json import encode, encode_text
from interlingua.wire.media import data_url

if TYPE_CHECKING:
    from interlingua.client.web.chat import WebChat
    from interlingua.types.change import Change
    from interlingua.types.event import Event
    from interlingua.types.response import FinishReason
    from interlingua.types.run import StopReason

__all__ = ["AI_SDK", "AI_SDK_HEADERS", "DONE", "UiMessageEncoder", "part"]

AI_SDK = "ai-sdk"
"""Its name where a dialect is named."""
AI_SDK_HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}
"""The header by which its clients know it."""
DONE = b"data: [DONE]\n\n"
"""The bytes behind the last part."""

_FINISH: dict[FinishReason, str] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool-calls",
    "content_filter": "content-filter",
    "refusal": "content-filter",
    "error": "error",
}
_STOPPED: dict[StopReason, str] = {
    "done": "stop",
    "approval": "tool-calls",
    "length": "length",
    "max_tokens": "length",
    "refused": "content-filter",
    "error": "error",
    "cancelled": "interrupted",
}


def part(kind: str, **members: object) -> bytes:
    """One part of the stream."""
    return b"data: %b\n\n" % encode({"type": kind, **members})


class UiMessageEncoder:
    """Bytes from the events of one answer, or of several that are one message."""

    def __init__(self, changes: list[Change], chat: WebChat, *, ends_message: bool = True) -> None:
        """An encoder for one message of `chat`; `changes` takes what cannot be said.

        `ends_message`: whether the end of an answer is the end of the message; else `finished` is.
        """
        self._noted: Changes = Changes(AI_SDK, "encode_response")
        self._changes = changes
        self._chat = chat
        self._ends_message = ends_message
        self._begun = self._in_step = False
        self._id_count = 0
        self._steps: set[str] = set()
        self._open: dict[int, tuple[str, bytes]] = {}
        self._calls: dict[int, str] = {}

    def opening(self) -> bytes:
        """Nothing: a message begins with its first event."""
        return b""

    def encode(self, event: Event) -> bytes:
        """The bytes that `event` adds; may be empty."""
        if getattr(event, "choice", 0):
            return b""
        match event:
            case TextDelta(text=text) | ThinkingDelta(text=text) | RefusalDelta(text=text):
                return self._prose(event.index, text, "reasoning" if type(event) is ThinkingDelta else "text")
            case ToolCallDelta(index=index, arguments=text):
                call = self._calls.get(index)
                return part("tool-input-delta", toolCallId=call, inputTextDelta=text) if call else b""
            case ToolCallReady(call=call):
                signature = self._chat.signer.sign(self._chat.id, call)
                signed = {"providerMetadata": {METADATA: {"signature": signature}}} if signature else {}
                # The arguments are a value; those of a freeform call are its text.
                value = call.arguments.get("input") if call.freeform else call.arguments
                return part("tool-input-available", toolCallId=call.id, toolName=call.name, input=value, **signed)
            case Annotation(annotation=citation) if citation.url is not None:
                self._id_count += 1
                titled: dict[str, object] = {"title": citation.title} if citation.title else {}
                return part("source-url", sourceId=f"source-{self._id_count}", url=citation.url, **titled)
            case Annotation():
                self._noted.add("annotation_unsupported", f"/parts/{event.index}/annotations")
                return b""
            case Seal(sealed=sealed):
                self._noted.add(
                    "seal_foreign", f"/parts/{event.index}", f"sealed by {sealed.provider or sealed.dialect}"
                )
                return b""
            case _:
                return self._frame(event)

    def _frame(self, event: Event) -> bytes:
        match event:
            case StreamStart():
                opening = part("finish-step") if self._in_step else self._begin()
                self._in_step = True
                self._open.clear()
                self._calls.clear()
                return opening + part("start-step")
            case BlockStart(block="tool_call"):
                members: dict[str, object] = {"inputEncoding": "text"} if event.freeform else {}
                if event.id and not event.freeform:
                    self._calls[event.index] = event.id
                return part("tool-input-start", toolCallId=event.id, toolName=event.name, **members)
            case BlockEnd():
                return self._block_end(event)
            case StreamEnd(response=response):
                if response.alternatives:
                    self._noted.add("alternatives_unsupported", "/alternatives")
                return self._end(_FINISH.get(response.finish_reason, "other")) if self._ends_message else b""
            case StreamError(message=message):
                return self.failed(message)
            case _:
                return b""

    # The message

    def _begin(self) -> bytes:
        if self._begun:
            return b""
        self._begun = True
        return part("start")

    def finished(self, reason: StopReason) -> bytes:
        """The end of a run."""
        return self._end(_STOPPED.get(reason, "other"))

    def _end(self, reason: str) -> bytes:
        self._changes.extend(self._noted.entries)
        opening = part("finish-step") if self._in_step else self._begin()
        return opening + part("finish", finishReason=reason) + DONE

    def failed(self, message: str) -> bytes:
        """The end of the message by an error."""
        self._changes.extend(self._noted.entries)
        return part("error", errorText=message) + DONE

    # Calls

    def approval(self, call: ToolCall) -> bytes:
        """A request for an approval, under the call's own id."""
        return part("tool-approval-request", approvalId=call.id, toolCallId=call.id)

    def progress(self, call: ToolCall | BrokenToolCall, text: str) -> bytes:
        """The bytes of a tool's progress while it runs."""
        return self._begin() + part("tool-output-available", toolCallId=call.id, output=text, preliminary=True)

    def result(self, call_id: str, content: object, *, is_error: bool) -> bytes:
        """The result of a call."""
        if is_error:
            error = content if isinstance(content, str) else str(content)
            return self._begin() + part("tool-output-error", toolCallId=call_id, errorText=error)
        return self._begin() + part("tool-output-available", toolCallId=call_id, output=content)

    # Blocks

    def _prose(self, index: int, text: str, kind: str) -> bytes:
        """More of a block; its first piece opens it."""
        opening = b""
        if index not in self._open:
            self._id_count += 1
            name = str(self._id_count)
            head = b'data: {"type":"%b-delta","id":"%b","delta":' % (kind.encode(), name.encode())
            self._open[index] = (name, head)
            opening = part(f"{kind}-start", id=name)
        return b"%b%b%b}\n\n" % (opening, self._open[index][1], encode_text(text))

    def _block_end(self, event: BlockEnd) -> bytes:
        opened = self._open.get(event.index)
        if opened is not None:
            kind = "reasoning" if opened[1].startswith(b'data: {"type":"reasoning') else "text"
            return part(f"{kind}-end", id=opened[0])
        match event.part:
            case BrokenToolCall(id=call_id, name=name, raw_arguments=text, reason=reason):
                error = f"the arguments are not one JSON object ({reason})"
                return part("tool-input-error", toolCallId=call_id, toolName=name, input=text, errorText=error)
            case ImagePart() | AudioPart() | DocumentPart() as media:
                return part("file", url=data_url(media.base64, media.media_type), mediaType=media.media_type)
            case ServerToolPart() as step:
                return self._step(step, event.index)
            case OpaquePart(dialect=dialect, kind=kind):
                self._noted.add("opaque_part", f"/parts/{event.index}", f"{kind} of {dialect}", action="dropped")
                return b""
            case _:
                return b""

    def _step(self, step: ServerToolPart, index: int) -> bytes:
        """A step of a tool that the provider ran: what it was called with, and what came where that is known."""
        call_id = step.call_id or f"step-{index}"
        call = b""
        ran = {"toolCallId": call_id, "providerExecuted": True, "dynamic": True}
        if step.input is not None:
            self._steps.add(call_id)
            call = part("tool-input-available", toolName=step.name or step.kind, input=step.input, **ran)
        is_whole = step.kind.endswith("_call") and step.status == "completed"
        if call_id not in self._steps or (step.output is None and not step.sources and not is_whole):
            return call
        output = {"text": step.output or "", "sources": msgspec.to_builtins(step.sources)}
        return call + part("tool-output-available", output=output, **ran)
