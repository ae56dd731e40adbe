"""The secret by which ids are signed: named in `[server]`, or made once and kept beside the keys.

Rules
- A secret that is named (`id_secret_env`, `id_secret_file`) is used as it is; nothing is written then.
- In a file it stands beside the database of keys, its owner's alone; whoever comes first makes it, in one step, so that
  all workers and every start have the same one.
- Replicas have it in Redis (`shared_secret`).
- It stands in no log, no error and no `repr`.
"""

from __future__ import annotations

import logging
import os
import secrets
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING

from interlingua.client.home import state_directory
from interlingua.errors import ConfigError
from interlingua.gateway.state.signing import MIN_SECRET_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.gateway.settings import GatewaySettings

__all__ = ["kept_secret", "make_secret", "named_secret", "place_of", "read_secret", "secret_for"]

MAX_SECRET_BYTES = 4_096
"""A file of a secret may be this long."""


def secret_for(settings: GatewaySettings, environ: Mapping[str, str]) -> str:
    """The secret of a gateway that shares nothing by Redis.

    Where none can be kept, it is one of this process alone, and the log says so.
    Raises: ConfigError for a secret that is named and cannot be read, or is too short.
    """
    named = named_secret(settings, environ)
    if named is not None:
        return named
    try:
        return kept_secret(place_of(settings))
    except ConfigError as error:
        logging.getLogger("interlingua.gateway").warning(
            "%s; ids of stored responses, files and batches hold for this process alone", error.message
        )
        return make_secret()


def named_secret(settings: GatewaySettings, environ: Mapping[str, str]) -> str | None:
    """The secret that the settings name; None where they name none.

    Raises: ConfigError for one that cannot be read, or is too short.
    """
    if settings.id_secret_env:
        where, text = f"the variable {settings.id_secret_env}", environ.get(settings.id_secret_env, "")
    elif settings.id_secret_file:
        where = f"the file {settings.id_secret_file}"
        return read_secret(Path(settings.id_secret_file).expanduser(), where)
    else:
        return None
    return _checked(text, where)


def place_of(settings: GatewaySettings) -> Path:
    """Where the secret lies that goes with the settings: beside the database of keys, else where state lies.

    Raises: ConfigError where there is no such place.
    """
    if settings.key_file:
        path = Path(settings.key_file).expanduser()
        return path.with_name(f"{path.name}.id-secret")
    return state_directory() / "id-secret"


def kept_secret(path: Path, secret: str = "") -> str:
    """The secret in a file; one that is not there is made: `secret`, or a new one.

    Raises: ConfigError for a file that can be neither read nor made.
    """
    where = f"the secret of ids in {path.name}"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _put(path, secret or make_secret())
    except OSError as error:
        raise ConfigError(f"{where} cannot be made: {os.strerror(error.errno or 0)}") from None
    return read_secret(path, where)


def _put(path: Path, secret: str) -> None:
    """Make the file whole and with its content, unless another process was first."""
    number, made = mkstemp(prefix=f"{path.name}.", dir=path.parent)  # for its owner alone
    try:
        with os.fdopen(number, "w") as file:
            file.write(f"{secret}\n")
            file.flush()
            os.fsync(number)
        os.link(made, path)
    except FileExistsError:
        pass
    finally:
        Path(made).unlink()


def read_secret(path: Path, where: str) -> str:
    """The secret in a file that errors call `where`.

    Raises: ConfigError for a file that cannot be read, or holds none.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MAX_SECRET_BYTES).decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{where} is no text") from None
    except OSError as error:
        raise ConfigError(f"{where} cannot be read: {os.strerror(error.errno or 0)}") from None
    return _checked(text, where)


def _checked(text: str, where: str) -> str:
    secret = text.strip()
    if len(secret) < MIN_SECRET_CHARACTERS:
        raise ConfigError(f"{where} holds no secret of at least {MIN_SECRET_CHARACTERS} characters")
    return secret


def make_secret() -> str:
    """A new secret: 256 random bits as hexadecimal digits."""
    return secrets.token_hex(32)
