"""From a spec to endpoints, with a memory that notices when a variable changes.

Rules
- `resolve` does no network I/O and reads no key: a missing key is reported when a request is built.
- A bad entry harms nobody until its own name is used, or `load_env` asks for all of them.
- Registrations count from the next `resolve` on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from interlingua.dialects._contract import Target
from interlingua.dialects.table import SPELLINGS
from interlingua.errors import ConfigError, Error, UnknownModelError, UsageError, check_text, kind_of
from interlingua.providers.declared import told_target
from interlingua.providers.negotiate import negotiate, target_of
from interlingua.providers.row import Provider
from interlingua.providers.rows import ROWS
from interlingua.registry.alias import expand
from interlingua.registry.code import read_scheme
from interlingua.registry.endpoint import Endpoint
from interlingua.registry.place import Argument, Keyed, Place, keyed_row, located, origin_of, unsaid
from interlingua.registry.ranking import ORDERED, Ranking, Rule, ranked, rule
from interlingua.registry.secret import Key, Secret
from interlingua.registry.sources import Reader, Resolver, SchemeFactory, Sources, variable_of
from interlingua.registry.spec import LONGEST_SHOWN, Element, check_alias_name, near, parse_spec, shown
from interlingua.registry.status import Loaded, ProviderStatus, key_hint, status_of
from interlingua.wire.cache import ByteCache, weight_of

if TYPE_CHECKING:
    from pathlib import Path

    from interlingua.providers.code import CodeProvider
    from interlingua.registry.allowance import Allowance
    from interlingua.registry.config import Config

__all__ = ["Registry", "Resolved", "default_registry", "placeholder"]

L = TypeVar("L")
MAX_REMEMBERED_BYTES = 2_000_000
_NAME = r"[a-z0-9][a-z0-9.-]*"


class _Asked(Struct, frozen=True, eq=False):
    spec: str
    client: str | None
    tools: bool


_ENTRY_BYTES = 2_000
_BY_TEXT = "a model is named by a text, 'provider/model' or 'a/b,c/d'"


class Resolved:
    """The targets of a spec, and the conditions under which they hold."""

    __slots__ = ("_environ", "_generation", "_sources", "_variables", "endpoints")

    def __init__(self, sources: Sources, generation: object, reader: Reader, endpoints: tuple[Endpoint, ...]) -> None:
        """The targets that a reader of the environment has found for a generation of the registrations."""
        self._sources = sources
        self._environ = reader.environ if reader.environ is not os.environ else None
        self._generation = generation if reader.repeatable else None
        self._variables = reader.variables
        self.endpoints: tuple[Endpoint, ...] = endpoints
        """The targets, in order."""

    def holds(self) -> bool:
        """Whether the spec would be resolved to the same now."""
        if self._generation is not self._sources.generation:
            return False
        environ = os.environ if self._environ is None else self._environ
        for variable, value in self._variables.items():
            try:  # every call comes by here, and `get` takes a quarter longer
                now: str | None = environ[variable]
            except KeyError:
                now = None
            if now != value:
                return False
        return True


def _weight(key: tuple[str, str | None, bool], resolved: Resolved) -> int:
    """A name is in its targets several times; the environment's own values are not counted."""
    return _ENTRY_BYTES * (1 + len(resolved.endpoints)) + 4 * weight_of(key)


