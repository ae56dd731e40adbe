"""The excuse of a recorded change: the fact at its own path, and nothing else.

Rules
- A difference counts as said only when an entry of `changes` names its place; anything else is a loss in silence.
- What an entry allows depends on its code: a fact may be gone (`GONE`), told in other words (`LOOSE`), sent as text
  (`AS_TEXT`) or somewhere else (`MOVED`). Nothing that a code is not about is excused by it.
- An entry at a message is about the parts of that message; one at a part is about what the part holds.
- In a body, an entry excuses the member that it names, or the places that its code is about, in `PLACES`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from interlingua.types.change import Change

__all__ = ["GONE", "LOOSE", "PLACES", "Excuses", "excuses_place"]

CALL_ID = r"/(id|tool_call_id|tool_use_id|call_id)$"
"""Where the dialects write which call is meant."""
PLACES: dict[str, str] = {
    "arguments_empty": r"/(arguments|input|args)$",
    "arguments_object": r"/arguments(/|$)",
    "arguments_twice": r"/arguments$",
    "arguments_broken": r"/messages/",
    "broken_call_as_text": r"/messages/",
    "call_id_duplicate": CALL_ID,
    "call_id_made": CALL_ID,
    "call_name_cleaned": r"/name$",
    "empty_part": r"/content(/|$)",
    "count_clamped": r"(?i)(usage|/[a-z_]*count)",
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
"""Code -> the places of a wire body that it may change, in its own dialect."""

_THOUGHT = frozenset({"seal_foreign", "seal_bound", "thinking_unsupported", "thinking_as_text", "opaque_part"})
_MEDIA = frozenset({"images", "audio", "documents", "media_refs", "media_as_text", "opaque_part"})
_PICTURE = frozenset({
    "image_resized", "image_turned", "image_transcoded", "image_still", "image_compressed", "detail_adjusted",
})  # fmt: skip
GONE: dict[str, frozenset[str]] = {
    "thinking": _THOUGHT,
    "seals": _THOUGHT | {"seal_filler"},
    "calls": frozenset({"broken_call_as_text", "arguments_broken", "calls_expanded"}),
    "results": frozenset({"broken_call_as_text", "arguments_broken", "result_orphan", "result_duplicate"}),
    "media": _MEDIA,
    "references": _MEDIA | {"server_tools"},
    "refusals": frozenset({"refusal_as_text"}),
    "citations": frozenset({"annotation_unsupported"}),
    "steps": frozenset({"server_tools", "server_tool_as_text"}),
    "cache_marks": frozenset({"cache_unsupported", "empty_part", "thinking_unsupported", "tools_withheld"}),
    "tools": frozenset({"tools", "tools_withheld"}),
    "server_tools": frozenset({"server_tools", "tools_withheld"}),
}
"""Fact -> the codes of entries that let it be gone from its place."""
LOOSE: dict[str, dict[str, frozenset[str]]] = {
    "tools": {
        "schema": frozenset({"foreign_shape"}),
        "strict": frozenset({"strict_unsupported", "freeform_as_function"}),
    },
    "calls": {
        "arguments": frozenset({"arguments_empty", "arguments_object", "arguments_twice", "foreign_shape"}),
        "name": frozenset({"call_name_cleaned"}),
        "id": frozenset({"call_id_made", "call_id_duplicate"}),
    },
    "results": {
        "content": frozenset({
            "result_as_text", "result_media_moved", "parameter_added", "media_as_text",
            "opaque_part",
        }),
        "is_error": frozenset({"error_prefix_ambiguous"}),
    },
    "media": {
        "type": frozenset({"media_type_unsaid", "media_type_corrected", "media_as_text"}) | _PICTURE,
        "sha256": _PICTURE,
    },
}  # fmt: skip
"""Fact -> member -> the codes of entries that let it be told in other words."""
AS_TEXT = frozenset({
    "broken_call_as_text", "arguments_broken", "refusal_as_text", "thinking_as_text", "media_as_text",
    "result_media_moved", "result_as_text", "result_orphan", "server_tool_as_text",
})  # fmt: skip
"""Codes of entries that put a text where something else stood."""
AS_THINKING = frozenset({"server_tool_as_text"})
"""Those of them that put it into the thinking of an answer."""
IN_SYSTEM = frozenset({"output_schema_prompted", "output_schema_loosened"})
"""Codes of entries that add to the system text."""

_PART = re.compile(r"/(parts|system)/\d+(/|$)")
_MESSAGE = re.compile(r"(/messages/\d+|/system)")
_WHOLE_MESSAGE = frozenset({"empty_part", "order_changed", "system_moved", "messages_merged"})
"""Codes of entries whose place is a message, and which are about all of its parts."""


class Excuses:
    """The entries of one translation, asked by place."""

    def __init__(self, changes: Iterable[Change]) -> None:
        """The excuses of `changes`."""
        self.changes: tuple[Change, ...] = tuple(changes)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.changes)

    def at(self, place: str, codes: Iterable[str]) -> bool:
        """Whether an entry of one of the codes is about `place`."""
        return any(change.code in codes and _about(change, place) for change in self.changes)

    def gone(self, fact: str, place: str) -> bool:
        """Whether the fact at `place` may be missing."""
        return self.at(place, GONE.get(fact, ()))

    def loose(self, fact: str, place: str) -> frozenset[str]:
        """The members of the fact at `place` that may be told in other words."""
        return frozenset(member for member, codes in LOOSE.get(fact, {}).items() if self.at(place, codes))

    def setting(self, name: str, *, explicit: bool = False) -> bool:
        """Whether an entry names the setting, or something in it; that one was added excuses none that was said."""
        return any(
            (change.path == f"/{name}" or change.path.startswith(f"/{name}/"))
            and not (explicit and change.code == "parameter_added")
            for change in self.changes
        )

    def has(self, code: str, path: str) -> bool:
        """Whether there is an entry of that code at that very path."""
        return any(change.code == code and change.path == path for change in self.changes)

    def coded(self, *codes: str) -> list[Change]:
        """The entries of these codes."""
        return [change for change in self.changes if change.code in codes]


def _about(change: Change, place: str) -> bool:
    path = change.path
    if path == place or path.startswith(f"{place}/"):
        return True
    if not place.startswith(f"{path}/"):
        return False
    return bool(_PART.search(path)) or (change.code in _WHOLE_MESSAGE and _MESSAGE.fullmatch(path) is not None)


def excuses_place(changes: Iterable[Change], path: str) -> bool:
    """Whether an entry names the place `path` of a wire body of its own dialect."""
    return any(_names(change, path) for change in changes)


def _names(change: Change, path: str) -> bool:
    pattern = PLACES.get(change.code)
    if pattern is not None:
        return re.search(pattern, path) is not None
    root = change.path.split("/")[1:2]
    return root not in ([], ["messages"], ["parts"]) and path.split("/")[1:2] == root
