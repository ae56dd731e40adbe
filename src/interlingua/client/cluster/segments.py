"""A folder of journals, one for each shard, that together are one journal: on a disk, shared, or in a bucket.

Strategy: every shard of inputs has a journal of its own, an ordinary one, named by a digest of its inputs. Whoever
carries the same shard out again opens the same journal and goes on from it; what other journals of the folder hold is
found by an index that was read when the run began. So a shard may be cut differently the next time, and any journal
that is moved into the folder counts.

Rules
- One writer at a time for a journal: on a disk its lock is waited for, since a worker ends soon after its driver; who
  still has not got it then, as of two parts of a table with the same texts, writes to a journal of its own beside it.
- In a bucket nothing is locked and nothing is appended: a worker writes to a file of its own, which begins with what
  others left of the same shard; the lines behind that become an object of its own at least once a second. A machine
  that is lost loses at most the last second. Where the bucket does not answer at the end, the file stays.
- Of the same id, an answer in any journal counts before a failure in another one.
"""

from __future__ import annotations

import os
import tempfile
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.client.cluster.index import make_index
from interlingua.client.journal import Entry, Journal, JournalInUseError, read_entry, read_known, wait_for_writer
from interlingua.errors import ConfigError, Error, UsageError, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from interlingua.client.cluster.index import Index, Location
    from interlingua.client.journal import Known

__all__ = ["FLUSH_S", "LOCK_WAIT_S", "Bucket", "Folder", "Segment", "absolute", "place_of"]

ENDING = ".jsonl"
LOCK_WAIT_S = 120.0
"""How long another writer of a shard is waited for."""
FLUSH_S = 1.0
"""How often a journal in a bucket is handed over."""
LAST_TRIES = 5
"""How often the last lines are handed over before their file is left where it is, a second apart."""


