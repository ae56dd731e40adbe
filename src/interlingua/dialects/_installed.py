"""Additions of installed packages: providers and dialects, by the entry points of their distributions.

Rules
- Nothing is looked for before a name is asked for that nothing else knows; then once for each group.
- Two packages that offer the same name are a mistake, not a choice.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from interlingua.errors import ConfigError, Error, kind_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["Installed", "find_installed", "installed_names"]

Group: TypeAlias = Literal["interlingua.providers", "interlingua.dialects"]
"""The kind of addition: the name of the group of its entry points."""


class Installed(msgspec.Struct, frozen=True):
    """The addition of a package under a name."""

    value: object
    """The object that its entry point names."""
    origin: str
    """The package, for errors and listings."""


def installed_names(group: Group) -> frozenset[str]:
    """The names that packages offer."""
    return frozenset(_entries(group))


def find_installed(group: Group, name: str) -> Installed | None:
    """The addition of a package under a name; None where none does. It is imported at the first call.

    Raises: ConfigError, with the package, for what cannot be imported, and where two offer the same name.
    """
    entries = _entries(group).get(name, ())
    if len(entries) > 1:
        packages = " and ".join(sorted(_package(entry) for entry in entries))
        raise ConfigError(f"{name} is offered by {packages} (entry points {group}): uninstall all but one")
    return _loaded(entries[0]) if entries else None


@cache
def _entries(group: Group) -> dict[str, tuple[EntryPoint, ...]]:
    from importlib.metadata import entry_points  # 15 ms that only an unknown name pays for

    by_name: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in entry_points(group=group):
        by_name[entry.name] = (*by_name.get(entry.name, ()), entry)
    return by_name


@cache
def _loaded(entry: EntryPoint) -> Installed:
    try:
        return Installed(entry.load(), _package(entry))
    except Error:
        raise
    except Exception as error:
        raise ConfigError(
            f"{_package(entry)}: {entry.value} cannot be loaded for {entry.name}: {kind_of(error)}: {error}"
        ) from error


def _package(entry: EntryPoint) -> str:
    return "a package" if entry.dist is None else f"the package {entry.dist.name} {entry.dist.version}"
