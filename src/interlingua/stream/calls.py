"""Calls: their ids, their arguments, and the finish reason that follows from them. One way for whole and streamed.

Rules
- A provider's id is kept unless it is missing, blank or already taken; then the call becomes `call_<n>`, n being
  the call's ordinal in the whole conversation.
- Arguments that were encoded twice are decoded twice, where that makes an object of them.
- Empty, blank or `null` arguments are `{}`, and so is `[]`, as PHP writes an object without members; anything else
  that is not one JSON object makes a broken call.
- Calls turn `stop` and `other` into `tool_calls`; they never hide `length`, `content_filter` or `refusal`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.types.content import BrokenToolCall, RefusalPart, Sealed, ToolCall
from interlingua.wire.arguments import are_sound, check_arguments
from interlingua.wire.json import decode_any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from interlingua.types.change import Changes
    from interlingua.types.content import BrokenReason, Part
    from interlingua.types.response import FinishReason

__all__ = [
    "PLACEHOLDER_IDS",
    "CallIdSource",
    "decoded_twice",
    "is_empty_arguments",
    "is_made_id",
    "make_call",
    "may_be_empty_arguments",
    "note_finish",
    "own_id",
    "settle_finish",
]

PLACEHOLDER_IDS = frozenset({"", "null", "None"})
"""Placeholders that some servers send where they have no id."""
_EMPTY = frozenset({"", "null", "[]"})
"""Texts that some send where a call has no arguments."""
_LONGEST = max(map(len, _EMPTY))


class CallIdSource:
    """Gives every call of one response its id."""

    __slots__ = ("_keeps_repeats", "_make", "_ordinal", "_pairs", "_used_ids")

    def __init__(
        self,
        *,
        first_index: int = 0,
        used_ids: Iterable[str] = (),
        make: Callable[[], str] | None = None,
        pairs: dict[str, str] | None = None,
        keeps_repeats: bool = False,
    ) -> None:
        """`first_index` calls and the ids `used_ids` stand in the history; `make` gives own ids to every call.

        `pairs` takes each own id and the provider's that it stands for.
        `keeps_repeats` is for a client's history, where repeated ids are for the history's own rule to judge.
        """
        self._ordinal = first_index
        self._used_ids = set(used_ids)
        self._make = make
        self._pairs = pairs
        self._keeps_repeats = keeps_repeats

    def assign(self, wire_id: str | None) -> tuple[str, str | None]:
        """The id for the next call, and the change code when it is not the provider's own."""
        ordinal = self._ordinal
        self._ordinal = ordinal + 1
        code: str | None = None
        wire_name = wire_id.strip() if wire_id else ""
        if self._make is not None:
            call_id = own_id(wire_name, self._make, self._used_ids, self._pairs)
        elif wire_id is not None and wire_name not in PLACEHOLDER_IDS:
            call_id = wire_id
            if wire_id in self._used_ids and not self._keeps_repeats:
                code = "call_id_duplicate"
        else:
            call_id, code = "", "call_id_made"
        if code is not None:
            call_id = f"call_{ordinal}"
            while call_id in self._used_ids:
                ordinal += 1
                call_id = f"call_{ordinal}"
        self._used_ids.add(call_id)
        return call_id, code


def is_made_id(call_id: str) -> bool:
    """Whether an id looks like those that are made here to pair a call with its result."""
    number = call_id.removeprefix("call_")
    return number is not call_id and number.isdecimal()


def own_id(
    provider_id: str,
    make: Callable[[], str],
    used_ids: Collection[str],
    pairs: dict[str, str] | None,
    other_ids: Collection[str] = (),
) -> str:
    """An id of ours outside `used_ids` and `other_ids`; `pairs` takes it with the provider's, if that is known."""
    made = make()
    while made in used_ids or made in other_ids:
        made = make()
    if pairs is not None and provider_id not in PLACEHOLDER_IDS:
        pairs[made] = provider_id
    return made


def is_empty_arguments(text: str) -> bool:
    """Whether the text stands for no arguments at all."""
    return text[:1] != "{" and text.strip() in _EMPTY


def may_be_empty_arguments(text: str) -> bool:
    """Whether a text stands for no arguments, or begins like one that does."""
    begun = text.strip()
    return len(begun) <= _LONGEST and any([empty.startswith(begun) for empty in _EMPTY])


def decoded_twice(text: str) -> str | None:
    """The arguments in a text that is the JSON text of one; None where it holds neither an object nor nothing."""
    if text[:1] != '"':
        return None
    try:
        inner = decode_any(text)
    except (DecodeError, LimitExceededError):
        return None
    if not isinstance(inner, str):
        return None
    return inner if are_sound(inner) or is_empty_arguments(inner) else None


def make_call(
    call_id: str,
    name: str,
    text: str,
    *,
    cut_off: bool = False,
    freeform: bool = False,
    sealed: Sealed | None = None,
    extra: dict[str, dict[str, Any]] | None = None,
) -> ToolCall | BrokenToolCall:
    """The call that `text` makes: whole and checked, or broken with its reason.

    `cut_off` says that the length limit ended the answer and that this call is its last part.
    """
    if are_sound(text):
        return ToolCall(call_id, name, text, freeform, sealed, extra or {})
    if text[:1] != "{" and not cut_off and is_empty_arguments(text):
        text = "{}"
    reason: BrokenReason | None
    try:
        reason = check_arguments(text, ended_early=cut_off)
    except LimitExceededError:
        reason = "malformed"
    if reason is None:
        return ToolCall(call_id, name, text, freeform, sealed, extra or {})
    if cut_off and is_empty_arguments(text):
        reason = "cut_off"
    return BrokenToolCall(call_id, name, text, reason, freeform, extra or {})


def note_finish(reason: FinishReason, settled: FinishReason, raw: str | None, changes: Changes, path: str) -> None:
    """Record that the parts contradict the wire's word; a refusal in the model's own words after `stop` does not."""
    if settled not in (reason, "refusal"):
        changes.add("finish_reason_derived", path, f"the wire says {raw!r}")


def settle_finish(reason: FinishReason, parts: Sequence[Part]) -> FinishReason:
    """The finish reason that agrees with the parts."""
    kinds = {type(part) for part in parts}
    if reason in ("stop", "other") and ToolCall in kinds:
        return "tool_calls"
    if reason == "tool_calls" and ToolCall not in kinds and BrokenToolCall not in kinds:
        reason = "stop"
    if reason == "stop" and RefusalPart in kinds:
        return "refusal"
    return reason
