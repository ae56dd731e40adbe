"""One connection to an MCP server: a thread with an event loop, which ends with the connection.

Rules
- The thread starts the server, or connects to it, and ends it: whoever calls may do so from any thread and any loop.
- A server that was started is closed when `stop` is called, when opening it fails, and when the program ends: its
  input is closed, and it is ended and then killed if it goes on for two seconds each.
- A connection that broke is over; nothing is sent a second time.
- After a fork the child has no connection: its threads are not there.

Not responsible for: who keeps a connection, and until when (`mcp`).
"""

from __future__ import annotations

import asyncio
import atexit
import math
import re
import shlex
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

from interlingua.errors import (
    APIConnectionError,
    APITimeoutError,
    ConfigError,
    Error,
    LimitExceededError,
    ToolError,
    redact,
)
from interlingua.tools.mcp_servers import Address, Place
from interlingua.tools.mcp_stderr import ErrorOutput
from interlingua.tools.outcome import log_of_tools
from interlingua.types.tool import Tool

try:
    import anyio
    import httpx2
    from mcp import Client, MCPError, StdioServerParameters, stdio_client
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp_types import CONNECTION_CLOSED, Implementation

    from interlingua.tools.mcp_sifting import ToolSetAside, sifted
except ModuleNotFoundError as _error:
    raise ConfigError("MCP servers need the [mcp] extra: pip install 'interlingua[mcp]'") from _error

if TYPE_CHECKING:
    from mcp.client import Transport
    from mcp_types import CallToolResult

__all__ = ["Link"]

MAX_PAGES = 100
"""How many pages a server's list of tools may have."""
_LONGEST_COMMAND = 300
_HIDDEN_ARGUMENT = r"(?i)((?:key|token|secret|password)[\w-]*[= ])[^\s-]\S*"
CLOSING_S = 10.0
"""How long the end of a connection is waited for: longer than a server is given to end by itself."""

_open: set[Link] = set()
"""Connections whose thread has not ended."""


