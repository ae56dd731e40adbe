"""Usual answers: thinking, texts, then calls, and nothing else, read in one go (written: `_usual/turns`).

Each dialect has in `client_usual.py` the exact shape of its usual answer, and a reader that makes the response of it at
once; in `server_usual.py` the same the other way. They give None for anything else, and the general decoder or encoder
has the word: what is here only ever says the same, sooner. Laws hold them to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from interlingua.dialects._parallel import WRAPPERS
from interlingua.stream.calls import PLACEHOLDER_IDS, own_id
from interlingua.wire.arguments import SHORT, are_sound
from interlingua.wire.json import parse_object

if TYPE_CHECKING:
    from interlingua.dialects._contract import DecodeContext
    from interlingua.types.content import ToolCall

__all__ = ["sound_calls"]


def sound_calls(calls: list[ToolCall], context: DecodeContext) -> list[ToolCall] | None:
    """The calls of an answer, with what the request has to say of them; None where one is unusual.

    So is one that would get an id which has to be noted. Asked last of all, since ids that were made are used up.
    """
    undo = context.undo
    if undo.names:
        return None
    declared, before = undo.tool_names, undo.taken_ids
    keeps_ids = context.make_id is None
    taken: set[str] = set()
    for call in calls:
        name, text = call.name, call.arguments_json
        if not name or (declared and name not in declared and ("<|" in name or name in WRAPPERS)):
            return None  # it may have to be cleaned, or hold calls of tools that are declared
        if keeps_ids:
            call_id = call.id
            if call_id in taken or call_id.strip() in PLACEHOLDER_IDS or (before and call_id in before):
                return None
            taken.add(call_id)
        try:  # what `are_sound` finds first, without the call
            sound = len(text) <= SHORT and text.count(":") == len(parse_object(text))
        except ValueError:
            sound = False
        if not sound and not are_sound(text):
            return None
    return calls if keeps_ids and not undo.freeform else _told(calls, context)


def _told(calls: list[ToolCall], context: DecodeContext) -> list[ToolCall]:
    """The calls, with ids of ours where those are wanted, and freeform ones as such."""
    undo, make, pairs = context.undo, context.make_id, context.provider_ids
    renamed: list[ToolCall] = []
    used_ids: set[str] = set()
    for call in calls:
        call_id = call.id if make is None else own_id(call.id.strip(), make, undo.taken_ids, pairs, used_ids)
        used_ids.add(call_id)
        renamed.append(replace(call, id=call_id, freeform=call.freeform or call.name in undo.freeform))
    return renamed
