"""What a recorded change excuses: which places of a body, and which facts, may differ because of it.

Rules
- A difference counts as said only when an entry of `changes` names it; anything else is a loss in silence.
- An entry whose path starts with the name of a field (`/temperature`) excuses that member of the body.
- Entries inside messages and parts excuse the members that their code is about, in `PLACES` and `FACTS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from interlingua.testing.wirefacts.values import Facts
from interlingua.types.change import Change

__all__ = ["excused_facts", "excuses_place", "without"]

CALL_ID = r"/(id|tool_call_id|tool_use_id|call_id)$"
"""Where the dialects write which call is meant."""
PLACES: dict[str, str] = {
    "arguments_empty": r"/arguments$",
    "arguments_object": r"/arguments(/|$)",
    "arguments_twice": r"/arguments$",
    "arguments_broken": r"/messages/",
    "broken_call_as_text": r"/messages/",
    "call_id_duplicate": CALL_ID,
    "call_id_made": CALL_ID,
    "call_name_cleaned": r"/name$",
    "empty_part": r"/content(/|$)",
    "error_prefix_ambiguous": r"/content$",
    "finish_reason_approximated": r"/finish_reason$",
    "finish_reason_derived": r"/finish_reason$",
    "foreign_shape": r"/",
    "functions_deprecated": r"/(functions|function_call|tools|tool_choice|tool_calls|finish_reason|messages)(/|$)",
    "id_mapped": CALL_ID,
    "lone_surrogate": r"/",
    "name_mapped": r"/name$",
    "name_unsupported": r"/name$",
    "refusal_as_text": r"/(refusal|content)(/|$)",
    "system_moved": r"/messages/",
    "whole_number": r"/",
    "thinking_unsupported": r"/(reasoning|reasoning_content|content)(/|$)",
}
"""Code -> the places of a wire body that it may change."""

FACTS: dict[str, tuple[str, ...]] = {
    "audio": ("media",),
    "broken_call_as_text": ("messages", "calls", "results", "text", "finish_reason"),
    "description_added": ("tools",),
    "documents": ("media",),
    "finish_reason_approximated": ("finish_reason",),
    "images": ("media",),
    "media_refs": ("references",),
    "media_type_unsaid": ("media",),
    "messages_merged": ("messages",),
    "media_as_text": ("media", "messages", "text"),
    "name_mapped": ("tools", "calls"),
    "opaque_part": ("references", "server_tools"),
    "error_prefix_ambiguous": ("results",),
    "order_changed": ("messages", "order of results"),
    "output_schema": ("output_schema",),
    "output_schema_forced_tool": ("output_schema", "tools", "tool_choice"),
    "output_schema_loosened": ("output_schema", "messages"),
    "output_schema_prompted": ("output_schema", "messages"),
    "refusal_as_text": ("refusals", "refusal", "messages", "text", "finish_reason"),
    "result_as_text": ("results",),
    "result_media_moved": ("media", "messages", "results"),
    "schema_rewritten": ("tools", "output_schema"),
    "seal_foreign": ("seals", "thinking"),
    "seal_filler": ("seals",),
    "server_tools": ("server_tools",),
    "freeform_as_function": ("tools",),
    "system_moved": ("messages",),
    "thinking_as_text": ("thinking", "messages", "text"),
    "thinking_unsupported": ("thinking", "seals"),
    "tool_choice_approximated": ("tool_choice",),
    "tools": ("tools",),
    "tools_withheld": ("tools", "tool_choice"),
    "alternatives_unsupported": ("choices",),
}
"""Code -> the facts that it may change, or the order of whose values."""


def excuses_place(changes: Iterable[Change], path: str) -> bool:
    """Whether an entry names the place `path` of a wire body."""
    return any(_names(change, path) for change in changes)


def _names(change: Change, path: str) -> bool:
    pattern = PLACES.get(change.code)
    if pattern is not None:
        return re.search(pattern, path) is not None
    root = change.path.split("/")[1:2]
    return root not in ([], ["messages"], ["parts"]) and path.split("/")[1:2] == root


def excused_facts(changes: Iterable[Change]) -> frozenset[str]:
    """The names of the facts that some entry names."""
    return frozenset(name for change in changes for name in (*FACTS.get(change.code, ()), *_fact(change)))


def _fact(change: Change) -> tuple[str, ...]:
    """A change of a request's own field names the fact of the same name."""
    return tuple(change.path.split("/")[1:2]) if change.action in ("dropped", "approximated") else ()


def without(facts: Facts, names: Iterable[str]) -> Facts:
    """`facts` without those of the given names, in every choice too; what only came in another order is sorted."""
    left: dict[str, Any] = {
        name: sorted(value, key=repr) if f"order of {name}" in names else value
        for name, value in facts.items()
        if name not in names
    }
    if "choices" in left:
        left["choices"] = [without(choice, names) for choice in left["choices"]]
    return left
