"""What we send to OpenAI, judged by the request types of the official SDK: no unknown member, no wrong type."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

import pytest

pytest.importorskip("openai", reason="the official SDK is not installed")

from openai.types.chat.completion_create_params import CompletionCreateParams
from pydantic import ConfigDict, TypeAdapter, ValidationError

import interlingua as il
from interlingua.dialects._contract import EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.registry.resolve import Registry
from tests.support.cells import cells

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
GET_WEATHER = il.Tool(name="get_weather", description="The weather of a city.", parameters=CITY, strict=True)
GET_TIME = il.Tool(name="get_time")
RUN = il.Tool(name="run", freeform=il.Freeform("lark", "start: /.+/"))
TOOLS = (GET_WEATHER, GET_TIME, RUN)
ASK = (il.user("Hi"),)
CALL_A = il.ToolCall("call_a", "get_weather", '{"city":"Oslo"}')
CALL_B = il.ToolCall("call_b", "get_time", "{}")
CALL_C = il.ToolCall("call_c", "run", '{"input":"x"}', freeform=True)
LONG = il.ToolCall("call_" + "0123456789" * 6, "get_time", "{}")


def _results(*results: il.ToolResult) -> il.Message:
    return il.Message("tool", results)


REQUESTS: dict[str, il.Request] = {
    "text": il.Request(messages=ASK),
    "system": il.Request(system=(il.TextPart("Be brief."), il.TextPart("In French.")), messages=ASK),
    "system-later": il.Request(messages=(il.system("Be brief."), *ASK, il.system("Now in French."), il.user("So?"))),
    "names": il.Request(messages=(il.Message("user", (il.TextPart("Hi"),), "ada"),)),
    "media": il.Request(
        messages=(
            il.user(
                "Look.",
                il.ImagePart(b"\x89PNG", "image/png", "low"),
                il.ImagePart(b"\xff\xd8\xff", "image/jpeg"),
                il.AudioPart(b"RIFF", "audio/wav"),
                il.AudioPart(b"ID3", "audio/mpeg"),
                il.DocumentPart(b"%PDF", "application/pdf", "a.pdf"),
                il.DocumentPart(b"%PDF", "application/pdf"),
            ),
        )
    ),
    "turns": il.Request(messages=(*ASK, il.assistant("Hello"), il.user("And?"))),
    "thinking": il.Request(messages=(*ASK, il.assistant(il.ThinkingPart("Hm."), "Hello"), il.user("And?"))),
    "refusal": il.Request(messages=(*ASK, il.assistant(il.RefusalPart("No.")), il.user("Why?"))),
    "text-and-refusal": il.Request(messages=(*ASK, il.assistant("Well,", il.RefusalPart("no.")), il.user("Why?"))),
    "calls": il.Request(
        messages=(
            *ASK,
            il.assistant(CALL_A, CALL_B, CALL_C),
            _results(
                il.ToolResult("call_a", "get_weather", il.Json({"celsius": 4})),
                il.ToolResult("call_b", "get_time", "clock is down", is_error=True),
                il.ToolResult("call_c", "run", (il.TextPart("one"), il.TextPart("two"))),
            ),
            il.assistant("4 degrees."),
            il.user("Thanks."),
        ),
        tools=TOOLS,
    ),
    "text-and-call": il.Request(
        messages=(*ASK, il.assistant("Let me see.", LONG), _results(il.ToolResult(LONG.id, "get_time", ""))),
        tools=TOOLS,
    ),
    "broken-call": il.Request(
        messages=(
            *ASK,
            il.assistant(il.BrokenToolCall("call_a", "get_time", "{", "malformed")),
            _results(il.ToolResult("call_a", "get_time", "not JSON", is_error=True)),
        ),
        tools=TOOLS,
    ),
    "image-in-result": il.Request(
        messages=(
            *ASK,
            il.assistant(CALL_A),
            _results(il.ToolResult("call_a", "get_weather", (il.ImagePart(b"\x89PNG", "image/png"),))),
        ),
        tools=TOOLS,
    ),
    "odd-names": il.Request(
        messages=(
            *ASK,
            il.assistant(il.ToolCall("1", "a.b/c", "{}")),
            _results(il.ToolResult("1", "a.b/c", "")),
        ),
        tools=(il.Tool(name="a.b/c"),),
    ),
    "choice-auto": il.Request(messages=ASK, tools=TOOLS, tool_choice="auto", parallel_tool_calls=False),
    "choice-none": il.Request(messages=ASK, tools=TOOLS, tool_choice="none"),
    "choice-required": il.Request(messages=ASK, tools=TOOLS, tool_choice="required"),
    "choice-named": il.Request(messages=ASK, tools=TOOLS, tool_choice=il.NamedTool("get_time")),
    "choice-named-freeform": il.Request(messages=ASK, tools=TOOLS, tool_choice=il.NamedTool("run")),
    "choice-allowed": il.Request(
        messages=ASK, tools=TOOLS, tool_choice=il.AllowedTools(("get_time", "run"), "required")
    ),
    "schema": il.Request(messages=ASK, output_schema=CITY, schema_name="place", schema_strict=True),
    "schema-without-name": il.Request(messages=ASK, output_schema=CITY, tools=TOOLS),
    "json-mode": il.Request(messages=ASK, json_mode=True),
    "knobs": il.Request(
        messages=ASK,
        max_tokens=100,
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        min_p=0.1,
        stop=("END", "STOP"),
        seed=7,
        presence_penalty=0.1,
        frequency_penalty=-0.1,
        logit_bias={"42": -100},
        logprobs=3,
        n=2,
        thinking_budget=1000,
        verbosity="low",
        service_tier="flex",
        user="u-1",
        metadata={"team": "search"},
        store=False,
        cache="auto",
    ),
    "logprobs": il.Request(messages=ASK, logprobs=0),
    "cached": il.Request(messages=(il.user(il.TextPart("Long.", cache="1h"), "Hi"),), tools=(GET_TIME,), cache="5m"),
    **{
        f"effort-{effort}": il.Request(messages=ASK, effort=effort)
        for effort in ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    },
}


def _target(provider: str, model: str = "gpt-6-astra") -> Target:
    (endpoint,) = Registry({"OPENAI_API_KEY": "key-of-nobody"}).resolve(f"{provider}/{model}")
    return endpoint.target


TYPES: TypeAdapter[Any] = TypeAdapter(CompletionCreateParams, config=ConfigDict(extra="forbid"))


def _whole(value: Any) -> Any:
    """The value with every lazily checked list read to its end: only then has it been checked."""
    if isinstance(value, dict):
        return {name: _whole(member) for name, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_whole(member) for member in cast("Iterable[Any]", value)]
    return value


def _accepted(body: Any) -> None:
    assert _whole(TYPES.validate_python(body)) == body


@cells("name", REQUESTS)
@cells("stream", [False, True], ids=["whole", "stream"])
def test_every_request_to_openai_fits_the_sdk_types(name: str, stream: bool) -> None:
    """What the row of OpenAI makes of a request has no member and no value that the SDK does not know."""
    target = _target("openai-chat", "gpt-4o-audio-preview" if name == "media" else "gpt-6-astra")
    options = EncodeOptions(target=target, stream=stream, stream_usage=stream)
    encoded = get_dialect("openai-chat").encode_request(REQUESTS[name], options)
    _accepted(json.loads(encoded.body))


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": "Hi"}]},
        {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "top_k": 4},
        {"model": "m", "messages": [{"role": "robot", "content": "Hi"}]},
        {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]},
        {"model": "m", "messages": [{"role": "user", "content": [{"type": "video", "text": ""}]}]},
        {"model": "m", "messages": [{"role": "tool", "content": "x"}]},
    ],
    ids=["no-model", "unknown-member", "unknown-role", "wrong-type", "unknown-part", "no-call-id"],
)
def test_the_judge_judges(body: Any) -> None:
    """A body that the vendor would refuse is refused."""
    with pytest.raises(ValidationError):
        _accepted(body)
