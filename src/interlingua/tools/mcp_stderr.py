"""The error output of a started MCP server: held back until it is ready, then passed on as it comes.

Rules
- A server that ends before it is ready has said why in its last line, which goes into the error; nothing else is shown.
- At most `MAX_HELD_BYTES` are held; what comes before them is dropped.
- Where an event loop cannot wait for pipes (Windows), the server writes on our error output itself.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

__all__ = ["ErrorOutput"]

MAX_HELD_BYTES = 65_536
"""How much of what a server says before it is ready is kept."""
_LONGEST = 300


class ErrorOutput:
    """The error output of one server."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """One that is read on this loop."""
        self._loop = loop
        self._buffer: bytes | None = b""
        self._target = _own_error_output()
        self._reading: int | None = None
        self.file: TextIO = self._target
        """The file that the server writes on."""
        reading, writing = os.pipe()
        try:
            os.set_blocking(reading, False)
            loop.add_reader(reading, self._read)
        except (NotImplementedError, OSError):
            os.close(reading)
            os.close(writing)
        else:
            self._reading = reading
            self.file = os.fdopen(writing, "w", encoding="utf-8")

    def release(self) -> None:
        """Pass on what was held and whatever comes: the server is ready."""
        pending, self._buffer = self._buffer, None
        self._pass_on(pending or b"")

    def last_line(self) -> str:
        """The last line that was held; empty where there is none."""
        self._read()
        lines = (self._buffer or b"").decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return last if len(last) <= _LONGEST else f"{last[:_LONGEST]}…"

    def close(self) -> None:
        """Read no more: the server has ended."""
        if self._reading is not None:
            self._read()
            self._loop.remove_reader(self._reading)
            os.close(self._reading)
            self._reading = None
            self.file.close()
        elif self._target not in (sys.stderr, sys.__stderr__):
            self._target.close()

    def _read(self) -> None:
        while self._reading is not None:
            try:
                data = os.read(self._reading, MAX_HELD_BYTES)
            except OSError:  # nothing more for now
                return
            if not data:
                return
            if self._buffer is None:
                self._pass_on(data)
            else:
                self._buffer = (self._buffer + data)[-MAX_HELD_BYTES:]

    def _pass_on(self, data: bytes) -> None:
        with suppress(OSError, ValueError):  # nobody is there to read it
            self._target.write(data.decode("utf-8", "replace"))
            self._target.flush()


def _own_error_output() -> TextIO:
    """Our own error output, where it is a real file, which a notebook's is not."""
    for stream in (sys.stderr, sys.__stderr__):
        with suppress(OSError, ValueError, AttributeError):
            stream.fileno()  # pyright: ignore[reportOptionalMemberAccess]  # a program without a console has none
            return stream  # pyright: ignore[reportReturnType]  # the line above has just used it
    return Path(os.devnull).open("w", encoding="utf-8")
