"""Keys in Redis or Postgres: made once by `il keys`, and taken by every gateway that has the same address.

Shape: keys by digest, the digest of each name that works, and a number that is another one
after every change.

Rules
- What holds for the database of keys holds here: digests alone, a name is given once until it is revoked.
- A gateway looks once a second, in a thread of its own, since its event loop must not wait for the store. While that is
  away the keys stay those that are known. One that begins then takes a copy on its machine, if another one has seen
  the store in the last ten minutes; else it knows that it does not know.
- A store that comes back empty gets the keys as a gateway knew them last.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from interlingua.errors import ConfigError, DecodeError, LimitExceededError, UsageError
from interlingua.gateway.keys.budget import Account
from interlingua.gateway.keys.database import KeptKey, check_name
from interlingua.gateway.keys.shared_usage import usage_steps
from interlingua.registry.spec import shown
from interlingua.routing.commands import CreateKey, LinkGone, Read, RestoreKeys, RevokeKey, Values
from interlingua.wire.json import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from interlingua.gateway.keys.accounts import Row
    from interlingua.gateway.settings import GatewayKey
    from interlingua.routing.commands import Command, Steps
    from interlingua.routing.link import Link

__all__ = ["LOOK_S", "KeyWatch", "SharedKeyDatabase", "SharedKeys"]

R = TypeVar("R")
LOOK_S = 1.0
"""How old what a gateway knows of the keys may get."""
COPY_S = 600.0
"""How old a copy on the machine may be: a worker that is started again knows the keys, and a revoked one soon ends."""


class SharedKeyDatabase:
    """The keys of one store."""

    def __init__(self, link: Link, *, now: Callable[[], float]) -> None:
        """The keys behind `link`; `now` gives Unix seconds."""
        self._link = link
        self._now = now
        self.place: str = link.kind.lower()
        """Where its keys are from, in a word."""
        self._rooms = tuple([f"{link.prefix}{{keys}}:{room}" for room in ("keys", "names", "version")])

    def create(self, key: GatewayKey) -> None:
        """Keep a key.

        Raises: UsageError where there is one of that name; ConfigError where the store does not answer.
        """
        entry = encode(KeptKey(key=key, created_s=self._now()))
        if not self._done(CreateKey(self._rooms, check_name(key.name), key.hash, entry)):
            raise UsageError(f"there is a key {key.name}; revoke it first, or take another name")

    def revoke(self, name: str) -> None:
        """Have a key stop working.

        Raises: UsageError where there is none of that name; ConfigError where the store does not answer.
        """
        current = next(
            (entry for entry in self.all_keys() if entry.key.name == name and entry.key.revoked_s is None), None
        )
        if current is not None:
            key = msgspec.structs.replace(current.key, revoked_s=self._now())
            entry = encode(msgspec.structs.replace(current, key=key))
            if self._done(RevokeKey(self._rooms, name, key.hash, entry)):
                return
        raise UsageError(f"there is no key {shown(name)} that works; `il keys list` shows them")

    def version(self) -> int:
        """A number that is another one after every change of a key; 0 where there is none.

        Raises: ConfigError where the store does not answer.
        """
        return int(self._run(self._one(Read((self._rooms[2],))))[0] or 0)

    def all_keys(self) -> list[KeptKey]:
        """Every key, revoked ones, too, by name and age.

        Raises: ConfigError where the store does not answer.
        """
        values: list[bytes] = self._run(self._one(Values(self._rooms[0])))
        entries: list[KeptKey] = []
        for value in values:
            with suppress(DecodeError, LimitExceededError):  # another version wrote it: as if it were not there
                entries.append(decode(value, KeptKey))
        return sorted(entries, key=lambda entry: (entry.key.name, entry.created_s))

    def restore(self, version: int, keys: Sequence[KeptKey]) -> None:
        """Keep keys that were known, in a store that knows nothing of keys any more."""
        entries = [
            (entry.key.hash, encode(entry), entry.key.name if entry.key.revoked_s is None else "") for entry in keys
        ]
        self._done(RestoreKeys(self._rooms, version, tuple(entries)))

    def usage(self, key: str = "", since: str = "") -> list[Row]:
        """The use at all gateways, by key, day and model; of one key where it is named, from a day on.

        Raises: ConfigError where the store does not answer.
        """
        return self._run(usage_steps(self._link, key, since))

    def accounts(self, names: Sequence[str]) -> dict[str, Account]:
        """The accounts of those names that were used.

        Raises: ConfigError where the store does not answer, and for an account that is damaged.
        """
        if not names:
            return {}
        rooms = [f"{self._link.prefix}{{accounts}}:{name}" for name in names]
        values: list[bytes | None] = self._run(self._one(Read(tuple(rooms))))
        accounts: dict[str, Account] = {}
        for name, value in zip(names, values, strict=True):
            try:
                if value:
                    accounts[name] = decode(value, Account)
            except (DecodeError, LimitExceededError):
                reason = f"the shared account {name} is damaged; delete it in the store to begin it anew"
                raise ConfigError(reason) from None
        return accounts

    @property
    def copy_name(self) -> str:
        """A file name of these keys among those of other places."""
        return f"shared-keys-{sha256(f'{self._link.address} {self._link.prefix}'.encode()).hexdigest()[:16]}.json"

    def close(self) -> None:
        """Nothing: the connections are the process's."""

    def _done(self, command: Command) -> bool:
        return bool(self._run(self._one(command)))

    def _one(self, command: Command) -> Steps[Any]:
        (reply,) = yield [command]
        return reply

    def _run(self, steps: Steps[R]) -> R:
        try:
            return self._link.run(steps)
        except LinkGone:
            raise ConfigError(
                f"the keys are in {self._link.kind}, which does not answer: {self._link.problem}"
            ) from None


