"""The error that an answer is, whole or streamed: its finish reason says a failure, or a call of it cannot be run.

Rules
- Finish `error` is a failure of the provider, whatever the answer holds beside it; every other finish is an end.
- One failed choice among several fails the answer: its client would take it for a whole one.
- A call whose arguments are not one JSON object is an error, but not one that the length limit cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.errors import InternalServerError, MalformedArgumentsError
from interlingua.stream.build import stream_error
from interlingua.types.content import BrokenToolCall
from interlingua.types.event import StreamEnd

if TYPE_CHECKING:
    from interlingua.types.event import StreamError
    from interlingua.types.response import Response

__all__ = ["failed_end", "failure_of", "fault", "malformed_call"]


def failure_of(response: Response[Any]) -> InternalServerError | None:
    """The error of an answer that the provider ended by a failure, with the answer beside it; None for any other."""
    if response.finish_reason != "error" and not response.alternatives:  # the usual case
        return None
    failed = next((one for one in (response, *response.alternatives) if one.finish_reason == "error"), None)
    if failed is None:
        return None
    raw = failed.finish_reason_raw
    reason = f"with the finish reason {raw!r}" if raw else "without a finish reason"
    sentence = f"{response.model or 'the provider'} broke its answer off, {reason}; ask again"
    return InternalServerError(sentence, code=raw or None, response=response)


def failed_end(event: StreamEnd) -> StreamError | None:
    """The error event for the end of such an answer; None for any other end."""
    failure = failure_of(event.response)
    return None if failure is None else stream_error(failure, event.response)


def malformed_call(response: Response[Any]) -> MalformedArgumentsError | None:
    """The error of the first call of an answer that cannot be run; None where every call is sound or was cut off."""
    parts = response.parts
    if response.alternatives:
        parts = [part for choice in (response, *response.alternatives) for part in choice.parts]
    if BrokenToolCall not in map(type, parts):  # the usual case, and quicker to see
        return None
    for part in parts:
        if type(part) is BrokenToolCall and part.reason != "cut_off":
            error = MalformedArgumentsError(
                f"{response.model or 'the model'} called {part.name} ({part.id}) with arguments that are "
                f"not one JSON object ({part.reason})",
                call=part,
                response=response,
            )
            error.add_note("What came is in .call.raw_arguments.")  # a gateway's client has no such name
            return error
    return None


def fault(response: Response[Any]) -> InternalServerError | MalformedArgumentsError | None:
    """The error of an answer that the provider ended by one, or of a call broken by anything but the length limit."""
    if response.finish_reason == "error" or response.alternatives:
        failure = failure_of(response)
        if failure is not None:
            return failure
    return malformed_call(response)
