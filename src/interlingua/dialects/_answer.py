"""Reading an answer, as far as all dialects do it alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects._members import is_object
from interlingua.dialects._parallel import WRAPPERS
from interlingua.errors import DecodeError, InternalServerError
from interlingua.stream.calls import PLACEHOLDER_IDS, CallIdSource, note_finish, own_id, settle_finish
from interlingua.types.change import Changes
from interlingua.wire.arguments import SHORT, are_sound
from interlingua.wire.json import parse_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import DecodeContext
    from interlingua.errors import Error
    from interlingua.types.change import Stage
    from interlingua.types.content import Part, ToolCall
    from interlingua.types.response import FinishReason
    from interlingua.wire.http import HttpReply

__all__ = ["BASE", "changes_of", "extra_of", "failed_base", "failed_status", "finish_of", "id_source", "is_complaint",
    "no_answer", "sound_calls",
]  # fmt: skip

BASE = "base_resp"
"""Where MiniMax says beside every answer how the request ended: a code of its own, and a sentence."""
_WENT_WELL = (None, 0, "0", "")
COMPLAINTS = ("detail", "message", "msg", "errors")
"""Members by which the bare body of an error is known."""


def id_source(context: DecodeContext) -> CallIdSource:
    """Ids for the calls of one answer."""
    undo = context.undo
    return CallIdSource(
        first_index=undo.first_index, used_ids=undo.history_ids, make=context.make_id, pairs=context.provider_ids
    )


def changes_of(dialect: str, stage: Stage, repairs: Sequence[str]) -> Changes:
    """The changes of one stage, with what the parser already had to repair."""
    changes = Changes(dialect, stage)
    if repairs:
        changes.repaired(repairs)
    return changes


def finish_of(
    reason: FinishReason, raw: str | None, parts: Sequence[Part], changes: Changes, path: str = "/finish_reason"
) -> FinishReason:
    """The finish reason that agrees with the parts; an entry where they contradict the wire's word."""
    settled = settle_finish(reason, parts)
    if settled is not reason:
        note_finish(reason, settled, raw, changes, path)
    return settled


def extra_of(dialect: str, members: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Members of one dialect as canonical `extra`."""
    return {dialect: members} if members else {}


def no_answer(member: str, what: str, *, in_dialect: bool) -> Error:
    """The error for a body that holds no `what` and does not say how it ended.

    `in_dialect` says that it is an answer of the dialect all the same: then its server failed, and may do better.
    Any other body is none that can be read.
    """
    if in_dialect:
        error = InternalServerError(f"the answer has no {what}, and does not say why")
        error.is_unreadable = True
        return error
    return DecodeError(f"/{member}: the answer has no {what}", path=f"/{member}")


def is_complaint(extra: dict[str, Any] | None) -> bool:
    """Whether the members that no answer has are those of an error's bare body."""
    return extra is not None and any(extra.get(name) for name in COMPLAINTS)


def failed_base(members: dict[str, Any] | None) -> dict[str, Any] | None:
    """The `base_resp` among the members of a body, where it says that the request failed."""
    state = members.get(BASE) if members else None
    return state if is_object(state) and state.get("status_code") not in _WENT_WELL else None


def failed_status(reply: HttpReply) -> int | None:
    """The status of an answer that says by it that it failed; None where a 200 hides an error."""
    return reply.status if reply.status >= 400 else None


def sound_calls(calls: list[ToolCall], context: DecodeContext) -> list[ToolCall] | None:
    """The calls of a plain answer with their final ids and kinds; None where one has to be looked at or noted.

    Asked last of all, since ids that were made are used up.
    """
    undo = context.undo
    if undo.names:
        return None
    declared, before = undo.tool_names, undo.history_ids
    keeps_ids = context.make_id is None
    used: set[str] = set()
    for call in calls:
        name, text = call.name, call.arguments_json
        if not name or (declared and name not in declared and ("<|" in name or name in WRAPPERS)):
            return None  # it may have to be cleaned, or hold calls of tools that are declared
        if keeps_ids:
            call_id = call.id
            if call_id in used or call_id.strip() in PLACEHOLDER_IDS or (before and call_id in before):
                return None
            used.add(call_id)
        try:  # what `are_sound` finds first, without the call
            sound = len(text) <= SHORT and text.count(":") == len(parse_object(text))
        except ValueError:
            sound = False
        if not sound and not are_sound(text):
            return None
    return calls if keeps_ids and not undo.freeform else _renamed(calls, context)


def _renamed(calls: list[ToolCall], context: DecodeContext) -> list[ToolCall]:
    """The calls, with ids of ours where those are wanted, and freeform ones as such."""
    undo, make, pairs = context.undo, context.make_id, context.provider_ids
    renamed: list[ToolCall] = []
    used_ids: set[str] = set()
    for call in calls:
        call_id = call.id if make is None else own_id(call.id.strip(), make, undo.history_ids, pairs, used_ids)
        used_ids.add(call_id)
        renamed.append(replace(call, id=call_id, freeform=call.freeform or call.name in undo.freeform))
    return renamed
