"""Logins whose credential is a token: it goes into `authorization`, whatever the request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from interlingua.errors import UsageError, kind_of
from interlingua.registry.logins.renewal import Issued, Renewal, expires_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["BearerLogin", "Token", "issued_token"]

_TOKEN = r"[!-~]{1,65536}"  # noqa: S105 - the form of one
_HEADER = r"[ -~]{1,1024}"


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


def issued_token(text: object, ends_at_s: float | None, beside: Headers = ()) -> Issued[Token]:
    """A token that was issued until a time of the wall clock.

    Raises: UsageError, which does not show it, for what no header can carry.
    """
    if not isinstance(text, str):
        raise UsageError(f"it gave {kind_of(text)}")
    if not re.fullmatch(_TOKEN, text):
        raise UsageError("it gave a token that a header cannot carry" if text else "it gave no token")
    if not all(re.fullmatch(_HEADER, value) for _, value in beside):
        raise UsageError("it gave a quota project that a header cannot carry")
    return Issued(Token(text, beside), expires_at(ends_at_s))


def _headers(token: Token) -> Headers:
    return (("authorization", f"Bearer {token.text}"), *token.beside)
