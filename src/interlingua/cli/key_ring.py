"""Keys of providers in a file, for the command line: `il auth` writes it, every command reads it.

Rules
- The file is `keys.json` beside the conversations: variable -> key, readable by its owner alone.
- A variable of the environment goes before the file. The library reads the environment alone.
- No key is ever shown; the processes that a command starts do not get them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property

from interlingua.errors import ConfigError
from interlingua.registry.home import state_path

__all__ = ["KeyRing", "key_ring_path", "read_keys", "use_key_ring", "write_keys"]


class KeyRing(Mapping[str, str]):
    """The variables of the environment, then those of the file; the file is read when the first one is missing."""

    def __getitem__(self, name: str) -> str:
        value = os.environ.get(name)
        return self._keys[name] if value is None else value

    def __iter__(self) -> Iterator[str]:
        return iter({**self._keys, **os.environ})

    def __len__(self) -> int:
        return len({**self._keys, **os.environ})

    @cached_property
    def _keys(self) -> dict[str, str]:
        try:
            return read_keys()
        except ConfigError as error:
            from interlingua.cli.terminal import note

            note(error.message)
            return {}


def use_key_ring() -> None:
    """Have the process's registry read the file where the environment has no variable."""
    from interlingua.registry.resolve import default_registry

    default_registry().use_environment(KeyRing())


def key_ring_path() -> str:
    """Where the keys lie; the file need not exist."""
    return os.path.join(state_path(), "keys.json")  # noqa: PTH118 - text, for the sake of time


def read_keys() -> dict[str, str]:
    """Variable -> key; empty where there is no file, or no place for one.

    Raises: ConfigError for a file that cannot be read or holds something else.
    """
    try:
        path = key_ring_path()
    except ConfigError:  # a user without a home has no keys there
        return {}
    if not os.path.exists(path):  # noqa: PTH110 - text, for the sake of time
        return {}
    import msgspec

    try:
        with open(path, "rb") as file:  # noqa: PTH123 - text, for the sake of time
            return msgspec.json.decode(file.read(), type=dict[str, str])
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ConfigError(
            f"{path} is no object of variables and keys; mend it, or delete it and use `il auth set`"
        ) from None


def write_keys(keys: Mapping[str, str]) -> None:
    """Replace the file, readable by its owner alone.

    Raises: ConfigError when it cannot be written.
    """
    import msgspec

    path = key_ring_path()
    scratch = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120 - text, as above
        with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(dict(keys), order="sorted"), indent=2))
        os.replace(scratch, path)  # noqa: PTH105 - text, as above
    except OSError as error:
        with suppress(OSError):  # no second file with keys stays behind
            os.unlink(scratch)  # noqa: PTH108 - text, as above
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
