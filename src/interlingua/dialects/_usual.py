"""Usual answers: a text, calls and nothing else, read and written in one go.

Each dialect has in `client_usual.py` the exact shape of its usual answer, and a reader that makes the response of it at
once; in `server_usual.py` the same the other way. They give None for anything else, and the general decoder or encoder
has the word: what is here only ever says the same, sooner. Laws hold them to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from interlingua.dialects._members import foreign_extras
from interlingua.dialects._parallel import WRAPPERS
from interlingua.dialects._seals import note_seal
from interlingua.stream.calls import PLACEHOLDER_IDS, CallIdSource
from interlingua.types.content import TextPart, ThinkingPart, ToolCall
from interlingua.wire.arguments import are_sound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from msgspec import Raw

    from interlingua.dialects._contract import DecodeContext
    from interlingua.types.change import Changes
    from interlingua.types.content import Part, Sealed

__all__ = ["Turn", "WireCall", "note_foreign", "note_seals", "plain_turn", "sound_calls", "text_of_raw"]


# Reading


WireCall: TypeAlias = tuple[str, str, str, "Sealed | None", dict[str, dict[str, Any]]]
"""Id, name and text of the arguments of a call on the wire, its seal, and its members without a field."""


def sound_calls(found: Iterable[WireCall], context: DecodeContext) -> list[ToolCall] | None:
    """The calls of an answer; None where one is unusual, or would get an id that has to be noted.

    Asked last of all, since ids that were made are used up.
    """
    undo = context.undo
    if undo.names:
        return None
    declared, before, freeform = undo.tool_names, undo.taken_ids, undo.freeform
    makes_ids = context.make_id is not None
    taken: set[str] = set()
    calls: list[ToolCall] = []
    for call_id, name, text, sealed, extra in found:
        if name not in declared and ("<|" in name or name in WRAPPERS):  # it may have to be cleaned, or hold others
            return None
        if not makes_ids:
            if call_id in taken or call_id in before or call_id.strip() in PLACEHOLDER_IDS:
                return None
            taken.add(call_id)
        if not name or not are_sound(text):
            return None
        calls.append(ToolCall(call_id, name, text, name in freeform, sealed, extra))
    return _with_own_ids(calls, context) if makes_ids else calls


def text_of_raw(raw: Raw) -> str:
    """The text of arguments that stand as an object; empty, which is not sound, where the bytes are no UTF-8."""
    try:
        return str(raw, "utf-8")
    except UnicodeDecodeError:
        return ""


def _with_own_ids(calls: list[ToolCall], context: DecodeContext) -> list[ToolCall]:
    """The calls with ids of ours."""
    ids = CallIdSource(taken=context.undo.taken_ids, make=context.make_id, pairs=context.provider_ids)
    return [
        ToolCall(ids.assign(call.id)[0], call.name, call.arguments_json, call.freeform, call.sealed, call.extra)
        for call in calls
    ]


# Writing


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
