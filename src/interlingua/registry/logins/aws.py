"""The login `aws`: the credential chain and the request signature of AWS, by the library botocore.

Rules
- Named, it is botocore's chain: variables, an assumed role, a profile, the cache of `aws sso login`, a web identity
  (EKS), a container (ECS), IMDSv2.
- A signature (Signature Version 4) covers method, path, query, body and every header that is there.
- The scope is `service/region`.
- A credential without an end is read anew after a while, since files and variables change.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from interlingua.errors import ConfigError
from interlingua.registry.logins.renewal import EARLY_S, Issued, Renewal, carried, expires_at
from interlingua.registry.logins.vendor import vendor_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["VARIABLES", "AwsLogin", "aws_login", "login_of_aws"]

VARIABLES = (
    "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
)  # fmt: skip
"""Variables that choose the credential."""
WAY_OUT = "run `aws sso login`, set AWS_PROFILE, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
LASTING_S = 300.0
"""After how long a credential without an end is read anew."""
LARGE_BODY_BYTES = 1_000_000
"""A body from this size on is signed in a thread, where an event loop waits for it."""


class AwsLogin:
    """Signs requests with a credential that is renewed before its end."""

    def __init__(self, source: str, scope: str, way_out: str, fetch: Callable[[], Issued[Any]]) -> None:
        """A login that asks for nothing before its first request."""
        self.source: str = source
        """A description of it, for errors and lists."""
        self._service, _, self._region = scope.partition("/")
        self._renewal = Renewal(source, way_out, fetch)

    def headers(self, request: HttpRequest, within_s: float | None) -> Headers:
        """The headers of the signature of a request.

        Raises: AuthenticationError where there is no credential; ConfigError for a missing extra; TimeoutError.
        """
        return self._signed(request, self._renewal.wait(within_s))

    async def headers_async(self, request: HttpRequest, within_s: float | None) -> Headers:
        """The headers of the signature of a request, awaited.

        Raises: as `headers`.
        """
        credential = await self._renewal.awaited(within_s)
        if len(request.body) < LARGE_BODY_BYTES:
            return self._signed(request, credential)
        from asyncio import to_thread  # only large bodies need a thread

        return await to_thread(self._signed, request, credential)

    def secrets(self) -> tuple[str, ...]:
        """The secret keys and the session tokens that were issued last."""
        pairs = [(credential.secret_key, credential.token) for credential in self._renewal.recent()]
        return tuple([text for pair in pairs for text in pair if text])

    def __repr__(self) -> str:
        return f"<{self.source}>"

    def _signed(self, request: HttpRequest, credential: Any) -> Headers:
        signer: Any = vendor_module("botocore.auth", "aws").SigV4Auth
        aws_request: Any = vendor_module("botocore.awsrequest", "aws").AWSRequest(
            method=request.method, url=request.url, headers=dict(request.headers), data=request.body
        )
        signer(credential, self._service, self._region).add_auth(aws_request)
        before = {name for name, _ in request.headers}
        added = [(str(name).lower(), str(value)) for name, value in aws_request.headers.items()]
        return tuple([pair for pair in added if pair[0] not in before])


def aws_login(scope: str) -> AwsLogin:
    """The login of the environment."""

    def fetch() -> Issued[Any]:
        return _issued(vendor_module("botocore.session", "aws").Session().get_credentials())

    return AwsLogin("login aws", _checked(scope), WAY_OUT, fetch)


def login_of_aws(credential: object, scope: str) -> AwsLogin:
    """The login of a session or a credential object of botocore, or a session of boto3."""

    def fetch() -> Issued[Any]:
        session: Any = credential
        return _issued(session.get_credentials() if hasattr(credential, "get_credentials") else credential)

    return AwsLogin(f"login {type(credential).__name__}", _checked(scope), "look at the credential object", fetch)


def _checked(scope: str) -> str:
    service, _, region = scope.partition("/")
    if not service or not region or "{" in scope:
        raise ConfigError("login aws needs a service and a region to sign for; set AWS_REGION, or ?region= in the DSN")
    return scope


def _issued(credential: Any) -> Issued[Any]:
    if credential is None:
        raise LookupError("none is configured")
    frozen = credential.get_frozen_credentials()
    carried(getattr(frozen, "access_key", None), "an access key")
    carried(getattr(frozen, "secret_key", None), "a secret key")
    if getattr(frozen, "token", None) is not None:
        carried(frozen.token, "a session token")
    refresh_needed: Callable[..., bool] | None = getattr(credential, "refresh_needed", None)
    if refresh_needed is None:
        return Issued(frozen, expires_at(time.time() + EARLY_S + LASTING_S))

    def holds(within_s: float) -> bool:
        return not refresh_needed(refresh_in=within_s)

    return Issued(frozen, holds)
