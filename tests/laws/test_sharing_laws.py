"""Law of what requests share: nobody who changes what he got changes what the next one gets."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec
import pytest

from bench.rows.pairs import load
from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.exactly import exactly
from tests.support.imitated import IMITATED
from tests.support.upstream_requests import whole_request
from tests.support.usual import ANSWERS

TIMES = 5
"""From the second time on that something comes it is known, from the third on it is found as it is."""
ODD: dict[str, list[dict[str, Any]]] = {
    "openai-chat": [
        {"metadata": {}, "logit_bias": {}, "response_format": {"type": "json_schema", "json_schema": {"name": "x"}}},
        {"tools": [{"type": "function", "function": {"name": "f"}}, {"type": "custom", "custom": {"name": "g"}}]},
    ],
    "openai-responses": [
        {"metadata": {}, "text": {"format": {"type": "json_schema", "name": "x", "schema": {}}}},
        {"tools": [{"type": "function", "name": "f"}, {"type": "custom", "name": "g"}], "previous_response_id": "r"},
    ],
    "anthropic": [
        {"metadata": {}, "output_config": {"format": {"type": "json_schema", "schema": {}}}},
        {"tools": [{"name": "f"}], "thread": {"type": "new"}},
    ],
    "google": [
        {"generationConfig": {"responseJsonSchema": {}}, "labels": {}},
        {"tools": [{"functionDeclarations": [{"name": "f"}]}], "cachedContent": "c"},
    ],
    "ollama": [{"options": {}, "format": {}}, {"tools": [{"type": "function", "function": {"name": "f"}}]}],
    "cohere": [
        {"citation_options": {}, "response_format": {"type": "json_object", "json_schema": {}}},
        {"tools": [{"type": "function", "function": {"name": "f"}}], "documents": [{"data": {}}]},
    ],
    "bedrock": [
        {
            "requestMetadata": {},
            "inferenceConfig": {},
            "additionalModelRequestFields": {},
            "outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"schema": "{}"}}}},
        },
        {"toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]}, "promptVariables": {}},
    ],
    "unified": [
        {"metadata": {}, "output_schema": {}, "logit_bias": {}},
        {"tools": [{"name": "f", "description": "An f.", "parameters": {}}], "extra": {"x": {}}},
    ],
}
"""What a client may say beside its messages: what is empty, and what has a form of our own where it is left out."""


def changed(value: object, depth: int = 0) -> None:
    """Put something into every object and array that can be reached and changed."""
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            changed(getattr(value, name), depth + 1)
    elif isinstance(value, dict | list | tuple) and depth < 20:
        items = cast("dict[str, Any] | list[Any] | tuple[Any, ...]", value)
        for item in items.values() if isinstance(items, dict) else items:
            changed(item, depth + 1)
        try:
            if isinstance(items, dict):
                items["changed"] = "by somebody"
            elif isinstance(items, list):
                items.append("changed")
        except TypeError:  # it is shared, and nobody can change it
            return


def bodies(name: str) -> list[bytes]:
    """Requests of a dialect, usual ones and others."""
    usual = load(name).request
    rich = [] if name == "unified" else [json.dumps(whole_request(name)).encode()]
    odd = [json.dumps({**json.loads(usual), **members}).encode() for members in ODD[name]]
    return [usual, *rich, *odd]


@pytest.mark.parametrize("name", IMITATED)
def test_who_changes_a_request_changes_it_for_himself(name: str) -> None:
    """However often a body came, and in whatever way the one before it was changed, it says what it said at first."""
    dialect = get_dialect(name)
    for body in bodies(name):
        http = HttpRequest(url=load(name).url, body=body)
        first = exactly(dialect.decode_request(http, DecodeOptions()))
        for _ in range(TIMES):
            decoded = dialect.decode_request(http, DecodeOptions())
            assert exactly(decoded) == first
            changed(decoded)


@pytest.mark.parametrize("name", IMITATED)
def test_who_changes_an_answer_changes_it_for_himself(name: str) -> None:
    """What is empty in an answer belongs to it, on the short road and on the general one."""
    dialect = get_dialect(name)
    for answer in ANSWERS[name]:
        unforeseen: dict[str, Any] = {**answer, "x_new": {"a": [1]}}
        for body in (answer, unforeseen):
            reply = HttpReply(status=200, body=json.dumps(body).encode())
            first = exactly(dialect.decode_response(reply, DecodeContext()))
            for _ in range(2):
                response = dialect.decode_response(reply, DecodeContext())
                assert exactly(response) == first
                changed(response)


@pytest.mark.parametrize("name", IMITATED)
def test_who_changes_what_was_written_changes_it_for_himself(name: str) -> None:
    """What is told beside the bytes, what is to be undone among it, is another one each time."""
    options = EncodeOptions(target=Target(model="m"))
    for source in IMITATED:
        http = HttpRequest(url=load(source).url, body=load(source).request)
        written: list[str] = []
        for _ in range(TIMES):
            encoded = get_dialect(name).encode_request(
                get_dialect(source).decode_request(http, DecodeOptions()).request, options
            )
            written.append(
                exactly((encoded.body, encoded.headers, encoded.changes, encoded.undo.names, encoded.undo.arguments))
            )
            changed(encoded)
        assert len(set(written)) == 1


def test_tools_of_ones_own_have_schemas_of_their_own() -> None:
    """A tool without parameters has nothing in common with the next."""
    changed(Tool(name="f"))
    assert Tool(name="g").parameters == {"type": "object", "properties": {}}
