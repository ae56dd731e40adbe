"""A command in a network of its own that has nothing but the loopback: `python -m tests.support.alone COMMAND…`.

Where the machine does not permit that, the command runs all the same and finds no `ALONE` in its environment.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

__all__ = ["VARIABLE", "isolate"]

VARIABLE = "INTERLINGUA_TEST_ALONE"
"""Set where there is no network but the loopback."""
_NEW_USER, _NEW_NETWORK = 0x1000_0000, 0x4000_0000
_GET_FLAGS, _SET_FLAGS = 0x8913, 0x8914
_IS_UP = 1


def isolate() -> str | None:
    """Leave the machine's network, and bring up a loopback; the reason where that is not permitted."""
    user, group = os.getuid(), os.getgid()
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_NEW_USER | _NEW_NETWORK) != 0:
        return f"a network of its own is not permitted: {os.strerror(ctypes.get_errno())}"
    try:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            request = struct.pack("16sh14x", b"lo", 0)
            (flags,) = struct.unpack_from("h", fcntl.ioctl(link, _GET_FLAGS, request), 16)
            fcntl.ioctl(link, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _IS_UP))
    except OSError as error:
        return f"the loopback of a network of its own cannot be brought up: {error.strerror}"
    return None


if __name__ == "__main__":
    reason = isolate() if sys.platform == "linux" else "only Linux has networks of a process's own"
    if reason is None:
        os.environ[VARIABLE] = "1"
    else:
        sys.stderr.write(f"{reason}\n")
    os.execvp(sys.argv[1], sys.argv[1:])
