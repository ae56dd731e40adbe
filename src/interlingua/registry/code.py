"""Providers in code: an object, its class, or a function of a DSN, as the registry keeps them.

Rules
- An object is `name/model` at once, and no DSN: it takes no address. A class that can be made without arguments is too.
- A class that takes an argument, and any function, gives the provider of a DSN; host, token and options are its own.
- One DSN is one object, however many models are named by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlingua.errors import ConfigError, Error, kind_of
from interlingua.providers.row import Provider
from interlingua.registry.place import Keyed
from interlingua.registry.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.providers.code import CodeProvider
    from interlingua.registry.dsn import Dsn
    from interlingua.registry.sources import SchemeFactory

__all__ = ["code_of_dsn", "is_code", "keyed_code", "read_scheme"]


def is_code(value: object) -> bool:
    """Whether a value answers requests, or is the class of what does."""
    return callable(getattr(value, "generate", None)) or callable(getattr(value, "stream", None))


def keyed_code(name: str, provider: CodeProvider, origin: str) -> Keyed:
    """The provider `name` that code in this process is."""
    from interlingua.transport.code import CodeCarrier  # who has no provider in code pays for none

    row = Provider(
        name=name,
        title=type(provider).__name__,
        base_url=f"code://{name}",
        dialects=("unified",),
        auth="none",
        key_required=False,
    )
    return Keyed(row, Secret.of_key("", origin), origin, CodeCarrier(name, provider))


def read_scheme(name: str, factory: object, origin: str) -> tuple[Keyed | None, SchemeFactory | None]:
    """The provider that answers `name/model`, and the function that answers `name://…`; None where there is none.

    Raises: ConfigError for what is neither, and for a class that cannot be made.
    """
    if not is_code(factory):
        if not callable(factory):
            raise ConfigError(
                f"scheme {name}: takes an object with generate and stream, its class, or a function of the DSN, not "
                f"{kind_of(factory)}"
            )
        return None, cast("SchemeFactory", factory)
    if not isinstance(factory, type):
        return keyed_code(name, cast("CodeProvider", factory), origin), None
    takes_dsn, takes_nothing = _takes(factory, 1), _takes(factory, 0)
    if not takes_dsn and not takes_nothing:
        raise ConfigError(
            f"scheme {name}: {factory.__name__} must be made without arguments, or with the DSN alone; "
            "a function of the DSN may give it others"
        )
    provider = keyed_code(name, _made(name, factory), origin) if takes_nothing else None
    return provider, cast("SchemeFactory", factory) if takes_dsn else None


def code_of_dsn(factory: SchemeFactory, dsn: Dsn, where: str) -> Provider | CodeProvider:
    """The row or the provider in code that a scheme's function gives for a DSN.

    Raises: ConfigError, with the place, for anything else, and for what it raises.
    """
    value = _made(where, factory, dsn)
    if isinstance(value, Provider) or is_code(value):
        return cast("Provider | CodeProvider", value)
    raise ConfigError(
        f"{where}: the function of the scheme {dsn.scheme} gave {kind_of(value)}, not an il.Provider and nothing with "
        "generate or stream"
    )


def _made(where: str, make: Callable[..., Any], *arguments: object) -> Any:
    try:
        return make(*arguments)
    except Error:
        raise
    except Exception as error:
        # Its sentence may quote the DSN, and so the token.
        raise ConfigError(f"{where}: the provider cannot be made: it raised {kind_of(error)}") from error


def _takes(factory: Callable[..., object], number: int) -> bool:
    """Whether a class can be called with so many positional arguments."""
    from inspect import signature  # dear to import, and only who registers a class needs it

    try:
        signature(factory).bind(*[None] * number)
    except (TypeError, ValueError):
        return False
    return True
