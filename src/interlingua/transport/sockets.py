"""Sockets as a model's client wants them: which addresses to try, in which order, for how long.

Source: RFC 6761 (localhost), RFC 6724 (the resolver's order is kept), a light form of RFC 8305.
"""

from __future__ import annotations

import select
import socket
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Address", "Probe", "attempt_s", "known_addresses", "new_socket", "ordered"]

Address: TypeAlias = "tuple[socket.AddressFamily, _Place]"
"""An address family and what `connect` takes."""

_Place: TypeAlias = "tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]"
Found: TypeAlias = "tuple[socket.AddressFamily, socket.SocketKind, int, str, _Place]"
"""One entry of `getaddrinfo`."""

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


def ordered(found: Sequence[Found]) -> list[Address]:
    """What `getaddrinfo` found, its first address first, then the first of another family, then the rest."""
    addresses: list[Address] = [(entry[0], entry[4]) for entry in found]
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
