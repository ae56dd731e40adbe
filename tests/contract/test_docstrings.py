"""Everything public says what it is: modules, classes, functions, methods, fields. Ignored checks say why they are."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, TypeAlias

from tests.contract.source import MODULES, Module

if TYPE_CHECKING:
    from collections.abc import Iterator

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def _undocumented(module: Module) -> Iterator[str]:
    if ast.get_docstring(module.tree) is None and module.text.strip():
        yield "the module"
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and _is_public(node.name):
            yield from _undocumented_in_class(node)
        elif isinstance(node, Function) and _needs_docstring(node):
            yield f"line {node.lineno}: {node.name}"


def _undocumented_in_class(owner: ast.ClassDef) -> Iterator[str]:
    """What lacks its text; the fields of a `…Wire` shape are the vendor's, explained on the vendor's page."""
    if ast.get_docstring(owner) is None:
        yield f"line {owner.lineno}: class {owner.name}"
    for node, following in zip(owner.body, [*owner.body[1:], None], strict=True):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if _needs_docstring(node):
                yield f"line {node.lineno}: {owner.name}.{node.name}"
            case ast.AnnAssign(target=ast.Name(id=name)) if _is_field(owner, name) and not _is_text(following):
                yield f"line {node.lineno}: field {owner.name}.{name}"
            case ast.ClassDef() if _is_public(node.name):
                yield from _undocumented_in_class(node)
            case _:
                pass


def _needs_docstring(node: Function) -> bool:
    decorators = {ast.unparse(decorator).split(".")[-1] for decorator in node.decorator_list}
    return _is_public(node.name) and not decorators & {"overload", "override", "setter"} and not ast.get_docstring(node)


def _is_field(owner: ast.ClassDef, name: str) -> bool:
    return _is_public(name) and not owner.name.endswith("Wire")


def _is_public(name: str) -> bool:
    return not name.startswith("_")


def _is_text(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def test_public_things_are_documented() -> None:
    """Every public module, class, function, method and field has its text."""
    public = [module for module in MODULES if module.public]
    assert [f"{module.path}, {lacking}" for module in public for lacking in _undocumented(module)] == []


def _summaries(module: Module) -> Iterator[tuple[int, str]]:
    for node in module.nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            text := ast.get_docstring(node)
        ):
            yield node.lineno, text.split("\n", 1)[0]


def test_first_lines_are_facts() -> None:
    """The first line of a docstring says what comes back, not that the function returns something."""
    talk = ("Returns ", "Return ", "This function ", "This method ", "This class ", "Function that ", "Class that ")
    found = [
        f"{module.path}:{line} {summary}"
        for module in MODULES
        for line, summary in _summaries(module)
        if summary.startswith(talk)
    ]
    assert found == []


def _texts(module: Module) -> Iterator[tuple[int, str]]:
    """Each docstring, those of fields among them, with its line."""
    for node in module.nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value.lstrip()


def test_docstrings_stand_alone() -> None:
    """No text begins with "The same" or "As above": a hover and `help()` show it without what stands before it."""
    leaning = ("The same", "As above")
    texts = [
        f"{module.path}:{line} {text[:60]}"
        for module in MODULES
        for line, text in _texts(module)
        if text.startswith(leaning)
    ]
    assert texts == []


RIDDLE = re.compile(r"(?:What|Who|Whom|Whose)\b|(?:How|Where|Which|Why|When|Of whom)\.|Where it is\.")
"""A text that begins so makes a reader guess the noun: `The fields that …`, not `What …`."""


def test_docstrings_begin_with_a_noun() -> None:
    """No text begins with "What" or "Who": the noun says what comes back."""
    texts = [
        f"{module.path}:{line} {text[:60]}" for module in MODULES for line, text in _texts(module) if RIDDLE.match(text)
    ]
    assert texts == []


def _bare_any(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, Function) and _is_public(node.name):
            arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            for annotation in (node.returns, *(argument.annotation for argument in arguments)):
                if isinstance(annotation, ast.Name) and annotation.id == "Any":
                    yield f"line {annotation.lineno}: {node.name}"


def _is_library(module: Module) -> bool:
    """Whether users program against the module; the judges of the testing kit read whatever JSON was recorded."""
    return module.public and module.room != "testing"


IGNORED = re.compile(r"# (?:noqa: [A-Z0-9, ]+|pyright: ignore\[[\w, ]+\]|type: ignore\[[\w, -]+\])")
"""A check that is ignored, by its rule."""


def test_ignored_checks_say_why() -> None:
    """Behind the rule of every ignored check stands a reason."""
    silent = [
        f"{module.name}:{number}"
        for module in MODULES
        for number, line in enumerate(module.text.splitlines(), 1)
        if (found := IGNORED.search(line)) and not re.search(r"[A-Za-z]{2}", IGNORED.sub("", line[found.start() :]))
    ]
    assert silent == []


def test_public_signatures_name_their_types() -> None:
    """No public function takes or gives a bare `Any`: `object`, a union or a type variable says more."""
    library = [module for module in MODULES if _is_library(module)]
    assert [f"{module.path}, {found}" for module in library for found in _bare_any(module)] == []
