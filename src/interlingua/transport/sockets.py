"""Sockets as a model's client wants them: which addresses to try, in which order, for how long.

Source: RFC 6761 (localhost), RFC 6724 (the resolver's order is kept), a light form of RFC 8305.
"""

from __future__ import annotations

import select
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from interlingua.transport.url import Origin

__all__ = [
    "Address",
    "Found",
    "Network",
    "Probe",
    "attempt_s",
    "known_addresses",
    "new_socket",
    "ordered",
    "patience_of",
]

Address: TypeAlias = "tuple[socket.AddressFamily, _Place]"
"""An address family and what `connect` takes."""

_Place: TypeAlias = "tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]"
Found: TypeAlias = "tuple[socket.AddressFamily, socket.SocketKind, int, str, _Place]"
"""One entry of `getaddrinfo`."""


class Network(NamedTuple):
    """How names become addresses, and which of them a connection may go to."""

    resolve: Callable[[str, int], Sequence[Found]] | None = None
    """Finds the addresses of a host and a port, blocking; None asks the system."""
    admit: Callable[[Origin, Sequence[Address]], None] | None = None
    """Is shown every address of an origin before any of them is connected to, and raises to refuse them all."""
    route: Callable[[Address], Address] | None = None
    """The address to connect to in place of one that was admitted; None for the address itself."""

    def admitted(self, origin: Origin, addresses: Sequence[Address]) -> Sequence[Address]:
        """The addresses to connect to.

        Raises: whatever `admit` does.
        """
        if self.admit is not None:
            self.admit(origin, addresses)
        return addresses if self.route is None else [self.route(address) for address in addresses]


_TIMEVAL = struct.Struct("@ll")
_HAS_TIMEVAL = sys.platform in ("linux", "darwin") and _TIMEVAL.size == 16
_LONGEST_S = 86_400
_NEXT_AFTER_S = 2.0
_PROBE_AFTER_S = 60
_PROBE_OPTIONS = tuple(
    getattr(socket, name) for name in ("TCP_KEEPIDLE", "TCP_KEEPALIVE", "TCP_KEEPINTVL") if hasattr(socket, name)
)


def known_addresses(host: str, port: int) -> list[Address] | None:
    """The addresses of a literal or of `localhost` (RFC 6761: loopback, no look-up), else None: ask the resolver."""
    if host == "localhost":
        return [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port, 0, 0))]
    try:
        if ":" in host:
            socket.inet_pton(socket.AF_INET6, host)
            return [(socket.AF_INET6, (host, port, 0, 0))]
        socket.inet_pton(socket.AF_INET, host)
    except OSError:
        return None
    return [(socket.AF_INET, (host, port))]


def ordered(entries: Sequence[Found]) -> list[Address]:
    """The addresses of `getaddrinfo`: its first one, then the first of another family, then the rest."""
    addresses: list[Address] = [(entry[0], entry[4]) for entry in entries]
    for place, address in enumerate(addresses):
        if address[0] != addresses[0][0]:
            addresses.insert(1, addresses.pop(place))
            break
    return addresses


def attempt_s(left_s: float, addresses_left: int) -> float:
    """Seconds for one address, so that a dead one does not use up the time of the next."""
    return left_s if addresses_left <= 1 else min(left_s, _NEXT_AFTER_S)


def new_socket(family: socket.AddressFamily) -> socket.socket:
    """A TCP socket that sends at once, and probes a silent peer so that a long thought survives a router's memory."""
    link = socket.socket(family, socket.SOCK_STREAM)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option in _PROBE_OPTIONS:
        link.setsockopt(socket.IPPROTO_TCP, option, _PROBE_AFTER_S)
    return link


def patience_of(link: socket.socket, *, secure: bool) -> Callable[[float], None]:
    """The function that sets how many seconds a connected socket waits at most; until it is told, it waits for ever.

    Where the time is over, it raises TimeoutError or BlockingIOError. The system keeps the time of a plain socket where
    it can, which saves a `poll` before each read and write; TLS has to be told when it is its own time that is over.
    """
    link.settimeout(None)
    return link.settimeout if secure or not _HAS_TIMEVAL else partial(_have_the_system_wait, link)


def _have_the_system_wait(link: socket.socket, seconds: float) -> None:
    whole = min(int(seconds), _LONGEST_S)
    time = _TIMEVAL.pack(whole, max(1, int((seconds - whole) * 1e6)) if whole < _LONGEST_S else 0)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, time)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, time)


class Probe:
    """Tells whether an idle connection has something to say: its end, or what nobody asked for."""

    __slots__ = ("_link", "_poller")

    def __init__(self, link: socket.socket) -> None:
        """A probe of `link`, cheap to use again and again."""
        self._link = link
        self._poller = select.poll() if hasattr(select, "poll") else None
        if self._poller is not None:
            self._poller.register(link, select.POLLIN)

    def readable(self) -> bool:
        """Whether bytes or an end are waiting; never blocks."""
        if self._poller is not None:
            return bool(self._poller.poll(0))
        return bool(select.select([self._link], [], [], 0)[0])
