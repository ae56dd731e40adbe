"""A credential that never shows itself.

Rules
- `repr`, `str` and formatting give `***`; the text comes from `reveal` alone, at the moment a request is built.
- A secret cannot be pickled, neither in clear nor as a reference: whoever needs the key in another process names the
  same provider there. Copies are the same object.
- A key is read anew each time, so a changed variable, file or token of a function counts from the next request on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn, TypeAlias, cast

from interlingua.errors import ConfigError, Error, UsageError, kind_of

__all__ = ["ARGUMENT", "Key", "Secret"]

Key: TypeAlias = "str | Callable[[], str]"
"""A key, or a function that gives the one that holds now: it is called for every request and keeps its own cache."""

_CARRIED_BY_A_HEADER = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
ARGUMENT = "api_key"
"""The source of a key that the caller of a model gives."""
MAX_KEY_BYTES = 65_536
"""A key file may be this long."""


class Secret:
    """Where a credential comes from."""

    __slots__ = ("_chosen", "_fit", "_read", "dynamic", "source")

    source: str
    """The place that it is read from, for errors: a variable, a file, the DSN; never the credential."""
    dynamic: bool
    """Whether a function of the user's gives it, which is called for requests alone."""

    def __init__(
        self,
        read: Callable[[], str | None],
        source: str,
        *,
        dynamic: bool = False,
        chosen: Callable[[], str | None] | None = None,
    ) -> None:
        """A credential that `read` gives when it is asked for; `chosen` says which of several sources has it."""
        self._read = read
        self._fit = ""  # what was found fit for a header last: it is read for every request, and seldom another one
        self.source = source
        self.dynamic = dynamic
        self._chosen = chosen

    @classmethod
    def of_key(cls, key: Key, source: str = "code") -> Secret:
        """The secret of a key in hand, or of a function that gives it."""
        if callable(key):
            return cls(partial(_call_key_function, key, source), source, dynamic=True)
        return cls(partial(str, key), source)

    @classmethod
    def of_argument(cls, key: object, name: str = ARGUMENT) -> Secret | None:
        """The secret of an argument; None where there is none. An empty text is no key, not the variable's.

        Raises: UsageError for what is no key, and for a function that would have to be awaited.
        """
        from inspect import iscoroutinefunction  # only who gives a key pays for it

        if key is None:
            return None
        if iscoroutinefunction(key) or not (isinstance(key, str) or callable(key)):
            kind = "one to await" if iscoroutinefunction(key) else kind_of(key)
            raise UsageError(f"{name} takes a text or a function that gives one at once, not {kind}")
        return cls.of_key(cast("Key", key), name)

    @classmethod
    def of_environment(cls, environ: Callable[[], Mapping[str, str]], names: tuple[str, ...]) -> Secret:
        """The first of the variables that is set."""

        def chosen() -> str | None:
            return next((name for name in names if environ().get(name)), None)

        def read() -> str | None:
            return environ().get(name) if (name := chosen()) else None

        return cls(read, " or ".join(names), chosen=chosen)

    @classmethod
    def of_file(cls, path: str) -> Secret:
        """The content of a file, read for every request so that rotated keys count."""
        return cls(lambda: _read_file(path), f"the file {path}")

    def origin(self) -> str | None:
        """Its present source: the variable that is set, a file, the DSN, `api_key`; None where there is none."""
        return self.source or None if self._chosen is None else self._chosen()

    def reveal(self) -> str | None:
        """The credential in clear, without white space at its ends, or None when there is none.

        Raises: ConfigError for a file that cannot be read and for a text that a header cannot carry.
        """
        read = self._read() or ""
        if read == self._fit:
            return read or None
        key = read.strip()
        if key and not _CARRIED_BY_A_HEADER.fullmatch(key):
            raise ConfigError(f"the key from {self.source} holds a character that a header cannot carry")
        self._fit = key
        return key or None

    def latest(self) -> str:
        """The credential in clear that holds now; of a function the one that it gave last, since it is not asked here.

        Empty where there is none, and where it cannot be read: the request that needs it says why.
        """
        if not self.dynamic:
            with suppress(ConfigError):
                return self.reveal() or ""
        return self._fit

    def __repr__(self) -> str:
        return "***"

    def __format__(self, format_spec: str) -> str:
        return "***"

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        """Refused: a pickle would hold the credential in clear."""
        raise TypeError("a Secret cannot be pickled; name the provider in the other process instead")


def _call_key_function(function: Callable[[], object], source: str) -> str:
    """The key that a function of the user's gives.

    Raises: ConfigError, which names where the function is from, for what it raises, and for what is no text.
    """
    try:
        key = function()
    except Error:
        raise
    except Exception as error:
        raise ConfigError(f"{source}: the function that gives the key raised {kind_of(error)}") from error
    if key is None or isinstance(key, str):
        return key or ""
    if hasattr(key, "close") and hasattr(key, "__await__"):
        cast("Any", key).close()  # a coroutine that nobody awaits warns
    raise ConfigError(f"{source}: the function that gives the key gave {kind_of(key)}, not a text")


def _read_file(path: str) -> str:
    from pathlib import Path

    try:
        with Path(path).expanduser().open("rb") as file:
            key = file.read(MAX_KEY_BYTES + 1)
        if len(key) > MAX_KEY_BYTES:
            raise ConfigError(f"the key file {path} is longer than {MAX_KEY_BYTES:,} bytes")
        return key.decode()
    except UnicodeDecodeError:
        raise ConfigError(f"the key file {path} is not text") from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ConfigError(f"the key file {path} cannot be read: {reason or 'not a usable path'}") from None