def place_of(journal: str | os.PathLike[str]) -> Folder | Bucket:
    """The place of a run's journals: the path of a folder, or an address that fsspec knows, such as `s3://…`.

    Raises: UsageError for a path of something else; ConfigError where fsspec, or what it needs, is not installed.
    """
    if not isinstance(journal, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
        raise UsageError(f"the journal of a cluster is a folder or an address such as s3://…, not {kind_of(journal)}")
    name = os.fspath(journal)
    if "://" in name:
        return Bucket(name)
    if Path(name).is_file():
        raise UsageError(f"the journal of a cluster is a folder and {name} is a file; move the file into a folder")
    return Folder(name)


def absolute(journal: str | os.PathLike[str]) -> str:
    """A journal as every worker is to find it: each has a working directory of its own."""
    name = os.fspath(journal)
    return name if "://" in name else str(Path(name).absolute())


class Segment(Journal):
    """The open journal of one shard, in which the lines of the others are found, too."""

    def __init__(self, path: str, place: Folder | Bucket, index: Index | None) -> None:
        """The journal at `path`, beside those of `index`.

        Raises: as `Journal`.
        """
        super().__init__(path, wait_s=LOCK_WAIT_S)
        self._place = place
        self._index = index

    def find(self, identity: str, *, failed: bool = True) -> Entry | None:
        """The line of an id: its own, unless another journal has an answer to what failed here."""
        own = super().find(identity, failed=failed)
        if self._index is None or (own is not None and own.error is None):
            return own
        other = self._index.find(identity)
        if other is None or (other.failed and (own is not None or not failed)):
            return own
        return read_entry(self._place.line(other))


class Folder(NamedTuple):
    """Journals in a folder of a file system."""

    path: str
    """The folder."""

    def journals(self) -> Iterator[tuple[str, dict[str, Known]]]:
        """Each journal by name, with where its lines are.

        Raises: UsageError for a file of another kind.
        """
        for file in sorted(Path(self.path).glob(f"*{ENDING}")):
            yield file.name, read_known(file)

    def read_index(self) -> Index:
        """Where every line is now.

        Raises: as `journals`.
        """
        return make_index(self.journals())

    def line(self, location: Location) -> bytes:
        """One line of a journal.

        Raises: UsageError for a journal that this machine does not see.
        """
        try:
            with (Path(self.path) / location.name).open("rb") as opened:
                opened.seek(location.place)
                return opened.read(location.size)
        except OSError as error:
            why = f"{self.path}/{location.name} cannot be read here ({error.strerror})"
            raise UsageError(f"{why}: all workers of a cluster need the same folder") from None

    def open(self, name: str, index: Index | None) -> Segment:
        """The journal of a shard.

        Raises: UsageError where it cannot be opened.
        """
        folder = Path(self.path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"the folder {self.path} cannot be made: {error.strerror}") from None
        try:
            return Segment(str(folder / f"{name}{ENDING}"), self, index)
        except JournalInUseError:
            return Segment(str(folder / f"{name}-{token_hex(4)}{ENDING}"), self, index)

    def wait_for_writer(self, name: str) -> None:
        """Wait until no worker has the journal of a shard open, as long as another writer of it would."""
        with suppress(JournalInUseError, OSError):  # the worker goes on, and its lines are there for the next run
            wait_for_writer(Path(self.path) / f"{name}{ENDING}", LOCK_WAIT_S)


class Bucket(NamedTuple):
    """Journals as objects of a store that fsspec knows."""

    url: str
    """The address of the folder."""

    def journals(self) -> Iterator[tuple[str, dict[str, Known]]]:
        """Each journal by name, with where its lines are.

        Raises: UsageError for an object of another kind.
        """
        system, root = self._system()
        with tempfile.TemporaryDirectory(prefix="interlingua-") as folder:
            local = Path(folder) / "journal"
            for name in self._names(""):
                system.get_file(f"{root}/{name}", str(local))
                yield name, read_known(local)

    def read_index(self) -> Index:
        """Where every line is now.

        Raises: as `journals`.
        """
        return make_index(self.journals())

    def line(self, location: Location) -> bytes:
        """One line of a journal."""
        system, root = self._system()
        return system.cat_file(f"{root}/{location.name}", start=location.place, end=location.place + location.size)

    def open(self, name: str, index: Index | None) -> Segment:
        """The journal of a shard, which begins with what others left of it.

        Raises: UsageError where it cannot be read.
        """
        system, root = self._system()
        system.makedirs(root, exist_ok=True)
        file, path = tempfile.mkstemp(prefix="interlingua-", suffix=ENDING)
        with os.fdopen(file, "wb") as opened:
            for before in self._names(f"{name}-"):
                whole, _, _ = system.cat_file(f"{root}/{before}").rpartition(b"\n")
                opened.write(whole + b"\n" if whole else b"")
            size = opened.tell()
        return _Uploaded(path, size, self, index, f"{root}/{name}-{token_hex(4)}{ENDING}")

    def wait_for_writer(self, name: str) -> None:
        """Nothing: who writes to a bucket cannot be told; a worker hands its last lines over when it ends."""

    def _names(self, beginning: str) -> list[str]:
        system, root = self._system()
        try:
            paths: list[str] = system.ls(root, detail=False)
        except FileNotFoundError:
            return []
        names = [path.rstrip("/").rpartition("/")[2] for path in paths]
        return sorted([name for name in names if name.startswith(beginning) and name.endswith(ENDING)])

    def _system(self) -> tuple[Any, str]:
        """The file system, and the folder in it; fsspec keeps one of each kind."""
        try:
            system, root = import_module("fsspec.core").url_to_fs(self.url)
        except ImportError as error:
            raise ConfigError(
                f"{self.url.partition(':')[0]}://… needs a package that is not installed: {error}"
            ) from None
        except ValueError as error:
            raise ConfigError(f"fsspec knows no such address: {error}") from None
        system.invalidate_cache()
        return system, root.rstrip("/")


class _Uploaded(Segment):
    """A journal in a file of its own, whose new lines are handed over as one object while it grows and at its end."""

    def __init__(self, path: str, size: int, place: Bucket, index: Index | None, target: str) -> None:
        self._path, self._target = path, target
        self._begins, self._handed = size, size  # before that are the lines of others
        self._bucket = place
        super().__init__(path, place, index)
        self._ended = threading.Event()
        self._worker = threading.Thread(target=self._flush_often, name="interlingua-journal", daemon=True)
        self._worker.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._worker.join()
        try:
            self._flush_last()
        finally:
            super().__exit__(kind, error, traceback)
        Path(self._path).unlink(missing_ok=True)

    def _flush_last(self) -> None:
        for left in reversed(range(LAST_TRIES)):
            try:
                return self._flush()
            except Exception as error:  # whatever a store raises
                if not left:
                    why = f"{self._target} cannot be written ({type(error).__name__})"
                    raise Error(f"{why}; the answers are in {self._path}: copy it into the journal's folder") from error
            sleep(FLUSH_S)
        return None

    def _flush_often(self) -> None:
        while not self._ended.wait(FLUSH_S):
            with suppress(Exception):  # the next one, or the last one, which is not suppressed, hands it over as well
                self._flush()

    def _flush(self) -> None:
        size = Path(self._path).stat().st_size
        if size == self._handed:
            return
        with Path(self._path).open("rb") as opened:
            opened.seek(self._begins)
            lines = opened.read(size - self._begins)
        system, _ = self._bucket._system()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # the same module
        system.pipe_file(self._target, lines)
        self._handed = size