class Registry:
    """Providers, aliases and schemes of one environment."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        """A registry that knows the rows; None reads the process's environment, whenever it is asked.

        Raises: UsageError for what is no environment.
        """
        if environ is not None and not isinstance(environ, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise UsageError(f"a registry takes variables with their values, not {kind_of(environ)}")
        self._environ = environ
        self._sources = Sources(self.environment)
        self._argument: Argument | None = None
        self._remembered = ByteCache[tuple[str, str | None, bool], Resolved](MAX_REMEMBERED_BYTES, weigh=_weight)
        self._rankings = ByteCache[str, tuple[tuple[Endpoint, ...], Ranking | None]](MAX_REMEMBERED_BYTES)

    @property
    def limits(self) -> dict[str, Allowance]:
        """The limits in the file that was loaded last, by pattern of targets."""
        return self._sources.limits

    @limits.setter
    def limits(self, limits: dict[str, Allowance]) -> None:
        self._sources.limits = limits

    def limited_by(self, make: Callable[[dict[str, Allowance]], L]) -> L | None:
        """The value that `make` makes of the limits, the same for all; None for none, and for those of the process.

        Calls of a registry of its own are limited by its file; the registry of the process tells the process's limiter.
        """
        sources = self._sources
        if not sources.limits or sources is _DEFAULT._sources:
            return None
        if sources.limiting is None or sources.limiting[0] is not sources.limits:
            sources.limiting = sources.limits, make(sources.limits)
        return cast("L", sources.limiting[1])

    def environment(self) -> Mapping[str, str]:
        """Where variables are read now."""
        return os.environ if self._environ is None else self._environ

    def use_environment(self, environ: Mapping[str, str]) -> None:
        """Read variables here from now on; before anything is resolved."""
        self._environ = environ

    def resolve(self, spec: str, *, client: str | None = None, tools: bool = False) -> tuple[Endpoint, ...]:
        """The targets of a spec, in the order in which they are to be tried, each once.

        `client` is the dialect that somebody who asks through us speaks: it is spoken to a provider that speaks it.
        `tools` says that the request has tools, beside which a model may refuse a dialect.

        Raises: UnknownModelError for a name that nothing defines; ConfigError for a bad entry, a circle of aliases,
            a provider without an address, and one that speaks no dialect of this version.
        """
        return self.resolved(spec, client, tools=tools).endpoints

    def resolved(self, spec: str, client: str | None = None, *, tools: bool = False) -> Resolved:
        """The endpoints of a name, with a check whether that answer still holds.

        Raises: as `resolve`.
        """
        check_text(spec, _BY_TEXT)
        cached = self._remembered.get((spec, client, tools))
        if cached is not None and cached.holds():
            return cached
        question = _Asked(spec, client, tools)
        generation, reader = self._sources.generation, Reader(self.environment())
        endpoints = _Resolution(self._sources, reader, self._argument).endpoints(question)
        resolved = Resolved(self._sources, generation, reader, endpoints)
        if reader.repeatable:
            self._remembered.put((spec, client, tools), resolved)
        return resolved

    def ranking(self, spec: str) -> Ranking | None:
        """The rules by which the targets of a spec are put in order; None where they are asked as they are named.

        Raises: as `resolve`.
        """
        if not self._sources.rules and not self._sources.file_rules:
            return None
        endpoints = self.resolve(spec)
        cached = self._rankings.get(spec)
        if cached is None or cached[0] is not endpoints:
            ranking = _Resolution(self._sources, Reader(self.environment())).ranking(spec)
            is_idle = ranking.is_plain or (len(endpoints) == 1 and not any(ranking.required().values()))
            cached = (endpoints, None if is_idle else ranking)
            self._rankings.put(spec, cached)
        return cached[1]

    def pointed(self, *, api_key: Key | None = None, base_url: str | None = None, login: object = None) -> Registry:
        """The registrations here, now and later, with a key or login and an address for the one provider of a spec.

        Raises: UsageError for what is no key and no address, and for a key beside a login.
        """
        if api_key and login is not None:
            raise UsageError("api_key and login are two credentials; give one")
        if base_url is not None and not isinstance(base_url, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise UsageError(f"base_url takes an address, not {kind_of(base_url)}")
        registry = Registry(self._environ)
        registry._sources = self._sources
        registry._argument = Argument(Secret.of_argument(api_key), base_url, login)
        return registry

    def leave_out(self, places: Iterable[Place], is_own_key: Callable[[str], bool]) -> None:
        """Take a vendor's variable that names one of these places as not set: this process listens there itself.

        A key of the same row that is one of this process's own was set for its clients, and is not sent to the vendor.
        """
        self._sources.own_places = frozenset(places)
        self._sources.is_own_key = is_own_key
        self._sources.generation = object()

    def left_out(self) -> tuple[str, ...]:
        """The vendors' variables that name such a place."""
        reader, names = Reader(self.environment()), dict[str, None]()
        for row in ROWS.values():
            with suppress(ConfigError):
                for variable, base_url in self._sources.addresses(row, reader):
                    if origin_of(base_url) in self._sources.own_places:
                        names[variable] = None
        return tuple(names)

    def register_provider(self, provider: Provider, *, key: Key | None = None) -> None:
        """Make `provider.name` usable before a slash, and as a scheme; it wins over every other source.

        `key` is the key itself or a function that gives the one that holds now; else the row's variables are read.

        Raises: ConfigError for a name that a spec cannot hold; UsageError for what is no provider.
        """
        if not isinstance(provider, Provider):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise UsageError(f"register_provider takes an il.Provider(…), not {kind_of(provider)}")
        _check_name(provider.name)
        if key is None:
            keyed = keyed_row(provider, self.environment, origin="code")
        else:
            keyed = Keyed(provider, Secret.of_argument(key, "key") or Secret.of_key(""), "code")
        self._sources.providers[provider.name] = keyed
        self._sources.generation = object()

    def register_scheme(self, name: str, factory: SchemeFactory | CodeProvider | type[CodeProvider]) -> None:
        """Make `name://…` a DSN: `factory` gives the row that the DSN's host, path, key and options are laid over.

        A `factory` may also give a provider in code, an object with `generate` and `stream`, or be one, or its class:
        then `name/model` is answered by it.

        Raises: ConfigError for a name that a scheme cannot have, and for a class that cannot be made.
        """
        _check_name(name)
        provider, scheme = read_scheme(name, factory, "code")
        if provider is not None:
            self._sources.providers[name] = provider
        if scheme is not None:
            self._sources.schemes[name] = scheme
        self._sources.generation = object()

    def register_alias(
        self,
        name: str,
        spec: str,
        *,
        policy: str = "ordered",
        weights: Sequence[float] | None = None,
        require: Iterable[str] = (),
    ) -> None:
        """Make `name` stand for `spec`; a name that ends with `*` stands for every name that begins like it.

        `policy` says in which order the targets are asked, `weights` one number for each of a weighted alias, `require`
        what a target must take.

        Raises: UnknownModelError for a malformed spec; ConfigError for a name with a slash or comma, for a policy that
            there is not, weights that do not fit, and what is no feature.
        """
        parse_spec(spec)
        check_alias_name(name)
        self._sources.rules[name] = rule(policy, weights, spec, require)
        self._sources.aliases[name] = spec
        self._sources.generation = object()

    def register_resolver(self, resolver: Resolver) -> None:
        """Ask `resolver` about every element that nothing else knows, after those registered before it.

        Raises: UsageError for what is no function.
        """
        if not callable(resolver):
            raise UsageError(f"register_resolver takes a function of the name, not {kind_of(resolver)}")
        self._sources.resolvers = (*self._sources.resolvers, resolver)
        self._sources.generation = object()

    def load_env(self) -> Loaded:
        """Everything that the environment defines, read now; a bad entry is a sentence, never an exception."""
        reader = Reader(self.environment())
        names = sorted(reader.entries())
        providers = [name for name in names if self._sources.entry_text(name, reader)]
        aliases = [name for name in names if name not in providers and self._sources.exact_alias(name, reader)]
        loaded = self._checked(providers, aliases, reader)
        misspelt = [problem for name in names if (problem := self._sources.misspelt(name, reader))]
        states = [status_of(self._sources, name, reader) for name, row in ROWS.items() if row.address_env]
        vendors = {variable for row in ROWS.values() for variable, _ in row.address_env}
        # A sentence for each vendor's variable that holds no address, once.
        bad = dict.fromkeys(state.problem for state in states if state.problem and state.origin in vendors)
        return replace(loaded, problems=(*loaded.problems, *misspelt, *bad))

    def load_config(self, path: str | Path) -> Loaded:
        """The providers and aliases of a TOML file, added to the registry; those of an earlier file are forgotten.

        `limits` is what the file allows.

        Raises: ConfigError for a file that cannot be read or parsed, and for unknown keys, with the line.
        """
        from interlingua.registry.config import read_config

        return self.take_config(read_config(path))

    def take_config(self, config: Config) -> Loaded:
        """Take a configuration that was read already.

        Raises: ConfigError, and nothing of the file counts, where two spellings of a provider limit the same targets.
        """
        reader = Reader(self.environment())
        limits: dict[str, Allowance] = {}
        for pattern, allowed in config.limits.items():
            name = _targets_of(pattern, self._sources, config.providers, reader)
            if name in limits or (name != pattern and name in config.limits):
                raise ConfigError(f"[limits] names the same targets twice: {pattern} is another spelling of {name}")
            limits[name] = allowed
        self._sources.file_providers = config.providers
        self._sources.file_aliases = config.aliases
        self._sources.file_rules = config.rules
        reader = Reader(self.environment())
        self._sources.file_capabilities = {
            _targets_of(pattern, self._sources, config.providers, reader): capabilities
            for pattern, capabilities in config.capabilities.items()
        }
        self._sources.limits = limits
        self._sources.generation = object()
        aliases = [name for name in config.aliases if not name.endswith("*")]
        loaded = self._checked(list(config.providers), aliases, Reader(self.environment()))
        # A sentence for each limit whose provider nothing defines; a resolver may, but later.
        idle: list[str] = []
        reader = Reader(self.environment())
        for pattern in self.limits if not self._sources.resolvers else ():
            name, slash, _ = pattern.partition("/")
            if slash and not self._sources.has_provider(name, reader):
                hint = near(name, self._sources.known_names(reader))
                idle.append(f'limits."{pattern}": no provider {shown(name)}, so that it holds for nothing{hint}')
        return replace(loaded, problems=(*loaded.problems, *idle))

    def targets_of(self, pattern: str) -> str:
        """`google/*` for `gemini/*`: a pattern of targets with the name that targets have, not another spelling.

        Raises: UsageError for what is no text.
        """
        check_text(pattern, "targets are named by a text")
        return _targets_of(pattern, self._sources, self._sources.file_providers, Reader(self.environment()))

    def _checked(self, providers: list[str], aliases: list[str], reader: Reader) -> Loaded:
        problems = {name: status_of(self._sources, name, reader).problem for name in providers}
        for name in aliases:
            problems[name] = ""
            try:
                self.resolve(name)
            except Error as error:
                in_code_or_file = {*self._sources.aliases, *self._sources.file_aliases}
                is_variable = name not in in_code_or_file and name in Reader(self.environment()).entries()
                problems[name] = f"{variable_of(name) if is_variable else f'alias {name}'}: {error.message}"
        return Loaded(
            providers=tuple(name for name in providers if not problems[name]),
            aliases=tuple(name for name in aliases if not problems[name]),
            problems=tuple(filter(None, problems.values())),
        )

    def providers(self) -> tuple[ProviderStatus, ...]:
        """Every provider that can be named, also by a bad entry: configured ones, those of packages, the rows."""
        reader = Reader(self.environment())
        of_environment = [name for name in reader.entries() if self._sources.entry_text(name, reader)]
        packaged = self._sources.packaged_names()
        tables = (self._sources.providers, self._sources.file_providers, of_environment, packaged, ROWS)
        names = dict.fromkeys(name for table in tables for name in list(table))
        return tuple(status_of(self._sources, name, reader) for name in names)

    def rule_of(self, alias: str) -> Rule:
        """How the elements of an alias are put in order."""
        return self._sources.rule(alias, Reader(self.environment()))

    def aliases(self) -> dict[str, str]:
        """Every alias and the spec that it stands for."""
        reader = Reader(self.environment())
        tables = (self._sources.aliases, self._sources.file_aliases, reader.entries())
        names = dict.fromkeys(name for table in tables for name in list(table))
        return {name: spec for name in names if (spec := self._sources.exact_alias(name, reader))}


