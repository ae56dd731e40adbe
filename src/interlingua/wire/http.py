"""HTTP requests and replies as plain values: what dialects make and transports carry.

Rules
- Header names are lower case; order is kept; a name may repeat.
- A URL never holds a credential.
- Nothing here does I/O, and nothing here knows a provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Headers", "HttpReply", "HttpRequest", "header"]

Headers: TypeAlias = tuple[tuple[str, str], ...]

SECRET_HEADERS = frozenset(
    {
        "authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "x-amz-security-token",
        "cookie", "set-cookie",
    }
)  # fmt: skip
"""Headers whose values are never shown, logged or recorded."""
SHORTEST_SECRET = 8
"""Characters that a value has at least that is looked for in texts: shorter ones stand in ordinary sentences."""


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request, complete: nothing is added on the way but `host` and `content-length`."""

    method: str = "POST"
    """GET, POST, … in capitals."""
    url: str
    """Absolute http or https URL, or the pseudo URL of an in-process target (`local://…`, `fake://…`)."""
    headers: Headers = ()
    """Lower-case names, credentials included."""
    body: bytes = b""
    """The whole body."""
    dialect: str | None = None
    """The dialect of the body, for transports that answer by themselves (fake, local, cassette)."""
    target: str | None = None
    """`provider/model` that this request is for, for the same transports and for observers."""

    def __repr__(self) -> str:
        """The request without its credentials."""
        shown = tuple((name, "***" if name in SECRET_HEADERS else value) for name, value in self.headers)
        return f"HttpRequest({self.method} {self.url} headers={shown} body={len(self.body)} bytes)"


class HttpReply(msgspec.Struct, frozen=True, kw_only=True):
    """One complete reply."""

    status: int
    """HTTP status."""
    headers: Headers = ()
    """Lower-case names."""
    body: bytes = b""
    """The whole body, already decompressed."""


def header(headers: Iterable[tuple[str, str]], name: str) -> str | None:
    """The first value of the header `name` (lower case), or None."""
    for key, value in headers:
        if key == name:
            return value
    return None
