"""Functions of the gateway get what they use: only handlers and what composes them take the whole gateway."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

import pytest

from tests.contract.source import MODULES

if TYPE_CHECKING:
    from collections.abc import Iterator

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
MOST = 56
"""The functions that take the whole gateway and are no handlers. Lower it when there are fewer."""


def _takers(tree: ast.Module) -> Iterator[tuple[Function, str]]:
    """Each function that takes the gateway, with the name of the parameter."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                if argument.annotation is not None and ast.unparse(argument.annotation).strip("'\"") == "Gateway":
                    yield node, argument.arg


def _is_handler(function: Function, name: str) -> bool:
    """Whether a function has the form of a handler: awaited, with the gateway and a request."""
    return isinstance(function, ast.AsyncFunctionDef) and [each.arg for each in function.args.args] == [name, "request"]


def _takes_one_thing(function: Function, name: str) -> bool:
    """Whether a function uses one attribute of the gateway and hands the gateway to nobody."""
    attributes = [
        node.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    ]
    uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    return len(set(attributes)) == 1 and len(uses) == len(attributes)


def _greedy(tree: ast.Module) -> list[str]:
    """The functions that take the gateway for one thing, handlers aside."""
    return [
        f"{function.lineno}: {function.name}"
        for function, name in _takers(tree)
        if not _is_handler(function, name) and _takes_one_thing(function, name)
    ]


def test_nobody_takes_the_gateway_for_one_thing() -> None:
    """A function that needs the guard takes the guard, so that its signature says what it depends on."""
    rooms = [module for module in MODULES if module.room == "gateway"]
    assert {module.name: greedy for module in rooms if (greedy := _greedy(module.tree))} == {}


def test_few_functions_take_the_gateway() -> None:
    """The number of functions that take the whole gateway, handlers aside, only falls."""
    rooms = [module for module in MODULES if module.room == "gateway"]
    takers = [one for module in rooms for one, name in _takers(module.tree) if not _is_handler(one, name)]
    assert len(takers) <= MOST


@pytest.mark.parametrize(
    ("text", "is_greedy"),
    [
        ("def f(gateway: Gateway) -> None: gateway.guard.check(1)", True),
        ("def f(gateway: Gateway) -> None: g(gateway.guard, gateway.keys)", False),
        ("def f(gateway: Gateway) -> None: g(gateway, gateway.keys)", False),
        ("async def f(gateway: Gateway, request: GatewayRequest) -> None: gateway.guard.check(request)", False),
    ],
)
def test_each_is_told_apart(text: str, is_greedy: bool) -> None:
    """One attribute is one thing; two, or the gateway handed on, are not, and a handler has its form."""
    assert bool(_greedy(ast.parse(text))) is is_greedy
