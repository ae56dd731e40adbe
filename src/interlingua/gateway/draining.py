"""A server that ends without dropping what is under way, and that looks at its file while it runs.

Strategy: uvicorn closes its listeners and idle connections and waits. Before that, for a moment, readiness says no and
every reply closes its connection, so that who distributes requests takes this server out; and before uvicorn gives up
waiting, what is still under way is told so in its own dialect.

Rules
- Told by SIGTERM, new requests are still taken for `notice_s`; from the keyboard the end begins at once.
- Then new connections are turned away before those are closed that wait to be accepted (Linux alone can do that), and
  who has just connected has a moment to ask.
- After `drain_s` what has not begun to be answered gets a 503, and a stream ends with its dialect's error.
- A worker whose supervisor is gone ends, too.
"""

from __future__ import annotations

import asyncio
import ctypes
import math
import os
import signal
import socket
import struct
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.gateway.core import Gateway

__all__ = ["CUT_S", "DrainingServer", "turn_away"]

_SO_ATTACH_FILTER = 26

CUT_S = 5.0
"""How long what was cut off has to tell so."""
LINGER_S = 0.5
"""How long who has just connected has to ask."""
TICKS_A_SECOND = 10
"""How often uvicorn looks around."""


def turn_away(listener: socket.socket) -> None:
    """Have the system ignore who wants to connect from now on; elsewhere than on Linux it does nothing.

    A socket that is closed resets the connections that wait in its queue. With a filter that lets no packet pass the
    queue only gets shorter, so that it can be emptied first.
    """
    if sys.platform != "linux":
        return
    drop_all = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))  # BPF_RET: keep 0 bytes of each packet
    program = struct.pack("HL", 1, ctypes.addressof(drop_all))
    with suppress(OSError):  # not allowed where a sandbox forbids it
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)


class DrainingServer(uvicorn.Server):
    """A server of one gateway."""

    def __init__(self, config: uvicorn.Config, gateway: Gateway) -> None:
        """A server that was not started yet."""
        super().__init__(config)
        self._gateway = gateway
        self.on_second: Callable[[], object] | None = None
        """What is done once a second, between requests; it must not wait."""
        self.supervisor: int | None = None
        """The process that started it as a worker, and with which it ends; None for one that is no worker."""

    async def on_tick(self, counter: int) -> bool:
        """Whether to end; called ten times a second."""
        if counter % TICKS_A_SECOND == 0 and self.on_second is not None:
            self.on_second()
        if self.supervisor is not None and os.getppid() != self.supervisor:
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: say so, finish what is under way, cut off what takes too long."""
        self._gateway.draining = True
        settings = self._gateway.settings
        self.server_state.default_headers.append((b"connection", b"close"))
        if signal.SIGTERM in self._captured_signals:
            await asyncio.sleep(settings.notice_s)
            await self._close_listeners(sockets or [])
        self.config.timeout_graceful_shutdown = math.ceil(settings.drain_s + CUT_S)
        timer = asyncio.get_running_loop().call_later(settings.drain_s, self._cut)
        try:
            with suppress(asyncio.CancelledError):
                await super().shutdown(sockets)
        finally:
            timer.cancel()

    async def _close_listeners(self, sockets: list[socket.socket]) -> None:
        """Take what has come, and no more."""
        if self.supervisor is None:  # else it does that, for all workers
            for listener in sockets:
                turn_away(listener)
        await asyncio.sleep(LINGER_S / 2)
        for server in self.servers:
            server.close()
        await asyncio.sleep(LINGER_S / 2)

    def _cut(self) -> None:
        self._gateway.is_ending = True
        for task in list(self.server_state.tasks):
            task.cancel()
