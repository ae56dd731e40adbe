"""The lines of calls beside the database of keys: appended by every process that has it open, one at a time.

Shape: `keys.sqlite-calls-N` has the lines of generation N: 8 bytes that say how long they are together, 8 that say
nothing, the lines, each ended by a line feed, and room for more. `keys.sqlite-lock` is locked by who reads and writes
them; its second 8 bytes are not 0 where somebody waits for that. The last line of a generation that is over is `next`.

Strategy: every process has the file mapped into its memory, shared. What was stored there is the system's, and survives
the process, however it ends. So a settlement costs a lock, a look at the length, and a store: microseconds of the event
loop, no thread, and nothing of the disk, whose room was taken when the generation began.

Rules
- Whoever has the lock has read everything before it writes: the lines are one sequence for all.
- The lines are stored before the length, and the length in one store: who is killed in between has written nothing.
- What cannot be read, of a machine that lost its power, is the end; what comes next stands in its place.
- The next generation is there before the last line that names it; it is emptied when it begins.
"""

from __future__ import annotations

import errno
import mmap
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
_HEAD_BYTES = 16
_LAST_BYTES = 64
"""Room for the last line."""
_FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0)


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
        size = int.from_bytes(data[:8], sys.byteorder)
        lines, _ = _whole(data[_HEAD_BYTES : _HEAD_BYTES + size])
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

    def __init__(self, database: Path, capacity_bytes: int) -> None:
        """Those beside the database at that path; a generation has that many bytes.

        Raises: OSError.
        """
        self._database = database
        self._capacity_bytes = capacity_bytes
        self._lock = os.open(database.with_name(f"{database.name}-lock"), _FLAGS | os.O_CREAT, 0o600)
        self.words: memoryview = _words(self._lock)
        """The words of the lock; the second is not 0 where somebody waits for it."""
        self._lines: mmap.mmap | None = None
        self._length = memoryview(bytearray(8)).cast("Q")
        self.generation: int = 0
        """The generation that is being written."""
        self.size: int = 0
        """How many bytes of it were read or written."""
        self._room_bytes = 0

    def lock(self) -> bool:
        """Whether nobody else reads or writes until `unlock`."""
        if _is_locked(self._lock):
            return True
        self.is_wanted = True  # with each try: who has it may just have said that it was told
        return any(_is_locked(self._lock) for _ in range(SPINS))

    @property
    def is_wanted(self) -> bool:
        """Whether somebody waits for the lock, as far as nobody has seen that yet."""
        return self.words[1] != 0

    @is_wanted.setter
    def is_wanted(self, value: bool) -> None:
        self.words[1] = value

    def unlock(self) -> None:
        """Let others read and write."""
        _unlock(self._lock)

    def begin(self, generation: int, *, new: bool = False) -> None:
        """Go on with a generation, from its beginning; the lock is ours. `new` makes it where it is not there.

        Raises: GenerationGone where it is not there; OSError.
        """
        try:
            lines = self._mapped(generation, os.O_CREAT if new else 0)
        except FileNotFoundError:
            raise GenerationGone from None
        self._turn_to(lines, generation)

    def read(self) -> list[Line]:
        """What others have written meanwhile, up to the end of this generation; the lock is ours."""
        end = self._length[0]
        return [] if end == self.size else self._read_to(end)

    def append(self, text: bytes) -> bool:
        """Write lines; the lock is ours, and everything was read. False where this generation has no room for them."""
        before_bytes = self.size
        size = before_bytes + len(text)
        if size > self._room_bytes or self._lines is None:
            return False
        self._lines[_HEAD_BYTES + before_bytes : _HEAD_BYTES + size] = text
        self.size = self._length[0] = size
        return True

    def end(self, last: Next) -> None:
        """Begin the next generation; the lock is ours.

        Raises: OSError; then it is not begun.
        """
        lines = self._mapped(self.generation + 1, os.O_CREAT | os.O_TRUNC)
        self._room_bytes += _LAST_BYTES
        self.append(encode(last) + b"\n")
        self._turn_to(lines, self.generation + 1)

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
        self._let_go()
        self.words.release()
        os.close(self._lock)
        self._lock = -1

    def _mapped(self, generation: int, flags: int) -> mmap.mmap:
        """The file of a generation in memory, with all of its room on the disk."""
        file = os.open(_path(self._database, generation), _FLAGS | flags, 0o600)
        try:
            size = os.fstat(file).st_size
            if size < self._capacity_bytes:
                _reserve(file, size, self._capacity_bytes)
            return mmap.mmap(file, 0)
        finally:
            os.close(file)

    def _turn_to(self, lines: mmap.mmap, generation: int) -> None:
        self._let_go()
        self._lines, self._length = lines, memoryview(lines)[:8].cast("Q")
        self._room_bytes = len(lines) - _HEAD_BYTES - _LAST_BYTES
        self.generation, self.size = generation, 0

    def _let_go(self) -> None:
        self._length.release()
        if self._lines is not None:
            self._lines.close()
            self._lines = None

    def _read_to(self, end: int) -> list[Line]:
        assert self._lines is not None, "a journal that is read has begun"  # noqa: S101 - an invariant
        data = self._lines[_HEAD_BYTES + self.size : _HEAD_BYTES + end]
        lines, size = _whole(data)
        self.size += size
        if self.size != end:
            self._length[0] = self.size
        return lines


def _words(file: int) -> memoryview:
    """The words of a lock in memory, for all processes that have it open."""
    if os.fstat(file).st_size < _HEAD_BYTES:
        os.ftruncate(file, _HEAD_BYTES)
    return memoryview(mmap.mmap(file, _HEAD_BYTES)).cast("Q")


def _reserve(file: int, size: int, capacity_bytes: int) -> None:
    """Take room on the disk, so that there is some whenever a line is stored.

    Raises: OSError.
    """
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file, size, capacity_bytes - size)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # a file system that does not know it
                raise
        else:
            return
    os.lseek(file, 0, os.SEEK_END)
    missing = capacity_bytes - size
    if os.write(file, bytes(missing)) != missing:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


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
