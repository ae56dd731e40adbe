"""Usual answers: thinking, texts, then calls, and nothing else, read in one go (written: `_usual_turn`).

Each dialect has in `client_usual.py` the exact shape of its usual answer, and a reader that makes the response of it at
once; in `server_usual.py` the same the other way. They give None for anything else, and the general decoder or encoder
has the word: what is here only ever says the same, sooner. Laws hold them to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from interlingua.dialects._parallel import WRAPPERS
from interlingua.stream.calls import PLACEHOLDER_IDS, CallIdSource
from interlingua.types.content import ToolCall
from interlingua.wire.arguments import are_sound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from msgspec import Raw

    from interlingua.dialects._contract import DecodeContext
    from interlingua.types.content import Sealed

__all__ = ["WireCall", "sound_calls", "text_of_raw"]


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
