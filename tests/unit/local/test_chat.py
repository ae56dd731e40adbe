"""Request bodies to plans."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.errors import DecodeError, SchemaError
from interlingua.local.chat import MAX_TOKENS, ChatError, Plan, plan

USER = {"role": "user", "content": "Hi"}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "go", "parameters": {"type": "object", "properties": {}}},
}
OTHER: dict[str, Any] = {"type": "function", "function": {"name": "stay"}}
RESULT = [
    USER,
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "go", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "content": "done"},
]


def planned(replies_after_results: bool = False, **members: Any) -> Plan:
    """The plan for a body with one message and `members`."""
    body = json.dumps({"model": "tiny", "messages": [USER], **members}).encode()
    return plan(body, replies_after_results=replies_after_results)


def branches(result: Plan) -> list[str]:
    """What the answer may be: names of tools, `reply`, `output`."""
    options: list[dict[str, Any]] = [] if result.schema is None else result.schema["anyOf"]
    return [option["properties"].get("name", {}).get("const") or next(iter(option["properties"])) for option in options]


def test_free_text_is_under_no_grammar() -> None:
    """Without tools and schema the model says what it wants, a little warm, within a limit."""
    result = planned()
    assert (result.schema, result.callable) == (None, ())
    assert result.sampling == {"temperature": 0.2, "max_tokens": MAX_TOKENS}


CHOICES: list[tuple[Any, list[str]]] = [
    (None, ["go", "stay", "reply"]),
    ("auto", ["go", "stay", "reply"]),
    ("required", ["go", "stay"]),
    ({"type": "function", "function": {"name": "stay"}}, ["stay"]),
    ("none", []),
    ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [TOOL]}}, ["go", "reply"]),
    ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [OTHER]}}, ["stay"]),
]


@pytest.mark.parametrize(("choice", "may"), CHOICES)
def test_every_tool_choice_is_a_union(choice: Any, may: list[str]) -> None:
    """The five choices decide which branches there are."""
    assert branches(planned(tools=[TOOL, OTHER], tool_choice=choice)) == may


def test_small_weights_reply_after_a_result() -> None:
    """They are offered no second call, but the tools stay in the prompt; larger ones may go on."""
    assert branches(planned(replies_after_results=True, messages=RESULT, tools=[TOOL])) == ["reply"]
    assert branches(planned(messages=RESULT, tools=[TOOL])) == ["go", "reply"]
    assert branches(planned(replies_after_results=True, messages=RESULT, tools=[TOOL], tool_choice="required")) == [
        "go"
    ]
    assert "go" in planned(replies_after_results=True, messages=RESULT, tools=[TOOL]).turns[0].content


def test_an_output_schema_is_a_branch() -> None:
    """Alone, or beside the tools; a forced call leaves no room for it."""
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "boolean"}}}
    assert branches(planned(response_format=form)) == ["output"]
    assert branches(planned(response_format={"type": "json_object"})) == ["output"]
    assert branches(planned(response_format=form, tools=[TOOL])) == ["go", "output"]
    assert branches(planned(response_format=form, tools=[TOOL], tool_choice="required")) == ["go"]
    assert planned(response_format={"type": "text"}).schema is None


def test_settings_keep_their_values() -> None:
    """Sampling goes to the engine; the newer limit wins; stop words hold for free text alone."""
    given: dict[str, Any] = {
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 5,
        "seed": 1,
        "max_completion_tokens": 7,
        "max_tokens": 9,
    }
    assert planned(**given, stop=["x"]).sampling == {
        "top_k": 5,
        "top_p": 0.9,
        "seed": 1,
        "temperature": 0.7,
        "max_tokens": 7,
        "stop": ["x"],
    }
    assert planned(tools=[TOOL], stop=["x"]).sampling == {"temperature": 0, "max_tokens": MAX_TOKENS}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"messages": []}, "messages"),
    ({"messages": [{"role": "judge", "content": ""}]}, "messages[0]"),
    ({"messages": ["hi"]}, "messages[0]"),
    ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]"),
    ({"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "messages[0].content[0]"),
    ({"n": 2}, "n"),
    ({"logprobs": True}, "logprobs"),
    ({"functions": [{}]}, "functions"),
    ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools[0]"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "fly"}}}, "tool_choice"),
    ({"tools": [TOOL], "tool_choice": "sometimes"}, "tool_choice"),
    ({"response_format": {"type": "xml"}}, "response_format"),
]


@pytest.mark.parametrize(("members", "param"), REFUSED)
def test_what_it_cannot_take_is_refused_by_name(members: dict[str, Any], param: str) -> None:
    """A refusal is a 400 that names the member."""
    with pytest.raises(ChatError) as caught:
        planned(**members)
    assert (caught.value.param, caught.value.status) == (param, 400)


def test_hints_are_left_aside() -> None:
    """What changes nothing is no reason to refuse."""
    assert planned(user="u", metadata={"a": "b"}, store=False, parallel_tool_calls=True) == planned()


def test_a_body_that_is_no_request_raises_our_errors() -> None:
    """Broken JSON, other JSON, and a schema that cannot be enforced."""
    with pytest.raises(DecodeError):
        plan(b"{")
    with pytest.raises(ChatError, match="JSON object"):
        plan(b"[]")
    with pytest.raises(SchemaError, match="the output schema: /not"):
        planned(response_format={"type": "json_schema", "json_schema": {"schema": {"not": {}}}})
