"""A run told to a web page as one message, with its steps, its tools' results and what waits for an approval.

Rules
- Each answer of the model is a step, which ends after the results of its calls.
- A call that waits is a request for an approval; whoever decides resumes the run.
- A run that a bound ended finishes, and says so; one that an error ended is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.agent.events import ApprovalNeeded, RunFinished, StepFinished, ToolFinished, ToolProgress, ToolStarted
from interlingua.client.web.pages import page_encoder, page_of
from interlingua.client.web.sse import EventWriter
from interlingua.errors import UsageError
from interlingua.types.content import Json

if TYPE_CHECKING:
    from interlingua.client.web.chat import WebChat
    from interlingua.types.content import ToolResult

__all__ = ["RunEventWriter"]


class RunEventWriter(EventWriter):
    """Turns the events of one run into the bytes of a stream."""

    def __init__(self, target: str | WebChat) -> None:
        """A writer of one run, to a page.

        Raises: UsageError for a dialect: it tells one answer of a model, and a run has several.
        """
        super().__init__(target)
        chat = page_of(target)
        if chat is None:
            raise UsageError(f"a run has several answers, so it needs the format 'ai-sdk' or 'ag-ui', not {target!r}")
        self._run = self._encoder = page_encoder(chat, self._changes, ends_message=False)

    def tell(self, event: object) -> bytes:
        """The bytes that an event adds; may be empty."""
        match event:
            case StepFinished() | ToolStarted():
                return b""
            case ApprovalNeeded(call=call):
                return self._run.approval(call)
            case ToolProgress(call=call, text=text):
                return self._run.progress(call, text)
            case ToolFinished(call=call, result=result):
                return self._run.result(call.id, _content(result), is_error=result.is_error)
            case RunFinished(stop_reason=reason):
                return self._run.finished(reason)
            case _:
                return super().tell(event)


def _content(result: ToolResult) -> object:
    """A result: its text or its value; of parts their texts."""
    match result.content:
        case str(text):
            return text
        case Json(value=value):
            return value
        case parts:
            return [item.value if isinstance(item, Json) else getattr(item, "text", "") for item in parts]
