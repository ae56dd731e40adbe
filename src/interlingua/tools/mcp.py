"""The tools of MCP servers, to stand beside functions in a toolbox.

Rules
- Nothing is started before the tools are needed. A server's list of tools is read once, when it is opened.
- A tool that cannot be used is set aside, with a line in the log `interlingua.tools` and one in `set_aside`; the others
  are taken.
- A server is closed by `close` or the end of its `with`, by the toolbox that opened it, when nobody holds the source
  any more, neither by itself nor by a tool, and at the end of the program, whichever comes first.
- What a server says of a failed call is for the model to read.
- Servers that ask something of the caller's own model or of a person are told that nobody answers.
"""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from interlingua.errors import ConfigError
from interlingua.tools.mcp_servers import Place, places_of
from interlingua.tools.progress import LISTENER
from interlingua.types.tool import Tool

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from interlingua.tools.mcp_link import Link
    from interlingua.tools.outcome import Outcome

__all__ = ["McpSource", "McpTools", "mcp"]

OPENING_S = 60.0
"""How long a server may take to be ready, where the caller does not say; some are downloaded first."""


class McpSource:
    """The servers of one source: what the blocking and the awaited face share."""

    def __init__(
        self, places: tuple[Place, ...], *, only: Iterable[str] | None = None, timeout_s: float = OPENING_S
    ) -> None:
        """The servers at these places, not opened yet."""
        self._places = places
        self._only = None if only is None else frozenset(only)
        self._timeout_s = timeout_s
        self._links: tuple[Link, ...] = ()
        self._changing = threading.RLock()  # several calls of a step may find the source closed at once
        self._at_end: weakref.finalize[..., McpSource] | None = None

    @property
    def is_open(self) -> bool:
        """Whether every server is open."""
        return len(self._links) == len(self._places) and all(link.is_open for link in self._links)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(place.name for place in self._places)})"

    def __deepcopy__(self, memo: object) -> Self:
        """The source itself: the servers run once."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refused: another process has no connection to the servers, and is not told their secrets."""
        raise TypeError(
            f"{self!r} cannot be pickled, nor what holds it: another process has no connection to a server and is not"
            " told its secrets; call il.mcp(…) there"
        )

    def connect(self) -> None:
        """Open every server that is not open, all at once, and wait for them; all are closed when one fails.

        Raises: ConfigError, APIConnectionError and APITimeoutError, for a server that cannot be reached.
        """
        from interlingua.tools.mcp_link import Link

        with self._changing:
            if self.is_open:
                return
            self.disconnect()
            links = tuple(Link(place, self._timeout_s) for place in self._places)
            try:
                for link in links:
                    link.start()
                for link in links:
                    link.wait()
            except BaseException:
                _stop(links)
                raise
            self._links = links
            self._at_end = weakref.finalize(self, _stop, links)
            self._at_end.atexit = False  # the links themselves see to that

    def disconnect(self) -> None:
        """Close every server, and wait until it has ended."""
        with self._changing:
            links, self._links = self._links, ()
            if self._at_end is not None:
                self._at_end()  # stops the links
            for link in links:
                link.join()

    def names(self) -> list[str]:
        """The names of the tools, one for each, as the servers say them."""
        return [tool.name for _, tool in self._tool_links()]

    @property
    def set_aside(self) -> tuple[str, ...]:
        """A sentence for each tool of the open servers that cannot be used, and is therefore not among the tools."""
        return tuple(
            [
                f"MCP server {link.name}, tool {name}: {sentence}"
                for link in self._links
                for name, sentence in link.aside
                if self._only is None or name in self._only
            ]
        )

    def made(self, doubled: frozenset[str]) -> tuple[Tool, ...]:
        """The tools, with the server's name before those that are taken.

        Raises: ConfigError, for a tool in `only` that no server has, or that is set aside.
        """
        missing = sorted((self._only or frozenset()) - set(self.names()))
        if missing:
            why = "; ".join(self.set_aside) or f"{self!r} has no tool {missing[0]}"
            raise ConfigError(f"{why}; leave it out of `only`")
        from msgspec.structs import replace

        tools: list[Tool] = []
        for link, tool in self._tool_links():
            server = re.sub(r"[^a-zA-Z0-9_-]+", "_", link.name)
            name = f"{server}_{tool.name}" if tool.name in doubled else tool.name
            tools.append(replace(tool, name=name, handler=_Remote(self, link, tool.name)))
        return tuple(tools)

    def _tool_links(self) -> Iterator[tuple[Link, Tool]]:
        for link in self._links:
            for tool in link.tools:
                if self._only is None or tool.name in self._only:
                    yield link, tool


def _stop(links: tuple[Link, ...]) -> None:
    for link in links:
        link.stop()


class _Remote:
    """The handler of a server's tool; it keeps the source, so that the server stays while the tool is there."""

    __slots__ = ("_link", "_name", "_source")

    def __init__(self, source: McpSource, link: Link, name: str) -> None:
        self._source = source
        self._link = link
        self._name = name

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Pickled as None: another process has no connection to the server, and is not told its secrets."""
        return type(None), ()

    async def __call__(self, /, **arguments: Any) -> Outcome:
        import asyncio
        from contextlib import suppress

        from interlingua.tools.mcp_results import decode_result

        loop, listener = asyncio.get_running_loop(), LISTENER.get()

        def note(text: str) -> None:
            if listener is not None:
                with suppress(RuntimeError):  # the call was given up, and its loop is closed
                    loop.call_soon_threadsafe(listener, text)

        return decode_result(await asyncio.wrap_future(self._link.submit(self._name, arguments, note)))


class McpTools(McpSource):
    """The tools of MCP servers; see `il.mcp`."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, with handlers; the servers are opened for it."""
        self.open()
        return self.made(frozenset())

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def open(self) -> None:
        """Open the servers, if they are not open.

        Raises: ConfigError, APIConnectionError and APITimeoutError, for a server that cannot be reached.
        """
        self.connect()

    def close(self) -> None:
        """Close the servers, and wait until they have ended; a later use opens them again."""
        self.disconnect()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def mcp(
    source: str | os.PathLike[str],
    *,
    name: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    headers: Mapping[str, str] | None = None,
    only: Iterable[str] | None = None,
    timeout_s: float = OPENING_S,
) -> McpTools:
    """The tools of an MCP server, to stand in a list of tools: `il.Toolbox([get_weather, il.mcp("uvx some-server")])`.

    `source` is a command line, an address (`https://…/mcp`), or the path of a file with `mcpServers`, all of whose
    servers come. A command gets of the environment what `env` says and little else, so no keys. `only` names the tools
    to take; `timeout_s` is how long a server may take to be ready. Needs the extra `[mcp]`.
    Raises: ConfigError, for a file that cannot be read; what opening raises comes when the tools are needed.
    """
    return McpTools(places_of(source, name=name, env=env, cwd=cwd, headers=headers), only=only, timeout_s=timeout_s)
