"""The keys that a gateway takes: those of its file and flags, and those of its database; the file wins.

Rules
- A key of the database whose name stands in the file is passed over as a whole, also where the file's has expired.
- The database is looked at once a second, so that a key that is made or revoked counts without a restart.
- Keys are found by their digests, and what is found is compared in constant time. A digest tells nothing of a key.
- Where the database cannot be read any more, the keys stay those that are known.
- Once there was a key in the database, a key is wanted: revoking the last one does not open the gateway.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from interlingua.gateway.accounts import Row
    from interlingua.gateway.keys import KeyDatabase
    from interlingua.gateway.settings import GatewayKey, GatewaySettings

__all__ = ["KeyRing", "Merged", "merged", "open_database"]

LOOK_S = 1.0
"""How old what is known of the database may get."""
_NOBODY = b"sha256:" + b"0" * 64
"""Is compared where no key is found, so that an unknown key takes the same time."""


def open_database(settings: GatewaySettings, now: Callable[[], float]) -> KeyDatabase | None:
    """The database of keys that the settings name, or None; `now` gives Unix seconds.

    Raises: ConfigError for what is no such file.
    """
    if not settings.key_file:
        return None
    from interlingua.gateway.keys import KeyDatabase  # only who has keys in a file needs SQLite

    return KeyDatabase(settings.key_file, now=now)


class Merged(NamedTuple):
    """The keys of a file and of a database as one."""

    keys: dict[str, GatewayKey]
    """Every key that may be shown, by its digest; revoked ones, too."""
    passed_over: tuple[str, ...]
    """Names of keys of the database that the file has, too."""


def merged(of_file: Sequence[GatewayKey], of_database: Iterable[GatewayKey]) -> Merged:
    """The keys of both; where a name is in both, the file's."""
    names = {key.name for key in of_file}
    found: dict[str, GatewayKey] = {}
    passed_over: dict[str, None] = {}
    for key in of_database:
        if key.name not in names:
            found[key.hash] = key
        elif key.revoked_s is None:
            passed_over[key.name] = None
    return Merged(found | {key.hash: key for key in of_file}, tuple(passed_over))


class KeyRing:
    """Finds keys."""

    def __init__(
        self, of_file: Sequence[GatewayKey], database: KeyDatabase | None = None, *, clock: Callable[[], float]
    ) -> None:
        """The keys of a file and of a database; `clock` gives seconds that only grow."""
        self._of_file = tuple(of_file)
        self._database = database
        self._clock = clock
        self._version = -1
        self._look_at_s = 0.0
        self._keys: dict[str, GatewayKey] = {}
        self._passed_over: tuple[str, ...] = ()
        self._look()

    @property
    def keys(self) -> tuple[GatewayKey, ...]:
        """Every key that may be shown; revoked ones, too."""
        self._look_again()
        return tuple(self._keys.values())

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Names of keys of the database that the file has, too."""
        return self._passed_over

    def __bool__(self) -> bool:
        """Whether a key is wanted."""
        self._look_again()
        return bool(self._keys)

    def find(self, digest: str) -> GatewayKey | None:
        """The key with that digest; revoked and expired ones, too."""
        self._look_again()
        found = self._keys.get(digest)
        known = _NOBODY if found is None else found.hash.encode()
        return found if hmac.compare_digest(digest.encode(), known) else None

    def used(self, key: str = "", since: str = "") -> list[Row]:
        """What the database knows that was used, by key, day and model; of one key where it is named, from a day on."""
        return [] if self._database is None else self._database.usage(key, since)

    def _look_again(self) -> None:
        if self._database is not None and self._clock() >= self._look_at_s:
            self._look()

    def _stay(self, error: ConfigError) -> None:
        """Go on with the keys that are known.

        Raises: the error where none is known yet.
        """
        if self._version < 0:
            raise error
        import logging  # only an outage needs it

        logging.getLogger("interlingua.gateway").error("keys are taken as they were: %s", error.message)

    def _look(self) -> None:
        database = self._database
        if database is None:
            self._keys, self._passed_over = merged(self._of_file, ())
            return
        self._look_at_s = self._clock() + LOOK_S
        try:
            version = database.version()
            if version != self._version:
                self._keys, self._passed_over = merged(self._of_file, [kept.key for kept in database.all_keys()])
                self._version = version
        except ConfigError as error:
            self._stay(error)
