"""Messages that several calls have in common: what a dialect made of them is made once.

Strategy: a conversation goes on by adding messages to those that were sent before, the same objects. From the second
call on that begins with them, a request gets equal messages that remember how they were written, as those have that a
gateway reads (`dialects._known.histories`).

Rules
- The messages have to be the same objects in the same order, and still say what they said: what could be changed in
  them is looked at each time.
- What is shared cannot be changed; the messages of the caller stay the caller's own.
- Shared are conversations of two messages or more, of texts, thinking, calls and results that pair.
- Memory is bounded in characters: when one generation is full, the one before it is forgotten. Threads need no lock:
  each step is one operation on a dict, and a lost race only means that something is done twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from interlingua.dialects._history import prepare_history
from interlingua.dialects._known.histories import KnownHistory, KnownMessages, goes_on
from interlingua.dialects._known.sharing import shareable
from interlingua.errors import HistoryError, UsageError
from interlingua.types.change import Changes
from interlingua.types.content import Json, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.types.content import Part, Sealed
    from interlingua.types.message import Message

__all__ = ["MAX_CHARACTERS", "MAX_GENERATION_CHARACTERS", "MessageMemo", "shared_messages"]

MAX_CHARACTERS = 262_144
"""A longer conversation is never remembered."""
MAX_GENERATION_CHARACTERS = 2_000_000
"""How much text each of the two generations of a memo holds."""
_MOST_ADDED = 4
"""How many messages a call adds to those of an earlier one at most, for that to be noticed."""
_EACH = 64
"""What a message counts beside its text."""


class _Met(Struct, frozen=True):
    """A conversation that was sent before."""

    given: tuple[Message, ...]
    """Its messages; that they are kept keeps their identities."""
    known: KnownMessages | None = None
    """Equal messages that nobody can change; None where it was sent once."""
    live: tuple[object, ...] = ()
    """What its caller could change in it."""
    told: bytes = b""
    """What that said; empty where it was nothing."""

    @property
    def is_untouched(self) -> bool:
        """Whether nobody has changed it."""
        return _told(self.live) == self.told if self.told else not any(self.live)


class MessageMemo:
    """The conversations that were sent lately, by the identities of their messages."""

    __slots__ = ("_characters", "_max_characters", "_old", "_young")

    def __init__(self, max_generation_characters: int = MAX_GENERATION_CHARACTERS) -> None:
        """An empty memo of two generations, each of at most so many characters of text."""
        self._max_characters = max_generation_characters
        self._characters = 0
        self._young: dict[tuple[int, ...], _Met] = {}
        self._old: dict[tuple[int, ...], _Met] = {}

    def shared(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """The same messages, with a memory where an earlier call had them or began with them."""
        if type(messages) is KnownMessages or len(messages) < 2:
            return messages
        ids = tuple(map(id, messages))
        met = self._young.get(ids)
        if met is not None and met.known is not None and (met.is_untouched if met.told else not any(met.live)):
            return met.known
        return self._kept(ids, messages)

    def _kept(self, ids: tuple[int, ...], messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """The same of messages that are not known yet, or no longer."""
        size = _size(messages)
        if size > min(MAX_CHARACTERS, self._max_characters):
            return messages
        met = self._longest(ids)
        found = None if met is None else _again(met, messages)
        self._put(ids, found or _Met(messages), size)
        return messages if found is None or found.known is None else found.known

    def _longest(self, ids: tuple[int, ...]) -> _Met | None:
        """The longest conversation that this one is or goes on."""
        for end in range(len(ids), max(1, len(ids) - _MOST_ADDED - 1), -1):
            key = ids[:end]
            met = self._young.get(key) or self._old.get(key)
            if met is not None:
                return met
        return None

    def _put(self, ids: tuple[int, ...], met: _Met, size: int) -> None:
        size += len(met.told)
        if ids not in self._young:
            if self._characters + size > self._max_characters:
                self._old, self._young, self._characters = self._young, {}, 0
            self._characters += size
        self._young[ids] = met


def _again(met: _Met, messages: tuple[Message, ...]) -> _Met | None:
    """What is known of messages that are those of an earlier call, or go on after them; None where they cannot be."""
    known = met.known if met.known is not None and met.is_untouched else None
    if known is None or len(known) == len(messages):
        return met if known is not None else _made(messages, None, messages, ())
    rest = messages[len(known) :]
    if not goes_on(known.known, rest):
        return _made(messages, None, messages, ())
    return _made(messages, known.known, rest, met.live)


def _made(
    messages: tuple[Message, ...], parent: KnownHistory | None, rest: tuple[Message, ...], live: tuple[object, ...]
) -> _Met | None:
    """What is known of messages whose `rest` comes after those of `parent`; None where they cannot be shared."""
    frozen = shareable(rest)
    live = (*live, *_changeable(rest))
    told = _told(live)
    if frozen is None or told is None or len(told) > MAX_CHARACTERS or not _pairs(rest):
        return None
    before = () if parent is None else parent.messages
    history = KnownHistory(b"", (), [*before, *frozen], (), parent)
    if parent is not None:
        parent.parent = None  # who goes on from there needs no more of what came before
    return _Met(messages, history.messages, live, told)


def _pairs(messages: tuple[Message, ...]) -> bool:
    """Whether every call has its result; where one has not, that is told where the messages are written."""
    try:
        prepare_history(messages, "refuse", Changes("", "encode_request"))
    except HistoryError:
        return False
    return True


def _told(live: tuple[object, ...]) -> bytes | None:
    """What values say that can be changed; empty where that is nothing, None where JSON cannot say it."""
    try:
        return encode(live) if any(live) else b""
    except UsageError:
        return None


def _changeable(messages: tuple[Message, ...]) -> list[object]:
    """Everything in messages that somebody could change."""
    found: list[object] = [message.extra for message in messages]
    for part in [part for message in messages for part in message.parts]:
        found.append(getattr(part, "extra", {}))
        sealed: Sealed | None = getattr(part, "sealed", None)
        if sealed is not None:
            found.append(sealed.data)
        if isinstance(part, ToolResult) and isinstance(part.content, Json):
            found.append([part.content.value])
    return found


def _size(messages: tuple[Message, ...]) -> int:
    """About how many characters messages have; more than anybody keeps where one is none of those that are shared."""
    return sum([_EACH + _length(part) for message in messages for part in message.parts])


def _length(part: Part) -> int:
    match part:
        case (
            TextPart(text=text)
            | ThinkingPart(text=text)
            | ToolCall(arguments_json=text)
            | ToolResult(content=str(text))
        ):
            return len(text)
        case ToolResult(content=Json()):
            return _EACH
        case _:
            return MAX_CHARACTERS


shared_messages: Callable[[tuple[Message, ...]], tuple[Message, ...]] = MessageMemo().shared
"""The same messages, with a memory where an earlier call had them or began with them."""