class Link:
    """A connection to one server, and the tools that it has."""

    def __init__(self, place: Place, timeout_s: float) -> None:
        """A connection that is not open yet."""
        self.place: Place = place
        """Where the server is."""
        self.name: str = place.name
        """The name of the server: given by the caller, or else by itself."""
        self.tools: tuple[Tool, ...] = ()
        """The server's tools, as it calls them, without handlers."""
        self.aside: tuple[ToolSetAside, ...] = ()
        """The server's tools that cannot be used."""
        self._timeout_s = timeout_s
        self._opened: Future[None] = Future()
        self._is_over = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._scope: anyio.CancelScope | None = None
        self._thread: threading.Thread | None = None
        self._client: Client | None = None
        self._complaint = ""

    @property
    def is_open(self) -> bool:
        """Whether calls can be made."""
        alive = self._thread is not None and self._thread.is_alive()
        return alive and self._opened.done() and not self._is_over

    def start(self) -> None:
        """Begin to open the connection."""
        if not _open:
            atexit.register(_close_all)
        _open.add(self)
        self._thread = threading.Thread(target=self._run, name=f"mcp {self.place.name}", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until the connection is open.

        Raises: ConfigError, APIConnectionError and APITimeoutError, when it cannot be opened.
        """
        try:
            self._opened.result()
        except Exception as error:
            raise _explained(self.place, error, self._timeout_s, self._complaint) from error

    def stop(self) -> None:
        """Begin to close the connection."""
        self._is_over = True
        if self._loop is not None and self._scope is not None:
            with suppress(RuntimeError):  # its thread has just ended
                self._loop.call_soon_threadsafe(self._scope.cancel)

    def join(self, timeout_s: float = CLOSING_S) -> None:
        """Wait until the connection is closed, and its process has ended."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    def submit(self, name: str, arguments: dict[str, Any], note: Callable[[str], None]) -> Future[CallToolResult]:
        """A call under way; cancelling it cancels it at the server."""
        if self._loop is None or not self.is_open:
            raise ToolError(f"the MCP server {self.name} is closed")
        call = self._call(name, arguments, note)
        try:
            return asyncio.run_coroutine_threadsafe(call, self._loop)
        except RuntimeError:
            call.close()
            raise ToolError("the MCP server has just been closed") from None

    async def _call(self, name: str, arguments: dict[str, Any], note: Callable[[str], None]) -> CallToolResult:
        if self._client is None:
            raise ToolError(f"the MCP server {self.name} is closed")
        try:
            return await self._client.call_tool(name, arguments, progress_callback=partial(_noted, note))
        except MCPError as error:
            if error.error.code == CONNECTION_CLOSED:
                self.stop()
                raise ToolError(f"the MCP server {self.name} closed the connection") from error
            raise ToolError(error.error.message) from error

    def _run(self) -> None:
        """The thread: the life of the connection."""
        try:
            asyncio.run(self._live())
        except BaseException as error:  # noqa: BLE001 - a thread has nobody to raise to
            if not self._opened.done():
                self._opened.set_exception(error if isinstance(error, Exception) else ConnectionError("it was closed"))
        finally:
            self._is_over = True
            _open.discard(self)

    async def _live(self) -> None:
        # A scope, not `Task.cancel`: the official client ends its process under a shield, which keeps a scope's
        # cancellation out and not a task's. A second one would leave the process running.
        with anyio.CancelScope(deadline=anyio.current_time() + self._timeout_s) as scope:
            self._scope, self._loop = scope, asyncio.get_running_loop()
            async with AsyncExitStack() as stack:
                aside: list[ToolSetAside] = []
                output = ErrorOutput(self._loop)
                stack.callback(output.close)
                stack.callback(self._take_complaint, output)
                client = await stack.enter_async_context(await _client(self.place, stack, aside, output))
                # The first tool of each name stays; the others are set aside.
                tools = await _tools(client)
                first: dict[str, Tool] = {}
                later = [tool.name for tool in tools if first.setdefault(tool.name, tool) is not tool]
                aside += [ToolSetAside(name, "another tool of the server has the same name") for name in later]
                self.tools = tuple(first.values())
                self.aside = tuple(aside)
                scope.deadline = math.inf
                if client.server_info and not self.place.is_named:
                    self.name = client.server_info.name
                for name, sentence in self.aside:
                    log_of_tools().warning("MCP server %s, tool %s is set aside: %s", self.name, name, sentence)
                self._client = client
                output.release()
                self._opened.set_result(None)
                if not self._is_over:
                    await anyio.sleep_forever()  # until `stop` cancels this
        if not self._opened.done():
            raise ConnectionError("it was closed") if self._is_over else TimeoutError

    def _take_complaint(self, output: ErrorOutput) -> None:
        """Keep the last words of a server that was never ready."""
        if not self._opened.done():
            self._complaint = output.last_line()


async def _noted(note: Callable[[str], None], progress: float, total: float | None, message: str | None) -> None:
    """Hand a server's progress on, in words."""
    note(message or (f"{progress:g}" if total is None else f"{progress:g} of {total:g}"))


async def _client(place: Place, stack: AsyncExitStack, aside: list[ToolSetAside], output: ErrorOutput) -> Client:
    transport: Transport
    if not isinstance(place, Address):
        started = StdioServerParameters(command=place.program, args=list(place.arguments), env=place.env, cwd=place.cwd)
        transport = stdio_client(started, errlog=output.file)
    elif place.is_sse:
        transport = sse_client(place.url, headers=dict(place.headers))
    else:
        http = httpx2.AsyncClient(headers=place.headers, timeout=httpx2.Timeout(30, read=300))
        await stack.enter_async_context(http)
        transport = streamable_http_client(place.url, http_client=http)
    me = Implementation(name="interlingua", version=version("interlingua"))
    return Client(sifted(transport, aside), client_info=me)


async def _tools(client: Client) -> tuple[Tool, ...]:
    """All the tools of a server, page by page."""
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [
            Tool(
                name=item.name,
                description=item.description or item.title,
                parameters=item.input_schema,
                metadata={"mcp": item.annotations.model_dump(by_alias=True, exclude_none=True)}
                if item.annotations
                else {},
            )
            for item in page.tools
        ]
        cursor = page.next_cursor
        if not cursor:
            return tuple(tools)
    raise LimitExceededError(f"its list of tools has more than {MAX_PAGES} pages")


def _explained(place: Place, error: Exception, timeout_s: float, complaint: str) -> Error:
    """Why a server could not be opened, in our words, with its command and the last line of its error output."""
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    where = f"MCP server {place.name}"
    if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError):
        return ConfigError(f"{where}: {error.filename or 'the command'}: {error.strerror}")
    if isinstance(place, Address):
        secrets, started = place.headers.values(), ""
    else:
        command = re.sub(_HIDDEN_ARGUMENT, r"\1***", shlex.join([place.program, *place.arguments]))
        shown = command if len(command) <= _LONGEST_COMMAND else f"{command[:_LONGEST_COMMAND]}…"
        secrets, started = (place.env or {}).values(), f" (started as `{shown}`)"
    if isinstance(error, TimeoutError):
        last = f"; it said {complaint!r}" if complaint else ""
        return APITimeoutError(redact(f"{where}: not ready after {timeout_s:g} s{last}", *secrets), phase="connect")
    if isinstance(error, Error):
        return type(error)(f"{where}: {error.message}")
    why = complaint or error or type(error).__name__
    return APIConnectionError(redact(f"{where} could not be opened: {why}{started}", *secrets))


def _close_all() -> None:
    """Close what is open when the program ends."""
    links = list(_open)
    for link in links:
        link.stop()
    end_s = time.monotonic() + CLOSING_S
    for link in links:
        link.join(max(0.0, end_s - time.monotonic()))
