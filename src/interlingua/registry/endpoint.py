"""A target that can be called: address, dialect, key and facts of one `provider/model`.

Rules
- The credential is revealed when a request is built, and stands in a header, never in the URL.
- Later headers replace earlier ones of the same name: ours, the dialect's, the row's, the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from interlingua.dialects._contract import Encoded, Target
from interlingua.dialects.table import stream_type
from interlingua.errors import ConfigError
from interlingua.providers.price import Price
from interlingua.providers.row import Auth, CardForm, Operation
from interlingua.registry.secret import ARGUMENT, Secret
from interlingua.types.capabilities import Capabilities
from interlingua.wire.cache import ByteCache, weight_of
from interlingua.wire.http import SECRET_HEADERS, Headers, HttpRequest

if TYPE_CHECKING:
    from interlingua.transport.base import Carrier
    from interlingua.transport.login import Login

__all__ = ["Endpoint"]

CREDENTIAL_HEADERS = {"bearer": "authorization"}
"""The header of an auth form, where it does not have its name."""
_NO_KEY_HERE = "api_key= is empty: give one, or leave it out, and the provider's variable is read"
DIGEST_DIGITS = 12
"""Hexadecimal digits that tell the identities of a target apart; too few to search for a key by them."""
_NAMES_BYTES = 1_000


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
    """The URL before the operation; its scheme decides the transport (https, http, local, fake)."""
    target: Target
    """The facts of it that the dialect needs."""
    auth: Auth = "bearer"
    """Where the key goes."""
    credential: Secret
    """Where the key comes from; never shown."""
    key_required: bool = False
    """Whether a request without a key is refused."""
    key_hint: str = ""
    """The advice when there is no key."""
    headers: Headers = ()
    """Further headers of every request."""
    query: tuple[tuple[str, str], ...] = ()
    """Further query parameters of every request."""
    operations: tuple[Operation, ...] = ()
    """The operations that it has at other paths than the dialect, or with other members."""
    headers_left_out: tuple[str, ...] = ()
    """Headers of the dialect that it does not take."""
    capabilities: Capabilities = Capabilities()
    """The features that it takes and does not take, as declared; `target` holds the consequences for the dialect."""
    card: CardForm = "none"
    """How its server tells what a model takes, when it is asked."""
    price: Price | None = None
    """The price, where that was configured."""
    carrier: Carrier | None = None
    """The carrier of its requests, where that is code in this process, or a login."""
    login: Login | None = None
    """The login that authorizes its requests in place of a key; `carrier` is made of it."""

    def identity(self, headers: Headers = ()) -> str:
        """The address and the key of a request with these headers, by which health is kept: the host, and a digest.

        Two callers have the same one where the server cannot tell them apart. The key is not in it. A login is itself,
        whichever token it holds: its `credential` names it, so that a renewal forgets no health.
        """
        secret = [pair for pair in headers if pair[0].lower() in SECRET_HEADERS] if headers else ()
        return _identities[self.base_url, self.query, self.headers, tuple(secret), (self.credential.latest(),)]

    def http_request(
        self, encoded: Encoded, *, stream: bool = False, with_credential: bool = True, headers: Headers = ()
    ) -> HttpRequest:
        """The complete request for what a dialect has encoded.

        Raises: ConfigError for a missing or unreadable key, unless `headers` bring one or none is wanted.
        """
        path, body, dialects, callers = encoded.path, encoded.body, encoded.headers, headers
        if self.operations:
            from interlingua.registry.operation import operation_at, operation_body, operation_path  # few providers do

            operation = operation_at(self.operations, path)
            if operation is not None:
                path = operation_path(operation, path, self.model, stream=stream)
                body = operation_body(operation, body) if body else body
        if self.headers_left_out:
            dialects, callers = self._without_left_out(dialects), self._without_left_out(callers)
        accept = stream_type(self.dialect) if stream else "application/json"
        sent, names = _merged[accept, dialects, self.headers, callers]
        header = CREDENTIAL_HEADERS.get(self.auth, self.auth)
        if with_credential and self.auth != "none" and self.login is None and header not in names:
            key = self.credential.reveal()
            if key is not None:
                sent = (*sent, (header, f"Bearer {key}" if header == CREDENTIAL_HEADERS["bearer"] else key))
            elif self.key_required:
                hint = _NO_KEY_HERE if self.credential.source == ARGUMENT else self.key_hint
                raise ConfigError(f"{self.provider}: no key; {hint}")
        url = f"{self.base_url}{path}"
        if self.query:
            from urllib.parse import urlencode  # only who has a query pays for it

            url = f"{url}{'&' if '?' in url else '?'}{urlencode(self.query)}"
        return HttpRequest(url=url, headers=sent, body=body, dialect=self.dialect, target=self.spec)

    def _without_left_out(self, headers: Headers) -> Headers:
        """Headers without those that the provider does not get."""
        return tuple([pair for pair in headers if pair[0].lower() not in self.headers_left_out])


def _find_identity(key: tuple[str, tuple[tuple[str, str], ...], Headers, Headers, tuple[str, ...]]) -> str:
    """The host of an address, and a digest of everything by which a server knows who asks."""
    from hashlib import sha256  # only where something is known against a target

    host = key[0].partition("://")[2].partition("/")[0].rpartition("@")[2]
    return f"{host} {sha256(msgspec.json.encode(key)).hexdigest()[:DIGEST_DIGITS]}".lstrip()


_identities = ByteCache(1_000_000, _find_identity)


def _merge(key: tuple[str, Headers, Headers, Headers]) -> tuple[Headers, frozenset[str]]:
    """Every header but the credential, and their names."""
    accept, dialects, rows, callers = key
    ours = (("content-type", "application/json"), ("accept", accept), ("user-agent", "interlingua"))
    merged = dict((*ours, *dialects, *rows, *[(name.lower(), value) for name, value in callers]))
    return tuple(merged.items()), frozenset(merged)


def _weigh_merged(key: tuple[str, Headers, Headers, Headers], merged: tuple[Headers, frozenset[str]]) -> int:
    return weight_of(key, merged[0]) + _NAMES_BYTES


_merged = ByteCache(2_000_000, _merge, weigh=_weigh_merged)
"""Calls of one target seldom differ in their headers."""
