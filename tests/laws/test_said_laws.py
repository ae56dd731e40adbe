"""Law of what is said: every field of a request, alone, in every dialect, is in the body or among the changes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from interlingua.dialects._contract import EncodeOptions, Target
from interlingua.dialects._request import CORE, RequestWriter
from interlingua.dialects.openai_chat import client as chat
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import UnsupportedError
from interlingua.types.content import TextPart
from interlingua.types.message import user
from interlingua.types.request import Request, ServerState
from interlingua.types.tool import Tool

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
TOOL = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}})
BASE = Request(messages=(user("Hi."),), tools=(TOOL,), max_tokens=4_000)
TYPED = msgspec.structs.replace(BASE, output_schema=SCHEMA)
VALUES: dict[str, Any] = {
    "messages": (user("Ho."),),
    "system": (TextPart("Be brief."),),
    "tools": (),
    "tool_choice": "required",
    "output_schema": SCHEMA,
    "schema_name": "place",
    "schema_description": "A place.",
    "schema_strict": True,
    "json_mode": True,
    "max_tokens": 7_777,
    "temperature": 0.3,
    "top_p": 0.4,
    "top_k": 5,
    "min_p": 0.1,
    "stop": ("END",),
    "seed": 3,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "logit_bias": {"5": 1.0},
    "logprobs": 2,
    "n": 2,
    "effort": "low",
    "thinking": True,
    "thinking_summary": "detailed",
    "thinking_budget": 2_000,
    "parallel_tool_calls": False,
    "verbosity": "low",
    "service_tier": "flex",
    "user": "u-1",
    "metadata": {"a": "b"},
    "store": True,
    "cache": "5m",
    "cache_key": "k",
    "continues": ServerState("none", {"id": "x"}),
    "extra": {"none": {"a": 1}},
}
"""Another value of each field."""
NOT_MISSED = {("anthropic", "schema_name"), ("google", "schema_name"), ("ollama", "schema_name")} | {
    ("anthropic", "schema_strict"),
    ("cohere", "schema_name"),
    ("cohere", "schema_strict"),
    ("bedrock", "schema_strict"),
}
"""What changes nothing: a name that no place of the wire has, and strictness where every schema binds."""


def _encoded(dialect: str, request: Request) -> object:
    """What is sent, and what is told; the refusal that it is."""
    try:
        encoded = get_dialect(dialect).encode_request(request, EncodeOptions(target=Target(model="m")))
    except UnsupportedError as error:
        return error.changes
    return encoded.path, encoded.headers, encoded.body, encoded.changes


def test_every_field_has_a_value_here() -> None:
    """A new field of a request is tried as soon as it is there."""
    assert [*VALUES] == [*Request.__struct_fields__]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_field_is_said_or_noted(dialect: str) -> None:
    """Each alone; nothing is lost in silence."""
    silent: set[tuple[str, str]] = set()
    for name, value in VALUES.items():
        base = TYPED if name.startswith("schema_") else BASE
        if _encoded(dialect, base) == _encoded(dialect, msgspec.structs.replace(base, **{name: value})):
            silent.add((dialect, name))
    assert silent == {one for one in NOT_MISSED if one[0] == dialect}


def test_a_field_that_no_dialect_knows_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a writer does not declare has an entry, whoever forgot it."""

    class Forgetful(chat._RequestEncoder):
        """A writer that declares what every dialect says, and nothing else."""

        written_fields = CORE

    monkeypatch.setattr(chat, "_RequestEncoder", Forgetful)
    encoded = get_dialect("openai-chat").encode_request(
        msgspec.structs.replace(BASE, verbosity="low"), EncodeOptions(target=Target(model="m"))
    )
    assert [(entry.code, entry.path) for entry in encoded.changes] == [("parameter_unsupported", "/verbosity")]
    assert issubclass(chat._RequestEncoder, RequestWriter)
