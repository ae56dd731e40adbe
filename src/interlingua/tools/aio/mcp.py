"""The awaited twin of `tools.mcp`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from interlingua.errors import UsageError
from interlingua.tools.mcp import OPENING_S, McpSource
from interlingua.tools.mcp_servers import places_of
from interlingua.types.tool import Tool

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["AsyncMcpTools", "mcp"]


class AsyncMcpTools(McpSource):
    """The tools of MCP servers; see `mcp`."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, with handlers.

        Raises: UsageError, where the servers are not open yet.
        """
        if not self.is_open:
            raise UsageError(f"{self!r} is not open yet; `await` its `open()` first, or use it with `async with`")
        return self.made(frozenset())

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    async def open(self) -> None:
        """Open the servers, if they are not open.

        Raises: ConfigError, APIConnectionError and APITimeoutError, for a server that cannot be reached.
        """
        await asyncio.to_thread(self.connect)

    async def close(self) -> None:
        """Close the servers, and wait until they have ended; a later use opens them again."""
        await asyncio.to_thread(self.disconnect)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def mcp(
    source: str | os.PathLike[str],
    *,
    name: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    headers: Mapping[str, str] | None = None,
    only: Iterable[str] | None = None,
    timeout_s: float = OPENING_S,
) -> AsyncMcpTools:
    """The tools of an MCP server, to stand in a list of tools; `await toolbox.open()` opens it.

    `source` is a command line, an address (`https://…/mcp`), or the path of a file with `mcpServers`, all of whose
    servers come. A command gets of the environment what `env` says and little else, so no keys. `only` names the tools
    to take; `timeout_s` is how long a server may take to be ready. Needs the extra `[mcp]`.
    Raises: ConfigError, for a file that cannot be read; what opening raises comes when the tools are needed.
    """
    places = places_of(source, name=name, env=env, cwd=cwd, headers=headers)
    return AsyncMcpTools(places, only=only, timeout_s=timeout_s)
