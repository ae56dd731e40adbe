"""Bodies that came before: an agent's next body is its last one with a few messages more, byte for byte.

Strategy: a body is remembered as what stands before the end of its history and what stands behind. A later one that
begins with the one and ends with the other differs from it in messages alone. What lies between is parsed by itself: a
comma and the inside of an array make one JSON text of the three, whatever stands before and behind.

Rules
- A body is found by what it begins with: the beginnings lie in order, so the longest that fits is next to it.
- Marks for the prompt cache move from turn to turn: of a history with marks, what stands before them is remembered.
- Whatever cannot be told so is not known, and read as a whole by whoever asked.
- Memory is bounded in bytes of text; when one generation is full, the one before it is forgotten.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec

from interlingua.dialects._known.marks import before_marks
from interlingua.errors import DecodeError, LimitExceededError
from interlingua.wire.json import MAX_DEPTH, decode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

__all__ = ["MAX_KEPT_BYTES", "Growing", "KnownBodies", "begun"]

MAX_KEPT_BYTES = 262_144
"""A longer body is never remembered."""
MAX_GENERATION_BYTES = 2_000_000
"""How much text each of the two generations holds."""
MAX_ALIKE = 8
"""How many of the bodies that begin as one does are looked at."""
_SPACE = b" \t\r\n"
_MARK = b'"cache_control"'
"""The name of a mark for the prompt cache."""


class Growing(Protocol):
    """What is known of a body, and can be told of one that goes on."""

    members: dict[str, msgspec.Raw]
    """The members of the body as text."""

    def begun(self, member: str, text: bytes) -> Self:
        """What is known of a body whose `member` is `text`, with which that of this one begins."""
        ...

    def gone_on(self, member: str, text: bytes, more: bytes) -> Self:
        """What is known of a body whose `member` is `text`, with `more` behind what was known."""
        ...


G = TypeVar("G", bound=Growing)


class _Known(NamedTuple, Generic[G]):
    """One body up to the end of its history, and what is known of it."""

    begins: bytes
    """What stands before the end of the history."""
    ends: bytes
    """What stands from there on."""
    about: object
    """What bears on the reading besides the body."""
    member: str
    """The name of the history."""
    at: int
    """Where its text begins."""
    what: G
    """What is known."""


_Placed: TypeAlias = "tuple[bytes, float, _Known[G]]"
"""A body in its place: by how it begins, then by when it came; the last of those that begin alike comes first."""
_LAST = math.inf


class KnownBodies(Generic[G]):
    """What is known of the bodies that came lately."""

    __slots__ = ("_max_bytes", "_number", "_old", "_young", "_young_bytes")

    def __init__(self, max_generation_bytes: int = MAX_GENERATION_BYTES) -> None:
        """An empty memory."""
        self._max_bytes = max_generation_bytes
        self._number = 0
        self._young: list[_Placed[G]] = []
        self._old: list[_Placed[G]] = []
        self._young_bytes = 0

    def find(self, body: bytes, about: object) -> G | None:
        """What is known of a body that came before, or goes on with one that did; None where it must be read."""
        for generation in (self._young, self._old):
            end = bisect_right(generation, (body, _LAST))
            for place in range(end - 1, max(-1, end - 1 - MAX_ALIKE), -1):
                known = generation[place][2]
                if body.startswith(known.begins) and known.about == about and body.endswith(known.ends):
                    if len(known.begins) + len(known.ends) == len(body) and generation is self._young:
                        return known.what
                    return self._found(known, body)
        return None

    def _found(self, known: _Known[G], body: bytes) -> G | None:
        end = len(body) - len(known.ends)
        if len(known.begins) == end:
            self._put(known)
            return known.what
        found = _further(known, body, end)
        if found is None:
            return None
        begins, what = found
        if begins is not known:
            self._put(begins)
        return what

    def keep(self, body: bytes, about: object, member: str, at: int, what: G) -> None:
        """Remember what is known of a body whose history, the text of `member`, begins at a place."""
        if len(body) > MAX_KEPT_BYTES or type(body) is not bytes:
            return
        text = bytes(what.members[member])
        if text[:1] == b"[" and not text[1:-1].isspace() and len(text) > len(b"[]"):
            begins = end = at + len(text) - 1
            parted = before_marks(text, _MARK) if _MARK in text else None
            if parted is not None:
                begins, what = at + parted.ends, what.begun(member, parted.both(text)[0])
            self._put(_Known(body[:begins], body[end:], about, member, at, what))

    def _put(self, known: _Known[G]) -> None:
        size = len(known.begins) + len(known.ends)
        if self._young_bytes + size > self._max_bytes:
            self._old, self._young, self._young_bytes = self._young, [], 0
        self._young_bytes += size
        self._number += 1
        insort(self._young, (known.begins, self._number, known))


def _further(known: _Known[G], body: bytes, end: int) -> tuple[_Known[G], G] | None:
    """What is known from now on, and of a body that goes on with a known one up to `end`; None if no array goes on."""
    begin = len(known.begins)
    if begin > end or len(body) > MAX_KEPT_BYTES:
        return None
    more = body[begin:end].strip(_SPACE)
    if more[:1] != b"," or not more[1:].strip(_SPACE):
        return None
    try:
        decode(b"[%b]" % more[1:], msgspec.Raw, max_depth=MAX_DEPTH - 1)  # and nothing behind: no array ends in it
    except (DecodeError, LimitExceededError):
        return None
    if _MARK in more:
        known, more = _before_marks(known, body, end, more)
        return known, known.what.gone_on(known.member, body[known.at : end + 1], more)
    what = known.what.gone_on(known.member, body[known.at : end + 1], more)
    return known._replace(begins=body[:end], what=what), what


def _before_marks(known: _Known[G], body: bytes, end: int, more: bytes) -> tuple[_Known[G], bytes]:
    """What is known up to the marks in `more`, which ends at `end`, and the rest of it."""
    parted = before_marks(b"[%b]" % more[1:], _MARK)
    if parted is None:
        return known, more
    begins = end - len(body[len(known.begins) : end].lstrip(_SPACE)) + parted.ends
    what = known.what.gone_on(known.member, body[known.at : begins] + b"]", more[: parted.ends])
    return known._replace(begins=body[:begins], what=what), more[parted.ends :]


def begun(pieces: Sequence[bytes], place: int) -> int:
    """Where the text of a member begins, in an object of `pieces` with four of them for each member."""
    return sum(map(len, pieces[: 4 * place + 3]))
