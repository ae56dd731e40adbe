"""The JSON Schema of our own format is current, valid, and says what the rules say; the examples of its page hold."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema_rs
import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions
from interlingua.dialects.unified import DIALECT
from interlingua.dialects.unified.schema import json_schema
from interlingua.dialects.unified.wire import ERROR_TYPES
from interlingua.errors import DecodeError
from interlingua.stream.check import check
from interlingua.types.event import StreamEnd
from interlingua.wire.http import HttpReply, HttpRequest
from tests.contract.source import ROOT
from tests.support.docs_tables import SCHEMA, schema_text

DOCUMENT = json_schema()
PAGE = (ROOT / "docs" / "dialects" / "unified.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```(?:json )?(request|response|error|sse)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def form(name: str) -> jsonschema_rs.Validator:
    """A validator for one of the four kinds of bodies."""
    return jsonschema_rs.validator_for({**DOCUMENT, "anyOf": [{"$ref": f"#/$defs/{name}"}]})


def test_the_committed_schema_is_current() -> None:
    """`python -m tests.support.docs_tables` writes it anew; a change of the format is a diff that is read."""
    assert SCHEMA.read_text(encoding="utf-8") == schema_text()


def test_the_schema_is_a_schema() -> None:
    """Draft 2020-12, with every reference inside itself, and one description for each thing of the wire."""
    jsonschema_rs.meta.validate(DOCUMENT)
    text = json.dumps(DOCUMENT)
    assert set(re.findall(r"#/\$defs/(\w+)", text)) <= DOCUMENT["$defs"].keys()
    assert "§" not in text
    undescribed = [name for name, found in DOCUMENT["$defs"].items() if name != "Event" and not found["description"]]
    assert undescribed == []


def test_errors_have_a_closed_list_of_types() -> None:
    """Every class of ours, in snake_case."""
    assert DOCUMENT["$defs"]["ErrorFacts"]["properties"]["type"]["enum"] == list(ERROR_TYPES)
    assert {"rate_limit_error", "api_timeout_error", "decode_error", "history_error"} <= ERROR_TYPES.keys()


REFUSED: list[dict[str, Any]] = [
    {"messages": []},
    {"model": "m"},
    {"model": "m", "messages": [{"role": "robot"}]},
    {"model": "m", "messages": [], "zzz": 1},
    {"model": "m", "messages": [{"role": "user", "parts": [{"type": "text"}]}]},
    {"model": "m", "messages": [{"role": "user", "parts": [{"type": "text", "text": "x", "zzz": 1}]}]},
    {"model": "m", "messages": [], "tools": [{"name": "a-b", "description": "d", "parameters": {}}]},
    {"model": "m", "messages": [], "tools": [{"name": "ab", "parameters": {}}]},
    {"model": "m", "messages": [], "tools": [{"type": "opaque_tool", "dialect": "anthropic"}]},
    {"model": "m", "messages": [], "effort": "enormous"},
    {
        "model": "m",
        "messages": [
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "a", "name": "f", "arguments": "{}"}]}
        ],
    },
]
"""Bodies that are not of the format."""


@pytest.mark.parametrize("body", REFUSED)
def test_what_the_schema_refuses_is_refused(body: dict[str, Any]) -> None:
    """The schema and the code agree about each of these."""
    assert list(form("Request").iter_errors(body))
    with pytest.raises(Exception, match=r".") as caught:
        DIALECT.decode_request(HttpRequest(url="http://test/", body=json.dumps(body).encode()), DecodeOptions())
    assert caught.type.__name__ in ("DecodeError", "HistoryError")


@pytest.mark.parametrize(
    ("kind", "text"), EXAMPLES, ids=[f"{kind}-{place}" for place, (kind, _) in enumerate(EXAMPLES)]
)
def test_the_examples_of_the_page_hold(kind: str, text: str) -> None:
    """They are read, and the schema describes them."""
    if kind == "sse":
        decoder = DIALECT.stream_decoder(DecodeContext())
        events = [*decoder.feed(text.encode()), *decoder.close()]
        assert check(events) == ()
        assert isinstance(events[-1], StreamEnd)
        for line in text.splitlines():
            if line.startswith("data:"):
                assert list(form("Event").iter_errors(json.loads(line[5:]))) == []
        return
    body = json.loads(text)
    assert list(form(kind.capitalize()).iter_errors(body)) == []
    match kind:
        case "request":
            DIALECT.decode_request(HttpRequest(url="http://test/", body=text.encode()), DecodeOptions())
        case "response":
            assert DIALECT.decode_response(HttpReply(status=200, body=text.encode()), DecodeContext()).changes
        case _:
            error = DIALECT.decode_error(HttpReply(status=400, body=text.encode()), DecodeContext())
            assert isinstance(error, DecodeError)
            assert error.path == body["error"]["path"]


def test_the_page_has_an_example_of_everything() -> None:
    """A request, an answer, an error and a stream."""
    assert [kind for kind, _ in EXAMPLES] == ["request", "response", "request", "error", "sse"]
