"""The other workers of one gateway: what they count and show, asked of them, so that whichever is asked tells of all.

Strategy: the workers of a supervisor have a directory in common, the room. Each takes a place in it, the lowest number
whose file nobody has locked; the system unlocks it when the worker ends, however it ends. At a Unix socket of that
number a thread answers the others, so that a busy event loop keeps nobody waiting. What is to outlive a worker is kept
in the file of its place, and who takes that place goes on from there: what is counted never falls.

Rules
- A worker that does not answer in time is left out; of one that has ended, what it kept is told.
- The supervisor takes the directory away at its end; where it was killed, the last of its workers does.
- Only who may enter the directory can ask, and that is the user whose processes these are.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
import struct
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import ConfigError, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Peers"]

ANSWER_S = 1.0
"""How long the others have to answer."""
KEEP_S = 1.0
"""How often is written down what is to outlive a worker."""
MAX_PLACES = 1_024
MAX_QUESTION_BYTES = 64 * 1024
MAX_ANSWER_BYTES = 16 * 1024 * 1024
_LENGTH = struct.Struct(">I")


class _Place(NamedTuple):
    """One worker's place, as others see it."""

    number: int
    socket: Path
    store: Path


class Peers:
    """One worker among others."""

    def __init__(self, room: Path) -> None:
        """A worker with a place in that directory.

        Raises: ConfigError for a directory that has no place left, or no room for a socket.
        """
        self._room = room
        self._parent = os.getppid()
        self.answers: dict[str, Callable[[str], bytes]] = {}
        """The answers to the others, by the name of the question; called in a thread of its own."""
        self.keep: Callable[[], str] | None = None
        """The function that gives the text that is to outlive this worker."""
        self.number: int = 0
        """Its place."""
        self._lock = -1
        for number in range(MAX_PLACES):
            lock = _locked(self._room / f"{number}.lock")
            if lock is not None:
                self._lock, self.number = lock, number
                break
        else:
            raise ConfigError(f"{self._room} has no place for one more worker")
        self._place = self._at(self.number)
        self.before: str = _read(self._place.store)
        """The text of the worker that had the place before."""
        self._kept_now = self.before
        self._writing = threading.Lock()
        self._closing = False
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._place.socket.unlink(missing_ok=True)  # of who had the place before and was killed
            listener.bind(str(self._place.socket))
            listener.listen(64)
        except OSError as error:
            listener.close()
            raise ConfigError(
                f"{self._place.socket}: workers cannot hear each other there: {reason_of(error)}"
            ) from None
        listener.settimeout(KEEP_S)
        self._listener = listener
        self._thread = threading.Thread(target=self._run, name="interlingua-peers", daemon=True)

    def _at(self, number: int) -> _Place:
        return _Place(number, self._room / f"{number}.sock", self._room / f"{number}.kept")

    def start(self) -> None:
        """Answer the others from now on."""
        self._thread.start()

    def close(self) -> None:
        """Answer nobody any more, once what is to last is kept."""
        self._closing = True
        if self._thread.is_alive():
            with suppress(OSError), socket.socket(socket.AF_UNIX) as wake:
                wake.connect(str(self._place.socket))
            self._thread.join(2 * KEEP_S)
        self._listener.close()
        self._place.socket.unlink(missing_ok=True)
        self.write()
        os.close(self._lock)
        if os.getppid() != self._parent:
            # The room, whose supervisor is gone, is taken away where nobody else is left in it.
            for path in self._room.glob("*.lock"):
                lock = _locked(path)
                if lock is None:
                    return
                os.close(lock)
            shutil.rmtree(self._room, ignore_errors=True)

    def write(self) -> None:
        """Keep what is to outlive this worker, as it is now."""
        if self.keep is None:
            return
        with self._writing:
            text = self.keep()
            if text == self._kept_now:
                return
            half = self._place.store.with_suffix(".half")
            with suppress(OSError):  # a full disk costs what a killed worker had counted, and nothing else
                half.write_text(text, encoding="utf-8")
                half.replace(self._place.store)
                self._kept_now = text

    def _run(self) -> None:
        while not self._closing:
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                self.write()
                continue
            with connection, suppress(OSError):  # it was left
                connection.settimeout(ANSWER_S)
                self._answer_or_say(connection)

    def _answer_or_say(self, connection: socket.socket) -> None:
        """Answer, or say why not before the other one sees the end."""
        try:
            question, _, about = connection.makefile("rb").readline(MAX_QUESTION_BYTES).decode().strip().partition(" ")
            answer = self.answers.get(question)
            reply = b"" if answer is None else answer(about)
            connection.sendall(_LENGTH.pack(len(reply)) + reply)
        except OSError:
            raise
        except Exception:  # a fault in one answer must not silence this worker for good
            logging.getLogger("interlingua.gateway").warning("a worker was not answered", exc_info=True)

    async def ask(self, question: str, about: str = "") -> dict[int, bytes]:
        """The answers of the others that do, by place."""
        places = [place for place in self._others() if place.socket.exists()]
        answers = await asyncio.gather(*[_ask_worker(place, f"{question} {about}\n".encode()) for place in places])
        return {place.number: answer for place, answer in zip(places, answers, strict=True) if answer is not None}

    def stored_texts(self) -> dict[int, str]:
        """The texts that the others leave, whether they still run or not, by place."""
        return {place.number: _read(place.store) for place in self._others()}

    def _others(self) -> list[_Place]:
        numbers = sorted(int(file.stem) for file in self._room.glob("*.lock"))
        return [self._at(number) for number in numbers if number != self.number]


async def _ask_worker(place: _Place, question: bytes) -> bytes | None:
    """The answer of a worker; None where it does not."""
    try:
        async with asyncio.timeout(ANSWER_S):
            reader, writer = await asyncio.open_unix_connection(place.socket)
            try:
                writer.write(question)
                (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
                return await reader.readexactly(length) if 0 < length <= MAX_ANSWER_BYTES else None
            finally:
                writer.close()
    except (OSError, TimeoutError, asyncio.IncompleteReadError):
        return None


def _locked(path: Path) -> int | None:
    """The file of a place that nobody has; None where somebody is in it."""
    import fcntl

    file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
