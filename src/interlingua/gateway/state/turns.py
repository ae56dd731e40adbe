"""Turns of a model as they really were: what of them a client shows again, and how the rest is put back.

A client whose dialect has no room for signatures, encrypted items or the provider's own ids sends a turn back without
them. What it still says (text and calls) tells which turn it is; then its parts are those that the provider gave.

Rules
- A turn that says the same, thinking aside, becomes exactly the turn that was: order, seals, the text of arguments.
- Of a turn that was edited the client's words count: a call keeps its seal only while its name and arguments are the
  same, thinking that was sealed goes before the call that it led to, a seal of changed text does not go back.
- Results follow their calls to the ids that the provider knows; no two calls of a request get the same id.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import TYPE_CHECKING, cast

import msgspec

from interlingua.dialects._history import result_text
from interlingua.types.content import (
    BrokenToolCall,
    Part,
    RefusalPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.wire.json import decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from interlingua.types.message import Message

__all__ = ["AFTER", "Turn", "call_ids_of", "is_worth_keeping", "packed", "restored", "said", "unpacked", "words_of"]

LONGEST_KNOWN = 1_024
"""How long a turn, or the message before it, may be whose digest is remembered."""
AFTER = "@"
"""Stands between what a turn says and what it says that after, in no digest."""


class Turn(msgspec.Struct, frozen=True):
    """One turn of a model, as it was."""

    parts: tuple[Part, ...]
    """What it said, in order, with our own call ids."""
    ids: dict[str, str]
    """Our own call id -> the provider's, where it gave one."""


_PACK = msgspec.msgpack.Encoder().encode
_UNPACK = msgspec.msgpack.Decoder(Turn).decode


def call_ids_of(parts: Sequence[Part]) -> list[str]:
    """The ids of the calls among parts."""
    return [part.id for part in parts if type(part) is ToolCall]


def packed(turn: Turn) -> bytes:
    """A turn as one object instead of a dozen: what is kept for hours takes a third of the memory so."""
    try:
        return _PACK(turn)
    except (OverflowError, UnicodeEncodeError):  # whole numbers have no bound in JSON, and what it cannot say is told
        return encode(turn)


def unpacked(text: bytes) -> Turn:
    """The turn that was packed."""
    return decode(text, Turn) if text.startswith(b"{") else _UNPACK(text)


def is_worth_keeping(parts: Sequence[Part], ids: Mapping[str, str]) -> bool:
    """Whether a client without room for it would lose something of a turn that can go back as it was.

    A turn with a broken call never does.
    """
    kinds = frozenset(map(type, parts))
    if BrokenToolCall in kinds:
        return False
    return bool(ids) or ThinkingPart in kinds or any(getattr(part, "sealed", None) is not None for part in parts)


# Recognising

_NAME = attrgetter("name")
_ARGUMENTS = attrgetter("arguments_json")


def words_of(text: str, calls: Sequence[ToolCall], before: Message | None) -> tuple[str, str] | None:
    """What is the same whenever the same was said after the same message, and anywhere; no thinking and no ids.

    The two never look alike. None where nothing was said: that is like too many others.
    """
    if not text and not calls:
        return None
    length = len(text) + sum(map(len, map(_ARGUMENTS, calls)))
    words = (_known_words if length <= LONGEST_KNOWN else _words)(text, *map(_NAME, calls), *map(_ARGUMENTS, calls))
    context = "" if before is None else _context(before.parts)
    return f"{words}{AFTER}{(_known_digest if len(context) <= LONGEST_KNOWN else _digest)(context)}", words


def _words(text: str, *calls: str) -> str:
    """The digest of a text, and of the names of calls and then their arguments."""
    half = len(calls) // 2
    said = (text, *calls[:half], *[_canonical(arguments).decode() for arguments in calls[half:]])
    return _digest("".join([f"{len(one)}:{one}" for one in said]))


def _digest(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=12).hexdigest()


_known_words = lru_cache(maxsize=2_048)(_words)
_known_digest = lru_cache(maxsize=2_048)(_digest)


def said(parts: Sequence[Part]) -> tuple[str, list[ToolCall]]:
    """The text and the calls of a turn, as every dialect can show them."""
    text = ""
    calls: list[ToolCall] = []
    for part in parts:
        if type(part) is ToolCall:
            calls.append(part)
        elif type(part) is TextPart or type(part) is RefusalPart:
            text += part.text
    return text.strip(), calls


def _canonical(arguments: str) -> bytes:
    """Arguments in the one order and form that survives clients which parse and write them again."""
    return _IN_ORDER(_READ(arguments))


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() else number


_READ = msgspec.json.Decoder(float_hook=_number).decode
_IN_ORDER = msgspec.json.Encoder(order="sorted").encode


def _context(parts: Sequence[Part]) -> str:
    """The text of a message that a turn follows."""
    if len(parts) == 1 and type(parts[0]) is TextPart:
        return parts[0].text.strip()
    texts: list[str] = []
    for part in parts:
        if type(part) is TextPart:
            texts.append(part.text.strip())
        elif type(part) is ToolResult:
            texts.append(result_text(part).strip())
    return "\n".join(texts)


