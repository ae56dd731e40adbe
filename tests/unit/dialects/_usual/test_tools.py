"""Usual tools: which lists are read and written in one go, and that only those are."""

from __future__ import annotations

from importlib import import_module

import pytest

from interlingua.dialects._contract import Target
from interlingua.dialects._schemas import plain_tools
from interlingua.dialects.table import DIALECTS
from interlingua.errors import DecodeError
from interlingua.types.tool import Freeform, OpaqueTool, Tool
from interlingua.wire.json import encode_exact

SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "description": "City."}}}
TOOL = Tool(name="look", description="Looks.", parameters=SCHEMA)
PARAMETERS = b'{"type":"object","properties":{"city":{"type":"string","description":"City."}}}'
WIRES = {
    "unified": b'{"name":"look","description":"Looks.","parameters":%b}',
}


@pytest.mark.parametrize(("name", "wire"), WIRES.items())
def test_read(name: str, wire: bytes) -> None:
    """A function with a name, a description and a schema; what it does not say is not said."""
    read = import_module(f"{DIALECTS[name]}.tools_usual").read_usual_tools
    (tool,) = read(b"[%b]" % (wire % PARAMETERS))
    assert (tool.name, tool.description, tool.parameters) == ("look", "Looks.", SCHEMA)
    assert tool.strict is (False if name == "openai-responses" else None)
    assert (tool.cache, tool.freeform, tool.metadata, tool.extra) == (None, None, {}, {})


@pytest.mark.parametrize(("name", "wire"), WIRES.items())
def test_written(name: str, wire: bytes) -> None:
    """The same function, with the schema that is given."""
    write = import_module(f"{DIALECTS[name]}.tools_usual").write_usual_tools
    assert encode_exact(write([(TOOL, SCHEMA)], Target())) == b"[%b]" % (wire % PARAMETERS)


@pytest.mark.parametrize(("name", "wire"), WIRES.items())
def test_unusual(name: str, wire: bytes) -> None:
    """A member that is new, a name that is empty, a schema that is none or too deep: somebody else looks."""
    read = import_module(f"{DIALECTS[name]}.tools_usual").read_usual_tools
    text = b"[%b]" % (wire % PARAMETERS)
    deep = b'{"a":' * 126 + b"1" + b"}" * 126
    for other in (
        text.replace(b'"name"', b'"x":1,"name"'),
        text.replace(b'"look"', b'""'),
        text.replace(PARAMETERS, b"[]"),
        text.replace(PARAMETERS, deep),
        text[:-1],
        b"{}",
    ):
        assert read(other) is None


def test_unified_rules() -> None:
    """Our own format refuses what breaks its rules on this road, too."""
    read = import_module(f"{DIALECTS['unified']}.tools_usual").read_usual_tools
    with pytest.raises(DecodeError, match=r"^/tools/0/description: the tool 'look' has no description$"):
        read(b'[{"name":"look","parameters":{}}]')


@pytest.mark.parametrize(
    ("name", "tool", "target"),
    [
        ("unified", Tool(name="look", parameters=SCHEMA), Target()),
    ],
)
def test_not_written(name: str, tool: Tool, target: Target) -> None:
    """Another form of schemas, strictness that cannot be said, a description that is added: somebody else writes."""
    assert import_module(f"{DIALECTS[name]}.tools_usual").write_usual_tools([(tool, SCHEMA)], target) is None


def test_plain() -> None:
    """Plain are tools of which nothing else is said, whatever their notes and handlers are."""
    noted = Tool(name="put", handler=print, metadata={"a": 1})
    assert plain_tools((TOOL, noted)) == [TOOL, noted]
    assert plain_tools((Tool(name="put", strict=False),)) == [Tool(name="put", strict=False)]
    for other in (
        Tool(name="put", strict=True),
        Tool(name="put", cache="5m"),
        Tool(name="put", freeform=Freeform()),
        Tool(name="put", extra={"openai-chat": {}}),
        OpaqueTool("anthropic", "web_search", {}),
    ):
        assert plain_tools((TOOL, other)) is None
