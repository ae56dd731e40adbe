"""The viewers of the console, their rights, and the gateway's own requests on their behalf.

Rules
- A key sees its own requests, and what it has used. An operator sees everybody's, and takes targets out and puts them
  back. Without keys whoever is served is an operator; with keys, those that `[server] operators` names, or the only key
  that there is.
- Behind an application that checks its users itself, nobody knows who asks, so that the console is off unless it is
  asked for.
- What changes something is asked with a header of ours, which no page of another site can send without being allowed
  to. Keys come in headers; there are no cookies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import NotFoundError, PermissionDeniedError

if TYPE_CHECKING:
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.auth import Guard
    from interlingua.gateway.records.record import Entry, Record
    from interlingua.gateway.settings import GatewaySettings

__all__ = ["PAGE_HEADER", "Access", "Viewer", "is_on"]

PAGE_HEADER = "x-interlingua-console"
"""A header that the page sends with every request for a change."""


class Viewer(NamedTuple):
    """A viewer of the console."""

    name: str
    """The name of the key; empty for none."""
    sees_all: bool
    """Whether what others do is shown."""

    def sees(self, one: Record | Entry) -> bool:
        """Whether a request is shown."""
        return self.sees_all or one.key == self.name


def is_on(settings: GatewaySettings) -> bool:
    """Whether there is a console."""
    return not settings.is_open if settings.console is None else settings.console


class Access:
    """The rights of those who look at one gateway."""

    def __init__(self, settings: GatewaySettings, guard: Guard) -> None:
        """The rights by these settings; `guard` knows the keys."""
        self._guard = guard
        self.set_up(settings)

    def set_up(self, settings: GatewaySettings) -> None:
        """Go on with these settings, also for who looks already."""
        self.is_on: bool = is_on(settings)
        """Whether there is a console."""
        self._operators = settings.operators

    def check_on(self) -> None:
        """Nothing, where there is a console.

        Raises: NotFoundError.
        """
        if not self.is_on:
            raise NotFoundError(
                "the console is off: [server] console = true, or `il serve` without --no-console", status=404
            )

    def viewer_of(self, request: GatewayRequest) -> Viewer:
        """The viewer of a request.

        Raises: NotFoundError where there is no console.
        """
        self.check_on()
        name = self._guard.name_of(request)
        return Viewer(name, self.sees_all(name))

    def check_operator(self, request: GatewayRequest) -> None:
        """Nothing, for an operator who asks from the page.

        Raises: NotFoundError where there is no console; PermissionDeniedError.
        """
        if not self.viewer_of(request).sees_all:
            raise PermissionDeniedError(
                "this key is no operator's: [server] operators names those that are", status=403
            )
        if request.header(PAGE_HEADER) is None:
            raise PermissionDeniedError(
                f"what the console changes is asked with the header {PAGE_HEADER}: 1", status=403
            )

    def sees_all(self, name: str) -> bool:
        """Whether the key of that name is an operator's; without keys everybody is one."""
        ring = self._guard.keys
        if not ring:
            return True
        keys = ring.keys
        only_key = [key.name for key in keys] if len(keys) == 1 else ()
        return name in (self._operators or only_key)
