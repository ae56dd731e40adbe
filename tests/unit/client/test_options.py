"""Options are read strictly, added up over the model's own, and named when they are wrong."""

from __future__ import annotations

from typing import Any

import pytest

import interlingua as il
from interlingua.client.keywords import Options
from interlingua.client.options import _KNOBS, Settings, settle
from interlingua.errors import SchemaError, UsageError
from tests.support.cells import cells

TOOL = il.Tool(name="f")


def _request(**options: Any) -> il.Request:
    return settle(Settings(), options).request


def test_every_knob_of_a_request_is_an_option() -> None:
    """The table, the typed dict and the request name the same knobs."""
    knobs = set(il.Request.__struct_fields__) - {"messages"}
    assert set(_KNOBS) == knobs
    assert knobs <= set(Options.__annotations__)


def test_every_option_is_read() -> None:
    """Each name of the typed dict is taken, and None means "not said"."""
    for name in Options.__annotations__:
        assert settle(Settings(), {name: None}) == Settings()


@pytest.mark.parametrize(
    ("options", "knobs"),
    [
        ({"system": "Be terse."}, {"system": (il.TextPart("Be terse."),)}),
        ({"system": ["a", il.TextPart("b")]}, {"system": (il.TextPart("a"), il.TextPart("b"))}),
        ({"system": ""}, {}),
        ({"stop": "END"}, {"stop": ("END",)}),
        ({"stop": ["a", "b"]}, {"stop": ("a", "b")}),
        ({"logprobs": True}, {"logprobs": 0}),
        ({"logprobs": False}, {}),
        ({"logprobs": 3}, {"logprobs": 3}),
        ({"tools": [TOOL]}, {"tools": (TOOL,)}),
        ({"tool_choice": il.NamedTool("f")}, {"tool_choice": il.NamedTool("f")}),
        ({"temperature": 0}, {"temperature": 0}),
        ({"effort": "high", "cache": "1h"}, {"effort": "high", "cache": "1h"}),
        ({"extra": {"gemini": {"a": 1}}}, {"extra": {"google": {"a": 1}}}),
        ({"output_schema": {"type": "object"}}, {"output_schema": {"type": "object"}}),
    ],
)
def test_liberal_forms_become_one_strict_value(options: dict[str, Any], knobs: dict[str, Any]) -> None:
    """What callers may write in several ways is one value inside."""
    assert _request(**options) == il.Request(**knobs)


@cells(
    ("options", "sentence"),
    [
        ({"max_token": 1}, "no option 'max_token'; did you mean 'max_tokens'?"),
        ({"wholly_unknown_thing": 1}, "no option 'wholly_unknown_thing'$"),
        ({"temperature": "hot"}, "temperature takes a number, not 'hot'"),
        ({"temperature": True}, "temperature takes a number, not True"),
        ({"max_tokens": 1.5}, "max_tokens takes a whole number, not 1.5"),
        ({"store": 1}, "store takes True or False, not 1"),
        ({"user": 1}, "user takes a text"),
        ({"metadata": []}, "metadata takes a dict"),
        ({"stop": 1}, "stop takes a text or several"),
        ({"stop": [1]}, "stop takes a text, not 1"),
        ({"system": 1}, "system takes a text or several"),
        ({"system": [1]}, "system takes texts and text parts"),
        ({"effort": "hard"}, "effort takes one of none, minimal, low, medium, high, xhigh, max, not 'hard'"),
        ({"cache": "2h"}, "cache takes one of auto, 5m, 1h"),
        ({"tool_choice": "f"}, r"tool_choice takes auto, none, required.*il\.NamedTool\('f'\) forces one tool"),
        (
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
            r"tool_choice takes auto, none, required.*il\.NamedTool\('f'\) forces one tool",
        ),
        ({"tool_choice": {"type": "tool", "name": "f"}}, r"il\.NamedTool\('f'\) forces one tool"),
        ({"tool_choice": {"function": "f"}}, r"not \{'function': 'f'\}$"),
        ({"tools": "f"}, r"tools takes an il\.Toolbox or a list of tools and functions, not 'f'"),
        ({"tools": len}, r"tools takes an il\.Toolbox or a list of tools and functions"),
        ({"tools": ["f"]}, "a str is no tool; give a function, a class, a JSON Schema or a Tool"),
        ({"api_key": "sk-x"}, r"no option 'api_key': il\.model\(spec, api_key=…\) takes it"),
        ({"base_url": "http://x"}, r"no option 'base_url': il\.model\(spec, base_url=…\) takes it"),
        ({"timeout": 3}, "no option 'timeout': timeout_s takes the seconds"),
        ({"messages": []}, "no option 'messages': what to say stands first, what was said before is history"),
        ({"input": "Hi"}, "no option 'input': what to say stands first, without a name"),
        ({"max_completion_tokens": 9}, "no option 'max_completion_tokens': it is called max_tokens everywhere"),
        ({"functions": []}, r"no option 'functions': tools=\[…\] takes functions"),
        ({"response_format": {}}, "no option 'response_format': output takes a type, output_schema a JSON Schema"),
        ({"previous_response_id": "r"}, "no option 'previous_response_id': history=reply goes on with a reply"),
        ({"stream_options": {}}, r"no option 'stream_options': model\.stream\(…\)"),
        ({"top_logprobs": 2}, "no option 'top_logprobs': logprobs takes the number of alternatives"),
        ({"response_model": int}, "no option 'response_model': output takes a type, output_schema a JSON Schema"),
        ({"text_format": int}, "no option 'text_format': output takes a type, output_schema a JSON Schema"),
        ({"prompt": "Hi"}, "no option 'prompt': what to say stands first, without a name"),
        (
            {"max_cost_usd": 1},
            r"no option 'max_cost_usd': il\.Agent\(…\) takes it; il\.meter\(\) tells what calls cost",
        ),
        ({"stream": True}, r"no option 'stream': model\.stream\(…\)"),
        ({"tools": [TOOL, TOOL]}, "two tools are called f"),
        ({"tools": [il.Tool(name="", parameters={})]}, "a tool must have a name"),
        (
            {"extra": {"opnai": {}}},
            "extra takes the names of dialects, and 'opnai' is not one; there are anthropic, bedrock, cohere, google",
        ),
        ({"extra": {"google": 1}}, r"extra\['google'\] takes a dict"),
        ({"headers": {"x": 1}}, "headers takes a text"),
        ({"timeout_s": 0}, "timeout_s takes seconds above 0"),
        ({"timeouts": 5}, r"timeouts takes il\.Timeouts"),
        ({"allow": "pictures"}, "allow takes kinds among images, audio"),
        ({"call_ids": "mine"}, "call_ids takes one of keep, own"),
        ({"strict": "yes"}, "strict takes True or False"),
    ],
)
def test_what_is_no_option_is_named(options: dict[str, Any], sentence: str) -> None:
    """The error names the option, what it takes and what it was given."""
    with pytest.raises(UsageError, match=sentence):
        settle(Settings(), options)


