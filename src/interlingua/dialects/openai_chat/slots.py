"""Which call a streamed fragment belongs to, when servers agree on little.

Rules, in this order (ids of the failures that taught them)
- A usable index is an int, or a string of digits; anything else counts as absent (STR-06, STR-07).
- On a known index: another id opens a new call (STR-02, STR-05); so does a name after whole arguments when no id ties
  the fragment to the old call (parallel calls that all say 0).
- On an unknown index: an id or a name opens a call; bare arguments go to the only open call (STR-08).
- Without index: a known id continues its call, a new one opens one; a name opens one unless the newest call still
  waits for its name or repeats it; bare arguments go to the newest call (STR-01, STR-03).
- A name is set once: repeats are ignored, a longer form of it replaces it (STR-15, STR-17), and another one before
  any arguments is its next piece, where the tools that were offered do not say otherwise: so OpenAI's SDK reads it.
- Whole arguments that come again are not appended (STR-41).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.errors import DecodeError
from interlingua.wire.arguments import check_arguments

if TYPE_CHECKING:
    from interlingua.dialects._contract import Undo
    from interlingua.dialects._streams.templates import Inside
    from interlingua.stream.build import Block

__all__ = ["Fragment", "Slot", "Slots", "usable_index"]

_BRACE = b"{"[0]
_MOST_DIGITS = 9
"""An index has no more of them; Python refuses to read a number of thousands."""


MAX_NAME = 256
"""The most characters of a name that comes in pieces where no tools are known; OpenAI allows 64."""


class Slot:
    """One call under assembly; its block opens once the name is known and arguments come."""

    __slots__ = ("block", "custom", "extra", "extra_content", "id", "name", "pieces", "settled", "was_object")

    def __init__(self) -> None:
        """An unknown call."""
        self.id: str = ""
        self.name: str = ""
        self.pieces: list[str] = []
        self.block: Block | None = None
        self.custom: bool = False
        self.extra: dict[str, Any] = {}
        self.extra_content: dict[str, Any] | None = None
        self.was_object: bool = False
        self.settled: bool = False

    @property
    def text(self) -> str:
        """The arguments so far."""
        return "".join(self.pieces)

    def is_whole(self) -> bool:
        """Whether the arguments so far are one whole object; what does not end like one is not looked at as a whole."""
        last = self.pieces[-1].rstrip() if self.pieces else ""
        return bool(self.pieces) and last[-1:] in ("}", "") and check_arguments(self.text) is None

    def learn(self, call_id: str, name: str, undo: Undo) -> None:
        """Take an id and a name that are not known yet, a longer form of the name, or its next piece."""
        if call_id and not self.id:
            self.id = call_id
        if not name or (self.name and self.block is not None):
            return
        if not self.name or name.startswith(self.name):
            self.name = name
        elif not self.pieces and self._is_piece(name, undo):
            self.name += name

    def _is_piece(self, name: str, undo: Undo) -> bool:
        """Whether a name goes on with the one that began, as the tools that were offered say, where they are known."""
        offered, whole = (*undo.tool_names, *undo.names), self.name + name
        if not offered:
            return len(whole) <= MAX_NAME
        return whole in offered or (self.name not in offered and any([one.startswith(whole) for one in offered]))

    def is_repeat(self, fragment: str) -> bool:
        """Whether a fragment only says again what is whole already."""
        return len(fragment) > 1 and self.is_whole() and fragment.strip() in (self.text.strip(), "{}")


class Fragment:
    """A fragment in a run of arguments: whatever could begin them anew is parsed, since it may be a repeat."""

    __slots__ = ("_then",)

    def __init__(self, then: Inside | None) -> None:
        """`then` finds the text first, where something else stands beside it."""
        self._then = then

    def text(self, raw: bytes) -> bytes:
        """As in `Inside`."""
        text = raw if self._then is None else self._then.text(raw)
        return b"" if _BRACE in text or b"\\u" in text else text


class Slots:
    """The calls of one choice."""

    __slots__ = ("_by_index", "all")

    def __init__(self) -> None:
        """No calls yet."""
        self.all: list[Slot] = []
        self._by_index: dict[int, Slot] = {}

    def find(self, index: int | None, call_id: str, name: str) -> Slot:
        """The call that a fragment belongs to, a new one when it opens one.

        Raises: DecodeError when a fragment could belong to several open calls.
        """
        if index is None:
            newest = self.all[-1] if self.all else None
            if call_id:
                same_id = next((slot for slot in self.all if slot.id == call_id), None)
                if same_id is not None and not (name and same_id.is_whole()):
                    return same_id
                waiting = newest is not None and not newest.id and not newest.name
                return newest if newest is not None and waiting else self._new()
            if newest is None:
                return self._new()
            opens = bool(name and newest.name) and (name != newest.name or newest.is_whole())
            return self._new() if opens else newest
        slot = self._by_index.get(index)
        if slot is None:
            slot = self._new() if call_id or name or not self.all else self._only_open(index)
            self._by_index[index] = slot
        elif self._is_other(slot, call_id, name):
            slot = self._by_index[index] = self._new()
        return slot

    def _is_other(self, slot: Slot, call_id: str, name: str) -> bool:
        if call_id and slot.id:
            return call_id != slot.id
        if name and slot.name:
            return slot.is_whole() or (bool(slot.pieces) and name != slot.name)
        return False

    def _only_open(self, index: int) -> Slot:
        still_open = [slot for slot in self.all if not slot.is_whole()]
        if len(still_open) == 1:
            return still_open[0]
        if len(self.all) == 1:
            return self.all[0]
        raise DecodeError(f"arguments for the unknown call {index} while {len(still_open)} calls are open")

    def _new(self) -> Slot:
        slot = Slot()
        self.all.append(slot)
        return slot


def usable_index(value: object) -> int | None:
    """The index that a server meant, or None when it said nothing usable."""
    if type(value) is int:
        return value if value >= 0 else None
    if isinstance(value, str) and value.isdecimal() and len(value) <= _MOST_DIGITS:
        return int(value)
    return None
