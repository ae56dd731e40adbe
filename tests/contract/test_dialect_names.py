"""The gateway, the client and the command line know dialects by their facts: no module there names one."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from interlingua.dialects.table import DIALECTS, SPELLINGS
from tests.contract.source import MODULES, SOURCE, Module

ROOMS = ("gateway", "client", "cli")
NAMES = frozenset({*DIALECTS, *SPELLINGS})
FOLDERS = frozenset([module.rpartition(".")[2] for module in DIALECTS.values()])
EXCEPTIONS = {
    "client/telemetry/semantics.py": "names of providers, and what OpenTelemetry calls them",
    "cli/agents.py": "`gemini` is a program",
    "cli/litellm/deployment.py": "LiteLLM's names of providers, and schemes of ours",
}
"""Modules in which such a word is no dialect, and what it is there."""


def _docstrings(tree: ast.Module) -> set[int]:
    """The identities of texts that stand by themselves: docstrings of modules, classes, functions and fields."""
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    return {id(statement.value) for statement in statements if isinstance(statement.value, ast.Constant)}


def _names_of(tree: ast.Module) -> list[str]:
    """The dialects that a module names, as whole texts and by what it imports."""
    ignored = _docstrings(tree)
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in ignored:
            found += [f"{node.lineno}: {node.value}"] if node.value in NAMES else []
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        for module in modules:
            if module.startswith("interlingua.dialects.") and module.split(".")[2] in FOLDERS:
                found.append(f"{getattr(node, 'lineno', 0)}: {module}")
    return found


def _modules() -> list[Module]:
    """The modules of these rooms."""
    return [module for module in MODULES if module.path.relative_to(SOURCE).parts[0] in ROOMS]


@cache
def _found() -> dict[str, list[str]]:
    """The dialects that each module of these rooms names."""
    named = {str(module.path.relative_to(SOURCE)): _names_of(module.tree) for module in _modules()}
    return {path: names for path, names in named.items() if names}


def test_no_room_above_the_dialects_names_one() -> None:
    """What differs between dialects is a fact of their declarations, for who adds one touches nothing else."""
    assert {path: names for path, names in _found().items() if path not in EXCEPTIONS} == {}


def test_every_exception_is_needed() -> None:
    """An exception whose module names none any more is gone."""
    assert set(EXCEPTIONS) - set(_found()) == set()


LISTED = re.compile(rf"(?<![\w-])({'|'.join(sorted(NAMES, key=len, reverse=True))})(?![\w-])")


def test_no_text_lists_them() -> None:
    """A help text that lists the dialects is made of their table: a list by hand had lacked two of them for weeks."""
    listing = [str(module.path.relative_to(SOURCE)) for module in _modules() if _lists_some(module.tree)]
    assert listing == []


def _lists_some(tree: ast.Module) -> bool:
    """Whether a text of a module has three dialects in it, docstrings aside."""
    ignored = _docstrings(tree)
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in ignored]
    return any([len(set(LISTED.findall(node.value))) > 2 for node in texts if isinstance(node.value, str)])


@pytest.mark.parametrize(
    "text",
    [
        'x = "anthropic"',
        'if name == "gemini": pass',
        "from interlingua.dialects.google.path import read_path",
        "import interlingua.dialects.ollama",
        "from interlingua.dialects import unified",
    ],
)
def test_each_way_to_name_one_is_noticed(text: str) -> None:
    """A comparison, a table and an import are found; a docstring is none of them."""
    assert _names_of(ast.parse(text)) != []
    assert _names_of(ast.parse('"""anthropic"""\nx: int = 1\n"""google"""')) == []
