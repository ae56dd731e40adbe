"""Turns of a model as they really were, and how a request gets them back.

A client whose dialect has no room for signatures, encrypted items or the provider's own ids sends a turn back without
them. Where its key says that it is the same turn of the same conversation, its parts are those that the provider gave.

Rules
- A turn with the same key becomes exactly the turn that was: order, seals, the text of arguments.
- Of a turn with another key nothing comes back but the provider's ids of calls that are shown under our own ids.
- Results follow their calls to the ids that the provider knows; no two calls of a request get the same id.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, cast

import msgspec

from interlingua.types.content import BrokenToolCall, Part, TextPart, ThinkingPart, ToolCall, ToolResult, with_bytes
from interlingua.wire.json import decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from interlingua.types.message import Message

__all__ = ["Restorer", "Turn", "call_ids_of", "has_reasoning", "is_worth_keeping", "packed", "unpacked"]


class Turn(msgspec.Struct, frozen=True):
    """One turn of a model, as it was."""

    key: str
    """The digest of its conversation up to and with this turn."""
    parts: tuple[Part, ...]
    """Its parts, in order, with our own call ids."""
    ids: dict[str, str]
    """Our own call id -> the provider's, where it gave one."""
    step_key: str = ""
    """The digest of its text and of what was said directly before it, where it has no calls."""


_PACK = msgspec.msgpack.Encoder().encode
_UNPACK = msgspec.msgpack.Decoder(Turn).decode


def call_ids_of(parts: Iterable[Part]) -> list[str]:
    """The ids of the calls among parts."""
    return [part.id for part in parts if type(part) is ToolCall]


def packed(turn: Turn) -> bytes:
    """A turn as one object instead of a dozen: what is kept for hours takes a third of the memory so."""
    try:
        return _PACK(msgspec.structs.replace(turn, parts=with_bytes(turn.parts)))
    except (OverflowError, UnicodeEncodeError):  # whole numbers have no bound in JSON, and what it cannot say is told
        return encode(turn)


def unpacked(text: bytes) -> Turn:
    """The turn that was packed."""
    return decode(text, Turn) if text.startswith(b"{") else _UNPACK(text)


def is_worth_keeping(parts: Sequence[Part]) -> bool:
    """Whether a client could lose something of a turn that can go back as it was.

    Every call can lose its id. A turn with a broken call never goes back as it was.
    """
    kinds = frozenset(map(type, parts))
    if BrokenToolCall in kinds:
        return False
    return ToolCall in kinds or has_reasoning(parts)


def has_reasoning(parts: Iterable[Part]) -> bool:
    """Whether parts hold thinking, or sealed state of any kind."""
    return any([type(part) is ThinkingPart or getattr(part, "sealed", None) is not None for part in parts])


class Restorer:
    """Puts turns back into one conversation and remembers which ids it changed."""

    def __init__(self, messages: Sequence[Message]) -> None:
        """A restorer for `messages`."""
        spoken = [message for message in messages if message.role == "assistant"]  # who else calls cannot be answered
        self._used_ids = {call_id for message in spoken for call_id in call_ids_of(message.parts)}
        self._renamed: dict[str, str] = {}
        self._numbers = count()

    def turn(self, messages: Sequence[Message], turn: Turn) -> Message:
        """The one message of a turn that a request shows as `messages`."""
        shown = [part for message in messages for part in message.parts]
        calls = iter([part for part in shown if type(part) is ToolCall])
        parts = [self._restored(part, next(calls), turn.ids) if type(part) is ToolCall else part for part in turn.parts]
        return msgspec.structs.replace(messages[0], parts=tuple(_marked(parts, shown)))

    def ids(self, messages: Sequence[Message], turns: Sequence[Turn]) -> list[Message]:
        """Messages of the model, whose calls get the ids of the provider that `turns` know for those shown."""
        ids = {call_id: providers for turn in turns for call_id, providers in turn.ids.items()}
        return [self._with_ids(message, ids) for message in messages] if ids else list(messages)

    def _with_ids(self, message: Message, ids: Mapping[str, str]) -> Message:
        if ids.keys().isdisjoint(call_ids_of(message.parts)):
            return message
        parts = [self._renamed_call(part, ids) if type(part) is ToolCall else part for part in message.parts]
        return msgspec.structs.replace(message, parts=tuple(parts))

    def results(self, message: Message) -> Message:
        """A message with results, which name their calls as these are named now."""
        if not self._renamed or not any([type(part) is ToolResult for part in message.parts]):
            return message
        parts = [self._result(part) if type(part) is ToolResult else part for part in message.parts]
        return msgspec.structs.replace(message, parts=tuple(parts))

    def _result(self, result: ToolResult) -> ToolResult:
        call_id = self._renamed.get(result.call_id)
        return result if call_id is None else msgspec.structs.replace(result, call_id=call_id)

    def _restored(self, call: ToolCall, shown: ToolCall, ids: Mapping[str, str]) -> ToolCall:
        """A call as it was; a client that has its tool in a namespace goes on naming it so."""
        if call.name != shown.name:
            call = msgspec.structs.replace(call, name=shown.name, extra={**call.extra, **shown.extra})
        return self._call(call, shown.id, ids.get(call.id))

    def _renamed_call(self, call: ToolCall, ids: Mapping[str, str]) -> ToolCall:
        return self._call(call, call.id, ids[call.id]) if call.id in ids else call

    def _call(self, call: ToolCall, shown_id: str, providers: str | None) -> ToolCall:
        """The call with the id that its provider knows; `shown_id` is the client's."""
        call_id = self._id(shown_id, providers, is_ours=call.id == shown_id)
        self._used_ids.add(call_id)
        if call_id != shown_id:
            self._renamed[shown_id] = call_id
        return call if call.id == call_id else msgspec.structs.replace(call, id=call_id)

    def _id(self, shown: str, providers: str | None, *, is_ours: bool) -> str:
        if providers is not None:
            return shown if providers in self._used_ids else providers
        if not is_ours:
            return shown
        # The provider gave none: a numbered id says so to dialects that can leave it out.
        return next(made for number in self._numbers if (made := f"call_{number}") not in self._used_ids)


def _marked(parts: list[Part], shown: Sequence[Part]) -> list[Part]:
    """The parts with the client's cache mark on the last text."""
    mark = next((part.cache for part in reversed(shown) if type(part) is TextPart and part.cache), None)
    if mark is None:
        return parts
    place = max((place for place, part in enumerate(parts) if type(part) is TextPart), default=None)
    if place is not None:
        parts[place] = msgspec.structs.replace(cast("TextPart", parts[place]), cache=mark)
    return parts
