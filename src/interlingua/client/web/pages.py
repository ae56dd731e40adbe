"""The page that a stream is written for, by the name of its protocol or by its request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from interlingua.client.web.ag_ui import AG_UI, AgUiEncoder
from interlingua.client.web.ai_sdk import AI_SDK, UiMessageEncoder
from interlingua.client.web.chat import WebChat

if TYPE_CHECKING:
    from interlingua.types.change import Change
    from interlingua.types.content import BrokenToolCall, ToolCall
    from interlingua.types.event import Event
    from interlingua.types.run import StopReason

__all__ = ["PageEncoder", "page_encoder", "page_of"]


class PageEncoder(Protocol):
    """Bytes for a page, from the events of an answer and of a run."""

    def opening(self) -> bytes:
        """The bytes before the first event."""
        ...

    def encode(self, event: Event) -> bytes:
        """The bytes that an event of a model adds."""
        ...

    def approval(self, call: ToolCall) -> bytes:
        """A call waits for an approval."""
        ...

    def progress(self, call: ToolCall | BrokenToolCall, text: str) -> bytes:
        """A tool tells something while it runs."""
        ...

    def result(self, call_id: str, content: object, *, is_error: bool) -> bytes:
        """A call has its result."""
        ...

    def finished(self, reason: StopReason) -> bytes:
        """The run has ended."""
        ...


def page_of(target: str | WebChat) -> WebChat | None:
    """The page that is meant; None for the name of a dialect."""
    if isinstance(target, WebChat):
        return target
    if target == AI_SDK:
        return WebChat(protocol="ai-sdk", id="")
    return WebChat(protocol="ag-ui", id="") if target == AG_UI else None


def page_encoder(chat: WebChat, changes: list[Change], *, ends_message: bool = True) -> PageEncoder:
    """An encoder for one answer to the page, or for one run; `changes` takes what cannot be said."""
    if chat.protocol == "ag-ui":
        return AgUiEncoder(changes, chat, ends_message=ends_message)
    return UiMessageEncoder(changes, chat, ends_message=ends_message)
