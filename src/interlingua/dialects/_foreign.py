"""What a translation leaves behind: the members that only other dialects know, each noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import foreign_extras

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.types.change import Changes

__all__ = ["note_foreign"]

_UNMISSED: dict[str, frozenset[str]] = {
    "openai-responses": frozenset(
        {
            "background",
            "billing",
            "completed_at",
            "created_at",
            "frequency_penalty",
            "instructions",
            "max_output_tokens",
            "max_tool_calls",
            "metadata",
            "object",
            "parallel_tool_calls",
            "presence_penalty",
            "previous_response_id",
            "prompt",
            "prompt_cache_key",
            "prompt_cache_retention",
            "reasoning",
            "safety_identifier",
            "service_tier",
            "store",
            "temperature",
            "text",
            "tool_choice",
            "tools",
            "top_logprobs",
            "top_p",
            "truncation",
            "user",
        }
    ),
    "openai-chat": frozenset({"created", "service_tier", "system_fingerprint"}),
}
"""Members of every answer that nobody misses in another dialect: they repeat the request, or say when it was served."""
_NONE: frozenset[str] = frozenset()


def note_foreign(changes: Changes, extra: Mapping[str, Any], path: str = "") -> None:
    """Entries for the members in `extra` that only other dialects know.

    Those of an answer as a whole, which has no `path`, only if somebody could miss one of them.
    """
    for dialect in foreign_extras(extra, changes.dialect) if extra else ():
        if not path and _UNMISSED.get(dialect, _NONE).issuperset(extra[dialect]):
            continue
        changes.add("extra_foreign", f"{path}/extra/{dialect}")
