"""What a usual answer says, looked through once to be written in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from interlingua.dialects._members import foreign_extras
from interlingua.dialects._seals import is_address, note_seal
from interlingua.types.content import TextPart, ThinkingPart, ToolCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.change import Changes
    from interlingua.types.content import Part, Sealed

__all__ = ["SEALED", "Turn", "note_seals", "plain_turn"]

Turn: TypeAlias = tuple[str, list[str], list[ToolCall], bool]
"""What a turn says that has nothing but this, in this order: thinking in words, texts, calls; whether any has a seal.

The thinking is empty where there is none, or nothing but a seal of it; of the texts none is.
"""
SEALED = 3
"""Where a turn says that."""


def plain_turn(parts: Sequence[Part], dialect: str) -> Turn | None:
    """What a turn says; None for one that says anything else, or has what a dialect may have to be told of it."""
    thinking = ""
    texts: list[str] = []
    calls: list[ToolCall] = []
    sealed = False
    for part in parts:
        if type(part) is ToolCall:
            if part.freeform or (part.extra and _is_told(part, dialect)):
                return None
            calls.append(part)
        elif type(part) is TextPart:
            text = part.text
            if calls or not text or part.annotations or part.cache is not None or part.extra:
                return None
            texts.append(text)
        elif type(part) is ThinkingPart and not (thinking or texts or calls or part.extra):
            thinking = part.text
        else:
            return None
        if part.sealed is not None:
            if part.sealed.dialect == dialect:
                return None
            sealed = True
    return thinking, texts, calls, sealed


def _is_told(call: ToolCall, dialect: str) -> bool:
    """Whether members of a call are written, or have to be noted, in a dialect; its id alone is in every one."""
    extra = call.extra
    if dialect in extra:
        return True
    return extra != {"google": {"functionCall": {"id": call.id}}} and bool(foreign_extras(extra, dialect))


def note_seals(changes: Changes, parts: Sequence[Part]) -> None:
    """Entries for seals of others, which stay at home."""
    for place, part in enumerate(parts):
        sealed: Sealed | None = getattr(part, "sealed", None)
        if sealed is not None and not is_address(sealed):
            note_seal(changes, sealed, f"/parts/{place}")