class SharedKeys(msgspec.Struct, frozen=True):
    """The keys at one moment; a copy of them may lie on the machine."""

    version: int
    """A number that is another one after every change of a key; 0 where there was none."""
    keys: list[KeptKey]
    """Every key, revoked ones, too."""


class KeyWatch:
    """The keys in the store as a gateway knows them."""

    def __init__(
        self, keys: SharedKeyDatabase, *, folder: Path | None = None, beside: Callable[[], object] = lambda: None
    ) -> None:
        """Looks now, and then once a second; `beside` is done after each of the later looks.

        `folder` is where a copy of the keys lies; None for none.
        """
        self._keys = keys
        self._copy = None if folder is None else folder / keys.copy_name
        self._beside = beside
        self._end = threading.Event()
        self.latest: SharedKeys | None = None
        """The keys; None as long as the store could not be asked. One object, so that nobody sees half of a change."""
        self._look()
        if self.latest is None and self._copy is not None:
            with suppress(OSError, DecodeError, LimitExceededError):
                age_s = time.time() - self._copy.stat().st_mtime
                if 0 <= age_s < COPY_S:
                    self.latest = decode(self._copy.read_bytes(), SharedKeys)
        self._thread = threading.Thread(target=self._run, name="interlingua-shared-keys", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Look no more."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(LOOK_S):
            self._look()
            self._beside()

    def _look(self) -> None:
        try:
            version, copy = self._keys.version(), self.latest
            if copy is not None and copy.keys and not version:
                self._keys.restore(copy.version, copy.keys)
            elif copy is None or version != copy.version:
                self.latest = copy = SharedKeys(version, self._keys.all_keys())
                self._write_copy(copy)
            if self._copy is not None:
                with suppress(OSError):
                    os.utime(self._copy)
        except ConfigError:
            return  # the link has said so, once
        except Exception:  # whatever it is, the next look may find it repaired
            logging.getLogger("interlingua.gateway").exception("shared keys are taken as they were")

    def _write_copy(self, copy: SharedKeys) -> None:
        """Keep the keys on this machine, for its owner alone; where that cannot be, there is no copy."""
        if self._copy is None:
            return
        with suppress(OSError):
            self._copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            written = self._copy.with_suffix(f".{os.getpid()}")
            written.touch(0o600)
            written.write_bytes(encode(copy))
            written.replace(self._copy)
