"""A stream told to a web client, awaited: the twin of `client.web.sse`, with its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from interlingua.client.web.sse import BodyFace
from interlingua.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from interlingua.client.web.sse import EventWriter
    from interlingua.types.response import Response

__all__ = ["AsyncSseBody"]


class _Source(Protocol):
    """A stream of events, awaited."""

    async def __anext__(self) -> object: ...

    async def close(self) -> None: ...


class AsyncSseBody(BodyFace):
    """The bytes of a stream, piece by piece: an async iterator, closed at its end, by cancellation, by `aclose`."""

    def __init__(self, source: _Source, writer: EventWriter, partial: Callable[[], Response[Any] | None]) -> None:
        """The bytes of `source`, of which nothing was read yet; a stream's `sse` makes them."""
        super().__init__(writer, partial)
        self._source = source

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        while not self._ended:
            try:
                piece = self._writer.tell(await self._source.__anext__())
            except StopAsyncIteration:
                piece = self._end()
            except Error as error:
                piece = self._fail(error)
            if piece:
                return piece
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Close the stream; nothing more comes."""
        self._ended = True
        await self._source.close()
