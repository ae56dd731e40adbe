"""Schemas that stand beside JSON mode, or flat in the format: what is asked is a typed answer."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects._contract import DecodedRequest, DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.providers.limits import facts_for
from interlingua.providers.rows import ROWS
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode

NAME = "openai-chat"
SCHEMA: dict[str, Any] = {
    "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False,
}  # fmt: skip
IN_MODE = {"type": "json_object", "schema": SCHEMA}
USUAL = {"type": "json_schema", "json_schema": {"name": "response", "schema": SCHEMA}}


def read(form: dict[str, Any]) -> DecodedRequest:
    """A request for an answer of that form."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "response_format": form}
    http = HttpRequest(method="POST", url="/v1/chat/completions", body=encode(body))
    return get_dialect(NAME).decode_request(http, DecodeOptions())


def written(form: dict[str, Any], dialect: str = NAME, provider: str = "", model: str = "m") -> Any:
    """The body of the same request for a provider, and what was changed."""
    target = Target(model=model)
    if provider:
        facts = facts_for(provider, dialect, model)
        target = Target(model=model, provider=provider, quirks=ROWS[provider].quirks, facts=facts)
    encoded = get_dialect(dialect).encode_request(read(form).request, EncodeOptions(target=target))
    assert [one.code for one in encoded.changes if one.code != "parameter_added"] == []
    return decode_any(encoded.body)


def test_a_schema_beside_json_mode_is_the_schema_of_the_answer() -> None:
    """Together, Fireworks and llama.cpp hold the answer to it."""
    found = read(IN_MODE)
    asked = found.request
    assert (asked.output_schema, asked.json_mode, asked.extra, found.changes) == (SCHEMA, True, {}, ())


@pytest.mark.parametrize("provider", ["", "together", "fireworks"])
def test_it_is_written_as_it_was_read_where_that_is_known(provider: str) -> None:
    """In its own dialect nothing changes."""
    assert written(IN_MODE, provider=provider)["response_format"] == IN_MODE


@pytest.mark.parametrize("provider", ["openai-chat", "groq", "lmstudio"])
def test_it_is_written_in_the_usual_form_elsewhere(provider: str) -> None:
    """Which does the same, and is known to every server that knows schemas."""
    assert written(IN_MODE, provider=provider)["response_format"] == USUAL


def test_other_dialects_are_asked_for_the_schema() -> None:
    """And nothing in words, as for JSON mode alone."""
    responses = written(IN_MODE, "openai-responses", "openai", "gpt-4.1")
    assert responses["text"]["format"]["schema"] == SCHEMA
    claude = written(IN_MODE, "anthropic", "anthropic", "claude-sonnet-4-5")
    assert (claude["output_config"], "system" in claude) == (
        {"format": {"type": "json_schema", "schema": SCHEMA}},
        False,
    )
    gemini = written(IN_MODE, "google", "google", "gemini-3-pro")
    assert gemini["generationConfig"]["responseJsonSchema"] == SCHEMA
    assert written(IN_MODE, "ollama")["format"] == SCHEMA


def test_a_flat_schema_is_read_as_one() -> None:
    """The shape of Responses, which some clients and servers of Chat use: its type was lost on the way."""
    found = read({"type": "json_schema", "name": "page", "strict": True, "schema": SCHEMA})
    asked = found.request
    assert (asked.output_schema, asked.schema_name, asked.schema_strict) == (SCHEMA, "page", True)
    assert (asked.json_mode, asked.extra) == (False, {})
    assert [f"{one.action} {one.code} {one.path}" for one in found.changes] == ["repaired foreign_shape /output_schema"]
    assert written({"type": "json_schema", "schema": SCHEMA})["response_format"] == USUAL


@pytest.mark.parametrize(
    "form",
    [
        {"type": "json_object", "schema": SCHEMA, "more": 1},
        {"type": "regex", "pattern": "a", "schema": {}},
        {**USUAL, "schema": SCHEMA},
    ],
)
def test_what_else_stands_in_a_format_stays(form: dict[str, Any]) -> None:
    """In its own dialect it is sent as it came."""
    assert written(form)["response_format"] == form
