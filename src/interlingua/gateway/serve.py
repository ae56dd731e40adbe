"""The gateway on a port: uvicorn with httptools and uvloop, until a signal ends it.

Rules
- Without a key it listens on the loopback alone; another address without one is refused.
- The first signal drains: nothing new is taken, what is under way is finished within the drain time. A second one ends.
- What a proxy says of the client's address is not believed: it decides who is served without a key.
"""

from __future__ import annotations

import ipaddress
import signal
import socket
from typing import TYPE_CHECKING, NoReturn

from interlingua.errors import ConfigError, UsageError
from interlingua.gateway.asgi import GatewayApp

if TYPE_CHECKING:
    import uvicorn

    from interlingua.gateway.core import Gateway

__all__ = ["DEFAULT_PORT", "DRAIN_S", "check_address", "is_loopback", "listen", "serve_until_stopped", "server_of"]

DEFAULT_PORT = 8787
"""Where `il serve` listens unless it is told otherwise."""
DRAIN_S = 30
"""Seconds that requests under way have when the server ends."""


def check_address(host: str, *, has_keys: bool) -> None:
    """Nothing, if a gateway may listen there.

    Raises: UsageError for an address that others can reach, without a key.
    """
    if not has_keys and not is_loopback(host):
        raise UsageError(
            f"listening on {host} without a key would serve whoever can reach it: add --key-env NAME (or --key), "
            "or leave --host out"
        )


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one.

    Raises: UsageError for an address that is taken or not ours.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=2_048)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; --port takes another"
        ) from None


def serve_until_stopped(gateway: Gateway, listener: socket.socket) -> None:
    """Serve until the process is told to end, by a signal or from the keyboard.

    Raises: ConfigError without the [gateway] extra.
    """
    server = server_of(gateway)
    previous = {sign: signal.signal(sign, _stop) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listener])
    except _Stopped:
        pass  # uvicorn has drained, and gives the signal on to whoever had it before
    finally:
        for sign, handler in previous.items():
            signal.signal(sign, handler)
        listener.close()


class _Stopped(BaseException):
    """The process was told to end."""


def _stop(number: int, frame: object) -> NoReturn:  # noqa: ARG001 - the form of a signal's handler
    raise _Stopped


def server_of(gateway: Gateway) -> uvicorn.Server:
    """A server of the gateway that was not started yet; it is given its socket when it is.

    Raises: ConfigError without the [gateway] extra.
    """
    try:
        import uvicorn
    except ImportError:
        raise ConfigError("serving needs the [gateway] extra: pip install 'interlingua[gateway]'") from None
    config = uvicorn.Config(
        GatewayApp(gateway),
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=DRAIN_S,
    )
    return uvicorn.Server(config)