class _Resolution:
    """The resolution of one spec."""

    def __init__(self, sources: Sources, reader: Reader, argument: Argument | None = None) -> None:
        self._sources = sources
        self._reader = reader
        self._argument = argument
        self._providers: dict[Element, Keyed] = {}

    def endpoints(self, question: _Asked) -> tuple[Endpoint, ...]:
        elements = expand(question.spec, self._meaning)
        argument = self._argument
        if argument is not None:
            names = dict.fromkeys(keyed.provider.name for keyed in self._providers.values())
            if len(names) > 1:
                raise UsageError(
                    f"api_key, login and base_url are for one provider, and {shown(question.spec)} has "
                    f"{' and '.join(names)}: give each its own by a variable, or by LLM_<NAME>"
                )
            for element, keyed in self._providers.items():
                pointed = argument.applied(keyed)
                provider = located(pointed.provider, keyed.provider.base_url, {}, self._reader.get)
                self._providers[element] = replace(pointed, provider=provider)
        made = [self._endpoint(self._providers[element], element.name, question) for element in elements]
        return tuple({endpoint.spec: endpoint for endpoint in reversed(made)}.values())[::-1]

    def _endpoint(self, keyed: Keyed, model: str, question: _Asked) -> Endpoint:
        endpoint = _endpoint(keyed, model, question, self._sources)
        if keyed.login is None:
            return endpoint
        from interlingua.registry.logins.endpoint import with_login  # only who logs in pays for it

        return with_login(endpoint, keyed.login, keyed.provider.login_scope, self._reader.get)

    def ranking(self, spec: str) -> Ranking:
        return ranked(spec, self._meaning, self._rule, self._target)

    def _rule(self, element: Element) -> Rule:
        return self._sources.rule(element.name, self._reader) if element.provider is None else ORDERED

    def _target(self, element: Element) -> str:
        return f"{self._providers[element].provider.name}/{element.name}"

    def _meaning(self, element: Element) -> str | None:
        if element.provider is None:
            spec = self._sources.alias(element.name, self._reader)
            if spec is not None:
                return spec
        elif keyed := self._sources.provider(element.provider, self._reader):
            self._providers[element] = keyed
            return None
        answers = (_resolved_by(resolver, element.text) for resolver in self._sources.resolvers)
        answer = next((answer for answer in answers if answer is not None), None)
        if answer is None:
            names = self._sources.known_names(self._reader)
            name = element.name if element.provider is None else element.provider
            ignored = variable_of(name)
            if name in names:
                why = f"{shown(name)} is a provider; name a model too: {name}/MODEL"
            elif element.provider is None:
                hint = _slashed(name, names) or _with_vendor(name) or near(name, names)
                hint = hint or "; a model is named provider/model, such as openai/gpt-5.6"
                why = f"no model or alias {shown(name)}{hint}"
            else:
                hint = near(name, names) or "; `il providers` lists those that are known"
                why = f"no provider {shown(name)}, asked for as {shown(element.text)}{hint}"
            if name not in names and (problem := self._sources.misspelt(name, self._reader)):
                why += f" ({problem})"
            elif ignored and name not in names and self._reader.get(ignored):
                why += f" ({ignored} is set, but is neither a DSN with a known scheme nor an alias of known models)"
            raise UnknownModelError(why)
        self._reader.repeatable = False
        if isinstance(answer, str):
            return answer
        self._providers[element] = keyed_row(answer, self._sources.environ, origin="a resolver")
        return None


