"""Where names come from, in order: code, the configuration file, `LLM_*`, vendors' variables, the built-in rows.

Rules
- `LLM_MY_CO` is `my-co`. A value with a known scheme is a provider; a value in which every element is a model of a
  known provider, another alias, or a name that begins like an alias `prefix*`, is an alias; any other `LLM_*` variable
  is somebody else's: ignored, never echoed.
- Reading is lazy and by name. What was read is remembered with a result, so that a changed variable counts at once.
- Nothing here is locked: each table is changed by one assignment and read as a copy, so threads and forks are safe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from interlingua.dialects._installed import find_installed, installed_names
from interlingua.dialects.table import SPELLINGS
from interlingua.errors import ConfigError
from interlingua.providers.row import Provider
from interlingua.providers.rows import ROWS
from interlingua.registry.alias import longest_prefix, settled
from interlingua.registry.code import code_of_dsn, keyed_code, read_scheme
from interlingua.registry.dsn import Dsn, parse_dsn, provider_of
from interlingua.registry.place import (
    Environ,
    Keyed,
    Place,
    base_url_of,
    dated_row,
    keyed_row,
    located,
    origin_of,
    placed,
    with_headers,
)
from interlingua.registry.ranking import ORDERED, Rule
from interlingua.registry.secret import Secret
from interlingua.registry.spec import Element, near
from interlingua.types.capabilities import Capabilities

if TYPE_CHECKING:
    from interlingua.providers.code import CodeProvider
    from interlingua.registry.allowance import Allowance

__all__ = ["FileProvider", "Reader", "Resolver", "SchemeFactory", "Sources", "name_of", "variable_of"]

SchemeFactory: TypeAlias = "Callable[[Dsn], Provider | CodeProvider]"
"""Gives the row that a DSN of a registered scheme is laid over, whose host, port, path, key and options come from the
DSN; or the provider in code that the DSN stands for."""
Resolver: TypeAlias = Callable[[str], "Provider | str | None"]
"""Given an element that nothing else knows: a provider that serves it, a spec that it stands for, or None."""

PREFIX = "LLM_"
_PACKAGES = "interlingua.providers"
"""The group of entry points by which packages add providers."""
_VARIABLE = re.compile(r"LLM_[A-Z0-9][A-Z0-9_]*")
_NAME = r"[a-z0-9][a-z0-9-]*"
_UNSAID = Capabilities()


class FileProvider(Struct, frozen=True):
    """One provider of a configuration file."""

    where: str
    """File and table, for errors."""
    dsn: str | None
    """The DSN itself, or None."""
    dsn_env: str | None
    """The variable that holds it, or None."""
    login: str | None = None
    """The login in place of a key, or None."""


class Reader:
    """The environment, with a memory of what was asked of it."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """A reader that has read nothing."""
        self.environ: Mapping[str, str] = environ
        """Where variables are read."""
        self.variables: dict[str, str | None] = {}
        """Each variable that was asked for, with its value then."""
        self.repeatable = True
        """Whether the same values give the same result; a resolver may answer differently next time."""

    def get(self, variable: str) -> str | None:
        """The value of a variable, or None; the same one for as long as this reader lives."""
        if variable not in self.variables:
            self.variables[variable] = self.environ.get(variable)
        return self.variables[variable]

    def entries(self) -> dict[str, str]:
        """Name -> variable of everything that could be ours."""
        return {name_of(variable): variable for variable in list(self.environ) if _VARIABLE.fullmatch(variable)}


def variable_of(name: str) -> str | None:
    """`LLM_MY_CO` for `my-co`; None for a name that no variable can have."""
    return f"{PREFIX}{name.replace('-', '_').upper()}" if re.fullmatch(_NAME, name) else None


def name_of(variable: str) -> str:
    """`my-co` for `LLM_MY_CO`."""
    return variable.removeprefix(PREFIX).replace("_", "-").lower()


class Sources:
    """Every name that somebody defined, and what it means."""

    def __init__(self, environ: Environ) -> None:
        """Nothing but the environment and the rows."""
        self.environ = environ
        """Gives the environment."""
        self.providers: dict[str, Keyed] = {}
        """Registered in code."""
        self.aliases: dict[str, str] = {}
        """Registered in code."""
        self.schemes: dict[str, SchemeFactory] = {}
        """Registered in code."""
        self.made: dict[str, tuple[str, SchemeFactory, Keyed]] = {}
        """The provider in code that the DSN of a name stands for, with the DSN and who made it."""
        self.packaged: dict[str, Keyed] = {}
        """The providers in code that installed packages offer, made once."""
        self.resolvers: tuple[Resolver, ...] = ()
        """Registered in code, asked in this order."""
        self.file_providers: dict[str, FileProvider] = {}
        """From the configuration file."""
        self.file_aliases: dict[str, str] = {}
        """From the configuration file."""
        self.rules: dict[str, Rule] = {}
        """In which order the targets of an alias of code are asked, where that was said."""
        self.file_rules: dict[str, Rule] = {}
        """In which order the targets of an alias of the configuration file are asked."""
        self.generation: object = object()
        """Another object after every registration."""
        self.own_places: frozenset[Place] = frozenset()
        """Where this process listens itself; a vendor's variable that names such a place counts as not set."""
        self.is_own_key: Callable[[str], bool] = _never
        """Whether a key is one that this process itself takes."""
        self.limits: dict[str, Allowance] = {}
        """The limits in the configuration file, by pattern of targets."""
        self.limiting: tuple[dict[str, Allowance], object] | None = None
        """The limiter that was made of the limits."""
        self.file_capabilities: dict[str, Capabilities] = {}
        """Pattern of targets -> what the configuration file says that they take."""

    def declared(self, target: str) -> Capabilities:
        """The capabilities of a target in the configuration file: an exact pattern wins, then the longest beginning."""
        by_target = self.file_capabilities
        if not by_target:
            return _UNSAID
        beginning = longest_prefix(target, {pattern: pattern for pattern in by_target})
        return by_target.get(target) or by_target.get(beginning or "") or _UNSAID

    def has_provider(self, name: str, reader: Reader) -> bool:
        """Whether something defines the provider, well or badly."""
        return (
            name in self.providers
            or name in self.file_providers
            or self.entry_text(name, reader) is not None
            or _row_name(name) in ROWS
            or name in installed_names(_PACKAGES)
        )

    def provider(self, name: str, reader: Reader) -> Keyed | None:
        """The provider of that name with its key.

        Raises: ConfigError for a bad entry.
        """
        if keyed := self.providers.get(name):
            return keyed
        if entry := self.file_providers.get(name):
            text = entry.dsn if entry.dsn_env is None else reader.get(entry.dsn_env)
            if not text:
                raise ConfigError(f"{entry.where}: {entry.dsn_env or 'dsn'} is empty or not set")
            return self._of_text(name, text, entry.where, reader, entry.login)
        if text := self.entry_text(name, reader):
            return self._of_text(name, text, variable_of(name) or name, reader)
        row = ROWS.get(_row_name(name))
        return self._at(row.base_url, self._of_row(row, reader), {}, reader) if row else self._of_package(name)

    def alias(self, name: str, reader: Reader) -> str | None:
        """The spec that an alias stands for: exact names first, then the longest `prefix*`."""
        return self.exact_alias(name, reader) or longest_prefix(name, {**self.file_aliases, **self.aliases})

    def exact_alias(self, name: str, reader: Reader) -> str | None:
        """The spec that an alias of this very name stands for."""
        return self.aliases.get(name) or self.file_aliases.get(name) or self._alias_of_environment(name, reader)

    def rule(self, name: str, reader: Reader) -> Rule:
        """The rule of the alias that `name` is found by."""
        if name not in self.aliases and name not in self.file_aliases:
            if self._alias_of_environment(name, reader):
                return ORDERED
            patterns = {*self.file_aliases, *self.aliases}
            name = longest_prefix(name, {pattern: pattern for pattern in patterns}) or name
        rules = self.rules if name in self.aliases else self.file_rules
        return rules.get(name, ORDERED)

    def entry_text(self, name: str, reader: Reader) -> str | None:
        """The DSN that the environment holds for a provider, well or badly written; None when it is no DSN of ours."""
        variable = variable_of(name)
        text = reader.get(variable) if variable else None
        scheme, separator, _ = (text or "").strip().partition("://")
        return text if separator and self._knows_scheme(scheme.lower()) else None

    def misspelt(self, name: str, reader: Reader) -> str:
        """The fault of an entry whose scheme is nearly one of ours; empty for every other one."""
        variable = variable_of(name)
        scheme, separator, _ = (reader.get(variable) or "" if variable else "").strip().partition("://")
        if not separator or self._knows_scheme(scheme.lower()):
            return ""
        hint = near(scheme, self._scheme_names())
        return f"{variable}: unknown scheme in the DSN{hint}" if hint else ""

    def addresses(self, row: Provider, reader: Reader) -> Iterator[tuple[str, str]]:
        """Each of a row's vendor's variables that is set, and the base URL that it stands for.

        Raises: ConfigError for what is no address.
        """
        for variable, added in row.address_env:
            if text := (reader.get(variable) or "").strip():
                yield variable, base_url_of(text, row, added, variable)

    def known_names(self, reader: Reader) -> tuple[str, ...]:
        """Every provider and alias there is, for suggestions."""
        ours = [name for name in reader.entries() if self.entry_text(name, reader) or self.exact_alias(name, reader)]
        packaged = sorted(installed_names(_PACKAGES))
        tables = (ROWS, self.providers, self.file_providers, self.aliases, self.file_aliases, ours, packaged)
        return tuple(dict.fromkeys(name for table in tables for name in list(table)))

    def packaged_names(self) -> list[str]:
        """The providers that installed packages add; one of our own names stays ours."""
        return sorted([name for name in installed_names(_PACKAGES) if _row_name(name) not in ROWS])

    def _of_row(self, row: Provider, reader: Reader) -> Keyed:
        """A row, at the address that the first of its vendor's variables holds, else at its own."""
        if row.token_env and not any(map(reader.get, row.key_env)) and any(map(reader.get, row.token_env)):
            keyed = self._of_row(replace(row, auth="bearer", key_env=row.token_env, token_env=()), reader)
            return replace(keyed, key_auth=row.auth)
        if row.login and not any(map(reader.get, row.key_env)):
            return replace(self._of_row(replace(row, login=""), reader), login=row.login)
        if row.version_env and (version := (reader.get(row.version_env) or "").strip()):
            return self._of_row(dated_row(row, version), reader)
        if row.header_env:
            row = with_headers(row, reader.get)
        for variable, base_url in self.addresses(row, reader):
            if origin_of(base_url) not in self.own_places:
                return keyed_row(placed(row, base_url), self.environ, origin=variable)
            key = next(filter(None, map(reader.get, row.key_env)), None)
            if key and self.is_own_key(key.strip()):
                return Keyed(row, Secret.of_key("", "a key of this gateway's own"))
        return keyed_row(row, self.environ)

    def _at(self, template: str, keyed: Keyed, options: Mapping[str, str], reader: Reader) -> Keyed:
        """A provider with the parts of its address that only its user knows."""
        if not keyed.provider.variables:
            return keyed
        return replace(keyed, provider=located(keyed.provider, template, options, reader.get))

    def _of_text(self, name: str, text: str, where: str, reader: Reader, login: str | None = None) -> Keyed:
        dsn = parse_dsn(text, where=where)
        if login is not None:
            dsn = replace(dsn, options={**dsn.options, "login": login})
        if not self._knows_scheme(dsn.scheme):
            hint = near(dsn.scheme, self._scheme_names()) or ";"
            raise ConfigError(f"{where}: unknown scheme in the DSN{hint} `il providers` lists those that are known")
        factory = self._factory(dsn.scheme)
        if factory is None:
            row = self._row_of_scheme(dsn.scheme, where)
            keyed = provider_of(name, dsn, row, self.environ, where=where)
            return self._at(row.base_url, keyed, dsn.options, reader)
        cached = self.made.get(name)
        if cached is not None and cached[:2] == (text, factory):
            return cached[2]
        value = code_of_dsn(factory, dsn, where)
        if isinstance(value, Provider):
            return provider_of(name, dsn, value, self.environ, where=where)
        keyed = keyed_code(name, value, where)
        self.made[name] = (text, factory, keyed)
        return keyed

    def _factory(self, scheme: str) -> SchemeFactory | None:
        """The factory of the providers of a scheme; None where a row stands for it."""
        if scheme in self.schemes or scheme in self.providers or _row_name(scheme) in ROWS:
            return self.schemes.get(scheme)
        installed = find_installed(_PACKAGES, scheme)
        if installed is None or isinstance(installed.value, Provider):
            return None
        return read_scheme(scheme, installed.value, installed.origin)[1]

    def _row_of_scheme(self, scheme: str, where: str) -> Provider:
        """The row that a DSN of a scheme is laid over.

        Raises: ConfigError for a scheme that is code which takes no address.
        """
        keyed = self.providers.get(scheme)
        if keyed is None and _row_name(scheme) in ROWS:
            return ROWS[_row_name(scheme)]
        keyed = keyed or self._of_package(scheme)
        if keyed is None or keyed.carrier is not None:
            raise ConfigError(
                f"{where}: {scheme} is a provider in code that takes no address; its models are {scheme}/…"
            )
        return keyed.provider

    def _of_package(self, name: str) -> Keyed | None:
        """The provider that an installed package offers under a name; None where none does.

        Raises: ConfigError for one that cannot be loaded, and for one that needs a DSN.
        """
        installed = find_installed(_PACKAGES, name)
        if installed is None:
            return None
        if isinstance(installed.value, Provider):
            row = replace(installed.value, name=name, family=installed.value.family or installed.value.name)
            return keyed_row(row, self.environ, origin=installed.origin)
        cached = self.packaged.get(name)
        if cached is None:
            cached, _ = read_scheme(name, installed.value, installed.origin)
            if cached is None:
                raise ConfigError(
                    f"{name}: no address; set {variable_of(name)}={name}://TOKEN@HOST ({installed.origin})"
                )
            self.packaged[name] = cached
        return cached

    def _knows_scheme(self, scheme: str) -> bool:
        row = ROWS.get(_row_name(scheme))
        is_ours = scheme in self.schemes or scheme in self.providers or (row is not None and row.remote)
        return is_ours or (row is None and scheme in installed_names(_PACKAGES))

    def _scheme_names(self) -> list[str]:
        return sorted({*self.schemes, *self.providers, *(name for name, row in ROWS.items() if row.remote)})

    def _alias_of_environment(self, name: str, reader: Reader) -> str | None:
        def value_of(name: str) -> str | None:
            variable = variable_of(name)
            return reader.get(variable) if variable else None

        def is_known(element: Element) -> bool:
            if element.provider is not None:
                return self.has_provider(element.provider, reader)
            return element.name in self.aliases or element.name in self.file_aliases or begins_like_one(element.name)

        def begins_like_one(name: str) -> bool:
            """Not for `*`: it would make aliases of what everybody keeps under `LLM_…`."""
            named = {alias: alias for alias in (*self.file_aliases, *self.aliases) if alias != "*"}
            return longest_prefix(name, named) is not None

        return value_of(name) if name in settled(name, value_of, is_known) else None


def _never(key: str) -> bool:  # noqa: ARG001 - the form of such a test
    return False


def _row_name(name: str) -> str:
    return SPELLINGS.get(name, name)
