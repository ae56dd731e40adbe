"""Suggestions of models on this machine."""

from __future__ import annotations

__all__ = ["candidates"]

MAX_NAMES = 5


def candidates() -> str:
    """One clause: aliases, providers whose key is there, local weights; what to do when there is nothing."""
    from interlingua.local.commands import models
    from interlingua.registry.resolve import default_registry

    registry = default_registry()
    keyed = [f"{row.name}/MODEL" for row in registry.providers() if row.key == "set" and not row.problem]
    local = [f"local/{row.name}" for row in models() if row.pulled]
    ready = [*registry.aliases(), *local, *keyed]
    if ready:
        return f"ready here: {', '.join(ready[:MAX_NAMES])}"
    return "such as openai/MODEL with OPENAI_API_KEY set, or local/tiny after `il models pull tiny`"
