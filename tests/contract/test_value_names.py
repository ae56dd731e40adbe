"""Names of values are nouns: no variable of a function and no field of a class has a bare participle for its name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.contract.source import MODULES, Module

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTICIPLES = frozenset(
    {"asked", "found", "given", "held", "kept", "known", "met", "said", "seen", "taken", "told", "wanted"}
)


def _bare(module: Module) -> Iterator[str]:
    """Each value with such a name: its line and the name."""
    for scope in ast.walk(module.tree):
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for node in ast.walk(scope):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.MatchAs(name=str(name)) if name in PARTICIPLES:
                    yield f"line {node.lineno}: {name}"
                case _:
                    pass


def test_values_are_named_by_nouns() -> None:
    """A request is `request` and not `asked`, a match is `match` and not `found`; other names tell a reader nothing."""
    bare = [f"{module.name}: {place}" for module in MODULES for place in dict.fromkeys(_bare(module))]
    assert bare == []
