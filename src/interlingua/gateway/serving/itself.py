"""Where a gateway listens, so that no vendor's variable leads it to itself."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from interlingua.gateway.keys.auth import hash_key
from interlingua.registry.place import Place

if TYPE_CHECKING:
    from interlingua.gateway.core import Gateway

__all__ = ["leave_out_itself"]


def leave_out_itself(gateway: Gateway, host: str, port: int) -> None:
    """Keep a gateway from calling itself: a vendor's variable that names where it listens counts as not set.

    So does a key beside such a variable that is one of the gateway's own: both were set for its clients.
    """
    names = {host, socket.gethostname(), *gateway.settings.hosts}
    address = None if host == "localhost" else ipaddress.ip_address(host)
    if address is None or address.is_loopback or address.is_unspecified:
        names.add("localhost")
    if address is not None and address.is_unspecified:
        # Under which address others reach this machine; nothing is sent to find it, and nobody is asked for names.
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unsent:
            unsent.connect(("192.0.2.1", 9))
            names.add(unsent.getsockname()[0])
    ports = {name: {port, 80, 443} if name in gateway.settings.hosts else {port} for name in names}
    gateway.registry.leave_out(
        [Place(name.lower(), number) for name in names for number in ports[name]],
        lambda key: hash_key(key) in gateway.guard.keys.table,
    )
