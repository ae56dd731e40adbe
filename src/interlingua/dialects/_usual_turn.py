"""What a usual answer says, looked through once to be written in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.dialects._members import foreign_extras
from interlingua.dialects._seals import note_seal
from interlingua.types.content import TextPart, ThinkingPart, ToolCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.change import Changes
    from interlingua.types.content import Part, Sealed

__all__ = ["Turn", "note_foreign", "note_seals", "plain_turn"]


class Turn(NamedTuple):
    """What a turn says that has nothing but this, in this order."""

    thinking: str
    """Thinking in words; empty where there is none, or nothing but a seal of it."""
    texts: list[str]
    """Texts, none of them empty."""
    calls: list[ToolCall]
    """Calls."""
    seals: list[tuple[Sealed, str]]
    """Seals of other dialects, and where their parts stand."""


def plain_turn(parts: Sequence[Part], dialect: str) -> Turn | None:
    """What a turn says; None for one that says anything else, or has what a dialect may have to be told of it."""
    thinking = ""
    texts: list[str] = []
    calls: list[ToolCall] = []
    seals: list[tuple[Sealed, str]] = []
    for place, part in enumerate(parts):
        if type(part) is TextPart:
            if calls or not part.text or part.annotations or part.cache is not None or part.extra:
                return None
            texts.append(part.text)
            sealed = part.sealed
        elif type(part) is ToolCall:
            if part.freeform or (part.extra and _is_told(part.extra, dialect)):
                return None
            calls.append(part)
            sealed = part.sealed
        elif type(part) is ThinkingPart and not (thinking or texts or calls or part.extra):
            thinking, sealed = part.text, part.sealed
        else:
            return None
        if sealed is not None:
            if sealed.dialect == dialect:
                return None
            seals.append((sealed, f"/parts/{place}"))
    return Turn(thinking, texts, calls, seals)


def _is_told(extra: dict[str, dict[str, Any]], dialect: str) -> bool:
    """Whether members of a part are written, or have to be noted, in a dialect."""
    return dialect in extra or bool(foreign_extras(extra, dialect))


def note_seals(changes: Changes, turn: Turn) -> None:
    """Entries for seals of others, which stay at home."""
    for sealed, path in turn.seals:
        note_seal(changes, sealed, path)


def note_foreign(changes: Changes, extra: dict[str, dict[str, Any]]) -> None:
    """Entries for the members of an answer that only other dialects know."""
    for name in foreign_extras(extra, changes.dialect) if extra else ():
        changes.add("extra_foreign", f"/extra/{name}")
