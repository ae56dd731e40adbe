"""Which logins there are, by name, and what a login may be made of.

Rules
- A name gives the credential of the environment, shared by everything in this process that has the same scope.
- An object is asked for what it can do: a credential of azure-identity, google-auth or botocore, a session of botocore
  or boto3, a function that gives a token, or an object of the protocol `Login` (`transport.login`).

Not responsible for: the environment that a `Registry` was given; the vendors' libraries read that of the process.
"""

from __future__ import annotations

import os
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, cast

from interlingua.errors import ConfigError, UsageError, kind_of
from interlingua.providers.row import LOGINS
from interlingua.registry.logins import aws, azure, google
from interlingua.registry.logins.bearer import BearerLogin, Token, issued_token
from interlingua.registry.logins.renewal import Issued

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.transport.login import Login

__all__ = ["LIBRARIES", "identity_of", "login_named", "login_of", "variables_of"]

_MAKERS: dict[str, tuple[Callable[[str], Login], tuple[str, ...]]] = {
    "aws": (aws.aws_login, aws.VARIABLES),
    "azure": (azure.azure_login, azure.VARIABLES),
    "google": (google.google_login, google.VARIABLES),
}
MAX_LOGINS = 256
_shared: dict[tuple[str | None, ...], Login] = {}


def login_named(name: str, scope: str, read: Callable[[str], str | None]) -> Login:
    """The login of a name; other values of the variables that choose a credential are another login.

    `read` is told of these variables, so that a caller who keeps the login looks at them again.

    Raises: ConfigError for a name that there is not, and for a scope that lacks its region.
    """
    if name not in _MAKERS:
        raise ConfigError(f"login takes {', '.join(LOGINS[:-1])} or {LOGINS[-1]}")
    make, variables = _MAKERS[name]
    for variable in variables:
        read(variable)
    key = (name, scope, *map(os.environ.get, variables))  # of the process: that is where the libraries look
    login = _shared.get(key)
    if login is None:
        if len(_shared) >= MAX_LOGINS:
            _shared.clear()
        login = _shared.setdefault(key, make(scope))  # one step, without a lock that a fork could inherit
    return login


LIBRARIES = {"aws": "botocore", "azure": "azure-identity", "google": "google-auth"}
"""The distribution of each login; the extra that brings it has the name of the login."""


def variables_of(name: str) -> tuple[str, ...]:
    """The variables that choose whose credential a login is."""
    return _MAKERS[name][1]


def identity_of(name: str) -> str:
    """The identity of a login's credential: a digest of the variables that choose it."""
    from hashlib import sha256  # only who logs in pays for it

    chosen = repr([os.environ.get(variable) for variable in _MAKERS[name][1]])
    return sha256(f"{name} {chosen}".encode()).hexdigest()[:12]


def login_of(value: object, scope: str) -> Login:
    """The login that an object of the caller's is.

    Raises: UsageError for what is none, and for one that would have to be awaited; ConfigError as `login_named`.
    """
    made = cast("Any", value)
    for method, make in _BY_METHOD.items():
        function = getattr(made, method, None)
        if callable(function) and not isinstance(value, type):
            if iscoroutinefunction(function):
                raise UsageError(f"login takes a blocking credential, and {kind_of(value)} has to be awaited")
            return make(made, scope)
    if callable(value) and not isinstance(value, type) and not iscoroutinefunction(value):
        give = cast("Callable[[], object]", value)

        def fetch() -> Issued[Token]:
            token = give()  # for every request: the function keeps its own cache
            return issued_token(token.strip() if isinstance(token, str) else token, 0.0)

        return BearerLogin("login by a function", "the function has to give a token", fetch)
    raise UsageError(
        f"login takes {', '.join(LOGINS)}, a credential of azure-identity, google-auth or botocore, or a function that "
        f"gives a token, not {kind_of(value)}"
    )


def _itself(value: Any, _: str) -> Login:
    return cast("Login", value)


_BY_METHOD: dict[str, Callable[[Any, str], Login]] = {
    "headers_async": _itself,
    "get_token": azure.login_of_azure,
    "get_frozen_credentials": aws.login_of_aws,
    "get_credentials": aws.login_of_aws,
    "refresh": google.login_of_google,
}
"""How an object is known, in this order: botocore's credentials have `refresh`, too."""