def _same_call(one: ToolCall, other: ToolCall) -> bool:
    if one.name != other.name:
        return False
    ours, others = one.arguments_json, other.arguments_json
    return ours == others or _canonical(ours) == _canonical(others)


def _says_the_same(parts: Sequence[Part], turn: Turn) -> bool:
    (text, calls), (was, called) = said(parts), said(turn.parts)
    if text != was or len(calls) != len(called):
        return False
    return all(_same_call(one, other) for one, other in zip(calls, called, strict=True))


def _calls(parts: Sequence[Part]) -> list[ToolCall]:
    return [part for part in parts if type(part) is ToolCall]


# Putting back


def restored(
    messages: Sequence[Message], found: Mapping[int, Sequence[Turn]], begin: int = 0, taken: set[str] | None = None
) -> list[Message]:
    """The messages from a place on, with their turns as they were; `found` tells by place which turns a message shows.

    `taken` are the ids of all calls, and those before that place as they were restored, where somebody knows them.
    """
    restorer = _Restorer(_taken_ids(messages) if taken is None else taken)
    return [
        restorer.message(message, found.get(place, ())) if message.role in ("assistant", "tool") else message
        for place, message in enumerate(messages[begin:], begin)
    ]


def _taken_ids(messages: Sequence[Message]) -> set[str]:
    told = [message for message in messages if message.role == "assistant"]  # whoever else calls cannot be answered
    return {call_id for message in told for call_id in call_ids_of(message.parts)}


class _Restorer:
    """Goes through one conversation and remembers which ids it changed."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.renamed: dict[str, str] = {}

    def message(self, message: Message, turns: Sequence[Turn]) -> Message:
        parts: list[Part] | tuple[Part, ...] = message.parts
        if turns:
            exact = len(turns) == 1 and _says_the_same(parts, turns[0])
            parts = self._as_it_was(parts, turns[0]) if exact else self._edited(parts, turns)
        elif message.role == "tool":
            parts = [self._result(part) for part in parts]
        return message if parts is message.parts else msgspec.structs.replace(message, parts=tuple(parts))

    def _result(self, part: Part) -> Part:
        if type(part) is not ToolResult or part.call_id not in self.renamed:
            return part
        return msgspec.structs.replace(part, call_id=self.renamed[part.call_id])

    def _as_it_was(self, shown: Sequence[Part], turn: Turn) -> list[Part]:
        calls = iter(_calls(shown))
        parts = [self._call(part, next(calls).id, turn) if type(part) is ToolCall else part for part in turn.parts]
        return _marked(parts, shown)

    def _edited(self, shown: Sequence[Part], turns: Sequence[Turn]) -> list[Part]:
        """The client's words, with what still belongs to the calls that they keep."""
        known = {call.id: (turn, call) for turn in turns for call in _calls(turn.parts)}
        led = {call_id: parts for turn in turns for call_id, parts in _led_to(turn)}
        first = next((part.id for part in shown if type(part) is ToolCall and part.id in known), "")
        parts: list[Part] = list(led.pop(first, ()))
        for part in shown:
            if type(part) is ThinkingPart:
                continue
            if type(part) is not ToolCall or part.id not in known:
                parts.append(part)
                continue
            turn, was = known[part.id]
            parts += led.pop(part.id, ())
            parts.append(self._call(was if _same_call(part, was) else part, part.id, turn))
        return parts

    def _call(self, call: ToolCall, shown_id: str, turn: Turn) -> ToolCall:
        """The call with the id that its provider knows; `shown_id` is the client's."""
        call_id = self._id(shown_id, turn.ids.get(call.id), is_ours=call.id == shown_id)
        self.taken.add(call_id)
        if call_id != shown_id:
            self.renamed[shown_id] = call_id
        return call if call.id == call_id else msgspec.structs.replace(call, id=call_id)

    def _id(self, shown: str, providers: str | None, *, is_ours: bool) -> str:
        if providers is not None:
            return shown if providers in self.taken else providers
        if not is_ours:
            return shown
        # The provider gave none: a numbered id says so to dialects that can leave it out.
        number = 0
        while f"call_{number}" in self.taken:
            number += 1
        return f"call_{number}"


def _led_to(turn: Turn) -> Iterator[tuple[str, list[Part]]]:
    """Each call's id with the thinking between it and the call before."""
    waiting: list[Part] = []
    for part in turn.parts:
        if type(part) is ThinkingPart:
            waiting.append(part)
        elif type(part) is ToolCall:
            yield part.id, waiting
            waiting = []


def _marked(parts: list[Part], shown: Sequence[Part]) -> list[Part]:
    """The parts with the client's cache mark on the last text."""
    mark = next((part.cache for part in reversed(shown) if type(part) is TextPart and part.cache), None)
    if mark is None:
        return parts
    place = max((place for place, part in enumerate(parts) if type(part) is TextPart), default=None)
    if place is not None:
        parts[place] = msgspec.structs.replace(cast("TextPart", parts[place]), cache=mark)
    return parts
