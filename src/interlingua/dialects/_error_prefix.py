"""Results of failed calls, where the wire has no flag for that: their text says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects._history import ERROR_PREFIX

if TYPE_CHECKING:
    from interlingua.types.change import Changes
    from interlingua.types.content import ToolResult

__all__ = ["prefixed"]


def prefixed(text: str, result: ToolResult, changes: Changes, path: str) -> str:
    """The text of a result, marked where it failed and the wire has no flag for that."""
    if result.is_error:
        return text if text.startswith(ERROR_PREFIX) else f"{ERROR_PREFIX}{text}"
    if text.startswith(ERROR_PREFIX):
        changes.add("error_prefix_ambiguous", f"{path}/is_error")
    return text
