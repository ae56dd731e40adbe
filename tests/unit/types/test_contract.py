"""What the canonical types promise as a whole: nobody's names, a sealed union, bytes instead of URLs, no mutation."""

from __future__ import annotations

import ast
import re
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    OpaquePart,
    Part,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.usage import Usage
from tests.contract.source import SOURCE
from tests.support.cells import cells

VENDORS = re.compile(
    r"openai|chatgpt|anthropic|claude|google|gemini|ollama|mistral|azure|bedrock|deepseek", re.IGNORECASE
)


def _said(tree: ast.AST) -> list[str]:
    """Every name and every text of the code; what stands alone is a docstring and may give examples."""
    found: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                found.append(name)
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found.append(name)
            case ast.Constant(value=str(text)):
                found.append(text)
            case _:
                pass
    alone = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    for value in alone:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            found.remove(value.value)
    return found


@cells("path", sorted((SOURCE / "types").glob("*.py")), ids=lambda path: path.stem)
def test_r01_no_vendor_stands_in_the_contract(path: Any) -> None:
    """No name and no word of the canonical types belongs to a provider."""
    said = _said(ast.parse(path.read_text(encoding="utf-8")))
    # The table of changes explains its codes with the limits of targets; those are sentences for people.
    words = [word for word in said if VENDORS.search(word) and " " not in word]
    assert words == []


def test_r03_parts_are_a_sealed_union() -> None:
    """These and no others, each with a tag of its own."""
    assert set(get_args(Part)) == {
        TextPart,
        ImagePart,
        AudioPart,
        DocumentPart,
        ThinkingPart,
        RefusalPart,
        ToolCall,
        BrokenToolCall,
        ToolResult,
        ServerToolPart,
        OpaquePart,
    }
    tags = [kind.__struct_config__.tag for kind in get_args(Part)]
    assert len(set(tags)) == len(tags)
    assert get_type_hints(OpaquePart)["dialect"] is str


@pytest.mark.parametrize("kind", [ImagePart, AudioPart, DocumentPart])
def test_r04_media_are_bytes_with_their_type(kind: type[msgspec.Struct]) -> None:
    """No field could hold a URL."""
    hints = get_type_hints(kind)
    assert hints["data"] is bytes
    assert hints["media_type"] is str
    assert not [name for name in hints if "url" in name or "uri" in name]


@pytest.mark.parametrize("value", [user("a"), Request(messages=(user("a"),)), Response(parts=(TextPart("a"),))])
def test_r06_values_never_change(value: Any) -> None:
    """A field that was set stays as it is."""
    with pytest.raises(AttributeError):
        value.extra = {"x": {}}


def test_r09_counts_that_nobody_gave_are_none() -> None:
    """Never 0."""
    assert {getattr(Usage(), name) for name in Usage.__struct_fields__ if name.endswith("_tokens")} == {None}
    assert Usage().total_tokens is None


def test_r02_roles_are_four() -> None:
    """system, user, assistant and tool."""
    assert set(get_args(get_type_hints(Message)["role"])) == {"system", "user", "assistant", "tool"}
