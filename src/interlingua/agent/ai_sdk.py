"""A run told to a web client as one UI message of the AI SDK, with its steps, its tools' results and what waits.

Rules
- Each answer of the model is a step, which ends after the results of its calls.
- A call that waits for an approval is a request under the call's own id; whoever decides resumes the run.
- A run that a bound ended finishes as `other`, one that its length or a refusal ended with those words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.agent.events import ApprovalNeeded, RunFinished, StepFinished, ToolFinished, ToolProgress, ToolStarted
from interlingua.client.web.ai_sdk import AI_SDK, UiMessageEncoder, part
from interlingua.client.web.sse import Teller
from interlingua.errors import UsageError
from interlingua.types.content import Json

if TYPE_CHECKING:
    from interlingua.types.content import ToolResult
    from interlingua.types.run import StopReason

__all__ = ["RunTeller"]

_FINISH: dict[StopReason, str] = {
    "done": "stop",
    "approval": "tool-calls",
    "length": "length",
    "max_tokens": "length",
    "refused": "content-filter",
    "error": "error",
    "cancelled": "interrupted",
}


class RunTeller(Teller):
    """Turns the events of one run into the bytes of a stream."""

    def __init__(self, dialect: str) -> None:
        """A teller of one run.

        Raises: UsageError for anything but `ai-sdk`: a dialect tells one answer of a model, and a run has several.
        """
        if dialect != AI_SDK:
            raise UsageError(f"a run is more than one answer, so it is told in {AI_SDK!r} and not in {dialect!r}")
        super().__init__(dialect)
        self._run = self._encoder = UiMessageEncoder(self._changes, ends_message=False)

    def tell(self, event: object) -> bytes:
        """The bytes that an event adds; may be empty."""
        match event:
            case StepFinished() | ToolStarted():
                return b""
            case ApprovalNeeded(call=call):
                return part("tool-approval-request", approvalId=call.id, toolCallId=call.id)
            case ToolProgress(call=call, text=text):
                return part("tool-output-available", toolCallId=call.id, output=text, preliminary=True)
            case ToolFinished(call=call, result=result):
                return _told(call.id, result)
            case RunFinished(stop_reason=reason):
                return self._run.finished(_FINISH.get(reason, "other"))
            case _:
                return super().tell(event)


def _told(call_id: str, result: ToolResult) -> bytes:
    """A result: its text or its value; of parts their texts."""
    content = result.content
    if isinstance(content, str):
        value: object = content
    elif isinstance(content, Json):
        value = content.value
    else:
        value = [item.value if isinstance(item, Json) else getattr(item, "text", "") for item in content]
    if result.is_error:
        return part("tool-output-error", toolCallId=call_id, errorText=value if isinstance(value, str) else str(value))
    return part("tool-output-available", toolCallId=call_id, output=value)
