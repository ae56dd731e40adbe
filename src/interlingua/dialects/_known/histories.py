"""Conversations that were read before: each turn of an agent sends all the messages before it again, byte for byte.

Strategy: the messages of a request are remembered by their exact text. A text that comes again needs no reading; of one
that goes on after a known text only the rest is read, and the same holds for writing it in another dialect.

Rules
- A conversation is remembered only if nothing in it had to be repaired but ids that were missing, and its writing only
  if nothing was refused or allowed. What is told about a request is told each time.
- The rest is read by itself only where it cannot depend on what came before: it begins with another speaker, holds
  nothing but text, thinking, calls and results, and its results answer calls of its own. Else everything is read.
- What requests share cannot be changed (`_known/sharing`).
- A text that comes for the first time leaves nothing but itself: most conversations never go on. Who marks one for the
  prompt cache means to go on: what stands before the marks is remembered at once, and what has any
  never (`_known/marks`).
- Memory is bounded in bytes of text; when one generation is full, the one before it is forgotten.
- Threads need no lock: each step is one operation on a dict or a list, and a lost race means that work is done twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from interlingua.dialects._known.marks import Parted, before_marks, is_marked
from interlingua.dialects._known.sharing import can_be_shared, frozen, frozen_part, memory_of
from interlingua.dialects._known.tools import can_be_told_again
from interlingua.errors import DecodeError, HistoryError, LimitExceededError
from interlingua.types.change import Changes
from interlingua.types.content import TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.wire.json import encode_wires

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from interlingua.dialects._known.frames import Frame
    from interlingua.dialects._usual.histories import ReadUsual, UsualHistory
    from interlingua.types.change import Change
    from interlingua.types.request import Request
    from interlingua.wire.json import WireStruct

    System = tuple[TextPart, ...]
    Read = tuple[System, tuple[Message, ...]]

__all__ = [
    "MAX_TEXT_BYTES",
    "HistoryMemo",
    "KnownHistory",
    "KnownMessages",
    "PairedMessages",
    "Read",
    "alone",
    "goes_on",
    "read_further",
    "rest_of",
    "says_something",
    "usual_further",
]

MAX_TEXT_BYTES = 262_144
"""A conversation with a longer text is never remembered."""
MAX_GENERATION_BYTES = 6_000_000
"""How much memory each of the two generations of a memo may take."""
MAX_ALIKE = 8
"""How many conversations that begin alike are kept apart."""
MAX_ASIDE = 16
"""How much that others made of it is kept with one conversation."""
MAX_WAYS = 6
"""In how many ways one conversation is kept in writing."""
_SHORTEST = 128
_OF_THE_TEXT = frozenset({"call_id_made"})
"""What may be repaired in a conversation that is remembered: it does not depend on who asks."""
_PLAIN = (TextPart, ThinkingPart, ToolCall, ToolResult)

W = TypeVar("W", bound="WireStruct")


class PairedMessages(tuple[Message, ...]):  # noqa: SLOT001 - a tuple has no slots for more members
    """Messages that were found in order when they were read: each call has its result."""

    calls: dict[str, str]
    """All calls, in order: id, and name of the tool."""

    def __reduce__(self) -> tuple[type, tuple[list[Message]]]:
        """Pickled and copied as a plain tuple."""
        return tuple, (list(self),)


class KnownMessages(tuple[Message, ...]):  # noqa: SLOT001 - the same
    """The messages of a conversation that was read before."""

    known: KnownHistory
    """What is known of them."""

    def __reduce__(self) -> tuple[type, tuple[list[Message]]]:
        """Pickled and copied as a plain tuple."""
        return tuple, (list(self),)


class WrittenHistory(msgspec.Struct, frozen=True, gc=False):
    """A conversation as one dialect writes it."""

    ways: tuple[object, ...]
    """Whatever decides how it is written."""
    text: bytes
    """The JSON array."""
    entries: tuple[Change, ...]
    """What writing it changed."""


class KnownHistory:
    """A conversation, and what was made of it."""

    __slots__ = (
        "_written",
        "aside",
        "called",
        "calls",
        "entries",
        "frames",
        "handed",
        "is_marked",
        "messages",
        "parent",
        "rest",
        "system",
        "taken_ids",
        "text",
    )

    def __init__(
        self,
        text: bytes,
        system: System = (),
        messages: Sequence[Message] = (),
        entries: Sequence[Change] = (),
        parent: KnownHistory | None = None,
        *,
        usual: UsualHistory | None = None,
    ) -> None:
        """`parent` is the conversation that this one goes on; without messages, only the text is known.

        `usual` is how the messages after those of the parent were read, if they are usual.
        """
        before = _NOTHING if parent is None else parent
        self.text: bytes = text
        self.entries: tuple[Change, ...] = tuple(entries)
        self.system: System = system
        self.messages: KnownMessages = KnownMessages(messages)
        self.messages.known = self
        self.parent: KnownHistory | None = parent
        self.rest: tuple[Message, ...] = tuple(messages[len(before.messages) :])
        """The messages after those of the parent."""
        ids: Iterable[str]
        names: Iterable[str]
        if usual is None:
            ids, names, marked = _calls_of(self.rest)
        else:
            ids, names, marked = usual.calls, usual.calls.values(), usual.is_marked
        self.calls: tuple[str, ...] = before.calls + tuple(ids)
        self.taken_ids: frozenset[str] = before.taken_ids.union(ids)
        """The same, in no order."""
        further = [name for name in names if name not in before.called]
        self.called: tuple[str, ...] = (*before.called, *dict.fromkeys(further)) if further else before.called
        """The tools that are called, each once."""
        self.is_marked: bool = marked or before.is_marked
        """Whether something has a mark for the prompt cache."""
        self.frames: list[Frame] = [] if parent is None else parent.frames
        """What stood around these messages, or those that they go on, when they were written."""
        self._written: tuple[WrittenHistory, ...] = ()
        self.handed: tuple[Request, bytes | None] | None = None
        """The request with these messages that was read last, and what it asks beside them, until it is written."""
        self.aside: dict[object, Any] = {}
        """What somebody made of it, by who that is; forgotten together with it."""

    def put_aside(self, slot: object, made: object) -> None:
        """Keep what somebody made of it; what is too much is forgotten."""
        if len(self.aside) >= MAX_ASIDE:
            self.aside.clear()
        self.aside[slot] = made

    def written(self, ways: tuple[object, ...]) -> WrittenHistory | None:
        """How it was written in these ways, if it was."""
        for one in self._written:
            if one.ways == ways:
                return one
        return None

    def write(
        self, ways: tuple[object, ...], changes: Changes, write: Callable[[tuple[Message, ...], int], list[W] | bytes]
    ) -> WrittenHistory | list[W]:
        """The messages as a dialect writes them.

        `write` gives the wire objects of messages from a place on, or the elements of the array that they are.
        """
        found = self.written(ways)
        if found is not None:
            changes.entries.extend(found.entries)
            return found
        told = len(changes.entries)
        parent = self.parent if says_something(self.rest) else None
        before = None if parent is None else parent.written(ways)
        if parent is None or before is None:
            wires = write(self.messages, 0)
            if isinstance(wires, list) and (not wires or not can_be_told_again(changes.entries[told:])):
                return wires  # a dialect says in its own way that nothing is left to say
            text = b"[%b]" % _elements(wires)
        else:
            changes.entries.extend(before.entries)
            further = _elements(write(self.rest, len(parent.messages)))
            text = b"%b,%b]" % (before.text[:-1], further) if further else before.text  # nothing may be left to say
        entries = tuple(changes.entries[told:])
        whole = WrittenHistory(ways, text, entries)
        if can_be_told_again(entries):
            self._written = (*self._written[1 - MAX_WAYS :], whole)
        return whole

    def write_marked(
        self, ways: tuple[object, ...], changes: Changes, write: Callable[[tuple[Message, ...], int], list[W] | bytes]
    ) -> WrittenHistory | None:
        """The same where marks stand in what goes on, which is written anew each time: they are counted over a request.

        None where the messages must be written as a whole.
        """
        parent = self.parent
        if parent is None or parent.is_marked or not says_something(self.rest):
            return None
        told = len(changes.entries)
        if parent.written(ways) is None:
            parent.write(ways, changes, write)
            del changes.entries[told:]
        before = parent.written(ways)
        if before is None:
            return None
        changes.entries.extend(before.entries)
        further = _elements(write(self.rest, len(parent.messages)))
        return WrittenHistory(ways, b"%b,%b]" % (before.text[:-1], further), tuple(changes.entries[told:]))

    def write_on(self, before: WrittenHistory, rest: bytes) -> WrittenHistory:
        """The messages written, of which those of the parent are known; the rest is said without any change."""
        whole = WrittenHistory(before.ways, b"%b,%b]" % (before.text[:-1], rest), before.entries)
        self._written = (*self._written[1 - MAX_WAYS :], whole)
        return whole


def says_something(rest: tuple[Message, ...]) -> bool:
    """Whether what goes on begins with a turn of the model that no dialect leaves out.

    Where one is left out, what follows may be one message with what came before.
    """
    if not rest or rest[0].role != "assistant":
        return False
    return any([type(part) is ToolCall or (type(part) is TextPart and part.text.strip()) for part in rest[0].parts])


class _Seen(msgspec.Struct, frozen=True, gc=False):
    """A text that came once: whoever sees it again finds it, and nothing else."""

    text: bytes


class _Nothing:
    """What comes before a conversation that goes on no other."""

    messages: tuple[Message, ...] = ()
    calls: tuple[str, ...] = ()
    taken_ids: frozenset[str] = frozenset()
    called: tuple[str, ...] = ()
    is_marked: bool = False


_NOTHING = _Nothing()


def _calls_of(messages: Sequence[Message]) -> tuple[list[str], list[str], bool]:
    """The ids and names of the calls in messages, and whether something in them has a mark for the prompt cache."""
    ids: list[str] = []
    names: list[str] = []
    marked = False
    for message in messages:
        for part in message.parts:
            if type(part) is ToolCall:
                names.append(part.name)
                if message.role == "assistant":  # whoever else calls cannot be answered
                    ids.append(part.id)
            marked = marked or is_marked(part)
    return ids, names, marked


def _elements(wires: list[W] | bytes) -> bytes:
    """Wire objects as the elements of an array, unless they are that already."""
    return encode_wires(wires, _null_content) if isinstance(wires, list) else wires


def _null_content(wire: WireStruct) -> bool:
    """Whether the content of a message is null on purpose."""
    return getattr(wire, "content", "") is None


class HistoryMemo:
    """The conversations that one dialect read lately, by their text."""

    __slots__ = ("_bytes", "_mark", "_max_bytes", "_old", "_usual", "_young")

    def __init__(
        self,
        usual: ReadUsual | None = None,
        max_generation_bytes: int = MAX_GENERATION_BYTES,
        mark: bytes | None = None,
    ) -> None:
        """An empty memo of two generations, each of at most so many bytes of text; `usual` reads what is usual.

        `mark` is the name of the member that marks something for the prompt cache.
        """
        self._usual = usual
        self._mark = mark
        self._max_bytes = max_generation_bytes
        self._bytes = 0
        self._young: dict[bytes, list[KnownHistory | _Seen]] = {}
        self._old: dict[bytes, list[KnownHistory | _Seen]] = {}

    def read(
        self,
        text: bytes,
        changes: Changes,
        decode: Callable[[bytes, Changes], Read],
        further: Callable[[bytes, Changes, KnownHistory], Read] | None = None,
    ) -> Read:
        """System text and messages of an array; `decode` reads it.

        An array of its last elements is read by `further`, which is told what came before; without it by `decode`.

        Raises: what `decode` raises.
        """
        if len(text) > MAX_TEXT_BYTES:
            return decode(text, changes)
        mark = self._mark
        if mark is not None and mark in text:
            known = self._parted(before_marks(text, mark), text, changes, decode, further)
            if known is not None:
                changes.entries.extend(known.entries)
                return known.system, known.messages
        return self._read(text, changes, decode, further, is_certain=False)

    def _parted(
        self,
        parted: Parted | None,
        text: bytes,
        changes: Changes,
        decode: Callable[[bytes, Changes], Read],
        further: Callable[[bytes, Changes, KnownHistory], Read] | None,
    ) -> KnownHistory | None:
        """A conversation with marks, whose beginning has none and is known from now on; None where there is none."""
        if parted is None:
            return None
        begins, rest = parted.both(text)
        own = Changes(changes.dialect, changes.stage)
        try:
            _, messages = self._read(begins, own, decode, further, is_certain=True)
        except (DecodeError, HistoryError, LimitExceededError):
            return None
        if type(messages) is not KnownMessages:
            return None
        known = messages.known
        found = None if self._usual is None else usual_further(known, rest, self._usual, is_last=False)
        if found is None:
            own = Changes(changes.dialect, changes.stage)
            found = read_further(known, rest, own, further or alone(decode), is_last=False)
        return found

    def _read(
        self,
        text: bytes,
        changes: Changes,
        decode: Callable[[bytes, Changes], Read],
        further: Callable[[bytes, Changes, KnownHistory], Read] | None,
        *,
        is_certain: bool,
    ) -> Read:
        """The same; `is_certain` says that this text will come again, although it never came before."""
        found = self._find(text)
        if type(found) is KnownHistory and found.messages:
            same = len(found.text) == len(text)
            known = found if same else self._further(found, text, changes, further or alone(decode))
            if known is not None:
                changes.entries.extend(known.entries)
                return known.system, known.messages
        usual = None if self._usual is None else self._usual(text, None)
        if usual is not None:
            return self._first(text, usual, changes, is_new=found is None and not is_certain)
        told = len(changes.entries)
        system, messages = decode(text, changes)
        entries = changes.entries[told:]
        if not _can_be_kept(messages, entries):
            return system, messages
        if found is None and not is_certain:
            self._keep(_Seen(text))
            return system, messages
        known = _shared(text, system, messages, entries)
        self._keep(known)
        return known.system, known.messages

    def _first(self, text: bytes, usual: UsualHistory, changes: Changes, *, is_new: bool) -> Read:
        """A usual history that is not known; from the second time on that it comes it will be."""
        changes.entries.extend(usual.entries)
        if is_new:
            self._keep(_Seen(text))
            messages = PairedMessages(usual.messages)
            messages.calls = usual.calls
            return usual.system, messages
        known = KnownHistory(text, usual.system, usual.messages, usual.entries, None, usual=usual)
        self._keep(known)
        return known.system, known.messages

    def _find(self, text: bytes) -> KnownHistory | _Seen | None:
        """The longest known conversation that this text is or goes on."""
        length = 1 << (len(text).bit_length() - 1)
        while length >= _SHORTEST:
            key = text[:length]
            found: KnownHistory | _Seen | None = None
            for generation in (self._young, self._old):
                for one in generation.get(key, ()):
                    if _goes_on(text, one.text) and (found is None or len(one.text) > len(found.text)):
                        found = one
            if found is not None:
                return found
            length >>= 1
        return None

    def _further(
        self,
        known: KnownHistory,
        text: bytes,
        changes: Changes,
        decode: Callable[[bytes, Changes, KnownHistory], Read],
    ) -> KnownHistory | None:
        """The conversation that goes on a known one, read from there; None where it must be read as a whole."""
        rest = b"[" + text[len(known.text) :].lstrip()
        further = None if self._usual is None else usual_further(known, rest, self._usual, text)
        if further is None:
            further = read_further(known, rest, Changes(changes.dialect, changes.stage), decode, text)
        if further is not None:
            self._keep(further)
        return further

    def _keep(self, known: KnownHistory | _Seen) -> None:
        size = len(known.text)
        if size < _SHORTEST:
            return
        memory = memory_of(known.text)
        if self._bytes + memory > self._max_bytes:
            self._old, self._young, self._bytes = self._young, {}, 0
        self._bytes += memory
        key = known.text[: 1 << (size.bit_length() - 1)]
        self._young[key] = [known, *self._young.get(key, ())][:MAX_ALIKE]


def alone(decode: Callable[[bytes, Changes], Read]) -> Callable[[bytes, Changes, KnownHistory], Read]:
    """Reads what goes on by itself; nothing where ids had to be made, which count the calls before."""

    def read(text: bytes, changes: Changes, known: KnownHistory) -> Read:
        del known
        found = decode(text, changes)
        return ((), ()) if changes.entries else found

    return read


def rest_of(known: KnownHistory, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages after the known ones, with which they begin; none where the last of those was changed."""
    length = len(known.messages)
    return messages[length:] if messages[length - 1] is known.messages[-1] else ()


