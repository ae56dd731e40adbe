"""The process in which costly bodies are worked on: it takes task after task from its standard input, a socket.

Rules
- It ends with the socket, so it never outlives its gateway by more than one task.
- Its memory and the processor time of each task are bounded; one that holds much memory after a task is ended.
- It gets no environment of the gateway's, so no key is in it, and it writes nothing but replies.
"""

from __future__ import annotations

import pickle
import resource
import socket
import struct
import sys
from pathlib import Path

from interlingua.errors import Error, InternalServerError, LimitExceededError
from interlingua.gateway.offload.tasks import TASKS, Message

__all__ = ["HEAD", "MEMORY_BYTES", "NO_MEMORY", "main"]

HEAD = struct.Struct("!QQ")
"""How long the facts of a message are, and its block."""
MEMORY_BYTES = 3 * 1024 * 1024 * 1024
"""The most memory that the process may map."""
NO_MEMORY = 71
"""The status with which it ends where a task, or the reply to it, takes more memory than that."""
_MUCH_BYTES = 128 * 1024 * 1024
"""If it holds so much memory after a task, the process gives it back by ending."""
_SPARE_S = 5
"""How much more processor time than its gateway waits a task may take."""


def main() -> None:
    """Work until the socket ends."""
    if sys.platform != "darwin":  # where the bound counts what every process shares
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    deadline_s = int(float(sys.argv[1])) + _SPARE_S
    with socket.socket(fileno=0) as peer:
        while message := _received(peer):
            used = resource.getrusage(resource.RUSAGE_SELF)
            limit_s = int(used.ru_utime + used.ru_stime) + deadline_s
            resource.setrlimit(resource.RLIMIT_CPU, (limit_s, resource.RLIM_INFINITY))
            problem, reply = _done(message)
            block = reply.block
            facts = pickle.dumps((problem, reply.facts, _resident_bytes() - len(block) > _MUCH_BYTES), 5)
            peer.sendall(HEAD.pack(len(facts), len(block)) + facts)
            peer.sendall(block)
            del message, problem, reply, facts, block


def _resident_bytes() -> int:
    """How much memory the process has; 0 where nobody says."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def _done(message: Message) -> tuple[Error | None, Message]:
    """The result of a task, or the error in its place."""
    task, facts = message.facts
    try:
        return None, TASKS[task](facts, message.block)
    except MemoryError:
        error: Error = LimitExceededError("to read the body takes more memory than a request may have", status=413)
    except Error as own:
        error = own.with_traceback(None)
    except Exception as fault:  # noqa: BLE001 - a fault of ours has to reach the gateway
        error = InternalServerError(f"a costly body could not be worked on: {type(fault).__name__}")
    return error, Message(None, b"")


def _received(peer: socket.socket) -> Message | None:
    head = _exactly(peer, HEAD.size)
    if head is None:
        return None
    sizes = HEAD.unpack(head)
    facts, block = [_exactly(peer, size) for size in sizes]
    if facts is None or block is None:
        return None
    return Message(pickle.loads(facts), block)  # noqa: S301 - of the gateway that started this process


def _exactly(peer: socket.socket, size: int) -> bytes | None:
    """So many bytes; None where the socket ends before."""
    data = bytearray(size)
    view, place = memoryview(data), 0
    while place < size:
        count = peer.recv_into(view[place:])
        if not count:
            return None
        place += count
    return bytes(data)


if __name__ == "__main__":
    try:
        main()
    except MemoryError:
        sys.exit(NO_MEMORY)
