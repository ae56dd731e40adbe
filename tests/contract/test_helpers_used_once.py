"""Functions are not chopped smaller than they read well: few are private and called in one place alone."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from tests.contract.source import MODULES, Module

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARE = 0.20
"""The share of all functions that may be private and referenced once in their module: handlers in tables (a quarter of
them), overrides that a base class calls, and steps whose names say more than their bodies."""


def _functions(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


def _used_once(module: Module) -> list[str]:
    """The private functions of a module to which it refers once."""
    references: Counter[str] = Counter()
    for node in module.nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                references[name] += 1
            case _:
                pass
    names = [name for name in _functions(module) if name.startswith("_") and not name.startswith("__")]
    return [name for name in names if references[name] == 1]


def test_few_private_functions_are_used_once() -> None:
    """A helper that is used once belongs into its caller, where the caller stays readable."""
    modules = [module for module in MODULES if module.room != "testing"]
    once = {module.name: names for module in modules if (names := _used_once(module))}
    count = sum(map(len, once.values()))
    functions = sum(len(list(_functions(module))) for module in modules)
    assert count <= SHARE * functions, f"{count} of {functions}: {once}"
