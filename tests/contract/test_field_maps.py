"""The pages of docs/dialects hold to the contract: a fact of a wire has a field, or a change code that says its loss.

How the pages write it is told in docs/dialects/README.md: `Struct.field`, a span `.field` of the struct named last, and
change codes in bold.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from interlingua.dialects.table import DIALECTS
from interlingua.types.change import CODES
from interlingua.types.content import Json, Part, Sealed
from interlingua.types.event import Event
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Alternative, Response
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool
from interlingua.types.usage import Usage
from tests.contract.source import ROOT

PAGES = ROOT / "docs" / "dialects"

STRUCTS: dict[str, type[msgspec.Struct]] = {
    kind.__name__: kind
    for kind in (
        *(Request, Message, Response, Alternative, Usage, Sealed, Json),
        *(Tool, OpaqueTool, NamedTool, AllowedTools, Freeform),
        *get_args(Part),
        *get_args(Event),
    )
}
"""Everything that a wire can be mapped to."""

SPAN = re.compile(r"`(?:([A-Z]\w+)(?:\.(\w+))?|\.([a-z]\w*))`")
"""A struct, one of its fields, or a further field of the struct named last."""

CODE = re.compile(r"\*\*`(\w+)`\*\*")


def _page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def _named_fields(text: str) -> set[str]:
    """Every `Struct.field` that a page names, dotted spans joined to their struct."""
    found: set[str] = set()
    owner = ""
    for match in SPAN.finditer(text):
        if match[1] is not None:
            owner = match[1]
        field = match[2] or match[3]
        if field is not None and owner in STRUCTS:
            found.add(f"{owner}.{field}")
    return found


def _first_cells(text: str) -> set[str]:
    return {match[1].strip() for match in re.finditer(r"^\| ([^|]+) \|", text, re.MULTILINE)}


def _rows() -> list[str]:
    """The rows that every page must have, from the list in the index."""
    listed = re.search(r"^Rows: (.+?)\.$", _page("README"), re.MULTILINE | re.DOTALL)
    assert listed is not None
    return [row.strip() for row in listed[1].replace("\n", " ").split(",")]


def test_every_dialect_has_a_page_and_every_page_a_dialect() -> None:
    """As many pages as dialects, all in the index, beside the pages of vectors and of clouds."""
    pages = {path.stem for path in PAGES.glob("*.md")} - {"README", "vectors", "clouds"}
    assert pages == DIALECTS.keys()
    assert all(f"[{name}]({name}.md)" in _page("README") for name in pages)


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_page_says_whether_it_is_built(name: str) -> None:
    """The status line, and the index, agree with the table of dialects."""
    assert re.search(r"^Status: implemented\b", _page(name), re.MULTILINE)
    assert re.search(rf"\[{name}\]\({name}\.md\) \|.*\| implemented \|", _page("README"))


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_page_has_every_section(name: str) -> None:
    """Sources, field map, losses, normal form, streaming, errors, in this order."""
    headings = re.findall(r"^## (.+)$", _page(name), re.MULTILINE)
    assert headings == ["Sources", "Field map", "Losses", "Normal form", "Streaming", "Errors"]


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_page_has_every_row(name: str) -> None:
    """No fact of the comparison of wire formats is passed over."""
    assert set(_rows()) - _first_cells(_page(name)) == set()


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_fields_that_are_named_exist(path: Path) -> None:
    """A page maps to fields and views that the contract really has."""
    named = _named_fields(path.read_text(encoding="utf-8"))
    missing = {field for field in named if not hasattr(STRUCTS[field.split(".")[0]], field.split(".")[1])}
    assert missing == set()


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_change_codes_that_are_named_exist(path: Path) -> None:
    """A loss has a code of the closed table."""
    assert set(CODE.findall(path.read_text(encoding="utf-8"))) - CODES.keys() == set()


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_the_page_of_a_dialect_with_code_names_every_field(name: str) -> None:
    """Each canonical field is mapped, or said to be never filled."""
    every = {f"{owner}.{field}" for owner, kind in STRUCTS.items() for field in kind.__struct_fields__}
    assert every - _named_fields(_page(name)) == set()


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_the_rules_of_the_normal_form_are_listed(name: str) -> None:
    """One line for each rule that the code applies, and no line without a rule."""
    normal = import_module(f"{DIALECTS[name]}.normal")
    rules = {rule.__name__ for chain in normal.RULES.values() for rule in chain} | {"absent_members"}
    text = _page(name).split("## Normal form")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == rules
