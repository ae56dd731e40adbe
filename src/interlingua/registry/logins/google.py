"""The login `google`: Application Default Credentials, by the library google-auth.

Rules
- Named, it is `google.auth.default`: the file of GOOGLE_APPLICATION_CREDENTIALS (a service account, or a workload
  identity federation), what `gcloud auth application-default login` left, the metadata server.
- The library asks through our own transport, so that proxies and certificates are those of every other request.
- A quota project of the credential goes along, as the vendor's SDK sends it.
"""

from __future__ import annotations

import calendar
from collections.abc import Mapping
from typing import Any, cast

from interlingua.errors import Error
from interlingua.registry.logins.bearer import BearerLogin, Token, issued_token
from interlingua.registry.logins.renewal import Issued
from interlingua.registry.logins.vendor import vendor_module
from interlingua.transport.base import Timeouts, fetch_of
from interlingua.transport.default import default_transport
from interlingua.wire.http import HttpReply, HttpRequest

__all__ = ["VARIABLES", "google_login", "login_of_google"]

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
VARIABLES = ("GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "GCE_METADATA_HOST", "GCE_METADATA_IP")
"""Variables that choose the credential."""
WAY_OUT = "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file"
LONGEST_S = 120.0


class _Answer:
    """A reply as google-auth reads it."""

    def __init__(self, reply: HttpReply) -> None:
        self.status = reply.status
        self.headers = dict(reply.headers)
        self.data = reply.body


def google_login(scope: str) -> BearerLogin:
    """The login of the environment."""

    def fetch() -> Issued[Token]:
        default: Any = vendor_module("google.auth", "google").default
        credential, _ = default(scopes=[scope or SCOPE], request=_fetch)
        return _issued(credential)

    return BearerLogin("login google", WAY_OUT, fetch)


def login_of_google(value: object, scope: str) -> BearerLogin:
    """The login of a credential object of google-auth, given the scope where it has none."""
    credential: Any = value
    if getattr(credential, "requires_scopes", False):
        credential = credential.with_scopes([scope or SCOPE])
    return BearerLogin(
        f"login {type(credential).__name__}", "look at the credential object", lambda: _issued(credential)
    )


def _issued(credential: Any) -> Issued[Token]:
    credential.refresh(_fetch)
    ends = None if credential.expiry is None else float(calendar.timegm(credential.expiry.utctimetuple()))
    quota = getattr(credential, "quota_project_id", None)
    beside = (("x-goog-user-project", str(quota)),) if quota else ()
    return issued_token(credential.token, ends, beside)


def _fetch(
    url: str,
    method: str = "GET",
    body: bytes | str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: object = None,
    **_: object,
) -> _Answer:
    """The answer to a request of google-auth.

    Raises: the library's TransportError, which it knows how to go on from.
    """
    total_s = float(timeout) if isinstance(timeout, int | float) else LONGEST_S
    request = HttpRequest(
        method=method,
        url=url,
        headers=tuple((name.lower(), str(value)) for name, value in (headers or {}).items()),
        body=body.encode() if isinstance(body, str) else body or b"",
    )
    try:
        return _Answer(fetch_of(default_transport())(request, Timeouts(connect_s=total_s, total_s=total_s)))
    except Error as error:
        kind = cast("type[Exception]", vendor_module("google.auth.exceptions", "google").TransportError)
        raise kind(error.message) from error
