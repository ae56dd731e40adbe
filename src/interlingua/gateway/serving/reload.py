"""The configuration file of a gateway that runs: looked at once a second, validated whole, taken in one step.

Rules
- A file counts once it was still for a second, so that what is half written is not read; SIGHUP has it read at once.
- Everything of it is read, and its hooks are made, before anything of it counts. A file with an error changes nothing;
  its line is told.
- A gateway with keys goes on with keys: a file without any (emptied, cut off) is refused. Only a start goes without.
- Between two requests everything changes at once: settings, keys, teams, providers, aliases and limits. Requests under
  way go on with the target that they have; what they were let in for is checked again once their body has come.
- Where the gateway listens, its database of keys, and what it tells of requests stay those of its start; it says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from interlingua.client.state import limiter
from interlingua.errors import ConfigError, Error
from interlingua.gateway.config import read_server_config
from interlingua.registry.config import read_config

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.gateway.core import Gateway
    from interlingua.gateway.settings import GatewaySettings
    from interlingua.registry.config import Config

__all__ = ["Reload", "Stamp", "stamp_of"]

Stamp: TypeAlias = "tuple[int, int, int] | None"
"""When a file was saved, which one it is, and how long."""
_LASTING = ("observing", "key_file", "id_secret_env", "id_secret_file")
"""Settings that hold from start to end."""


class Reload:
    """Keeps a gateway as its file says."""

    def __init__(
        self,
        gateway: Gateway,
        path: str | Path,
        *,
        since: Stamp = None,
        merge: Callable[[GatewaySettings, Config], GatewaySettings] = lambda settings, _: settings,
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        """For the file that `gateway` was set up from, and that had the stamp `since` before it was read.

        `merge` lays over a file's settings what flags say, and raises for what may not be; `tell` takes a sentence.
        """
        self._gateway = gateway
        self._path = Path(path).expanduser()
        self._merge = merge
        self._tell = tell
        self._last_stamp = self._loaded_stamp = since or stamp_of(self._path)
        self._first = read_server_config(self._path)
        self._is_asked = False

    def ask(self) -> None:
        """Have the file read at the next look, also where it looks the same."""
        self._is_asked = True

    def look(self) -> bool:
        """Whether the gateway goes on with another file now."""
        stamp, before = stamp_of(self._path), self._last_stamp
        self._last_stamp = stamp
        if not self._is_asked and (stamp == self._loaded_stamp or stamp != before):
            return False
        self._is_asked = False
        self._loaded_stamp = stamp
        try:
            server, config = read_server_config(self._path), read_config(self._path)
            if stamp_of(self._path) != self._loaded_stamp:
                self._loaded_stamp = None  # saved again meanwhile: what was read may be of two files
                return True
            earlier = self._gateway.settings
            settings = self._merge(server.settings, config)
            later = [
                name for name in ("host", "port", "workers") if getattr(server, name) != getattr(self._first, name)
            ]
            words = {"observing": "log, metrics, store and record", "key_file": "keys"}
            later += [words.get(name, name) for name in _LASTING if getattr(settings, name) != getattr(earlier, name)]
            settings = msgspec.structs.replace(settings, **{name: getattr(earlier, name) for name in _LASTING})
            problems = self._take(config, settings)
            self._tell(f"{self._path.name} was read again")
            for problem in problems:
                self._tell(problem)
            if later:
                self._tell(f"counts from the next start: {', '.join(later)}")
        except Error as error:
            self._tell(f"{error.message}; the configuration before it stays")
            return False
        return True

    def _take(self, config: Config, settings: GatewaySettings) -> tuple[str, ...]:
        """The problems of a configuration that counts from now on, registry and settings together.

        Raises: ConfigError, UsageError; nothing has changed then.
        """
        gateway = self._gateway
        switch = gateway.switch_to(settings)  # before the registry: what may be refused comes first
        try:
            if not (switch.wants_key or settings.is_open or gateway.settings.is_open) and gateway.guard.keys:
                raise ConfigError(
                    f"{self._path.name} has no key any more, and a gateway with keys does not go on without: keep one, "
                    "or start it again without keys"
                )
            problems = gateway.registry.take_config(config).problems
        except Error:
            switch.drop()
            raise
        limiter().load_file(gateway.registry.limits)
        switch.take()
        return problems


def stamp_of(path: str | Path) -> Stamp:
    """The stamp of a file, another one when it was saved; None where there is none."""
    try:
        status = Path(path).expanduser().stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
