"""Every function definition of a public data set, through the schemas and names of every dialect and back.

8,726 definitions in requests of up to 37: types that nobody's schemas know, names with dots, objects of any kind. What
is sent is judged by an allow-list that was written apart from the code which rewrites.
"""

from __future__ import annotations

import json
import time
from functools import cache
from typing import Any

import pytest

from interlingua.dialects._contract import EncodeOptions, Quirks, Target
from interlingua.dialects._subsets import GOOGLE_OPENAPI, SUBSETS
from interlingua.dialects.google.schemas import UPPER, from_json_schema
from interlingua.dialects.table import get_dialect
from interlingua.schema.fit import fit
from interlingua.schema.subset import Subset
from interlingua.schema.validate import check_schema
from interlingua.types.message import user
from interlingua.types.request import Request
from interlingua.types.tool import Tool
from tests.support.allow_lists import violations
from tests.support.bfcl import NOT_HERE, definitions_by_request, normalised, values

pytestmark = pytest.mark.skipif(not definitions_by_request(), reason=NOT_HERE)

PLACES = {
    "OpenAI tools": "openai-tool",
    "OpenAI output": "openai-tool",
    "OpenAI strict": "openai-strict",
    "Anthropic strict": "anthropic-strict",
    "Anthropic output": "anthropic-strict",
    "Anthropic tools": "anthropic-tool",
    "Gemini tools": "google-json",
    "Gemini output": "google-json",
    "Gemini OpenAPI schemas": "google-openapi",
    "Ollama tools": "ollama-tool",
}
LONGEST_S = 60.0
"""How long one target may take for all definitions, on a busy machine."""
MOST_GROWTH = 6
"""How many times as large a schema may become, beside 2 kB."""


@cache
def requests() -> list[tuple[Tool, ...]]:
    """The tools of each request, each name once."""
    found: list[tuple[Tool, ...]] = []
    for functions in definitions_by_request():
        named = {function["name"]: function for function in functions}
        found.append(tuple([
            Tool(name=name, description=one.get("description"), parameters=normalised(one.get("parameters") or {}))
            for name, one in named.items()
        ]))  # fmt: skip
    return found


@cache
def schemas() -> list[dict[str, Any]]:
    """Each schema once."""
    return list({json.dumps(tool.parameters): tool.parameters for tools in requests() for tool in tools}.values())


def test_there_are_as_many_as_are_published() -> None:
    """Up to 37 tools stand in one request; every schema is valid once its types are JSON Schema's."""
    assert max(map(len, definitions_by_request())) == 37
    for schema in schemas():
        check_schema(schema, where="definition")


@pytest.mark.parametrize("subset", SUBSETS, ids=lambda subset: subset.name)
def test_every_schema_is_taken_and_its_values_come_back(subset: Subset) -> None:
    """Valid, inside the target's allow-list, of bounded size and time; sample arguments survive both ways."""
    began = time.process_time()
    for schema in schemas():
        fitted = fit(schema, subset)
        told = schema if fitted is None else fitted.schema
        check_schema(told, where="sent")
        assert len(json.dumps(told)) <= MOST_GROWTH * len(json.dumps(schema)) + 2_000
        if subset is not GOOGLE_OPENAPI or told.get("properties"):
            sent: Any = from_json_schema(told, UPPER) if subset is GOOGLE_OPENAPI else told
            assert violations(sent, PLACES[subset.name], output="output" in subset.name) == []
        if fitted is not None and fitted.conversion is not None:
            for value in values(schema):
                assert fitted.conversion.to_own(fitted.conversion.to_wire(value)) == value
    assert time.process_time() - began < LONGEST_S


TARGETS = {
    "openai-chat": Quirks(name_rule="openai"),
    "openai-responses": Quirks(name_rule="openai"),
    "anthropic": Quirks(),
    "google": Quirks(),
    "ollama": Quirks(),
}


@pytest.mark.parametrize("dialect", TARGETS)
def test_every_request_is_encoded_and_its_names_come_back(dialect: str) -> None:
    """Names on the wire are legal, each another one, and lead back to the caller's own."""
    options = EncodeOptions(target=Target(model="m", quirks=TARGETS[dialect]))
    for tools in requests():
        request = Request(messages=(user("?"),), tools=tools, max_tokens=9)
        done = get_dialect(dialect).encode_request(request, options)
        sent = _names(json.loads(done.body)["tools"])
        assert len(set(sent)) == len(tools)
        assert [done.undo.names.get(name, name) for name in sent] == [tool.name for tool in tools]
        assert {change.code for change in done.changes} <= {"name_mapped", "schema_rewritten"}


def _names(tools: list[Any]) -> list[str]:
    declared = [entry for tool in tools for entry in tool.get("functionDeclarations", [tool])]
    return [tool.get("function", tool)["name"] for tool in declared]
