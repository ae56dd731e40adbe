"""The state of providers, told without a call to them: where they were configured, whether their key is there.

Rules
- No key is shown, and no function of the user's is called for one.
"""

from __future__ import annotations

import msgspec

from interlingua.dialects.table import is_dialect
from interlingua.errors import ConfigError, UnknownModelError
from interlingua.registry.place import Keyed
from interlingua.registry.sources import Reader, Sources, variable_of
from interlingua.registry.spec import shown

__all__ = ["Loaded", "ProviderStatus", "key_hint", "status_of"]


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of everything that can be read, read at once."""

    providers: tuple[str, ...] = ()
    """Names of the providers that are ready, those without a key among them."""
    aliases: tuple[str, ...] = ()
    """Names of the aliases that lead somewhere."""
    problems: tuple[str, ...] = ()
    """One sentence for each bad entry, beginning with its place; never a secret."""


class ProviderStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a list of providers."""

    name: str
    """The name before the slash of a spec."""
    title: str = ""
    """Its name for people."""
    origin: str
    """Where it was configured: `built in`, `code`, the variable, the file."""
    base_url: str = ""
    """Its address; empty when its entry is bad."""
    dialect: str | None = None
    """The dialect spoken to it, or None when this version has none of its dialects."""
    key: str = ""
    """`set`, `missing`, `not needed`, `function`, which is not called here, or `login` with its name."""
    key_env: tuple[str, ...] = ()
    """The variables that may hold its key."""
    problem: str = ""
    """Why it cannot be used, or empty."""


def key_hint(keyed: Keyed) -> str:
    """The advice when a provider has no key."""
    names = " or ".join(keyed.provider.key_env)
    if keyed.origin == "built in" or not (names or keyed.credential.source):
        host = keyed.provider.base_url.partition("://")[2].partition("/")[0]
        name = keyed.provider.name
        return f"set {names}{' or ' if names else ''}{variable_of(name)}={name}://TOKEN@{host}"
    return f"set {names}" if names else f"{keyed.credential.source} gives none"


def status_of(sources: Sources, name: str, reader: Reader) -> ProviderStatus:
    """The status of the provider `name`, its bad entry included; no key is shown.

    Raises: UnknownModelError for a name that nothing defines.
    """
    try:
        keyed = sources.provider(name, reader)
    except ConfigError as error:
        return ProviderStatus(name=name, origin=error.message.partition(": ")[0], problem=error.message)
    if keyed is None:
        raise UnknownModelError(f"no provider {shown(name)}")
    provider, key, problem = keyed.provider, "missing", ""
    try:
        key = _key_state(keyed)
    except ConfigError as error:
        problem = f"{keyed.origin}: {error.message}"
    if key == "missing" and keyed.origin != "built in":
        problem = problem or f"{keyed.origin}: no key; {key_hint(keyed)}"
    return ProviderStatus(
        name=provider.name,
        title=provider.title,
        origin=keyed.origin,
        base_url=provider.base_url,
        dialect=next((dialect for dialect in provider.dialects if is_dialect(dialect)), None),
        key=key,
        key_env=provider.key_env,
        problem=problem,
    )


def _key_state(keyed: Keyed) -> str:
    if keyed.login is not None:
        return f"login {keyed.login if isinstance(keyed.login, str) else type(keyed.login).__name__}"
    if keyed.provider.auth == "none":
        return "not needed"
    if keyed.credential.dynamic:
        return "function"
    if keyed.credential.reveal():
        return "set"
    return "missing" if keyed.provider.key_required else "not needed"
