"""The outcome of a handler, as the result that the model reads.

Rules
- Only the text of a `ToolError` is shown to the model; anything else may be private, and goes to the log alone.
- A handler that was cancelled by its own doing has failed; SystemExit and KeyboardInterrupt are no results.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from interlingua.errors import ToolError
from interlingua.tools.result import ResultContent, content_of
from interlingua.types.content import BrokenToolCall, ToolCall, ToolResult

if TYPE_CHECKING:
    import logging

__all__ = ["Call", "Outcome", "answered", "error_result", "failed", "is_cancelled", "log_of_tools", "timed_out"]

Call: TypeAlias = ToolCall | BrokenToolCall
"""A call of the model, whole or broken."""


class Outcome(NamedTuple):
    """The value of a handler that knows the form of its result, such as a tool of an MCP server."""

    content: ResultContent
    """The content of the result."""
    is_error: bool = False
    """Whether the tool failed."""


def error_result(call: Call, text: str) -> ToolResult:
    """The result of a call that failed, with what the model may read."""
    return ToolResult(call.id, call.name, text, is_error=True)


def answered(call: Call, value: object) -> ToolResult:
    """The result that holds what a handler gave."""
    try:
        if isinstance(value, Outcome):
            return ToolResult(call.id, call.name, value.content, is_error=value.is_error)
        return ToolResult(call.id, call.name, content_of(value))
    except Exception as error:  # noqa: BLE001 - a value's own code runs while it is turned into JSON
        return failed(call, error)


def failed(call: Call, error: BaseException) -> ToolResult:
    """The result of a handler that raised."""
    if isinstance(error, ToolError):
        return error_result(call, error.message or f"tool {call.name} failed")
    log_of_tools().warning("tool %s failed", call.name, exc_info=error)
    return error_result(call, f"tool {call.name} failed with an internal error")


def timed_out(call: Call, timeout_s: float | None) -> ToolResult:
    """The result of a handler that took too long."""
    log_of_tools().warning("tool %s took longer than %g s", call.name, timeout_s)
    return error_result(call, f"tool {call.name} took longer than {timeout_s:g} s")


def log_of_tools() -> logging.Logger:
    """Where failures are told; only who has some loads the module."""
    import logging

    return logging.getLogger("interlingua.tools")


def is_cancelled(error: BaseException) -> bool:
    """Whether it is asyncio's sign of a cancelled task; who raises it has imported asyncio."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)
