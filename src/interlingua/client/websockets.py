"""Calls over WebSockets for a while: the turns of a loop of tools over one connection, with the new items alone.

Strategy: an override around every call, as fakes and cassettes are. It carries what can be a turn of Responses to a
provider whose row says that it has WebSockets; everything else goes as always.

Rules
- A connection is kept from turn to turn as long as the block lasts; at its end none is left.
- A turn that does not go on from what its connection had last sends everything, so nothing depends on a connection.
- Where a handshake is refused, or a proxy is in between, HTTP carries the request.
- A fake, a cassette or a fault that holds around the block stays in charge: nothing goes past it.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from interlingua.dialects.table import get_service
from interlingua.errors import Error
from interlingua.registry.resolve import default_registry
from interlingua.transport.override import Override, overriding
from interlingua.transport.proxies import proxy_for
from interlingua.transport.url import parse_url
from interlingua.transport.websocket.pool import Counts, Pool

if TYPE_CHECKING:
    from interlingua.transport.base import AsyncTransport, Transport
    from interlingua.transport.websocket.aio import AsyncConnection
    from interlingua.transport.websocket.sync import Connection
    from interlingua.wire.http import HttpRequest

__all__ = ["websockets"]


@contextmanager
def websockets() -> Generator[Counts]:
    """Calls made until the block ends go over WebSockets where their provider has them; gives what went over them.

    It holds for blocking and awaited calls of this context, the tasks that it starts included.

    Raises: ConfigError without the extra `websocket`.
    """
    from interlingua.transport.websocket import link  # the library is an extra: say so now

    _ = link
    counts = Counts()
    pool, awaited = Pool["Connection"](counts), Pool["AsyncConnection"](counts)
    try:
        with overriding(Override(partial(_before, pool), partial(_before_async, awaited), only_carries=True)):
            yield counts
    finally:
        pool.close()
        awaited.close()


def _before(pool: Pool[Connection], inner: Transport) -> Transport:
    from interlingua.transport.sync import HttpTransport
    from interlingua.transport.websocket.sync import SocketTransport

    return SocketTransport(inner, pool, _has_websockets) if isinstance(inner, HttpTransport) else inner


def _before_async(pool: Pool[AsyncConnection], inner: AsyncTransport) -> AsyncTransport:
    from interlingua.transport.aio import HttpTransport
    from interlingua.transport.websocket.aio import AsyncSocketTransport

    return AsyncSocketTransport(inner, pool, _has_websockets) if isinstance(inner, HttpTransport) else inner


def _has_websockets(request: HttpRequest) -> bool:
    """Whether the provider of a request has WebSockets, and nothing is in between."""
    if request.target is None or request.dialect is None or not get_service(request.dialect).sockets:
        return False
    try:
        endpoints = default_registry().resolve(request.target)
        has = any(one.target.quirks.websocket for one in endpoints)
        return has and proxy_for(parse_url(request.url).origin, os.environ) is None
    except Error:
        return False
