"""Lists that are null deep inside the schema of a tool, which OpenAI takes as it is but for them."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects._contract import DecodeOptions, EncodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode

OPENAI = ("openai-chat", "openai-responses")


def schema(required: Any, **more: Any) -> dict[str, Any]:
    """A schema with a list of required members inside."""
    inside: Any = {"type": "object", "properties": {}, "required": required}
    return {"type": "object", "properties": {"a": inside, "b": {"type": "array", "items": inside}}, **more}


def sent(dialect: str, parameters: dict[str, Any]) -> tuple[Any, list[str]]:
    """The schema of a function on the wire, and what was changed."""
    tool: Any = {"name": "f", "description": "A tool.", "input_schema": parameters}
    body: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}
    http = HttpRequest(method="POST", url="/v1/messages", body=encode(body))
    asked = get_dialect("anthropic").decode_request(http, DecodeOptions()).request
    encoded = get_dialect(dialect).encode_request(asked, EncodeOptions())
    wire: Any = decode_any(encoded.body)
    told = wire["tools"][0]
    return told.get("function", told)["parameters"], [f"{one.code} {one.path}" for one in encoded.changes]


@pytest.mark.parametrize("dialect", OPENAI)
def test_a_null_list_inside_is_an_empty_one_however_often_it_comes(dialect: str) -> None:
    """Some languages write an empty list as null, and OpenAI refuses that anywhere in a schema."""
    at = "schema_rewritten /tools/0/parameters/properties"
    for _ in range(4):
        told, changes = sent(dialect, schema(None, oddity=1))
        assert told == schema([], oddity=1)
        assert changes == [f"{at}/a/required", f"{at}/b/items/required"]


@pytest.mark.parametrize("dialect", OPENAI)
@pytest.mark.parametrize("given", [schema([]), schema(["x"], default={"required": None}, oddity={"not": {}})])
def test_any_other_schema_stays_as_it_is(dialect: str, given: dict[str, Any]) -> None:
    """A null that is somebody's value is none of ours."""
    for _ in range(4):
        assert sent(dialect, given) == (given, [])
