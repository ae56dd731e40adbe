"""Requests of targets that are reached by a login: its headers are added where the finished request goes out.

Strategy: a login is a carrier around another one, so that whatever stands before transports (cassettes, fakes, taps)
never sees a token, and a signature covers the method, the address, the headers and the body that are sent.

Rules
- A request whose caller gives an `authorization` header of his own goes out with that one.
- A login whose credential is valid answers at once; otherwise one renewal runs, in a thread, and every request that
  needs it waits for it: no event loop is blocked.

Not responsible for: where credentials come from, and when they are renewed (`registry.logins`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from interlingua.errors import APITimeoutError, ConfigError, Error
from interlingua.transport.base import async_fetch_of, fetch_of
from interlingua.transport.default import default_async_transport, default_transport

if TYPE_CHECKING:
    from interlingua.transport.base import AsyncReply, AsyncTransport, Carrier, Reply, Timeouts, Transport
    from interlingua.wire.http import Headers, HttpReply, HttpRequest

__all__ = ["Login", "LoginCarrier"]

OWN_HEADER = "authorization"


class Login(Protocol):
    """Gives the headers that authorize one request."""

    @property
    def source(self) -> str:
        """A description of it, for errors and lists, such as `login aws`; never a credential."""
        ...

    def headers(self, request: HttpRequest, within_s: float | None) -> Headers:
        """The headers to add to a finished request, lower case; a blocking renewal takes no longer than `within_s`.

        Raises: AuthenticationError where it has no credential; ConfigError for a missing extra; TimeoutError.
        """
        ...

    async def headers_async(self, request: HttpRequest, within_s: float | None) -> Headers:
        """The headers to add to a finished request, awaited.

        Raises: as `headers`.
        """
        ...

    def secrets(self) -> tuple[str, ...]:
        """The secrets in requests, to be cut out of every text."""
        ...


class LoginCarrier:
    """Carries requests with the headers of a login, through another carrier or the transports of the process."""

    def __init__(self, login: Login, inner: Carrier | None = None) -> None:
        """A carrier that asks for nothing before its first request."""
        self._login = login
        self._inner = inner

    def blocking(self) -> Transport:
        """The blocking transport.

        Raises: UsageError where the inner carrier can only be awaited.
        """
        return _LoginTransport(self._login, default_transport() if self._inner is None else self._inner.blocking())

    def awaited(self) -> AsyncTransport:
        """The awaited transport."""
        inner = default_async_transport() if self._inner is None else self._inner.awaited()
        return _AsyncLoginTransport(self._login, inner)


class _LoginTransport:
    """Adds the headers of a login to requests, blocking."""

    def __init__(self, login: Login, inner: Transport) -> None:
        self._login = login
        self._inner = inner

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        return self._inner.open(self._authorized(request, timeouts), timeouts)

    def fetch(self, request: HttpRequest, timeouts: Timeouts) -> HttpReply:
        return fetch_of(self._inner)(self._authorized(request, timeouts), timeouts)

    def close(self) -> None:
        """Nothing: the inner transport belongs to others."""

    def _authorized(self, request: HttpRequest, timeouts: Timeouts) -> HttpRequest:
        if _is_authorized(request):
            return request
        try:
            return _with(request, self._login.headers(request, timeouts.total_s))
        except (TimeoutError, ConfigError) as error:
            raise _named(error, self._login, request) from None


class _AsyncLoginTransport:
    """Adds the headers of a login to requests, awaited."""

    def __init__(self, login: Login, inner: AsyncTransport) -> None:
        self._login = login
        self._inner = inner

    async def open(self, request: HttpRequest, timeouts: Timeouts) -> AsyncReply:
        return await self._inner.open(await self._authorized(request, timeouts), timeouts)

    async def fetch(self, request: HttpRequest, timeouts: Timeouts) -> HttpReply:
        return await async_fetch_of(self._inner)(await self._authorized(request, timeouts), timeouts)

    async def close(self) -> None:
        """Nothing: the inner transport belongs to others."""

    async def _authorized(self, request: HttpRequest, timeouts: Timeouts) -> HttpRequest:
        if _is_authorized(request):
            return request
        try:
            return _with(request, await self._login.headers_async(request, timeouts.total_s))
        except (TimeoutError, ConfigError) as error:
            raise _named(error, self._login, request) from None


def _is_authorized(request: HttpRequest) -> bool:
    return any(name == OWN_HEADER for name, _ in request.headers)


def _with(request: HttpRequest, headers: Headers) -> HttpRequest:
    names = {name for name, _ in headers}
    return replace(request, headers=(*[pair for pair in request.headers if pair[0] not in names], *headers))


def _named(error: TimeoutError | ConfigError, login: Login, request: HttpRequest) -> Error:
    """The error of a login, with the target that it is for; others are attributed where their call is."""
    if isinstance(error, ConfigError):
        return ConfigError(f"{request.target}: {error.message}" if request.target else error.message)
    late = APITimeoutError(f"{login.source} gave no credential in time", phase="connect")
    late.reached = False
    return late
