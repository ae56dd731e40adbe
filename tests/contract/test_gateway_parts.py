"""Each part of the gateway gets what it uses: only who composes or serves it knows the whole gateway."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

import pytest

from tests.contract.source import MODULES

if TYPE_CHECKING:
    from collections.abc import Iterator

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
WHOLE = {
    "gateway": "makes the application",
    "gateway.core": "the gateway itself",
    "gateway.parts": "composes it",
    "gateway.asgi": "serves it",
    "gateway.serving": "serves it, and has it set up anew",
    "gateway.sockets": "serves it over WebSockets",
    "gateway.state.sharing": "gives it the stores of a shared state",
    "gateway.records.replay": "makes one for a cassette",
}
"""The rooms that may name the gateway, and why; all others get what they use from `parts`."""


def _takers(tree: ast.Module) -> Iterator[tuple[Function, str]]:
    """Each function that takes the gateway, with the name of the parameter."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                if argument.annotation is not None and ast.unparse(argument.annotation).strip("'\"") == "Gateway":
                    yield node, argument.arg


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
    """The functions that take the gateway for one thing."""
    return [
        f"{function.lineno}: {function.name}" for function, name in _takers(tree) if _takes_one_thing(function, name)
    ]


def test_nobody_takes_the_gateway_for_one_thing() -> None:
    """A function that needs the guard takes the guard, so that its signature says what it depends on."""
    rooms = [module for module in MODULES if module.room == "gateway"]
    assert {module.name: greedy for module in rooms if (greedy := _greedy(module.tree))} == {}


def test_no_other_room_names_the_gateway() -> None:
    """Neither a handler nor a store, a key's account or an observer can look for what it uses in the gateway."""
    rooms = [module for module in MODULES if module.room == "gateway" and not _may_name(module.importable)]
    names = {module.name for module in rooms for node in ast.walk(module.tree) if _names_gateway(node)}
    assert names == set()


def _may_name(name: str) -> bool:
    name = name.removeprefix("interlingua.")
    return any([name == room or (room != "gateway" and name.startswith(f"{room}.")) for room in WHOLE])


def _names_gateway(node: ast.AST) -> bool:
    """Whether a node imports the gateway, or speaks of it in an annotation."""
    match node:
        case ast.ImportFrom(module="interlingua.gateway.core"):
            return True
        case ast.Name(id="Gateway"):
            return True
        case ast.Constant(value=str(text)):
            return text == "Gateway"
        case _:
            return False


@pytest.mark.parametrize(
    ("text", "is_greedy"),
    [
        ("def f(gateway: Gateway) -> None: gateway.guard.check(1)", True),
        ("def f(gateway: Gateway) -> None: g(gateway.guard, gateway.keys)", False),
        ("def f(gateway: Gateway) -> None: g(gateway, gateway.keys)", False),
        ("async def f(gateway: Gateway, request: GatewayRequest) -> None: gateway.guard.check(request)", True),
    ],
)
def test_each_is_told_apart(text: str, is_greedy: bool) -> None:
    """One attribute is one thing; two, or the gateway handed on, are not."""
    assert bool(_greedy(ast.parse(text))) is is_greedy
