"""Ports of loopback that nobody else gets: for servers that are told a port, and where nobody is to listen."""

from __future__ import annotations

import os
import socket
import weakref

__all__ = ["Place"]


class Place:
    """A port that is this one's while it lives; a server that may take an address anew can listen there, as all do."""

    def __init__(self) -> None:
        """Bound, so that the system gives it to no other process; nobody listens, so a server may."""
        with socket.socket() as bound:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(("127.0.0.1", 0))
            self.port: int = bound.getsockname()[1]
            """Its number."""
            weakref.finalize(self, os.close, bound.detach())
