"""Streamed answers in the caller's dialect, awaited: the twins of `streams`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from interlingua.client.aio.stream import AsyncModelStream
from interlingua.compat.streams import BodyStream

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from interlingua.compat.asking import PreparedCall
    from interlingua.compat.body import Body

__all__ = ["AsyncStream"]

B = TypeVar("B", bound="Body")


class AsyncStream(BodyStream[B]):
    """One streamed answer: an asynchronous iterator and context manager."""

    def __init__(self, prepared: PreparedCall, kind: type[B]) -> None:
        """A stream that `open` is still to be awaited of."""
        super().__init__(prepared, kind)
        self._events: AsyncModelStream[Any] = AsyncModelStream(replace(prepared.call, tool_deltas=True))

    async def open(self) -> Self:
        """The stream itself, its first content there.

        Raises: whatever goes wrong before the first content.
        """
        await self._events.open()
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> B:
        while not self._ready:
            self._ready.extend(self._writer.tell(await anext(self._events)))
        return self._kind(self._ready.popleft())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; what is left of the answer is not read."""
        self._ready.clear()
        await self._events.close()
