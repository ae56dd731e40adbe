"""What a process keeps between calls, and no test may find: what earlier ones learnt and registered."""

from __future__ import annotations

import sys

__all__ = ["forget_all"]


def forget_all() -> None:
    """Forget what calls found out about their targets, aliases, limits and files of configuration."""
    if module := sys.modules.get("interlingua.client.state"):
        module.forget_state()
    if module := sys.modules.get("interlingua.registry.resolve"):
        registry = module.default_registry()
        registry.limits = {}
        sources = registry._sources
        for table in (sources.aliases, sources.file_aliases, sources.file_providers):
            if table:
                table.clear()
                sources.generation = object()
