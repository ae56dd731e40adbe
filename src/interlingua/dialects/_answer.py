"""Reading an answer, as far as all dialects do it alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import is_object
from interlingua.errors import DecodeError, InternalServerError
from interlingua.stream.calls import CallIdSource, note_finish, settle_finish
from interlingua.types.change import Changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.dialects._contract import DecodeContext
    from interlingua.errors import Error
    from interlingua.types.change import Stage
    from interlingua.types.content import Part
    from interlingua.types.response import FinishReason
    from interlingua.wire.http import HttpReply

__all__ = ["BASE", "changes_of", "extra_of", "failed_base", "failed_status", "finish_of", "id_source", "is_complaint",
    "no_answer",
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
        first_index=undo.first_index, taken=undo.taken_ids, make=context.make_id, pairs=context.provider_ids
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


def no_answer(member: str, what: str, *, known: bool) -> Error:
    """The error for a body that holds no `what` and does not say how it ended.

    `known` says that it is an answer of the dialect all the same: then its server failed, and may do better. Any other
    body is none that can be read.
    """
    if known:
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
