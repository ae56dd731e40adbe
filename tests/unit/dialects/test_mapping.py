"""The mapping of one request to every dialect, member by member: model and effort, failed results, output schemas."""

from __future__ import annotations

from typing import Any

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodeOptions, Encoded, EncodeOptions, Quirks, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.registry.resolve import Registry
from interlingua.types.message import assistant
from interlingua.types.request import Request
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode
from tests.support.cells import cells

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
NAME = "lab/some-model-high:thinking"
"""A model's name with everything in it that some take for a suffix."""

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def encoded(dialect: str, request: Request, model: str = "some-model", **quirks: Any) -> Encoded:
    """What a client of the dialect sends."""
    target = Target(model=model, quirks=Quirks(**quirks))
    return get_dialect(dialect).encode_request(request, EncodeOptions(target=target))


def sent(dialect: str, **members: Any) -> dict[str, Any]:
    """The body of a request of one question."""
    request = Request(messages=(il.user("Hi"),), max_tokens=30_000, **members)
    return decode_any(encoded(dialect, request).body)


# What belongs to one dialect


@cells("dialect", [name for name in DIALECTS if name != "unified"])
@cells("role", ["user", "assistant"])
@cells("kind", ["some_block", "media_ref"])
def test_r03_what_belongs_to_a_dialect_is_passed_to_no_other(dialect: str, role: Any, kind: str) -> None:
    """Refused with its place, never sent or left out in silence; our own format alone has a form for it."""
    foreign = il.OpaquePart("nobody", kind, {"type": kind, "secret": "xyzzy"})
    messages = (il.user("Hi"), il.Message(role, (il.TextPart("Look:"), foreign)), il.user("Well?"))
    with pytest.raises(il.UnsupportedError) as caught:
        encoded(dialect, Request(messages=messages, max_tokens=9))
    [change] = caught.value.changes
    assert (change.action, change.path) == ("refused", "/messages/1/parts/1")
    assert change.code in ("opaque_part", "media_refs")


# Models and effort


@every_dialect
def test_r07_a_models_name_is_sent_as_it_is(dialect: str) -> None:
    """No suffix is cut off or means an effort; Google has the name in its path."""
    told = encoded(dialect, Request(messages=(il.user("Hi"),), max_tokens=9), NAME)
    body = decode_any(told.body)
    if dialect == "google":
        assert told.path == "/models/lab/some-model-high%3Athinking:generateContent"
    elif dialect == "bedrock":
        assert told.path == "/model/lab%2Fsome-model-high%3Athinking/converse"
    else:
        assert body["model"] == NAME
    assert not {"reasoning", "reasoning_effort", "thinking", "think", "effort", "output_config"} & body.keys()
    assert "thinkingConfig" not in body.get("generationConfig", {})


EFFORTS: dict[str, Any] = {
    "openai-chat": {"reasoning_effort": "high"},
    "openai-responses": {"reasoning": {"effort": "high"}},
    "ollama": {"think": "high"},
    "unified": {"effort": "high"},
}


@pytest.mark.parametrize("dialect", EFFORTS)
def test_r07_an_effort_is_the_member_of_the_dialect(dialect: str) -> None:
    """What is sent beside it is what is sent without it."""
    assert sent(dialect, effort="high") == {**sent(dialect), **EFFORTS[dialect]}


@pytest.mark.parametrize(
    ("spec", "member"),
    [
        ("anthropic/claude-opus-4-6", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}),
        ("google/gemini-3-pro", {"thinkingConfig": {"thinkingLevel": "HIGH"}}),
    ],
)
def test_r07_an_effort_is_told_as_the_models_family_takes_it(spec: str, member: dict[str, Any]) -> None:
    """Where there is no word for it, it is the form of thinking that the model has."""
    (endpoint,) = Registry({}).resolve(spec)
    request = Request(messages=(il.user("Hi"),), effort="high", max_tokens=30_000)
    options = EncodeOptions(target=endpoint.target)
    body = decode_any(get_dialect(endpoint.dialect).encode_request(request, options).body)
    assert {name: {**body, **body.get("generationConfig", {})}.get(name) for name in member} == member


# Failed results

FAILED: dict[str, tuple[str, Any]] = {
    "openai-chat": ("content", "ERROR: disk full"),
    "openai-responses": ("output", "ERROR: disk full"),
    "ollama": ("content", "ERROR: disk full"),
    "cohere": ("content", "ERROR: disk full"),
    "anthropic": ("is_error", True),
    "google": ("response", {"error": "disk full"}),
    "unified": ("is_error", True),
    "bedrock": ("status", "error"),
}
"""The member of a result that says it, and its value."""


