"""Streamed answers in the caller's dialect: iterators over bodies, closed at their end.

Rules
- A stream was opened when it is handed over: what fails before the first content is raised by `create`.
- A stream that breaks is an error where it breaks, never a short answer.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec.structs import replace

from interlingua.client.stream import ModelStream
from interlingua.compat.asking import BodyWriter

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from interlingua.compat.asking import PreparedCall
    from interlingua.compat.body import Body
    from interlingua.types.change import Change
    from interlingua.types.response import Response

__all__ = ["BodyStream", "Stream"]

B = TypeVar("B", bound="Body")


class BodyStream(Generic[B]):
    """The shared half of both faces of a stream."""

    def __init__(self, prepared: PreparedCall, kind: type[B]) -> None:
        """A stream of bodies of that kind."""
        self._kind = kind
        self._writer = BodyWriter(prepared)
        self._ready: deque[dict[str, Any]] = deque()

    @property
    def interlingua(self) -> Response[Any] | None:
        """The canonical answer: who served, the tries, the cost; None until the stream has come to its end."""
        return self._writer.response

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of translation so far; complete at the end."""
        return self._writer.changes


class Stream(BodyStream[B]):
    """One streamed answer: an iterator and a context manager."""

    def __init__(self, prepared: PreparedCall, kind: type[B]) -> None:
        """A stream whose first content is there.

        Raises: whatever goes wrong before the first content.
        """
        super().__init__(prepared, kind)
        self._events: ModelStream[Any] = ModelStream(replace(prepared.call, tool_deltas=True))
        self._events.open()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> B:
        while not self._ready:
            self._ready.extend(self._writer.tell(next(self._events)))
        return self._kind(self._ready.popleft())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what is left of the answer is not read."""
        self._ready.clear()
        self._events.close()
