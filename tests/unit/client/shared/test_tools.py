"""Tools that several calls have in common are written once, and sent as they are now."""

from __future__ import annotations

from typing import Any

import pytest

import interlingua as il
from interlingua.client.shared.tools import MOST_REMEMBERED, shared_tools
from interlingua.dialects._tool_cache import CachedTools
from interlingua.types.tool import OpaqueTool, Tool


def _tools() -> tuple[Tool, ...]:
    parameters: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
    return tuple([Tool(name=name, parameters=parameters) for name in ("weather", "time")])


def _sent(tools: tuple[Tool | OpaqueTool, ...]) -> bytes:
    plan = il.model("openai/gpt-5.6", tools=tools).explain("Well?")
    assert plan.http is not None, plan
    return plan.http.body


def test_tools_are_known_from_their_second_call_on() -> None:
    """The first call has the caller's own, every later one equal tools that are the same each time."""
    tools = _tools()
    first, second, third = [shared_tools(tools) for _ in range(3)]
    assert first is tools
    assert type(second) is CachedTools
    assert second == tools
    assert third is second
    assert shared_tools(second) is second


def test_what_is_sent_is_the_same_at_every_call() -> None:
    """The bytes do not tell whether the tools were known, nor whether they came in the same tuple."""
    tools = _tools()
    assert len({_sent(tools), _sent(tools), _sent(tools), _sent((*tools,))}) == 1


def test_a_schema_that_changed_is_sent_as_it_is_now() -> None:
    """What is remembered is compared with the tools at every call."""
    tools = _tools()
    for _ in range(2):
        _sent(tools)
    tools[0].parameters["properties"]["days"] = {"type": "integer"}
    assert _sent(tools).count(b"days") == 2
    assert _sent(tools).count(b"days") == 2


@pytest.mark.parametrize("depth", range(4))
def test_a_change_is_seen_wherever_it_is_made(depth: int) -> None:
    """In an object or an array of any depth, of one tool or of what several have in common, and in what came later."""
    common: dict[str, Any] = {"type": "string", "enum": ["celsius"]}
    tools = tuple([Tool(name=name, parameters={"properties": {"unit": common}}) for name in ("weather", "time")])
    for _ in range(2):
        shared_tools(tools)
    parameters = tools[1].parameters
    parameters["properties"]["unit"] = dict(common)  # equal, and the one that counts from now on
    assert shared_tools(tools) == tools
    unit = parameters["properties"]["unit"]
    places: list[Any] = [parameters, parameters["properties"], unit, unit["enum"]]
    if isinstance(places[depth], list):
        places[depth].append("kelvin")
    else:
        places[depth]["title"] = "Unit"
    changed = shared_tools(tools)
    assert changed == tools
    assert shared_tools(tools) is changed


def test_the_schema_of_a_request_cannot_be_changed_and_the_callers_own_can() -> None:
    """A change behind the back of a request would be sent with others that share it."""
    tools = _tools()
    shared_tools(tools)
    known = shared_tools(tools)[0]
    assert isinstance(known, Tool)
    with pytest.raises(TypeError):
        known.parameters["type"] = "array"
    tools[0].parameters["title"] = "Place"


def test_a_response_holds_the_tools_that_the_caller_gave() -> None:
    """What is shared is for the wire alone."""
    tools = _tools()
    replies = [il.model("fake/m").generate("Well?", tools=tools) for _ in range(3)]
    told = [reply.request.tools for reply in replies if reply.request is not None]
    assert [list(map(id, held)) for held in told] == [list(map(id, tools))] * 3


def test_tools_that_a_provider_runs_are_never_shared() -> None:
    """A list with one of them stays the caller's own."""
    tools = (*_tools(), OpaqueTool("openai-responses", "web_search", {"type": "web_search"}))
    assert all(shared_tools(tools) is tools for _ in range(3))


def test_only_so_many_lists_are_remembered() -> None:
    """Beyond the bound all are forgotten, and the next call with the same tools is a first one."""
    tools = _tools()
    shared_tools(tools)
    others = [_tools() for _ in range(MOST_REMEMBERED)]
    for other in others:
        shared_tools(other)
    assert shared_tools(tools) is tools
    assert type(shared_tools(tools)) is CachedTools