def _turns(content: str, *, is_error: bool) -> tuple[il.Message, ...]:
    call = il.ToolCall("call_1", "save", "{}")
    return (
        il.user("Save."),
        assistant(call),
        il.Message("tool", (il.ToolResult("call_1", "save", content, is_error),)),
    )


def _result(body: dict[str, Any]) -> dict[str, Any]:
    """The last result of a body, in whatever it is wrapped."""
    last = next(body[name] for name in ("messages", "input", "contents") if name in body)[-1]
    for name in ("parts", "content"):
        if isinstance(last.get(name), list):
            last = last[name][-1]
    return last.get("functionResponse", last.get("toolResult", last))


@every_dialect
def test_r15_a_failed_result_says_so_in_the_words_of_the_dialect(dialect: str) -> None:
    """By a flag, a prefix or a key; a result that is none has neither; each is read back as it was."""
    name, value = FAILED[dialect]
    for is_error in (True, False):
        request = Request(messages=_turns("disk full", is_error=is_error), max_tokens=9)
        told = encoded(dialect, request)
        assert (_result(decode_any(told.body)).get(name) == value) is is_error
        url = f"https://host.invalid{told.path}"
        read = get_dialect(dialect).decode_request(HttpRequest(url=url, body=told.body), DecodeOptions()).request
        [result] = read.messages[-1].tool_results
        assert (result.content, result.is_error) == ("disk full", is_error)


@pytest.mark.parametrize("dialect", [name for name, (_, value) in FAILED.items() if str(value).startswith("ERROR")])
def test_r15_the_prefix_is_never_doubled(dialect: str) -> None:
    """A tool that begins its words with it gets no second one, over however many trips."""
    messages = _turns("ERROR: disk full", is_error=True)
    for _ in range(3):
        told = encoded(dialect, Request(messages=messages))
        assert _result(decode_any(told.body))[FAILED[dialect][0]] == "ERROR: disk full"
        url = f"https://host.invalid{told.path}"
        read = get_dialect(dialect).decode_request(HttpRequest(url=url, body=told.body), DecodeOptions()).request
        messages = read.messages


# Output schemas

FORMS: dict[str, tuple[tuple[str, ...], Any]] = {
    "openai-chat": (
        ("response_format",),
        {"type": "json_schema", "json_schema": {"name": "response", "schema": SCHEMA}},
    ),
    "openai-responses": (
        ("text", "format"),
        {"type": "json_schema", "name": "response", "schema": SCHEMA, "strict": False},
    ),
    "anthropic": (("output_config", "format"), {"type": "json_schema", "schema": SCHEMA}),
    "google": (
        ("generationConfig",),
        {"maxOutputTokens": 30_000, "responseMimeType": "application/json", "responseJsonSchema": SCHEMA},
    ),
    "ollama": (("format",), SCHEMA),
    "cohere": (("response_format",), {"type": "json_object", "json_schema": SCHEMA}),
    "unified": (("output_schema",), SCHEMA),
    "bedrock": (
        ("outputConfig", "textFormat"),
        {"type": "json_schema", "structure": {"jsonSchema": {"schema": encode(SCHEMA).decode()}}},
    ),
}
"""Where an output schema stands, and what stands there: a name where the service wants one, and strictness nowhere but
where its default is on."""


@every_dialect
def test_r17_an_output_schema_is_the_member_of_the_dialect(dialect: str) -> None:
    """Exactly this, and nothing of it anywhere else in the body."""
    place, form = FORMS[dialect]
    body = sent(dialect, output_schema=SCHEMA)
    found: Any = body
    for name in place:
        found = found[name]
    assert found == form
    rest = {name: value for name, value in body.items() if name != place[0]}
    assert rest == {name: value for name, value in sent(dialect).items() if name != place[0]}


NAMES = {
    "openai-chat": ("response_format", "json_schema", "name"),
    "openai-responses": ("text", "format", "name"),
    "unified": ("schema_name",),
    "bedrock": ("outputConfig", "textFormat", "structure", "jsonSchema", "name"),
}
"""Where the name of a schema stands, in the dialects that have one."""


@every_dialect
def test_r17_a_schemas_name_is_sent_where_there_is_a_place_for_it(dialect: str) -> None:
    """The caller's own name takes the place of the default; other dialects send none."""
    body = sent(dialect, output_schema=SCHEMA, schema_name="bill")
    found: Any = body
    for name in NAMES.get(dialect, ()):
        found = found[name]
    assert found == ("bill" if dialect in NAMES else sent(dialect, output_schema=SCHEMA))
