"""A stream to read: an asynchronous context manager and iterator over events.

Rules
- Nothing is sent before the first read, `open` or `async with`; all three wait for the first content, so that whatever
  fails before it is raised there.
- It is closed at its end, by an error, by cancellation, by `close` and by leaving `async with`.
- Calls come whole (`ToolCallReady`); pieces of their arguments only with `tool_deltas=True`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from msgspec.structs import replace

from interlingua.client.aio.pump import AsyncPump, carried_out
from interlingua.client.call.core import Outcome, closed_early, stream_steps
from interlingua.types.event import TextDelta, ToolCallDelta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator
    from types import TracebackType
    from typing import Self

    from interlingua.client.aio.sse import AsyncSseBody
    from interlingua.client.call.values import Call
    from interlingua.client.typed.output import Partials
    from interlingua.client.web.chat import WebChat
    from interlingua.types.event import Event
    from interlingua.types.response import Response

__all__ = ["AsyncModelStream"]

T = TypeVar("T")
S = TypeVar("S", bound=str)
N = TypeVar("N", bound=float | None)
E = TypeVar("E")


class _Partials:
    """The typed answer so far, each time that something new has come of it.

    Shape: an object that has not ended is a dict under the field names, the outermost one always; a list has the items
    so far, a text grows, and what has ended is a value of its type.
    Raises: UsageError for a stream without `output`, and for one of which something was read otherwise.
    """

    @overload
    def __get__(self, stream: None, owner: type[Any]) -> Self: ...

    @overload
    def __get__(self, stream: AsyncModelStream[S], owner: type[Any]) -> AsyncGenerator[str]: ...

    @overload
    def __get__(self, stream: AsyncModelStream[N], owner: type[Any]) -> AsyncGenerator[N]: ...

    @overload
    def __get__(
        self, stream: AsyncModelStream[list[E]], owner: type[Any]
    ) -> AsyncGenerator[list[E | dict[str, Any]]]: ...

    @overload
    def __get__(self, stream: AsyncModelStream[Any], owner: type[Any]) -> AsyncGenerator[dict[str, Any]]: ...

    def __get__(self, stream: Any, owner: type[Any]) -> Any:
        """The generator of one stream."""
        return self if stream is None else stream._partial_values()  # noqa: SLF001 - its own


class AsyncModelStream(Generic[T]):
    """One streamed answer."""

    def __init__(self, call: Call, output: object = None) -> None:
        """A stream that was not opened yet; `AsyncModel.stream` makes it."""
        self._call = call
        self._output = output
        self._typed: Response[T] | None = None
        self._outcome = Outcome()
        self._pump = AsyncPump(stream_steps(replace(call, tool_deltas=True), self._outcome))  # `sse` tells them
        self._ready: Iterator[Event] = iter(())
        self._opened = False
        self._begun = False
        self._partials: Partials | None = None

    async def open(self) -> Self:
        """The stream itself, its first content there.

        Raises: whatever goes wrong before the first content.
        """
        if not self._opened:
            self._opened = True
            self._ready = iter(await self._pump.pull() or ())
        return self

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if not self._opened:
            await self.open()
        while True:
            for event in self._ready:
                if type(event) is ToolCallDelta and not self._call.tool_deltas:
                    continue
                self._begun = True
                return event
            batch = await self._pump.pull()
            if batch is None:
                if self._outcome.given_up:
                    raise closed_early()
                raise StopAsyncIteration
            self._ready = iter(batch)

    @property
    def text_stream(self) -> AsyncGenerator[str]:
        """The text of the first choice, piece by piece."""
        return (event.text async for event in self if type(event) is TextDelta and event.choice == 0)

    partials: _Partials = _Partials()
    """The typed answer so far, each time that something new has come of it."""

    def _partial_values(self) -> AsyncGenerator[Any]:
        from interlingua.client.typed.output import Partials  # only typed answers need schemas

        partials = self._partials
        if partials is None:
            partials = self._partials = Partials(self._output, self._call.settings.repair, is_begun=self._begun)
        return (partial async for event in self for partial in partials.of(event))

    def sse(self, target: str | WebChat) -> AsyncSseBody:
        """The stream as the body of an answer to a web client, in a dialect or to a page.

        A page is `ai-sdk`, `ag-ui`, or what `il.web_chat` read.

        It is opened by the first read if it is not open yet; open it before, so that what fails then can still be a
        status. An error after that is the dialect's own error event.

        Raises: ConfigError for no dialect; UsageError when something was read already.
        """
        from interlingua.client.aio.sse import AsyncSseBody  # only web applications need them
        from interlingua.client.web.sse import EventWriter, begun_before  # the same

        if self._begun:
            raise begun_before()
        writer = EventWriter(target, self._call.targets)
        self._call = replace(self._call, tool_deltas=True)
        return AsyncSseBody(self, writer, lambda: self.partial)

    async def finish(self) -> Response[T]:
        """The whole response; what is left of the stream is read first.

        Raises: IncompleteStreamError with `.partial` for a stream that was cut; whatever else ended it; OutputError
        for a text that is not the type that was asked for.
        """
        async for _ in self:
            pass
        if self._output is None:
            return self.response
        from interlingua.client.typed.output import settled  # only typed answers need schemas

        if self._typed is None:
            self._typed = await carried_out(settled(self._call, self._output, self.response))
        return self._typed

    @property
    def response(self) -> Response[Any]:
        """The whole response, once the stream came to its end.

        Raises: UsageError before that, and when it failed or was closed.
        """
        return self._outcome.whole(ended=self._pump.ended)

    @property
    def partial(self) -> Response[Any] | None:
        """The response up to the failure of the stream; None for a stream that did not fail."""
        return self._outcome.partial

    async def close(self) -> None:
        """Close the connection; nothing more can be read, and to try is a UsageError, unless it had come to its end."""
        self._opened = True
        self._ready = iter(())
        if not self._pump.ended and self._outcome.response is None:
            self._outcome.given_up = True
        await self._pump.close()
