"""The journal of a map: a file of JSON lines in which every finished input is once, so that a rerun goes on from it.

Shape of a line: `{"journal":1,"id":…,"key":…,"output":…,"error":{"type":…,"message":…},"cost_usd":…,"response":{…}}`;
what is absent is left out. `id` says what was asked; a later line of an id replaces an earlier one. A batch has lines
of its own, the first before it is handed over: `{"journal":1,"id":"batch …","batch":{…}}`.

Rules
- A line is written with one append when its input is finished, and handed to the system at once: a process that is
  killed loses what was under way, nothing else. A last line without its end is cut off by whoever opens the file next,
  and at once where the disk was full: what is written behind it would make the file unreadable.
- One writer at a time: the file is locked, a second one is refused, and a lock ends with its process.
- A file with any other line is somebody else's, and is refused as it is.
- Answers stay in the file; in memory is where each one begins.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from interlingua.errors import Error, UsageError, WireError, kind_of
from interlingua.types.response import Response
from interlingua.wire.json import MAX_DEPTH, decode, encode

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = [
    "BatchRecord",
    "Entry",
    "Fault",
    "Journal",
    "JournalInUseError",
    "Known",
    "read_batches",
    "read_entry",
    "read_known",
    "wait_for_writer",
]

VERSION = 1
_BATCH = "batch "
"""How the ids of lines of batches begin."""
_BEGINNING = b'{"journal":'
_LOCK_POLL_S = 0.1
_MAX_DEPTH = MAX_DEPTH + 16
"""A value of an answer that was as deep as a body may be lies a few levels deeper in here."""


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error, as far as it is kept."""

    type: str
    """The name of its class."""
    message: str
    """Its sentence."""
    retryable: bool = False
    """Whether the same request may succeed later."""
    status: int | None = None
    """HTTP status, when there was one."""
    fault: str | None = None
    """The fault of a typed answer."""
    target: str | None = None
    """The target that failed."""
    key_from: str | None = None
    """Where the key came from that it refused."""


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One line."""

    journal: int
    """The version of the format."""
    id: str
    """The identity of the input: a digest of the input, the schema, the model's spec and the options."""
    key: str
    """The name of the input."""
    output: Any = None
    """The typed answer as JSON."""
    error: Fault | None = None
    """The error."""
    cost_usd: float | None = None
    """Price in US dollars."""
    response: Response[Any] | None = None
    """The answer, without the request."""