def read_further(
    known: KnownHistory,
    rest: bytes,
    own: Changes,
    decode: Callable[[bytes, Changes, KnownHistory], Read],
    text: bytes = b"",
    *,
    is_last: bool = True,
) -> KnownHistory | None:
    """The conversation that goes on a known one with the array `rest`; None where it must be read as a whole.

    `own` are changes of nothing else, and `text` is the whole of it, if it is to be found by that. `is_last` says that
    from now on this is gone on with, and not the known one.
    """
    try:
        system, messages = decode(rest, own, known)
    except (DecodeError, HistoryError, LimitExceededError):
        return None  # read as a whole, the place in the error is right
    if system or not goes_on(known, messages):
        return None
    if own.entries and any([entry.code not in _OF_THE_TEXT for entry in own.entries]):
        return None
    whole = [*known.messages, *[frozen(message) for message in messages]]
    further = KnownHistory(text, known.system, whole, known.entries + tuple(own.entries), known)
    if is_last:
        known.parent = None  # who goes on from there needs no more of what came before
    return further


def usual_further(
    known: KnownHistory, rest: bytes, read: ReadUsual, text: bytes = b"", *, is_last: bool = True
) -> KnownHistory | None:
    """The same where the rest is usual, which is read in one go."""
    usual = read(rest, known)
    if usual is None or not usual.messages or usual.messages[0].role == known.messages[-1].role:
        return None
    whole, entries = known.messages + tuple(usual.messages), known.entries + tuple(usual.entries)
    further = KnownHistory(text, known.system, whole, entries, known, usual=usual)
    if is_last:
        known.parent = None
    return further


