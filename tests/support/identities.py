"""The address and the key by which the health of a target is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.registry.resolve import default_registry

if TYPE_CHECKING:
    from interlingua.registry.resolve import Registry

__all__ = ["identity_of"]


def identity_of(spec: str, registry: Registry | None = None) -> str:
    """The identity of a target as a registry resolves it, that of the process if None."""
    return (registry or default_registry()).resolve(spec)[0].identity()
