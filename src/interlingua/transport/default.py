"""One HTTP transport per process and face, made at first use and closed at the end of the process."""

from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlingua.transport import aio
    from interlingua.transport.base import Transport
    from interlingua.transport.options import HttpOptions

__all__ = ["default_async_transport", "default_options", "default_transport", "set_default_options"]

_lock = threading.Lock()
_options: HttpOptions | None = None
_transport: Transport | None = None
_async_transport: aio.HttpTransport | None = None


def set_default_options(options: HttpOptions | None) -> None:
    """Say how the transports of this process connect, for those that were not made yet; None is the default again."""
    global _options  # noqa: PLW0603 - those of the process
    _options = options


def default_options() -> HttpOptions:
    """How the transports of this process connect."""
    from interlingua.transport.options import HttpOptions

    return _options or HttpOptions()


def default_transport() -> Transport:
    """The blocking transport that models share; proxies are read from the environment of the process."""
    global _transport  # noqa: PLW0603 - the one of the process, made at first use
    if _transport is None:
        with _lock:
            if _transport is None:
                from interlingua.transport.sync import HttpTransport

                made = HttpTransport(_options, environment=os.environ)
                atexit.register(made.close)
                _transport = made
    return _transport


def default_async_transport() -> aio.HttpTransport:
    """The asyncio transport that models share, on every event loop; proxies are read from the environment."""
    global _async_transport  # noqa: PLW0603 - the one of the process, made at first use
    if _async_transport is None:
        with _lock:
            if _async_transport is None:
                from interlingua.transport.aio import HttpTransport

                made = HttpTransport(_options, environment=os.environ)
                atexit.register(made.close_without_loop)
                _async_transport = made
    return _async_transport
