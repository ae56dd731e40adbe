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
from interlingua.providers.cards import CardForm
from interlingua.providers.price import Price
from interlingua.providers.row import Auth, Operation
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
MAX_KEYS = 64
"""With how many keys the same headers are remembered."""
_FORM_BYTES = 1_000


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
    operations: tuple[Operation, ...] = ()
    """The operations that it has at other paths than the dialect, or with other members."""
    headers_left_out: tuple[str, ...] = ()
    """Headers of the dialect that it does not take."""
    capabilities: Capabilities = Capabilities()
    """What somebody says that it takes and does not take; `target` holds what follows from it for the dialect."""
    card: CardForm = "none"
    """How its server tells what a model takes, when it is asked."""
    price: Price | None = None
    """What it costs, where that was configured."""
    carrier: Carrier | None = None
    """What carries its requests, where that is code in this process, or a login."""
    login: Login | None = None
    """What authorizes its requests in place of a key; `carrier` is made of it."""

    def identity(self, headers: Headers = ()) -> str:
        """The address and the key of a request with these headers, by which health is kept: the host, and a digest.

        Two callers have the same one where the server cannot tell them apart. The key is not in it.
        """
        secret = [pair for pair in headers if pair[0].lower() in SECRET_HEADERS] if headers else ()
        keys = (self.credential.latest(),) if self.login is None else self.login.secrets()
        return _identities[self.base_url, self.query, self.headers, tuple(secret), keys]

    def http_request(
        self, encoded: Encoded, *, stream: bool = False, with_credential: bool = True, headers: Headers = ()
    ) -> HttpRequest:
        """The complete request for what a dialect has encoded.

        Raises: ConfigError for a missing or unreadable key, unless `headers` bring one or none is wanted.
        """
        asked = id(self), id(encoded.headers), id(headers), encoded.path, stream
        form = _forms.get(asked)
        if form is None:
            form = _Form(self, encoded.headers, headers, encoded.path, stream=stream)
            _forms.put(asked, form)
        headers = form.merged.headers
        if with_credential and form.credential:
            key = self.credential.reveal()
            known, keyed = form.keyed
            if key is not None and key == known:
                headers = keyed
            elif key is not None:
                headers = form.merged.with_key(form.credential, key)
                form.keyed = key, headers
            elif self.key_required:
                hint = _NO_KEY_HERE if self.credential.source == ARGUMENT else self.key_hint
                raise ConfigError(f"{self.provider}: no key; {hint}")
        body = encoded.body
        if form.operation is not None and body:
            from interlingua.registry.operation import operation_body  # few providers need it

            body = operation_body(form.operation, body)
        return HttpRequest(url=form.url, headers=headers, body=body, dialect=self.dialect, target=self.spec)


def _find_identity(key: tuple[str, tuple[tuple[str, str], ...], Headers, Headers, tuple[str, ...]]) -> str:
    """The host of an address, and a digest of everything by which a server knows who asks."""
    from hashlib import sha256  # only where something is known against a target

    host = key[0].partition("://")[2].partition("/")[0].rpartition("@")[2]
    return f"{host} {sha256(msgspec.json.encode(key)).hexdigest()[:DIGEST_DIGITS]}".lstrip()


_identities = ByteCache(1_000_000, _find_identity)


class _Merged:
    """The headers of requests that differ in their credential alone; they are the same object for the same key."""

    __slots__ = ("_with_keys", "headers", "names")

    def __init__(self, headers: dict[str, str]) -> None:
        self.headers: Headers = tuple(headers.items())
        self.names = frozenset(headers)
        self._with_keys: dict[tuple[str, str], Headers] = {}

    def with_key(self, name: str, key: str) -> Headers:
        """The headers with the credential at their end."""
        known = self._with_keys.get((name, key))
        if known is None:
            if len(self._with_keys) >= MAX_KEYS:
                self._with_keys = {}
            told = f"Bearer {key}" if name == CREDENTIAL_HEADERS["bearer"] else key
            known = self._with_keys[name, key] = (*self.headers, (name, told))
        return known


def _merge(key: tuple[str, Headers, Headers, Headers]) -> _Merged:
    """Every header but the credential."""
    accept, dialects, rows, callers = key
    ours = (("content-type", "application/json"), ("accept", accept), ("user-agent", "interlingua"))
    return _Merged(dict((*ours, *dialects, *rows, *[(name.lower(), value) for name, value in callers])))


def _weigh_merged(key: tuple[str, Headers, Headers, Headers], merged: _Merged) -> int:
    return weight_of(key, merged.headers) + _FORM_BYTES


_merged = ByteCache(2_000_000, _merge, weigh=_weigh_merged)


def _find_address(key: tuple[str, str, Headers]) -> str:
    """The address of an operation."""
    base_url, path, query = key
    url = f"{base_url}{path}"
    if not query:
        return url
    from urllib.parse import urlencode  # only who has a query pays for it

    return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}"


_addresses = ByteCache(1_000_000, _find_address)


class _Form:
    """Requests of one target for one operation, body and credential aside."""

    __slots__ = ("_held", "credential", "keyed", "merged", "operation", "url")

    def __init__(self, endpoint: Endpoint, dialects: Headers, callers: Headers, path: str, *, stream: bool) -> None:
        self._held = endpoint, dialects, callers  # by whose identities it is found
        self.operation: Operation | None = None
        """What the provider has in place of the dialect's operation; None where it has that."""
        if endpoint.operations:
            from interlingua.registry.operation import operation_at, operation_path  # few providers need it

            self.operation = operation_at(endpoint.operations, path)
            if self.operation is not None:
                path = operation_path(self.operation, path, endpoint.model, stream=stream)
        if endpoint.headers_left_out:
            left_out = endpoint.headers_left_out
            dialects, callers = (
                tuple([pair for pair in pairs if pair[0].lower() not in left_out]) for pairs in (dialects, callers)
            )
        accept = stream_type(endpoint.dialect) if stream else "application/json"
        self.merged = _merged[accept, dialects, endpoint.headers, callers]
        name = CREDENTIAL_HEADERS.get(endpoint.auth, endpoint.auth)
        is_none = endpoint.auth == "none" or endpoint.login is not None or name in self.merged.names
        self.credential = "" if is_none else name
        """The header that a key goes into; empty where none is wanted."""
        self.keyed: tuple[str | None, Headers] = (None, ())
        """The key that went along last, and the headers with it."""
        self.url = _addresses[endpoint.base_url, path, endpoint.query]


def _weight(key: tuple[int, int, int, str, bool], form: _Form) -> int:
    return weight_of(key, form.url, form.merged.headers) + _FORM_BYTES


_forms = ByteCache[tuple[int, int, int, str, bool], _Form](2_000_000, weigh=_weight)
