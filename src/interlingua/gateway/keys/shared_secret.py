"""The secret by which ids are signed, where several gateways share it by Redis or Postgres.

Rules
- It is set if there is none, and looked at once a second: a store that comes back empty gets it again.
- Until the store was asked, the copy on the machine holds, and where there is none a secret of this process alone: what
  is   given out under that one is refused later.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from interlingua.errors import ConfigError
from interlingua.gateway.state.signing import kept_secret, make_secret, read_secret
from interlingua.routing.commands import Add, LinkGone, Read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from interlingua.routing.commands import Command, Steps
    from interlingua.routing.link import Link

__all__ = ["SharedSecret"]

PATIENCE_LOOKS = 10
"""So often a gateway with a secret of its own alone looks whether another one gives an empty store the shared one."""


class SharedSecret:
    """The secret of gateways that share a store."""

    def __init__(self, link: Link, folder: Path, *, take: Callable[[str], object]) -> None:
        """The secret behind `link`, with a copy in `folder`; `take` is given each one that is to be used."""
        self._link = link
        self._room = f"{link.prefix}{{keys}}:id-secret"
        name = sha256(f"{link.address} {link.prefix}".encode()).hexdigest()[:16]
        self._copy = folder / f"shared-id-secret-{name}"
        self._take = take
        self._secret = ""
        self._waits = 0
        self.look()

    def look(self) -> None:
        """Ask the store, and give it the secret where it has none."""
        try:
            if self._waits:
                self._waits -= 1
                proposed = ""
            else:
                proposed = self._secret or self._copied() or make_secret()
            secret = self._link.run(self._steps(proposed))
        except LinkGone:
            if not self._secret:
                copy = self._copied()
                self._waits = 0 if copy else PATIENCE_LOOKS
                self._use(copy or make_secret())
            return
        if secret not in ("", self._secret):
            self._waits = 0
            self._use(secret)
            with suppress(ConfigError, OSError):  # where no copy can be kept on this machine, there is none
                self._copy.unlink(missing_ok=True)
                kept_secret(self._copy, secret)

    def _steps(self, proposed: str) -> Steps[str]:
        """The secret that the store has; `proposed` where it had none."""
        setting: list[Command] = [Add((self._room,), proposed.encode())] if proposed else []
        *_, (value,) = yield [*setting, Read((self._room,))]
        return (value or b"").decode(errors="replace")

    def _use(self, secret: str) -> None:
        self._secret = secret
        self._take(secret)

    def _copied(self) -> str:
        try:
            return read_secret(self._copy, "the copy") if self._copy.exists() else ""
        except (ConfigError, OSError):
            return ""