def _can_be_kept(messages: Sequence[Message], entries: Sequence[Change]) -> bool:
    if any([entry.code not in _OF_THE_TEXT for entry in entries]):
        return False
    return all([can_be_shared(part) for message in messages for part in message.parts])


def _shared(text: bytes, system: System, messages: tuple[Message, ...], entries: Sequence[Change]) -> KnownHistory:
    read = cast("System", tuple([frozen_part(part) for part in system]))
    return KnownHistory(text, read, [frozen(message) for message in messages], entries)


def _goes_on(text: bytes, known: bytes) -> bool:
    """Whether a text is that array or one with more elements behind the same bytes."""
    end = len(known) - 1
    return text == known or (text[end : end + 1] == b"," and text.startswith(known[:end]))


def goes_on(known: KnownHistory, rest: tuple[Message, ...]) -> bool:
    """Whether messages after known ones mean the same whatever those are, known calls aside."""
    if not rest or not known.messages or rest[0].role in (known.messages[-1].role, "tool", "system"):
        return False
    calls: set[str] = set()
    answered: list[str] = []
    for message in rest:
        for part in message.parts:
            if type(part) not in _PLAIN or not can_be_shared(part):
                return False
            if type(part) is ToolCall:
                calls.add(part.id)
            elif type(part) is ToolResult:
                answered.append(part.call_id)
    return calls.isdisjoint(known.taken_ids) and calls.issuperset(answered)
