"""A target that is reached by a login in place of a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from interlingua.errors import ConfigError
from interlingua.registry.logins.table import identity_of, login_named, login_of
from interlingua.registry.secret import Secret
from interlingua.transport.login import LoginCarrier

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.registry.endpoint import Endpoint

__all__ = ["with_login"]


def with_login(endpoint: Endpoint, login: object, scope: str, read: Callable[[str], str | None]) -> Endpoint:
    """The endpoint with a login, by its name or as an object; `read` gives the variables that choose a credential.

    Raises: ConfigError for a name that there is not, and for a scope that lacks a part; UsageError for no login.
    """
    try:
        if isinstance(login, str):
            made, identity = login_named(login, scope, read), identity_of(login)
        else:
            made, identity = login_of(login, scope), f"{id(login):x}"
    except ConfigError as error:
        raise ConfigError(f"{endpoint.spec}: {error.message}") from None
    return replace(
        endpoint,
        login=made,
        carrier=LoginCarrier(made),
        # never sent: health and caches are kept apart by it, as by a key
        credential=Secret.of_key(f"login-{identity}", made.source),
        key_required=False,
    )
