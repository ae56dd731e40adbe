"""Rules of our own format beyond the shape of a request; every rule has the name of the `code` in the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.rules.common import repeated
from interlingua.testing.upstream.verdict import Asked, Finding, Rule
from interlingua.testing.wirefacts.values import items, members, objects, word

__all__ = ["UNIFIED_RULES"]

TYPES = frozenset({"null", "boolean", "object", "array", "number", "string", "integer"})

Place = tuple[tuple[str | int, ...], dict[str, Any]]


def _tools(request: Asked) -> list[Place]:
    """Every function that is offered; a tool of a provider has rules of its own."""
    tools = enumerate(objects(request.body.get("tools")))
    return [(("tools", place), tool) for place, tool in tools if tool.get("type", "tool") == "tool"]


CALLS = ("tool_call", "broken_tool_call")


def _parts(request: Asked, *kinds: str) -> list[Place]:
    return [
        (("messages", place, "parts", at), members(part))
        for place, message in enumerate(objects(request.body.get("messages")))
        for at, part in enumerate(items(message.get("parts")))
        if members(part).get("type") in kinds
    ]


def _names(request: Asked) -> Iterator[Finding]:
    yield from repeated([((*steps, "name"), word(tool.get("name"))) for steps, tool in _tools(request)], "the tool")


def _descriptions(request: Asked) -> Iterator[Finding]:
    for steps, tool in _tools(request):
        if not word(tool.get("description")).strip():
            yield (*steps, "description"), f"the tool {tool.get('name')!r} has no description"


def _parameters(request: Asked) -> Iterator[Finding]:
    for steps, tool in _tools(request):
        for name, schema in members(members(tool.get("parameters")).get("properties")).items():
            if isinstance(schema, dict) and not word(members(schema).get("description")).strip():
                yield (*steps, "parameters", "properties", name), f"the parameter {name!r} has no description"


def _schemas(request: Asked) -> Iterator[Finding]:
    for steps, tool in _tools(request):
        kind = members(tool.get("parameters")).get("type")
        if kind is not None and not {str(each) for each in (items(kind) or [kind])} <= TYPES:
            yield (*steps, "parameters"), f"{kind!r} is no type of JSON Schema"


def _choice(request: Asked) -> Iterator[Finding]:
    choice = members(request.body.get("tool_choice"))
    offered = {word(tool.get("name")) for _, tool in _tools(request)}
    for name in [*items(choice.get("names")), *([choice["name"]] if "name" in choice else [])]:
        if name not in offered:
            yield ("tool_choice",), f"the tool {name!r} is not offered"


def _missing_ids(request: Asked) -> Iterator[Finding]:
    for steps, call in _parts(request, "tool_call"):
        if call.get("id") == "":
            yield (*steps, "id"), "a call has no id"


def _repeated_ids(request: Asked) -> Iterator[Finding]:
    calls = [((*steps, "id"), word(call.get("id"))) for steps, call in _parts(request, *CALLS)]
    yield from repeated(calls, "the call id")


def _orphans(request: Asked) -> Iterator[Finding]:
    called = {word(call.get("id")) for _, call in _parts(request, *CALLS)}
    for steps, result in _parts(request, "tool_result"):
        if result.get("tool_call_id") not in called:
            yield (*steps, "tool_call_id"), f"no call has the id {result.get('tool_call_id')!r}"


def _repeated_results(request: Asked) -> Iterator[Finding]:
    matches = [
        ((*steps, "tool_call_id"), word(result.get("tool_call_id"))) for steps, result in _parts(request, "tool_result")
    ]
    yield from repeated(matches, "the result of")


def _missing_results(request: Asked) -> Iterator[Finding]:
    answered = {word(result.get("tool_call_id")) for _, result in _parts(request, "tool_result")}
    for steps, call in _parts(request, *CALLS):
        if word(call.get("id")) not in answered and call.get("reason") != "cut_off":
            yield steps, f"the call {call.get('id')!r} has no result"


PAGE = "unified, the rules that a request can break; R31, R32, R47"
UNIFIED_RULES: tuple[Rule, ...] = (
    Rule("tool_name_duplicate", _names, PAGE),
    Rule("tool_description_missing", _descriptions, PAGE),
    Rule("parameter_description_missing", _parameters, PAGE),
    Rule("schema_invalid", _schemas, PAGE),
    Rule("tool_choice_unknown", _choice, PAGE),
    Rule("call_id_missing", _missing_ids, PAGE),
    Rule("call_id_duplicate", _repeated_ids, PAGE),
    Rule("result_orphan", _orphans, PAGE),
    Rule("result_duplicate", _repeated_results, PAGE),
    Rule("result_missing", _missing_results, PAGE),
)
"""The rules of our own format."""
