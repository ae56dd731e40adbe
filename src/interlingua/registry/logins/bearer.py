"""Logins whose credential is a token: it goes into `authorization`, whatever the request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from interlingua.registry.logins.renewal import Issued, Renewal

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["BearerLogin", "Token"]


class Token(NamedTuple):
    """A token, with what has to go beside it."""

    text: str
    """The token itself."""
    beside: Headers = ()
    """Further headers, lower case."""


class BearerLogin:
    """Gives a token that is renewed before its end."""

    def __init__(self, source: str, way_out: str, fetch: Callable[[], Issued[Token]]) -> None:
        """A login that asks for nothing before its first request."""
        self.source: str = source
        """What it is, for errors and lists."""
        self._renewal = Renewal(source, way_out, fetch)

    def headers(self, request: HttpRequest, within_s: float | None) -> Headers:  # noqa: ARG002 - a token signs nothing
        """The headers of the token.

        Raises: AuthenticationError where there is none; ConfigError for a missing extra; TimeoutError.
        """
        return _headers(self._renewal.wait(within_s))

    async def headers_async(self, request: HttpRequest, within_s: float | None) -> Headers:  # noqa: ARG002 - as above
        """The headers of the token, awaited.

        Raises: as `headers`.
        """
        return _headers(await self._renewal.awaited(within_s))

    def secrets(self) -> tuple[str, ...]:
        """The token that was issued last."""
        token = self._renewal.last()
        return () if token is None else (token.text,)

    def __repr__(self) -> str:
        return f"<{self.source}>"


def _headers(token: Token) -> Headers:
    return (("authorization", f"Bearer {token.text}"), *token.beside)
