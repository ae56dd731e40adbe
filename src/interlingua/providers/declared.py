"""Declared capabilities of a model, as the facts and quirks that its dialect reads.

Rules
- What is said wins over what the tables of model families and the row of the provider say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

if TYPE_CHECKING:
    from interlingua.dialects._contract import Target
    from interlingua.types.capabilities import Capabilities

__all__ = ["told_target"]

_FACTS = ("images", "audio", "documents", "tools", "forced_choice", "output_schema", "max_output_tokens")
"""Fields that the facts of a model family have under the same name."""
_KNOBS = ("n", "logprobs")
"""Features that are knobs of a request: a server without one does not get it."""


def told_target(target: Target, capabilities: Capabilities) -> Target:
    """The target with what is said of it as facts and quirks, which its dialect reads."""
    facts = {name: value for name in _FACTS if (value := getattr(capabilities, name)) is not None}
    if capabilities.thinking is False:
        facts |= {"thinking": frozenset[str](), "efforts": frozenset[str]()}
    quirks: dict[str, Any] = {}
    if capabilities.parallel_tool_calls is not None:
        quirks["parallel_calls"] = capabilities.parallel_tool_calls
    if capabilities.output_schema is False:
        quirks["output_schema"] = "none"
    missing = frozenset([name for name in _KNOBS if getattr(capabilities, name) is False])
    there = frozenset([name for name in _KNOBS if getattr(capabilities, name)])
    if missing - target.quirks.unsupported or there & target.quirks.unsupported:
        quirks["unsupported"] = (target.quirks.unsupported | missing) - there
    if facts:
        target = replace(target, facts=replace(target.facts, **facts))
    return replace(target, quirks=replace(target.quirks, **quirks)) if quirks else target