def _resolved_by(resolver: Resolver, text: str) -> Provider | str | None:
    """The provider or name that a resolver gives for a name.

    Raises: ConfigError, which names it, for what it raises, and for what it may not give.
    """
    name = getattr(resolver, "__qualname__", type(resolver).__qualname__)
    try:
        answer = cast("object", resolver(text))
    except Error:
        raise
    except Exception as error:
        raise ConfigError(f"the resolver {name} raised {kind_of(error)} for {shown(text)}") from error
    if answer is None or isinstance(answer, str | Provider):
        return answer
    raise ConfigError(f"the resolver {name} gave {kind_of(answer)} for {shown(text)}: an il.Provider, a spec or None")


def _targets_of(pattern: str, sources: Sources, of_file: Mapping[str, object], reader: Reader) -> str:
    """The pattern under its row's name, unless somebody has a provider of his own under the other spelling."""
    name, slash, model = pattern.partition("/")
    row = SPELLINGS.get(name)
    if row is None or not slash or name in sources.providers or name in of_file or sources.entry_text(name, reader):
        return pattern
    return f"{row}/{model}"


def _slashed(name: str, names: tuple[str, ...]) -> str:
    """The spelling to write instead of `provider:model`, as others name models."""
    provider, colon, model = name.partition(":")
    is_meant = bool(colon and model) and provider in names
    return f"; a slash stands between provider and model: {shown(f'{provider}/{model}')}" if is_meant else ""


