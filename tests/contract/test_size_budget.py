"""The size budget: short functions, short files. Over it, the design lacks a table or a type."""

from __future__ import annotations

import ast
import statistics
from typing import TYPE_CHECKING

from tests.contract.source import MODULES, Module

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_FUNCTION_LINES = 60
MEDIAN_FUNCTION_LINES = 7
P90_FUNCTION_LINES = 30
LONGEST_FILE_LINES = 600
MEDIAN_FILE_LINES = 200


def _functions(module: Module) -> Iterator[tuple[str, int]]:
    """Each function with the lines of its body, docstring not counted."""
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield f"{module.path}:{node.lineno} {node.name}", _span(body)


def _span(body: list[ast.stmt]) -> int:
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_no_function_is_too_long() -> None:
    """No function body is longer than the hard limit."""
    bodies = [body for module in MODULES for body in _functions(module)]
    assert [(where, lines) for where, lines in bodies if lines > LONGEST_FUNCTION_LINES] == []


def test_no_file_is_too_long() -> None:
    """No file is longer than the hard limit."""
    assert [str(module.path) for module in MODULES if module.text.count("\n") > LONGEST_FILE_LINES] == []


def test_functions_are_short_as_a_rule() -> None:
    """The median and the ninth decile of all function bodies are within the budget."""
    lines = sorted(lines for module in MODULES for _, lines in _functions(module))
    assert statistics.median(lines) <= MEDIAN_FUNCTION_LINES
    assert statistics.quantiles(lines, n=10)[-1] <= P90_FUNCTION_LINES


def test_files_are_short_as_a_rule() -> None:
    """The median of all files that hold code is within the budget."""
    assert statistics.median(module.text.count("\n") for module in MODULES if module.text) <= MEDIAN_FILE_LINES
