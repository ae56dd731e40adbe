"""Law of usual tools: what is read or written in one go is what the general way makes of it, or is left to it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from interlingua.dialects import _request, _schemas
from interlingua.dialects._contract import EncodeOptions, Facts, Quirks, Target
from interlingua.dialects._tool_cache import equal_tools
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.types.content import TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.tool import Freeform, OpaqueTool, Tool

URL = "https://api.example/v1/models/m:generateContent"
CONVERSATION: dict[str, dict[str, Any]] = {
    "openai-chat": {"messages": [{"role": "user", "content": "Hi."}]},
    "openai-responses": {"input": "Hi."},
    "anthropic": {"messages": [{"role": "user", "content": "Hi."}], "max_tokens": 9},
    "google": {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]},
    "ollama": {"messages": [{"role": "user", "content": "Hi."}]},
    "cohere": {"messages": [{"role": "user", "content": "Hi."}]},
    "unified": {"model": "m", "messages": [{"role": "user", "content": "Hi."}]},
}
TARGETS = (
    Target(model="m"),
    Target(model="m", quirks=Quirks(strict_schemas=False)),
    Target(model="m", quirks=Quirks(schema_form="openapi")),
    Target(model="m", quirks=Quirks(schema_form="as_read", name_rule="openai")),
    Target(model="m", quirks=Quirks(freeform_tools=False, cache_marks="none"), facts=Facts(tools=False)),
)
NAMES = ("look", "put", "a b", "x" * 70, "ü", "null")
TEXTS = ("Looks.", "", " ", "null", "é 世界", None)
CITY: dict[str, Any] = {"type": "string", "description": "City."}
SCHEMAS: tuple[Any, ...] = (
    {"type": "object", "properties": {}},
    {"type": "object", "properties": {"city": CITY}, "required": ["city"]},
    {"properties": {"city": {**CITY, "enum": ["Oslo"]}}, "additionalProperties": False, "type": "object"},
    {"type": "object", "properties": {"days": {"type": "integer", "maximum": 7}}},
    {"type": "object", "properties": {"city": {"type": ["string", "null"], "default": None}}},
    {"type": "object", "properties": {"days": {"type": "integer", "maximum": float("inf")}}},
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": CITY}},
    {"type": "object", "properties": {"a": {"anyOf": [CITY, {"type": "null"}]}}},
    {"anyOf": [{"type": "object", "properties": {"a": CITY}}]},
    {"type": "object"},
    {},
    {"type": "object", "properties": {"\ud800": CITY}},
    {"type": "object", "properties": {"a": {"default": object}}},
)


def _tool(draw: Random) -> Tool | OpaqueTool:
    """A tool that is plain in most cases."""
    odd = draw.randrange(12)
    if odd == 0:
        return OpaqueTool(draw.choice(list(DIALECTS)), "web_search", {"type": "web_search"})
    name = draw.choice(NAMES if odd < 4 else NAMES[:2])
    text = draw.choice(TEXTS if odd < 4 else TEXTS[:1])
    return Tool(
        name=name,
        description=text,
        parameters=draw.choice(SCHEMAS if odd < 6 else SCHEMAS[:4]),
        strict=draw.choice((None, False, True)) if odd < 4 else None,
        cache=draw.choice((None, "5m")) if odd == 1 else None,
        freeform=draw.choice((None, Freeform())) if odd == 2 else None,
        extra=draw.choice(({}, {name: {"x": 1}}, {"anthropic": {"defer_loading": True}})) if odd == 3 else {},
    )


def _tools(draw: Random) -> tuple[Tool | OpaqueTool, ...]:
    return tuple(_tool(draw) for _ in range(draw.randrange(1, 4)))


def _written(name: str, tools: tuple[Tool | OpaqueTool, ...], target: Target) -> object:
    """How tools are written, or the error that they are."""
    request = Request(messages=(Message("user", (TextPart("Hi."),)),), tools=tools)
    try:
        found = get_dialect(name).encode_request(request, EncodeOptions(target=target))
    except Error as error:
        return repr(error), error.message, error.code
    undo = found.undo
    return found.body, found.path, found.headers, found.changes, undo.names, undo.tool_names, undo.freeform, repr(undo)


def _themselves(tools: tuple[Tool | OpaqueTool, ...]) -> tuple[Tool | OpaqueTool, ...]:
    """The tools that a cache has in the place of others where it has none."""
    return tools


def _nothing(*_: object) -> None:
    """What the look at plain tools gives where there is none."""


@pytest.mark.parametrize("name", DIALECTS)
def test_what_is_written_in_one_go(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes, changes and what is to be undone are those of the general way."""
    draw = Random(name)
    given = [(_tools(draw), draw.choice(TARGETS)) for _ in range(400)]
    taken = 0
    look = _schemas._fit_plain_tools

    def taken_tools(*arguments: Any) -> Any:
        nonlocal taken
        found = look(*arguments)
        taken += found is not None
        return found

    monkeypatch.setattr(_request, "equal_tools", _themselves)
    with monkeypatch.context() as patch:
        patch.setattr(_schemas, "_fit_plain_tools", taken_tools)
        found = [_written(name, tools, target) for tools, target in given]
    monkeypatch.setattr(_schemas, "_fit_plain_tools", _nothing)
    assert found == [_written(name, tools, target) for tools, target in given]
    assert 60 < taken < 360


@pytest.mark.parametrize("name", DIALECTS)
def test_cached_tools_are_written_as_they_were_first(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes, changes and what is to be undone are those of the first time, however often equal tools come."""
    draw = Random(f"{name}, cached")
    drawn = [(_tools(draw), draw.choice(TARGETS)) for _ in range(200)]
    with monkeypatch.context() as patch:
        patch.setattr(_request, "equal_tools", _themselves)
        expected = [_written(name, tools, target) for tools, target in drawn]
    for _ in range(4):
        assert [_written(name, tools, target) for tools, target in drawn] == expected
    own = [tools for tools, _ in drawn if equal_tools(tools) is tools]
    assert 20 < len(own) < 180
