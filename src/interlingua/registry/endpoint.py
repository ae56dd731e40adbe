"""A target that can be called: address, dialect, key and facts of one `provider/model`.

Rules
- The credential is revealed when a request is built, and stands in a header, never in the URL.
- Later headers replace earlier ones of the same name: ours, the dialect's, the row's, the caller's.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from interlingua.dialects._contract import Encoded, Target
from interlingua.dialects.table import stream_type
from interlingua.errors import ConfigError
from interlingua.providers.price import Price
from interlingua.providers.row import Auth
from interlingua.registry.secret import Secret
from interlingua.wire.http import Headers, HttpRequest

__all__ = ["Endpoint"]

CREDENTIAL_HEADERS = {"bearer": "authorization"}
"""The header of an auth form, where it does not have its name."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One target of a chain, resolved."""

    spec: str
    """`provider/model`, as answers and errors name it."""
    provider: str
    """The provider's name."""
    model: str
    """The provider's own model id, verbatim."""
    family: str = ""
    """The row whose facts and limits hold for its models; empty: nothing is known of them."""
    dialect: str
    """The dialect spoken to it."""
    base_url: str
    """What stands before the operation; its scheme decides the transport (https, http, local, fake)."""
    target: Target
    """What the dialect has to know of it."""
    auth: Auth = "bearer"
    """Where the key goes."""
    credential: Secret
    """Where the key comes from; never shown."""
    key_required: bool = False
    """Whether a request without a key is refused."""
    key_hint: str = ""
    """What to set when there is no key."""
    headers: Headers = ()
    """Further headers of every request."""
    query: tuple[tuple[str, str], ...] = ()
    """Further query parameters of every request."""
    price: Price | None = None
    """What it costs, where that was configured."""

    def http_request(
        self, encoded: Encoded, *, stream: bool = False, with_credential: bool = True, headers: Headers = ()
    ) -> HttpRequest:
        """The complete request for what a dialect has encoded.

        Raises: ConfigError for a missing or unreadable key, unless `headers` bring one or none is wanted.
        """
        accept = stream_type(self.dialect) if stream else "application/json"
        merged, names = _merged(accept, encoded.headers, self.headers, headers)
        if with_credential and CREDENTIAL_HEADERS.get(self.auth, self.auth) not in names:
            merged += self._credential()
        return HttpRequest(
            url=self._url(encoded.path),
            headers=merged,
            body=encoded.body,
            dialect=self.dialect,
            target=self.spec,
        )

    def _credential(self) -> Headers:
        if self.auth == "none":
            return ()
        key = self.credential.reveal()
        if key is None and self.key_required:
            raise ConfigError(f"{self.provider}: no key; {self.key_hint}")
        if key is None:
            return ()
        return ((CREDENTIAL_HEADERS.get(self.auth, self.auth), f"Bearer {key}" if self.auth == "bearer" else key),)

    def _url(self, path: str) -> str:
        url = f"{self.base_url}{path}"
        if not self.query:
            return url
        from urllib.parse import urlencode  # only who has a query pays for it

        return f"{url}{'&' if '?' in url else '?'}{urlencode(self.query)}"


@lru_cache(maxsize=256)
def _merged(accept: str, dialects: Headers, rows: Headers, callers: Headers) -> tuple[Headers, frozenset[str]]:
    """Every header but the credential, and their names."""
    ours = (("content-type", "application/json"), ("accept", accept), ("user-agent", "interlingua"))
    merged = dict((*ours, *dialects, *rows, *[(name.lower(), value) for name, value in callers]))
    return tuple(merged.items()), frozenset(merged)
