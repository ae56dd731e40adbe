"""The keys that a gateway takes: those of its file and flags, of a store that gateways share, and of its database.

Rules
- The file wins over the store, and the store over the database: a key whose name stands before it is passed over as a
  whole, also where the other one has expired.
- The database is looked at once a second, so that a key that is made or revoked counts without a restart; so
  is the store, by `shared_keys`.
- Keys are found by their digests, and what is found is compared in constant time. A digest tells nothing of a key.
- Where the database cannot be read any more, the keys stay those that are known.
- Once there was a key in the database or the store, a key is wanted: revoking the last one does not open the gateway.
- Where the store could not be asked yet, a key is wanted, and one that is not known may be good (`is_unsure`).
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from interlingua.gateway.keys.database import KeyDatabase
    from interlingua.gateway.keys.shared_keys import KeyWatch, SharedKeys
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
    from interlingua.gateway.keys.database import KeyDatabase  # only who has keys in a file needs SQLite

    return KeyDatabase(settings.key_file, now=now)


class Merged(NamedTuple):
    """The keys of several places as one."""

    keys: dict[str, GatewayKey]
    """Every key that may be shown, by its digest; revoked ones, too."""
    passed_over: tuple[str, ...]
    """Names of keys that a place before theirs has, too."""


def merged(*places: Iterable[GatewayKey]) -> Merged:
    """The keys of all places; where a name is in several, that of the first one."""
    names: set[str] = set()
    by_hash: dict[str, GatewayKey] = {}
    passed_over: dict[str, None] = {}
    for place in places:
        keys = list(place)
        accepted = [key for key in keys if key.name not in names]
        passed_over |= dict.fromkeys(key.name for key in keys if key.name in names and key.revoked_s is None)
        by_hash = {key.hash: key for key in accepted} | by_hash
        names |= {key.name for key in accepted if key.revoked_s is None}
    return Merged(by_hash, tuple(passed_over))


class KeyRing:
    """Finds keys."""

    def __init__(
        self,
        of_file: Sequence[GatewayKey],
        database: KeyDatabase | None = None,
        shared: KeyWatch | None = None,
        *,
        clock: Callable[[], float],
    ) -> None:
        """The keys of a file, of a database and of the store; `clock` gives seconds that only grow."""
        self._of_file = tuple(of_file)
        self._database = database
        self._shared = shared
        self._clock = clock
        self._version: int | None = None
        self._shared_keys: SharedKeys | None = None
        self._look_at_s = 0.0
        self._last_error = ""
        self._keys: dict[str, GatewayKey] = {}
        self._passed_over: tuple[str, ...] = ()
        self._look()

    @property
    def keys(self) -> tuple[GatewayKey, ...]:
        """Every key that may be shown; revoked ones, too."""
        return tuple(self.table.values())

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Names of keys that are in a place before theirs, too."""
        return self._passed_over

    @property
    def is_unsure(self) -> bool:
        """Whether there may be keys that are not known here, since the store could not be asked yet."""
        return self._shared is not None and self._shared.latest is None

    @property
    def table(self) -> dict[str, GatewayKey]:
        """The keys by their digests; another object as soon as any of them has changed."""
        if (self._database is not None and self._clock() >= self._look_at_s) or (
            self._shared is not None and self._shared.latest is not self._shared_keys
        ):
            self._look()
        return self._keys

    def __bool__(self) -> bool:
        """Whether a key is wanted."""
        return self.is_unsure or bool(self.table)  # in this order: what is known meanwhile is in the table

    def find(self, digest: str) -> GatewayKey | None:
        """The key with that digest; revoked and expired ones, too."""
        key = self.table.get(digest)
        own = _NOBODY if key is None else key.hash.encode()
        return key if hmac.compare_digest(digest.encode(), own) else None

    def _stay(self, error: ConfigError) -> None:
        """Go on with the keys that are known, and say why, once.

        Raises: the error where none is known yet.
        """
        if self._version is None:
            raise error
        if error.message == self._last_error:
            return
        self._last_error = error.message
        import logging  # only an outage needs it

        logging.getLogger("interlingua.gateway").error("keys are taken as they were: %s", error.message)

    def _look(self) -> None:
        database, shared = self._database, self._shared and self._shared.latest
        self._look_at_s = self._clock() + LOOK_S
        try:
            version = database.version() if database else 0
            if version != self._version or shared is not self._shared_keys:
                of_database = [entry.key for entry in database.all_keys()] if database else []
                in_redis = [entry.key for entry in shared.keys] if shared else []
                self._keys, self._passed_over = merged(self._of_file, in_redis, of_database)
                self._version, self._shared_keys = version, shared
            self._last_error = ""
        except ConfigError as error:
            self._stay(error)
