"""A box of tools that runs the model's calls and answers every one of them.

Rules
- Nothing that a handler does breaks the loop: what it raises becomes an error result, and so does a call that takes
  too long. Only the text of a `ToolError` is shown to the model; anything else goes to the log alone.
- Calls of one step run at once; results keep the order of the calls.
- MCP servers are opened when their tools are needed for the first time; `close` closes those that the box opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from interlingua.errors import UsageError
from interlingua.tools.face import Box
from interlingua.tools.listening import OnProgress
from interlingua.tools.outcome import Call
from interlingua.types.message import Message
from interlingua.types.tool import OpaqueTool, Tool

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["AsyncToolbox", "Toolbox"]


class Toolbox(Box):
    """Tools, and the running of their calls, in threads that end with the step.

    Coroutine functions are tools, too: each call gets an event loop of its own.
    """

    def execute(
        self,
        calls: Call | Iterable[Call],
        *,
        context: object = None,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Message:
        """One tool message with the results of these calls, in call order.

        `context` goes to the parameters that are annotated with `il.Context[…]`; a tool's own time-out goes before
        `timeout_s`; `on_progress` takes a call and each text that its handler gives to `il.progress`.
        Raises: UsageError, before anything has run, for a tool without a handler and for a context that does not fit.
        """
        from interlingua.tools.running import run_all

        self.open()
        prepared = self._prepared(calls, context, timeout_s)
        return Message("tool", run_all(prepared, at_once=self.max_concurrency, on_progress=on_progress))

    @property
    def tools(self) -> tuple[Tool | OpaqueTool, ...]:
        """The tools, in the order given; MCP servers are opened for it."""
        self.open()
        return self._tools

    def __iter__(self) -> Iterator[Tool | OpaqueTool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def open(self) -> None:
        """Open the MCP servers that are not open yet; nothing happens when there are none.

        Raises: ConfigError, APIConnectionError and APITimeoutError, for a server that cannot be reached.
        """
        if self._waits:
            closed = self._closed_sources()
            self._opened = tuple(dict.fromkeys((*self._opened, *closed)))
            for source in closed:
                source.connect()
            self._fill_with_servers()

    def close(self) -> None:
        """Close the MCP servers that this box opened."""
        for source in self._opened:
            source.disconnect()
        self._opened = ()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncToolbox(Box):
    """Tools, and the running of their calls: coroutines in the event loop, ordinary functions in threads."""

    async def execute(
        self,
        calls: Call | Iterable[Call],
        *,
        context: object = None,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Message:
        """One tool message with the results of these calls, in call order.

        `context` goes to the parameters that are annotated with `il.Context[…]`; a tool's own time-out goes before
        `timeout_s`; `on_progress` takes a call and each text that its handler gives to `il.progress`.
        Raises: UsageError, before anything has run, for a tool without a handler and for a context that does not fit.
        """
        from interlingua.tools.aio.running import run_all

        await self.open()
        prepared = self._prepared(calls, context, timeout_s)
        return Message("tool", await run_all(prepared, at_once=self.max_concurrency, on_progress=on_progress))

    @property
    def tools(self) -> tuple[Tool | OpaqueTool, ...]:
        """The tools, in the order given.

        Raises: UsageError, where an MCP server is not open yet.
        """
        if self._waits:
            raise UsageError("the box has an MCP server that is not open yet; `await box.open()` first")
        return self._tools

    def __iter__(self) -> Iterator[Tool | OpaqueTool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    async def open(self) -> None:
        """Open the MCP servers that are not open yet; nothing happens when there are none.

        Raises: ConfigError, APIConnectionError and APITimeoutError, for a server that cannot be reached.
        """
        if self._waits:
            import asyncio

            closed = self._closed_sources()
            self._opened = tuple(dict.fromkeys((*self._opened, *closed)))
            await asyncio.gather(*[asyncio.to_thread(source.connect) for source in closed])
            self._fill_with_servers()

    async def close(self) -> None:
        """Close the MCP servers that this box opened."""
        if self._opened:
            import asyncio

            await asyncio.gather(*[asyncio.to_thread(source.disconnect) for source in self._opened])
            self._opened = ()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
