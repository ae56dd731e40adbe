"""A relay in front of a store, which can lose a reply: it closes the connection in its place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

__all__ = ["Relay", "relayed"]


class Relay:
    """Carries bytes between clients and a store."""

    def __init__(self, host: str, port: int) -> None:
        """A relay to that place."""
        self.host, self.port = host, port
        self.loses: bool = False
        """Whether the next reply is lost, and its connection with it."""
        self.url: str = ""
        """Its own address."""
        self._writers: set[asyncio.StreamWriter] = set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        far_reader, far_writer = await asyncio.open_connection(self.host, self.port)
        self._writers |= {writer, far_writer}
        upward = asyncio.create_task(self._copy(reader, far_writer))
        with suppress(OSError):
            while data := await far_reader.read(1 << 20):
                if self.loses:
                    self.loses = False
                    break
                writer.write(data)
                await writer.drain()
        for each in (writer, far_writer):
            each.transport.abort()
        await upward

    def close(self) -> None:
        """Break every connection."""
        for writer in self._writers:
            writer.transport.abort()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 20):
                writer.write(data)
                await writer.drain()
            writer.close()


@asynccontextmanager
async def relayed(url: str) -> AsyncGenerator[Relay]:
    """A relay in front of the store at an address."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    relay = Relay(parts.hostname, parts.port)
    server = await asyncio.start_server(relay.carry, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    relay.url = url.replace(f"{parts.hostname}:{parts.port}", f"127.0.0.1:{port}")
    async with server:
        yield relay
        relay.close()
        await asyncio.sleep(0.05)  # their tasks see it
