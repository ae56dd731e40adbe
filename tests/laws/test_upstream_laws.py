"""Whatever sensible request is made: what we send to a provider's own row is what the provider takes."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.dialects._contract import EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import UnsupportedError
from interlingua.providers.limits import facts_for
from interlingua.providers.rows import ROWS
from interlingua.testing.upstream import judge_body
from interlingua.types.capability import Effort
from interlingua.types.content import ImagePart, Json, Sealed, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import AllowedTools, NamedTool, Tool
from interlingua.wire.json import encode
from tests.support.strategies import cache_marks

MODELS = [
    ("openai-chat", "gpt-4.1"),
    ("openai-chat", "gpt-5"),
    ("openai-responses", "gpt-4.1"),
    ("openai-responses", "gpt-6-astra"),
    ("anthropic", "claude-opus-5"),
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-opus-4-1"),
    ("anthropic", "claude-fable-5-2"),
    ("google", "gemini-2.5-flash"),
    ("google", "gemini-3-pro"),
    ("ollama", "qwen3"),
    ("cohere", "command-a-03-2025"),
    ("bedrock", "amazon.nova-pro-v1:0"),
    ("bedrock", "us.anthropic.claude-opus-5"),
    ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
]
BASES = {
    "openai-chat": "/v1",
    "openai-responses": "/v1",
    "anthropic": "/v1",
    "google": "/v1beta",
    "ollama": "",
    "cohere": "/v2",
    "bedrock": "",
}

_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).map(lambda text: f"a{text}z")
_ids = st.text("abc:./|@ -_0", min_size=1, max_size=60)
_names = st.text("ab.-_ 9é/", min_size=1, max_size=80)
_leaves = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "integer", "minimum": 0, "exclusiveMaximum": 9},
        {"type": ["number", "null"]},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "uniqueItems": True},
        {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        {"const": 3},
    ]
)
_schemas = st.dictionaries(st.from_regex(r"[a-z]{1,4}", fullmatch=True), _leaves, max_size=3).map(
    lambda properties: {"type": "object", "properties": properties, "required": sorted(properties)[:1]}
)
_sealed = st.sampled_from(
    [
        None,
        Sealed("anthropic", {"signature": "c2VhbA=="}, provider="anthropic"),
        Sealed("google", {"thoughtSignature": "c2VhbA=="}, provider="google"),
    ]
)


@st.composite
def _step(draw: st.DrawFn, names: list[str]) -> list[Message]:
    """One turn: a question and an answer, with a round of calls between them or not."""
    parts: list[Any] = [TextPart(draw(_texts))]
    if draw(st.booleans()):
        parts.append(ImagePart(b"\x89PNG\r\n\x1a\n", "image/png"))
    turn = [user(*parts)]
    ids = draw(st.lists(_ids, max_size=3, unique=True)) if names else []
    if ids:
        said: list[Any] = [ThinkingPart(draw(_texts), draw(_sealed))] if draw(st.booleans()) else []
        said += [TextPart(draw(_texts))] if draw(st.booleans()) else []
        calls = [
            ToolCall(
                call_id, draw(st.sampled_from(names)), encode(draw(st.dictionaries(_texts, st.integers()))).decode()
            )
            for call_id in ids
        ]
        results = [
            ToolResult(call.id, call.name, draw(_texts | st.builds(Json, st.lists(st.integers()))), draw(st.booleans()))
            for call in calls
        ]
        turn += [assistant(*said, *calls), Message("tool", tuple(results))]
    return turn if draw(st.booleans()) else [*turn, assistant(draw(_texts)), user(draw(_texts))]


@st.composite
def sensible_requests(draw: st.DrawFn) -> Request:
    """Requests that a careful caller would make, with strange names and ids."""
    names = draw(st.lists(_names, max_size=3, unique=True))
    tools = tuple(Tool(name=name, description="What it does.", parameters=draw(_schemas)) for name in names)
    forms: list[Any] = [None, "auto", "none", "required"] if names else [None]
    choices = [*forms, *map(NamedTool, names), *[AllowedTools(tuple(names[:1]), "auto") for _ in names[:1]]]
    knob = st.none() | st.floats(0, 1)
    return Request(
        messages=tuple(message for _ in range(draw(st.integers(1, 3))) for message in draw(_step(names))),
        system=tuple(TextPart(text) for text in draw(st.lists(_texts, max_size=2))),
        tools=tools,
        tool_choice=draw(st.sampled_from(choices)),
        parallel_tool_calls=draw(st.none() | st.booleans()),
        output_schema=draw(st.none() | _schemas),
        max_tokens=draw(st.none() | st.integers(1, 9000)),
        temperature=draw(knob),
        top_p=draw(knob),
        top_k=draw(st.none() | st.integers(1, 50)),
        stop=tuple(draw(st.lists(_texts, max_size=3))),
        presence_penalty=draw(knob),
        effort=draw(st.none() | st.sampled_from(get_args(Effort))),
        thinking_budget=draw(st.none() | st.integers(0, 4000)),
        cache=draw(st.none() | cache_marks),
        user=draw(st.none() | st.just("someone")),
    )


@pytest.mark.parametrize(("dialect", "model"), MODELS, ids=[f"{row[0]}-{row[1]}" for row in MODELS])
@settings(max_examples=40)
@given(request=sensible_requests(), stream=st.booleans())
def test_what_we_send_is_taken(dialect: str, model: str, request: Request, stream: bool) -> None:
    """Every body is taken, or was refused by us before it was sent."""
    target = Target(
        model=model, provider=dialect, quirks=ROWS[dialect].quirks, facts=facts_for(dialect, dialect, model)
    )
    options = EncodeOptions(
        target=target, stream=stream, stream_usage=True, allow=frozenset({"images", "output_schema"}), history="mend"
    )
    try:
        encoded = get_dialect(dialect).encode_request(request, options)
    except UnsupportedError:
        return
    headers = (("anthropic-version", "2023-06-01"), *encoded.headers)
    verdict = judge_body(dialect, encoded.body, model=model, path=BASES[dialect] + encoded.path, headers=headers)
    assert verdict.ok, f"{verdict}\n{encoded.body.decode()}"