def lookup(key: str) -> str:
    """Look a word up."""
    return key


def test_functions_are_tools() -> None:
    """As in a toolbox, beside tools of every other kind, in a list or a tuple, however often they are given."""
    made = il.tool(lookup)
    for _ in range(2):
        for given in ([TOOL, lookup], (TOOL, lookup)):
            first, second = _request(tools=given).tools
            assert first is TOOL
            assert second is _request(tools=[lookup]).tools[0]  # a function is read once
            assert isinstance(second, il.Tool)
            assert (second.name, second.description, second.parameters) == (
                "lookup",
                "Look a word up.",
                made.parameters,
            )
    with pytest.raises(UsageError, match="two tools are called lookup"):
        _request(tools=[lookup, made])


def test_no_hint_points_to_an_option_that_is_none() -> None:
    """What other libraries call otherwise is no name of ours."""
    from interlingua.client.options import _ELSEWHERE

    assert not set(_ELSEWHERE) & (set(Options.__annotations__) | {"history", "output", "tool_deltas"})


def test_schemas_are_checked_before_anything_is_sent() -> None:
    """A tool or an answer whose schema is no JSON Schema is an error with its place."""
    with pytest.raises(SchemaError, match="tool f"):
        _request(tools=[il.Tool(name="f", parameters={"type": "nothing"})])
    with pytest.raises(SchemaError, match="output_schema"):
        _request(output_schema={"type": "nothing"})


def test_the_calls_options_replace_the_models() -> None:
    """An option of a call wins, and None takes it back."""
    model = settle(Settings(), {"temperature": 1.0, "system": "a", "max_tokens": 5})
    call = settle(model, {"temperature": 0.5, "max_tokens": None})
    assert call.request == il.Request(temperature=0.5, system=(il.TextPart("a"),))


def test_headers_and_extra_add_up() -> None:
    """Names and dialects of the model stay beside those of the call; the call's value wins."""
    model = settle(Settings(), {"headers": {"X-A": "1", "x-b": "2"}, "extra": {"google": {"a": 1, "b": 1}}})
    call = settle(model, {"headers": {"x-B": "3"}, "extra": {"google": {"b": 2}, "ollama": {"c": 3}}})
    assert call.headers == (("x-a", "1"), ("x-b", "3"))
    assert call.request.extra == {"google": {"a": 1, "b": 2}, "ollama": {"c": 3}}


def test_timeouts_add_up() -> None:
    """`timeout_s` bounds the whole of whatever phases were said."""
    settings = settle(Settings(), {"timeouts": il.Timeouts(idle_s=5.0), "timeout_s": 60})
    assert settings.timeouts == il.Timeouts(idle_s=5.0, total_s=60, first_byte_s=60)
    assert settle(settings, {"timeout_s": None}).timeouts == il.Timeouts()


def test_a_set_of_kinds_is_allowed() -> None:
    """One kind may be written alone."""
    assert settle(Settings(), {"allow": "images"}).allow == {"images"}
    assert settle(Settings(), {"allow": {"images", "tools"}}).allow == {"images", "tools"}
