"""The base of the incremental decoders: pieces in, whole things out, and a fault only after the things before it.

Rules
- `feed` and `close` give back what became whole; where a fault follows whole things in the same piece, they are given
  back first and the fault is raised by the next call. So the cut of the bytes never decides what is seen.
- After a fault every call raises it again. After `close` nothing more may be fed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import msgspec

from interlingua.errors import DecodeError, LimitExceededError, WireError
from interlingua.wire.json import MAX_EVENT_BYTES, decode

__all__ = ["Feed", "is_whole_json"]

E = TypeVar("E")


class Feed(ABC, Generic[E]):
    """Cuts a stream of bytes into things of type `E`."""

    cut: bool = False
    """Whether the stream ended in the middle of something, which was then left out. Known after `close`."""
    max_event_bytes: int
    """The longest line and the largest event."""

    _fault: WireError | None = None

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.max_event_bytes = max_event_bytes

    def feed(self, data: bytes) -> list[E]:
        """The things that became whole with this piece, in order.

        Raises: DecodeError, LimitExceededError.
        """
        if self._fault is not None:
            raise self._fault
        whole: list[E] = []
        try:
            self._take(data, whole)
        except WireError as fault:
            self._fault = fault
            if not whole:
                raise
        return whole

    def close(self) -> list[E]:
        """The things that the end of the stream made whole; `cut` is known from here on.

        Raises: DecodeError, LimitExceededError.
        """
        if self._fault is not None:
            raise self._fault
        whole: list[E] = []
        self._end(whole)
        return whole

    @abstractmethod
    def _take(self, data: bytes, whole: list[E]) -> None:
        """Append to `whole` what this piece makes whole."""

    @abstractmethod
    def _end(self, whole: list[E]) -> None:
        """Append to `whole` what the end makes whole, and set `cut`."""

    def _bound(self, size: int) -> None:
        if size > self.max_event_bytes:
            raise LimitExceededError(f"a line or event of the stream is larger than {self.max_event_bytes:,} bytes")


def is_whole_json(text: bytes) -> bool:
    """Whether `text` is one JSON value, and not the beginning of one."""
    try:
        decode(text, msgspec.Raw)
    except (DecodeError, LimitExceededError):
        return False
    return True
