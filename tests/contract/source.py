"""The package's own source, parsed once for every contract test."""

from __future__ import annotations

import ast
import dataclasses
import gc
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The top of the checkout."""

SOURCE = ROOT / "src" / "interlingua"
"""The package."""


@contextmanager
def without_collector() -> Generator[None]:
    """A time in which trees are made: the garbage collector would look at them again and again, for 3 s in all."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def parsed(text: str) -> ast.Module:
    """The tree of a source, which is hidden from the garbage collector: its looks take three times as long."""
    with without_collector():
        return ast.parse(text)


@dataclasses.dataclass(frozen=True)
class Module:
    """One file of the package."""

    path: Path

    def __str__(self) -> str:
        """The dotted name, for test ids."""
        return self.name

    @cached_property
    def name(self) -> str:
        """`interlingua.types.content`; a package goes by its own name."""
        parts = ("interlingua", *self.path.relative_to(SOURCE).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)

    @property
    def importable(self) -> str:
        """The name to import it by."""
        return self.name.removesuffix(".__init__")

    @property
    def room(self) -> str:
        """The package or module directly under `interlingua` that this file is or lies in."""
        return self.name.split(".")[1]

    @property
    def public(self) -> bool:
        """Whether no part of the dotted name is private."""
        return not any(part.startswith("_") for part in self.importable.split("."))

    @cached_property
    def text(self) -> str:
        """The source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The source, parsed."""
        return parsed(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree, parents first."""
        return list(ast.walk(self.tree))

    @cached_property
    def exported(self) -> tuple[str, ...] | None:
        """What `__all__` lists as literals, or None when there is no such list."""
        for node in self.tree.body:
            match node:
                case ast.Assign(
                    targets=[ast.Name(id="__all__")], value=ast.List(elts=elements) | ast.Tuple(elts=elements)
                ):
                    return tuple(element.value for element in elements if isinstance(element, ast.Constant))  # pyright: ignore[reportReturnType]  # literals of `__all__` are strings
                case _:
                    pass
        return None


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package, by path."""
    return tuple(Module(path) for path in sorted(SOURCE.rglob("*.py")))


MODULES = modules()


@cache
def named_tests(path: str) -> frozenset[str]:
    """The names of the test functions of a file, whose path begins at the top of the checkout."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return frozenset(node.name for node in functions if node.name.startswith("test_"))
