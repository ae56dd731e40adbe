"""The deterministic fake: what it answers to tools, schemas and plain words."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects._contract import DecodedRequest
from interlingua.providers.fake import fake_answer
from interlingua.types.content import Json, TextPart, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, Tool

CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool(name="get_weather", parameters=CITY)
TIME = Tool(name="get_time")
ASKING = (user("Weather in Oslo?"),)


def _answer(**members: Any) -> Any:
    return fake_answer(DecodedRequest(model="tiny", request=Request(**members)))


def test_it_calls_the_first_tool() -> None:
    """Offered tools, it calls the first with arguments of its schema."""
    [call] = _answer(messages=ASKING, tools=(WEATHER, TIME)).tool_calls
    assert (call.id, call.name, call.arguments) == ("call_0", "get_weather", {"city": "text"})


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ("none", []),
        ("auto", ["get_weather"]),
        ("required", ["get_weather"]),
        (NamedTool("get_time"), ["get_time"]),
        (AllowedTools(("gone", "get_time")), ["get_time"]),
    ],
)
def test_it_obeys_the_choice(choice: Any, called: list[str]) -> None:
    """The tool choice decides whether and what it calls."""
    reply = _answer(messages=ASKING, tools=(WEATHER, TIME), tool_choice=choice)
    assert [call.name for call in reply.tool_calls] == called
    assert reply.finish_reason == ("tool_calls" if called else "stop")


@pytest.mark.parametrize(
    ("limit", "text", "finish", "tokens"),
    [
        (3, "This is the ", "length", 3),
        (18, "This is the fake of interlingua, not a model. It was told: Weather in Os", "length", 18),
        (19, "This is the fake of interlingua, not a model. It was told: Weather in Oslo?", "stop", 19),
        (100, "This is the fake of interlingua, not a model. It was told: Weather in Oslo?", "stop", 25),
    ],
)
def test_it_says_no_more_than_it_may(limit: int, text: str, finish: str, tokens: int) -> None:
    """Four characters of text are a token; a call is whole."""
    reply = _answer(messages=ASKING, max_tokens=limit)
    assert (reply.text, reply.finish_reason, reply.usage.output_tokens) == (text, finish, tokens)
    assert _answer(messages=ASKING, tools=(WEATHER,), max_tokens=1).finish_reason == "tool_calls"


def test_it_reads_the_result() -> None:
    """After a result it answers in words, and counts call ids on from the history."""
    history = (
        *ASKING,
        assistant(_answer(messages=ASKING, tools=(WEATHER,)).tool_calls[0]),
        Message("tool", (ToolResult("call_0", "get_weather", Json({"celsius": 4})),)),
    )
    assert _answer(messages=history, tools=(WEATHER,)).text == (
        'This is the fake of interlingua, not a model. The tool answered: {"celsius":4}'
    )
    again = _answer(messages=(*history, user("And now?")), tools=(WEATHER,))
    assert [call.id for call in again.tool_calls] == ["call_1"]


def test_it_fills_a_schema() -> None:
    """A schema of the answer is filled; JSON mode alone gives an empty object."""
    assert _answer(messages=ASKING, output_schema=CITY).text == '{"city":"text"}'
    assert _answer(messages=ASKING, json_mode=True).text == "{}"


def test_it_says_what_it_is() -> None:
    """It never passes for a model, and repeats what it was told, shortened."""
    assert _answer(messages=(user("Hi"),)).text == "This is the fake of interlingua, not a model. It was told: Hi"
    assert _answer().text.endswith("It was told nothing.")
    assert _answer(messages=(user("x" * 300),)).text.endswith("x" * 200 + "…")


def test_results_of_parts_are_read() -> None:
    """A result that is text or parts is repeated as text."""
    for content in ("4 degrees", (TextPart("4 degrees"),)):
        history = (user("?"), Message("tool", (ToolResult("c", "get_weather", content),)))
        assert _answer(messages=history).text.endswith("The tool answered: 4 degrees")


def test_a_freeform_tool_gets_text() -> None:
    """A freeform tool's call carries its text as `input`."""
    [call] = _answer(messages=ASKING, tools=(Tool(name="sql", freeform=Freeform()),)).tool_calls
    assert (call.freeform, call.arguments) == (True, {"input": "text"})


def test_it_counts_tokens() -> None:
    """The answer has token counts, which are made up and always the same."""
    first, second = _answer(messages=ASKING).usage, _answer(messages=ASKING).usage
    assert first == second
    assert first.input_tokens > 0
    assert first.output_tokens > 0
