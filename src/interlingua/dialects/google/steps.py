"""Parts of tools that the service runs, read: a call, or what came of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import is_object
from interlingua.dialects._steps import string_in
from interlingua.types.content import ServerToolPart
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.types.content import OpaquePart

__all__ = ["read_step"]

NAME = "google"
WENT_WELL = (None, "OUTCOME_OK", "OUTCOME_UNSPECIFIED")
MARKUP = ("search_suggestions", "searchSuggestions")
"""Members of a response that are a page's markup, for showing and not for reading."""


def read_step(part: OpaquePart, provider: str | None) -> ServerToolPart | None:
    """The step that a part is which nobody has read; None for any other."""
    raw: Any = part.raw
    step = raw.get(part.kind) if is_object(raw) else None
    if not is_object(step):
        return None
    call_id = string_in(step, "id")
    match part.kind:
        case "executableCode":
            arguments = {name: step[name] for name in ("language", "code") if name in step}
            return ServerToolPart(NAME, part.kind, raw, "code_execution", call_id, arguments, provider=provider)
        case "codeExecutionResult":
            status = "completed" if step.get("outcome") in WENT_WELL else "failed"
            output = string_in(step, "output") or ""
            return ServerToolPart(
                NAME, part.kind, raw, "code_execution", call_id, None, output, (), status, provider
            )  # fmt: skip
        case "toolCall":
            arguments: dict[str, Any] = step.get("args") or {}
            return ServerToolPart(NAME, part.kind, raw, _name(step), call_id, arguments, provider=provider)
        case "toolResponse":
            response = step.get("response")
            if is_object(response):
                response = {name: value for name, value in response.items() if name not in MARKUP}
            output = encode(response).decode() if response else ""
            return ServerToolPart(NAME, part.kind, raw, _name(step), call_id, None, output, provider=provider)
        case _:
            return None


def _name(step: dict[str, Any]) -> str:
    return (string_in(step, "toolType", "name") or "tool").lower()
