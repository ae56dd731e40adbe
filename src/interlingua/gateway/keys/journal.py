"""The lines of calls beside the database of keys: appended by every process that has it open, one at a time.

Shape: `keys.sqlite-calls-N` has the lines of generation N, each ended by a line feed; `keys.sqlite-lock` is locked by
who reads and writes them. The last line of a generation that is over is `next`.

Strategy: what a process has written with `write` is the system's, and survives the process, however it ends. So a
settlement costs a lock, a look for what others wrote, and a `write`: microseconds of the event loop, and no thread.

Rules
- Whoever has the lock has read everything before it writes: the lines are one sequence for all.
- A line that was torn (its writer was killed within it, or the disk was full) has no end. It was told to nobody, and
  the next who has the lock cuts it off.
- The next generation is there before the last line that names it; it is emptied when it begins.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

from interlingua.errors import DecodeError, LimitExceededError
from interlingua.gateway.keys.books import Line, Next
from interlingua.wire.json import decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["GenerationGone", "Journal", "lines_from"]

SPINS = 40
"""How often the lock is tried before somebody else gets a turn: it is held for some microseconds."""
_CHUNK_BYTES = 16 * 1024
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)


class GenerationGone(Exception):  # noqa: N818 - what happened, not what is wrong
    """A generation is not there: its lines are in the database by now."""


def _path(database: Path, generation: int) -> Path:
    return database.with_name(f"{database.name}-calls-{generation}")


def lines_from(database: Path, generation: int) -> Iterator[Line]:
    """All lines from a generation on, as they are now, for who has no lock.

    Raises: GenerationGone where one of them is not there.
    """
    while True:
        try:
            data = _path(database, generation).read_bytes()
        except FileNotFoundError:
            raise GenerationGone from None
        lines, _ = _whole(data)
        yield from lines
        if not lines or not isinstance(lines[-1], Next):
            return
        generation += 1


def _whole(data: bytes) -> tuple[list[Line], int]:
    """The lines that are whole, and how many bytes they are; what comes after one that cannot be read is no line."""
    found: list[Line] = []
    size = 0
    for text in data.split(b"\n")[:-1]:
        try:
            found.append(decode(text, Line))
        except (DecodeError, LimitExceededError):
            break
        size += len(text) + 1
    return found, size


class Journal:
    """The lines of one database, in one process."""

    def __init__(self, database: Path) -> None:
        """Those beside the database at that path.

        Raises: OSError.
        """
        self._database = database
        self._lock = os.open(database.with_name(f"{database.name}-lock"), _FLAGS, 0o600)
        self._file = -1
        self.generation: int = 0
        """The generation that is being written."""
        self.size: int = 0
        """How many bytes of it were read or written."""

    def lock(self) -> bool:
        """Whether nobody else reads or writes until `unlock`."""
        return _is_locked(self._lock) or any(_is_locked(self._lock) for _ in range(SPINS))

    def unlock(self) -> None:
        """Let others read and write."""
        _unlock(self._lock)

    def begin(self, generation: int, *, new: bool = False) -> None:
        """Go on with a generation, from its beginning; `new` makes it where it is not there.

        Raises: GenerationGone where it is not there.
        """
        flags = _FLAGS if new else _FLAGS & ~os.O_CREAT
        try:
            file = os.open(_path(self._database, generation), flags, 0o600)
        except FileNotFoundError:
            raise GenerationGone from None
        self._turn_to(file, generation)

    def read(self) -> list[Line]:
        """What others have written meanwhile, up to the end of this generation; the lock is ours.

        Raises: GenerationGone.
        """
        data = os.read(self._file, _CHUNK_BYTES)
        return self._read_on(data) if data else []

    def append(self, text: bytes) -> None:
        """Write lines; the lock is ours, and everything was read.

        Raises: OSError; then none of them is written.
        """
        try:
            written = os.write(self._file, text)
        except OSError:
            self._cut()
            raise
        if written != len(text):
            self._cut()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.size += written

    def end(self, last: Next) -> None:
        """Begin the next generation; the lock is ours.

        Raises: OSError; then it is not begun.
        """
        file = os.open(_path(self._database, self.generation + 1), _FLAGS | os.O_TRUNC, 0o600)
        try:
            self.append(encode(last) + b"\n")
        except BaseException:
            os.close(file)
            raise
        self._turn_to(file, self.generation + 1)

    def remove_before(self, generation: int) -> None:
        """Remove the lines of generations that are in the database."""
        for path in self._database.parent.glob(f"{self._database.name}-calls-*"):
            number = path.name.rpartition("-")[2]
            if number.isdigit() and int(number) < generation:
                try:
                    path.unlink(missing_ok=True)
                except PermissionError:  # elsewhere than on POSIX, while another process has it open
                    return

    def close(self) -> None:
        """Let go of the files."""
        if self._file >= 0:
            os.close(self._file)
        os.close(self._lock)
        self._file = self._lock = -1

    def _turn_to(self, file: int, generation: int) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file, self.generation, self.size = file, generation, 0

    def _read_on(self, data: bytes) -> list[Line]:
        pieces = [data]
        while piece := os.read(self._file, _CHUNK_BYTES):
            pieces.append(piece)
        data = b"".join(pieces)
        lines, size = _whole(data)
        self.size += size
        if size < len(data):
            self._cut()
        return lines

    def _cut(self) -> None:
        """Cut off what is no whole line."""
        os.ftruncate(self._file, self.size)
        os.lseek(self._file, self.size, os.SEEK_SET)


if sys.platform == "win32":
    import msvcrt

    def _is_locked(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    _OURS, _NOBODYS = fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_UN

    def _is_locked(file: int) -> bool:
        try:
            fcntl.flock(file, _OURS)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: int) -> None:
        fcntl.flock(file, _NOBODYS)
