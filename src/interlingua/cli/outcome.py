"""Outcomes: every failure becomes one line on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import sys

from interlingua.cli.terminal import lead_nowhere, note
from interlingua.errors import Error, OutputError, UsageError

__all__ = [
    "DEBUG_VARIABLE",
    "FAILED",
    "INTERRUPTED",
    "MISUSED",
    "UNFIT",
    "UNREAD",
    "Interrupted",
    "debugging",
    "exit_code",
]

DEBUG_VARIABLE = "INTERLINGUA_DEBUG"
"""Shows tracebacks when it is set."""
FAILED = 1
"""The model, provider or network failed."""
MISUSED = 2
"""The command line or configuration is wrong."""
UNFIT = 3
"""The answer did not fit the schema."""
INTERRUPTED = 130
"""Ctrl-C."""
UNREAD = 141
"""Whoever read the output went away."""
Interrupted: tuple[type[KeyboardInterrupt], type[SystemExit]] = (KeyboardInterrupt, SystemExit)
"""Exceptions besides `Exception` that end a command."""


def debugging() -> bool:
    """Whether tracebacks are wanted."""
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")


def exit_code(error: BaseException) -> int:
    """The exit code that an error stands for; its line is written."""
    if debugging() and not isinstance(error, SystemExit):
        from traceback import format_exception

        for text in format_exception(error):
            for line in text.rstrip().splitlines():
                note(line)
    match error:
        case SystemExit(code=code):
            return code if isinstance(code, int) else MISUSED if code else 0
        case BrokenPipeError():
            lead_nowhere(sys.stdout)
            return UNREAD
        case KeyboardInterrupt():
            note("interrupted")
            return INTERRUPTED
        case Error():
            note(str(error) or type(error).__name__, failed=True)
            if isinstance(error, OutputError):
                return UNFIT
            return MISUSED if isinstance(error, UsageError) else FAILED
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG | errno.EIO, filename=None):
            lead_nowhere(sys.stdout)
            note(f"the output cannot be written: {error.strerror}", failed=True)
            return FAILED
        case _:
            note(f"internal error, {type(error).__name__}: {error} ({DEBUG_VARIABLE}=1 shows where)", failed=True)
            return FAILED
