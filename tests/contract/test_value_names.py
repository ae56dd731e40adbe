"""Names are nouns or verbs: nothing of the package, from function to attribute, is named by a bare participle."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tests.contract.source import MODULES, Module

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTICIPLES = frozenset(
    {"asked", "found", "given", "held", "kept", "known", "met", "said", "seen", "taken", "told", "wanted"}
)
PUBLIC = frozenset({("interlingua.types.capabilities", "known")})
"""Names that callers use: `Capabilities.known` is a documented method, whose name stays until 1.0."""


def _variables(module: Module) -> Iterator[str]:
    """Each variable of a function and field of a class with such a name: its line and the name."""
    for scope in ast.walk(module.tree):
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for node in ast.walk(scope):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.MatchAs(name=str(name)) if name in PARTICIPLES:
                    yield f"line {node.lineno}: {name}"
                case _:
                    pass


def _members(module: Module) -> Iterator[str]:
    """Each function, method, parameter and attribute with such a name, underscores aside: its line and the name."""
    for node in ast.walk(module.tree):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.arg(arg=name)
                | ast.Attribute(attr=name, ctx=ast.Store())
            ) if name.strip("_") in PARTICIPLES and (module.name, name) not in PUBLIC:
                yield f"line {node.lineno}: {name}"
            case _:
                pass


def test_values_are_named_by_nouns() -> None:
    """A request is `request` and not `asked`, a match is `match` and not `found`; other names tell a reader nothing."""
    bare = [f"{module.name}: {place}" for module in MODULES for place in dict.fromkeys(_variables(module))]
    assert bare == []


def test_functions_parameters_and_attributes_are_named_by_what_they_are() -> None:
    """A function is `read_label` and not `told`, an attribute is `_pending` and not `_held`."""
    bare = [f"{module.name}: {place}" for module in MODULES for place in dict.fromkeys(_members(module))]
    assert bare == []


PRIVATE = {
    "arriving": "intake", "bell": "wakeup", "crew": "task group", "desk": "policy", "grant": "reservation",
    "halting": "cancellation", "hangup": "SIGHUP", "job": "call", "joining": "registration", "ladder": "fallbacks",
    "lane": "target", "lanes": "targets", "mended": "repaired", "rung": "fallback", "siblings": "peers",
    "standing": "circuit", "trip": "chain run", "vault": "reasoning store", "visit": "attempt",
}  # fmt: skip
"""Words that only this project used for a known thing, and the standard word of each."""
ROOMS = ("agent", "client", "compat", "gateway", "routing", "tools")
"""Folders in which those words would have that meaning."""
OTHERS = frozenset({
    ("interlingua.gateway.console.usage", "grant"),
    ("interlingua.gateway.keys.budget", "_correct_grant"),
    ("interlingua.gateway.keys.budget", "grant"),
    ("interlingua.routing.window", "_Grant"),
    ("interlingua.routing.window", "_grants"),
    ("interlingua.routing.window", "grant"),
})  # fmt: skip
"""Requests that a limit has let in, which are granted."""


def _private(module: Module) -> Iterator[str]:
    """Each name that a module gives to something and that holds a private word."""
    for node in ast.walk(module.tree):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.arg(arg=name)
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.Name(id=name, ctx=ast.Store())
            ) if (module.name, name) not in OTHERS:
                words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")
                yield from [f"{name}: say {PRIVATE[word]}" for word in words if word in PRIVATE]
            case _:
                pass


def test_names_are_the_standard_words() -> None:
    """A target is a `target` and not a `lane`: whoever comes from another library searches for the standard word."""
    rooms = tuple(f"interlingua.{room}." for room in ROOMS)
    modules = [module for module in MODULES if module.name.startswith(rooms)]
    named = [(module.name, word) for module in modules for word in module.name.rpartition(".")[2].split("_")]
    private = [f"{name}: say {PRIVATE[word]}" for name, word in named if word in PRIVATE]
    private += [f"{module.name}: {place}" for module in modules for place in dict.fromkeys(_private(module))]
    assert private == []