class BatchRecord(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A batch that is going to be handed over, or was."""

    mark: str
    """Our own word for it, with which the ids of its requests begin."""
    target: str
    """The target that it is for."""
    at: float
    """When it was written down first, in Unix seconds."""
    ids: tuple[str, ...] = ()
    """The journal's id of each request, in the order of the batch."""
    batch: str | None = None
    """Its id at the service; None where it is not known that it was handed over."""
    file: str | None = None
    """The file that was handed up for it; None where there is none, or it was deleted."""
    is_over: bool = False
    """Whether nothing more is to be had of it: every result is in the journal, or it was never handed over."""

    @property
    def id(self) -> str:
        """The id of its lines."""
        return f"{_BATCH}{self.mark}"


class _BatchLine(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A line of a batch."""

    journal: int
    id: str
    batch: BatchRecord


class _Head(msgspec.Struct):
    """As much of a line as an index needs."""

    journal: int
    id: str
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class Known(NamedTuple):
    """Where a line is, and what it says in short."""

    place: int
    """Its first byte."""
    size: int
    """How many bytes it has."""
    failed: bool
    """Whether its input failed."""


class JournalInUseError(UsageError):
    """A journal has another writer."""


class Journal:
    """An open journal, locked."""

    def __init__(self, path: str | os.PathLike[str], *, wait_s: float = 0.0) -> None:
        """The journal at `path`, made when there is none; another writer's lock is waited for at most `wait_s` seconds.

        Raises: UsageError for a file that cannot be opened, is in use, or is no journal.
        """
        if not isinstance(path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise UsageError(f"a journal is the path of a file, not {kind_of(path)}")
        self._name = os.fspath(path)
        self._lock = threading.Lock()
        self._is_torn = False
        try:
            self._file = os.open(self._name, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise UsageError(f"the journal {self._name} cannot be opened: {error.strerror}") from None
        try:
            _await_lock(self._file, self._name, wait_s)
            # A last line without its end is completed or cut off.
            entries, ending = _index(self._name)
            place, rest = ending
            if rest and _head(rest) is not None:
                os.write(self._file, b"\n")
                entries.update(_index(self._name)[0])
            elif rest:
                if not (rest.startswith(_BEGINNING) or _BEGINNING.startswith(rest)):
                    raise UsageError(f"{self._name} ends with something that no journal holds; give another file")
                os.ftruncate(self._file, place)
            self._places = entries
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            if sys.platform != "win32":  # it is unlocked also where a process that was forked meanwhile has it open
                import fcntl

                fcntl.flock(self._file, fcntl.LOCK_UN)
            os.close(self._file)

    def find(self, identity: str, *, failed: bool = True) -> Entry | None:
        """The last line of an id; None when there is none, and for a failed one unless `failed` are wanted."""
        place = self._places.get(identity)
        if place is None or (place.failed and not failed):
            return None
        return read_entry(self._line(place))

    def is_settled(self, identity: str, record: BatchRecord) -> bool:
        """Whether an input of a batch was finished since that was written down; a failure before it is an older one."""
        entry, batch = self._places.get(identity), self._places[record.id]
        return entry is not None and entry.place > batch.place

    def batches(self) -> list[BatchRecord]:
        """The batches that are not over, in the order in which they were written down."""
        places = [place for name, place in self._places.items() if name.startswith(_BATCH)]
        return _unfinished([self._line(place) for place in places], self._name)

    def add(self, entry: Entry) -> None:
        """Write the line of a finished input.

        Raises: Error when the file cannot be written: answers that are paid for and not kept are no way to go on.
        """
        self._write(entry.id, encode(entry), failed=entry.error is not None)

    def add_batch(self, record: BatchRecord) -> None:
        """Write a line of a batch.

        Raises: as `add`.
        """
        self._write(record.id, encode(_BatchLine(journal=VERSION, id=record.id, batch=record)), failed=False)

    def _line(self, place: Known) -> bytes:
        with self._lock:
            os.lseek(self._file, place.place, os.SEEK_SET)
            return os.read(self._file, place.size)

    def _write(self, identity: str, text: bytes, *, failed: bool) -> None:
        line = text + b"\n"
        with self._lock:
            if self._is_torn:
                raise Error(f"the journal {self._name} cannot be written: it ends with a part of a line")
            place = os.lseek(self._file, 0, os.SEEK_END)
            rest = memoryview(line)
            try:
                while rest:
                    rest = rest[os.write(self._file, rest) :]
            except BaseException as error:
                try:  # other threads may write behind a line of which a part was written
                    os.ftruncate(self._file, place)
                except OSError:
                    self._is_torn = True
                if not isinstance(error, OSError):
                    raise
                raise Error(f"the journal {self._name} cannot be written: {error.strerror}") from None
            self._places[identity] = Known(place, len(line), failed)


def read_entry(line: bytes) -> Entry:
    """The entry of a line that an index names."""
    return decode(line, Entry, max_depth=_MAX_DEPTH)


def read_known(path: str | os.PathLike[str]) -> dict[str, Known]:
    """Where every whole line of a journal is, by id, without a lock; empty when there is no such file.

    Raises: UsageError for a file that is no journal.
    """
    return _index(os.fspath(path))[0] if Path(path).is_file() else {}


def read_batches(path: str | os.PathLike[str]) -> list[BatchRecord]:
    """The batches of a journal that are not over, without a lock; none when there is no such file.

    Raises: UsageError for a file that is no journal.
    """
    places = [place for name, place in read_known(path).items() if name.startswith(_BATCH)]
    if not places:
        return []
    lines: list[bytes] = []
    with Path(path).open("rb") as opened:
        for place in places:
            opened.seek(place.place)
            lines.append(opened.read(place.size))
    return _unfinished(lines, os.fspath(path))


def _unfinished(lines: list[bytes], name: str) -> list[BatchRecord]:
    try:
        records = [decode(line, _BatchLine).batch for line in lines]
    except WireError as error:
        raise UsageError(f"{name} is not a journal: a line of a batch holds none ({error.message})") from None
    return [record for record in records if not record.is_over]


def _index(name: str) -> tuple[dict[str, Known], tuple[int, bytes]]:
    """Where every line is, and the last one without an end."""
    entries: dict[str, Known] = {}
    place = 0
    with Path(name).open("rb") as opened:
        for number, line in enumerate(opened, 1):
            if not line.endswith(b"\n"):
                return entries, (place, line)
            head = _head(line)
            if head is None:
                raise UsageError(f"{name} is not a journal: line {number} was not written by map; use another file")
            if head.journal > VERSION:
                raise UsageError(f"{name} is a journal of version {head.journal} and this interlingua reads {VERSION}")
            entries[head.id] = Known(place, len(line), head.error is not msgspec.UNSET)
            place += len(line)
    return entries, (0, b"")


def _head(line: bytes) -> _Head | None:
    try:
        return decode(line, _Head, max_depth=_MAX_DEPTH)
    except WireError:
        return None


def wait_for_writer(path: str | os.PathLike[str], wait_s: float) -> None:
    """Wait until nobody writes to a journal; nothing where there is no such file.

    Raises: JournalInUseError when somebody still does after `wait_s` seconds.
    """
    try:
        file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return
    try:
        _await_lock(file, os.fspath(path), wait_s)
    finally:
        os.close(file)  # and with it the lock


def _await_lock(file: int, name: str, wait_s: float) -> None:
    """Lock a file until it is closed.

    Raises: UsageError when another writer has it for longer than `wait_s` seconds.
    """
    deadline_s = monotonic() + wait_s
    while True:
        try:
            return _lock_file(file, name)
        except UsageError:
            if monotonic() >= deadline_s:
                raise
            sleep(_LOCK_POLL_S)


def _lock_file(file: int, name: str) -> None:
    """Lock a file until it is closed.

    Raises: JournalInUseError when somebody else has it.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, 1 << 62, os.SEEK_SET)  # far behind the end, so that the text itself can be read
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise JournalInUseError(
            f"the journal {name} is in use by another map; wait for it, or give another file"
        ) from None