def _with_vendor(name: str) -> str:
    """The spelling to write instead of a bare `claude-opus-5`: the row whose own models are called like this."""
    row = next((row.name for row in ROWS.values() if row.models and name.lower().startswith(row.models)), None)
    return f"; did you mean {row}/{name}?" if row and len(name) <= LONGEST_SHOWN else ""


def _endpoint(keyed: Keyed, model: str, question: _Asked, sources: Sources) -> Endpoint:
    provider = keyed.provider
    dialect = negotiate(provider, model, client=question.client, tools=question.tools)
    if dialect is None:
        listing = " or ".join(provider.dialects)
        raise ConfigError(f"{provider.name}/{model} speaks {listing}, which this version does not have yet")
    if provider.needs_host:
        variable = variable_of(provider.name)
        raise ConfigError(f"{provider.name}: no address; set {variable}={provider.name}://TOKEN@HOST")
    if provider.variables and (missing := unsaid(keyed)):
        raise ConfigError(f"{provider.name}: {missing}")
    spec = f"{provider.name}/{model}"
    capabilities = sources.declared(spec)
    return Endpoint(
        spec=spec,
        provider=provider.name,
        model=model,
        family=provider.family or provider.name,
        dialect=dialect,
        base_url=provider.base_url,
        target=told_target(target_of(provider, dialect, model), capabilities),
        auth=provider.auth,
        credential=keyed.credential,
        key_required=provider.key_required,
        key_hint=key_hint(keyed),
        headers=provider.headers,
        query=provider.query,
        operations=provider.operations,
        headers_left_out=provider.headers_left_out,
        capabilities=capabilities.over(provider.capabilities),
        card=provider.card,
        price=provider.price,
        carrier=keyed.carrier,
    )


def _check_name(name: str) -> None:
    check_text(name, "a provider and a scheme are named by a text")
    if not re.fullmatch(_NAME, name):
        raise ConfigError(f"{shown(name)} cannot name a provider or scheme (lower-case letters, digits, - and .)")


def placeholder(spec: str) -> Endpoint:
    """An endpoint for a name that nothing has to define, for transports that answer by themselves.

    A provider with a row speaks as the row says, also where a part of its address is not set.
    """
    provider, slash, model = spec.partition("/")
    row = ROWS.get(provider) if slash else None
    dialect = (None if row is None else negotiate(row, model)) or "openai-chat"
    bare = Target(model=model if slash else spec, provider=provider if slash else "")
    return Endpoint(
        spec=spec,
        provider=provider if slash else "",
        model=model if slash else spec,
        dialect=dialect,
        base_url="fake://",
        target=bare if row is None else target_of(row, dialect, model),
        auth="none",
        credential=Secret.of_key("", "nowhere"),
    )


_DEFAULT = Registry()


def default_registry() -> Registry:
    """The registry of this process, which reads the process's environment."""
    return _DEFAULT
