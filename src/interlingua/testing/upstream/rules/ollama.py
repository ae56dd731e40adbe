"""Rules of Ollama beyond the shape of a request: little, since it ignores what it does not know."""

from __future__ import annotations

from collections.abc import Iterator

from interlingua.testing.upstream.verdict import Asked, Finding, Rule
from interlingua.testing.wirefacts.values import objects

__all__ = ["OLLAMA_RULES"]

THINK_WORDS = frozenset({"low", "medium", "high", "max"})
ROLES = frozenset({"system", "user", "assistant", "tool"})


def _think(request: Asked) -> Iterator[Finding]:
    think = request.body.get("think")
    if isinstance(think, str) and think not in THINK_WORDS:
        yield ("think",), f'invalid think value: "{think}" (must be "high", "medium", "low", "max", true, or false)'


def _roles(request: Asked) -> Iterator[Finding]:
    for place, message in enumerate(objects(request.body.get("messages"))):
        if message.get("role") not in ROLES:
            yield ("messages", place, "role"), f"invalid role {message.get('role')!r}"


def _parameters(request: Asked) -> Iterator[Finding]:
    for place, tool in enumerate(objects(request.body.get("tools"))):
        function = tool.get("function")
        if isinstance(function, dict) and "parameters" not in function:
            yield ("tools", place, "function", "parameters"), "a function has parameters"


OLLAMA_RULES: tuple[Rule, ...] = (
    Rule("bad_think", _think, "Ollama, Field facts, thinking"),
    Rule("bad_role", _roles, "Ollama, Field facts, system and results"),
    Rule("missing_parameters", _parameters, "Ollama, Field facts, tool def"),
)
"""The rules of Ollama."""
