"""The end of a server without a lost request: a listener that takes nobody new, and how long the rest may take."""

from __future__ import annotations

import ctypes
import socket
import struct
import sys
from contextlib import suppress

__all__ = ["CUT_S", "turn_away"]

_SO_ATTACH_FILTER = 26

CUT_S = 5.0
"""How long what was cut off has to tell so."""


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
