"""Logins whose credential is a token: it goes into `authorization`, whatever the request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from interlingua.registry.logins.renewal import Issued, Renewal, carried, expires_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["BearerLogin", "Token", "issued_token"]


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
        """A description of it, for errors and lists."""
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
        """The tokens that were issued last."""
        return tuple([token.text for token in self._renewal.recent()])

    def __repr__(self) -> str:
        return f"<{self.source}>"


def issued_token(text: object, ends_at_s: float | None, beside: Headers = ()) -> Issued[Token]:
    """A token that was issued until a time of the wall clock.

    Raises: UsageError, which does not show it, for what no header can carry.
    """
    beside = tuple([(name, carried(value, "a quota project")) for name, value in beside])
    return Issued(Token(carried(text, "a token"), beside), expires_at(ends_at_s))


def _headers(token: Token) -> Headers:
    return (("authorization", f"Bearer {token.text}"), *token.beside)
