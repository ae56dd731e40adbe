"""Secrets and names in errors: the target is named, and everything secret that it was sent is cut out of the sentence.

Rules
- Servers repeat what they were given.
- A key is cut out whatever it looks like; patterns, which `errors.redact` has, know only the usual ones.
- It is read again for that, and only when there is an error.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from interlingua.errors import AuthenticationError, BillingError, PermissionDeniedError, UsageError, redact
from interlingua.wire.http import SECRET_HEADERS, SHORTEST_SECRET

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlingua.errors import Error
    from interlingua.registry.endpoint import Endpoint
    from interlingua.wire.http import Headers

__all__ = ["attribute", "secret_parts"]

_ABOUT_KEYS = AuthenticationError, PermissionDeniedError, BillingError
_WORDS = ("key", "token", "secret", "auth", "cookie")


def attribute(error: Error, endpoint: Endpoint, headers: Headers) -> None:
    """Name the target in its error, and cut out of its texts what was sent in secret: the key, and such headers."""
    if not isinstance(error, UsageError):  # a sentence of ours, which names what it is about
        error.target = endpoint.spec
        if isinstance(error, _ABOUT_KEYS):
            error.key_from = endpoint.credential.origin()
    secrets = secret_parts(_secrets(endpoint, headers))
    if error.request_id:
        error.request_id = redact(error.request_id, *secrets)
    clean = redact(error.message, *secrets)
    if clean != error.message:
        error.args = (clean, *error.args[1:])


def secret_parts(values: Iterable[str]) -> list[str]:
    """Secret texts to search for: themselves, and each word behind the first, as the key behind `Bearer`."""
    parts = [part for value in values for part in (value, *value.split()[1:])]
    return [part for part in parts if len(part) >= SHORTEST_SECRET]


def _secrets(endpoint: Endpoint, headers: Headers) -> Iterator[str]:
    with suppress(Exception):  # a key function is the user's code; what it raises here, it raised for the request
        yield endpoint.credential.reveal() or ""
        yield from () if endpoint.login is None else endpoint.login.secrets()
    for name, value in (*endpoint.headers, *headers):
        if name.lower() in SECRET_HEADERS or any(word in name.lower() for word in _WORDS):
            yield value
