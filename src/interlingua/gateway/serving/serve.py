"""The gateway on a port, by its own server, until a signal ends it.

Rules
- Without a key it listens on the loopback alone; another address without one is refused.
- The first signal drains: nothing new is taken, what is under way is finished within the drain time (`server`).
- SIGHUP has the configuration file read again (`reload`); one that comes before there is anything to read waits.
- What a proxy says of the client's address is not believed: it decides who is served without a key.
"""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interlingua.errors import ConfigError, UsageError
from interlingua.gateway.serving.server import GatewayServer
from interlingua.gateway.settings import MAX_PORT
from interlingua.transport.default import set_default_options
from interlingua.transport.options import HttpOptions

if TYPE_CHECKING:
    from collections.abc import Generator

    from interlingua.gateway.core import Gateway
    from interlingua.gateway.serving.reload import Reload

__all__ = [
    "DEFAULT_PORT",
    "MAX_CONNECTIONS",
    "MIN_OPEN_FILES",
    "check_address",
    "client_room",
    "hearing_sighup",
    "is_loopback",
    "listen",
    "make_room",
    "serve_until_stopped",
]

DEFAULT_PORT = 8787
"""Where `il serve` listens unless it is told otherwise."""
MAX_CONNECTIONS = 10_000
"""How many connections a serving process holds to its upstreams, as far as the system lets it."""
MIN_OPEN_FILES = 64
"""How many open files a gateway needs: its loop, its databases, and a connection on either side of a few requests."""
SPARE_FILES = 32
"""How many of them are left to everything that is no connection of a client, and not made for one."""


def check_address(host: str, *, has_keys: bool) -> None:
    """Nothing, if a gateway may listen there.

    Raises: UsageError for an address that others can reach, without a key.
    """
    if not has_keys and not is_loopback(host):
        raise UsageError(
            f"listening on {host} without a key would serve whoever can reach it: make one (il keys create NAME), "
            "bring one (--key-env NAME), or leave --host out"
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

    Where it is every address of IPv6, it is every one of IPv4, too, if the system knows both.

    Raises: UsageError for an address that is taken or not ours, and for what is no port.
    """
    if not 0 <= port <= MAX_PORT:
        raise UsageError(f"cannot listen on port {port}: ports go from 0 to {MAX_PORT}")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        both = family == socket.AF_INET6 and host == "::" and socket.has_dualstack_ipv6()
        return socket.create_server((host, port), family=family, backlog=2_048, dualstack_ipv6=both)
    except OSError as error:
        number = error.errno or 0
        why = os.strerror(number) if number > 0 else error.strerror or error
        raise UsageError(f"cannot listen on {host} port {port}: {why}; --port takes another") from None


def serve_until_stopped(
    gateway: Gateway, listener: socket.socket, reload: Reload | None = None, *, supervisor: int | None = None
) -> None:
    """Serve until the process is told to end, by a signal or from the keyboard.

    `reload` keeps the gateway as its file says; a worker ends with its `supervisor`.
    """
    server = GatewayServer(gateway)
    server.supervisor = supervisor
    server.room = client_room()
    if reload is not None:
        server.on_second = reload.look
    try:
        server.run(listener)
    finally:
        listener.close()


@contextmanager
def hearing_sighup(reload: Reload | None) -> Generator[None]:
    """Have SIGHUP read the file again, as long as the block lasts; without a file it does nothing.

    One that has waited (`holding_sighup`) is heard at once.
    """
    if not hasattr(signal, "SIGHUP"):  # not on Windows
        yield
        return

    def ask(number: int, frame: object) -> None:  # noqa: ARG001 - the form of a signal's handler
        if reload is not None:
            reload.ask()

    previous = signal.signal(signal.SIGHUP, ask)
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGHUP, previous)


def make_room() -> None:
    """Let this process hold as many connections as it may: a stream takes one on either side.

    Raises: ConfigError where it may hold too few open files to serve anybody.
    """
    set_default_options(HttpOptions(max_connections=MAX_CONNECTIONS, max_connections_per_origin=MAX_CONNECTIONS))
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    need = 2 * MAX_CONNECTIONS + 1_000
    allowed = need if hard == resource.RLIM_INFINITY else min(need, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        soft = allowed
    if soft != resource.RLIM_INFINITY and soft < MIN_OPEN_FILES:
        raise ConfigError(
            f"this process may have {soft} files open at once (`ulimit -n`); a gateway needs {MIN_OPEN_FILES} or more"
        )


def client_room() -> int:
    """How many clients may be connected, as far as open files go.

    Each may have a connection to an upstream, and as many as there are may linger that were refused.
    """
    try:
        import resource
    except ImportError:  # not on Windows
        return sys.maxsize
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else (soft - SPARE_FILES) // 3
