"""Terminals: texts to stdout and stderr, and input from stdin.

Rules
- Output is flushed at once: whoever reads the pipe sees the answer as it comes.
- What a model or provider says cannot steer a terminal: control characters are shown as `�` there, and only there.
- What goes to stderr and cannot be written is lost: a note that nobody reads ends no command, and no server.
- Notes pass through `redact`; colour is a hint for terminals, never for pipes, and `NO_COLOR` turns it off.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import IO, TYPE_CHECKING

from interlingua.errors import LimitExceededError, redact

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "MAX_STDIN_BYTES",
    "bold",
    "dim",
    "drop_unwritten",
    "is_colourful",
    "lead_nowhere",
    "lenient",
    "note",
    "open_what_is_closed",
    "piped_input",
    "printable",
    "red",
    "think",
    "write",
]

MAX_STDIN_BYTES = 64 * 1024 * 1024
"""How much is read from a pipe."""
_CONTROLS = {code: "�" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


def open_what_is_closed() -> None:
    """Have the standard streams lead nowhere where a process has none, as under some supervisors of services."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - it lasts; pathlib takes time


def lenient(*streams: IO[str]) -> None:
    """Have what an encoding does not know replaced instead of refused: characters of ours, bytes on stdin."""
    for stream in streams:
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def write(text: str, style: Callable[[str, IO[str]], str] | None = None) -> None:
    """Write a piece of an answer to stdout; `style` is `dim`, `bold` or `red`, whose own signs reach the terminal."""
    shown = _printable_on(text, sys.stdout)
    sys.stdout.write(shown if style is None else style(shown, sys.stdout))
    sys.stdout.flush()


def note(text: str, *, head: str = "il: ", faint: bool = False, failed: bool = False) -> None:
    """Write one line to stderr; `faint` is of lesser weight, `failed` says that something went wrong."""
    line = head + _printable_on(redact(" ".join(text.splitlines())), sys.stderr)
    _say(f"{dim(line, sys.stderr) if faint else red(line, sys.stderr) if failed else line}\n")


def think(text: str) -> None:
    """Write a piece of a model's thinking to stderr, dimmed."""
    _say(dim(_printable_on(text, sys.stderr), sys.stderr))


def drop_unwritten() -> None:
    """Have what stderr could not take forgotten at the end, where the interpreter's last flush would fail with 120."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):  # ValueError: it was closed meanwhile
        lead_nowhere(sys.stderr)


def lead_nowhere(stream: IO[str]) -> None:
    """Have a stream lead nowhere from now on, with all that it still holds."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _say(text: str) -> None:
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def dim(text: str, stream: IO[str]) -> str:
    """`text` as something of lesser weight, where `stream` can show that."""
    return f"\x1b[2m{text}\x1b[22m" if text and is_colourful(stream) else text


def bold(text: str, stream: IO[str]) -> str:
    """`text` as something that catches the eye, where `stream` can show that."""
    return f"\x1b[1m{text}\x1b[22m" if text and is_colourful(stream) else text


def red(text: str, stream: IO[str]) -> str:
    """`text` as something that went wrong, where `stream` can show that."""
    return f"\x1b[31m{text}\x1b[39m" if text and is_colourful(stream) else text


def is_colourful(stream: IO[str]) -> bool:
    """Whether a stream is a terminal that shows colours, and `NO_COLOR` does not forbid them."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def printable(text: str) -> str:
    """`text` with a sign for each control character."""
    return text.translate(_CONTROLS)


def _printable_on(text: str, stream: IO[str]) -> str:
    return printable(text) if stream.isatty() else text


def piped_input(*, force: bool = False) -> bytes:
    """The bytes of a pipe or file on stdin; nothing when stdin is a terminal, or something that may never end.

    `force` reads whatever stdin is.

    Raises: LimitExceededError beyond 64 MiB.
    """
    if sys.stdin is None or not (force or _ends(sys.stdin)):  # a process may have no stdin
        return b""
    data = sys.stdin.buffer.read(MAX_STDIN_BYTES + 1)
    if len(data) > MAX_STDIN_BYTES:
        raise LimitExceededError(f"stdin holds more than {MAX_STDIN_BYTES:,} bytes; give less of it")
    return data


def _ends(stream: IO[str]) -> bool:
    """Whether a stream is a pipe, a file or a socket; a terminal waits for somebody, and a device may never end."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):  # stdin replaced by something in memory, or closed
        return not stream.closed and not stream.isatty()
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)
