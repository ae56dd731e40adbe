"""Providers, aliases and schemes of this process: what the environment, a file and code define."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.registry.resolve import default_registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from interlingua.providers.code import CodeProvider
    from interlingua.providers.row import Provider
    from interlingua.registry.ranking import Policy
    from interlingua.registry.secret import Key
    from interlingua.registry.sources import Resolver, SchemeFactory
    from interlingua.registry.status import Loaded
    from interlingua.types.capabilities import Feature

__all__ = [
    "load_config",
    "load_env",
    "register_alias",
    "register_provider",
    "register_resolver",
    "register_scheme",
]


def load_env() -> Loaded:
    """Everything that `LLM_<NAME>` variables define, read now, with a sentence for every bad entry."""
    return default_registry().load_env()


def load_config(path: str | Path) -> Loaded:
    """The providers, aliases and limits of a TOML file, added; those of an earlier file are forgotten.

    Raises: ConfigError, with the line, for a file that cannot be read or says what is not known.
    """
    from interlingua.client.state import limiter

    loaded = default_registry().load_config(path)
    limiter().load_file(default_registry().limits)
    return loaded


def register_provider(provider: Provider, *, key: Key | None = None) -> None:
    """Make `provider.name` usable before a slash; `key` is the key, or a function that gives the one that holds now.

    Raises: ConfigError for a name that a spec cannot hold; UsageError for what is no provider.
    """
    default_registry().register_provider(provider, key=key)


def register_scheme(name: str, factory: SchemeFactory | CodeProvider | type[CodeProvider]) -> None:
    """Make `name://…` a DSN: `factory` gives the row that host, path, key and options are laid over.

    A `factory` may also give a provider in code, an object with `generate` and `stream`, or be one, or its class: then
    `name/model` is answered by it.

    Raises: ConfigError for a name that a scheme cannot have, and for a class that cannot be made.
    """
    default_registry().register_scheme(name, factory)


def register_alias(
    name: str,
    spec: str,
    *,
    policy: Policy = "ordered",
    weights: Sequence[float] | None = None,
    require: Iterable[Feature] = (),
) -> None:
    """Make `name` stand for `spec`; a name that ends with `*` stands for every name that begins like it.

    `policy` says in which order its targets are asked: `ordered`, as they are named; `weighted`, drawn with `weights`,
    one for each; `least-busy`, the fewest calls under way first; `fastest`, who answered soonest lately; `prefix`, one
    target for all turns of a conversation, so that the cache of a self-hosted server hits. `require` names
    features that a target must take: one that is known not to is passed over.

    Raises: UnknownModelError for a malformed spec; ConfigError for a name with a slash or comma, for a policy that
    there is not, weights that do not fit, and what is no feature.
    """
    default_registry().register_alias(name, spec, policy=policy, weights=weights, require=require)


def register_resolver(resolver: Resolver) -> None:
    """Ask `resolver` about every element of a spec that nothing else knows."""
    default_registry().register_resolver(resolver)
