"""The normal form of Ollama's bodies, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects.ollama import DIALECT
from interlingua.dialects.ollama.normal import (
    answer,
    counts,
    defaults,
    messages,
    normal_form,
    options,
    tools,
)

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}


def test_null_is_absent_but_not_inside_what_is_somebody_elses() -> None:
    """Arguments, parameters and formats stay as they are."""
    body = {"a": None, "b": [{"c": None}], "arguments": {"x": None}, "parameters": {"default": None}}
    assert normal_form("chunk", body) == {"b": [{}], "arguments": {"x": None}, "parameters": {"default": None}}


def test_documented_defaults_are_absent() -> None:
    """Those of both forms."""
    dull: dict[str, Any] = {"stream": True, "tools": [], "options": {}, "format": "", "images": [], "prompt": ""}
    dull |= {"system": "", "context": [], "messages": [], "logprobs": False}
    assert defaults({**dull, "model": "m"}) == {"model": "m"}
    assert defaults({"stream": False, "format": "json"}) == {"stream": False, "format": "json"}


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ({"options": {"stop": "a"}}, {"options": {"stop": ["a"]}}),
        ({"options": {"stop": []}}, {}),
        ({"options": {}}, {}),
        ({"options": {"num_ctx": 1}}, {"options": {"num_ctx": 1}}),
        ({}, {}),
    ],
)
def test_options(given: Any, normal: Any) -> None:
    """One stop sequence is a list of one; none at all is absent."""
    assert options(given) == normal


def test_tools() -> None:
    """A tool is a function with parameters, unless it says otherwise."""
    given = {"tools": [{"function": {"name": "go"}}, {"type": "builtin"}]}
    whole: Any = {"type": "function", "function": {"name": "go", "parameters": EMPTY}}
    assert tools(given) == {"tools": [whole, {"type": "builtin"}]}


def test_messages() -> None:
    """Empty members are absent, images are their bytes, calls are known by their place."""
    call: Any = {"id": "", "type": "function", "function": {"index": 3, "name": "go", "arguments": {}}}
    hollow: Any = {"content": "", "thinking": "", "images": [], "tool_name": "", "tool_call_id": ""}
    turns: list[Any] = [
        {"role": "user", **hollow, "tool_calls": []},
        {"role": "user", "images": ["iVBORw", "data:image/png;base64,iVBORw==", 1, "?"]},
        {"role": "assistant", "tool_calls": [call]},
    ]
    assert messages({"messages": turns, "images": ["iVBORw"]}) == {
        "messages": [
            {"role": "user"},
            {"role": "user", "images": ["iVBORw==", "iVBORw==", 1, "?"]},
            {"role": "assistant", "tool_calls": [{"function": {"name": "go", "arguments": {}}}]},
        ],
        "images": ["iVBORw=="],
    }


def test_answers() -> None:
    """The message by the same rules, its role the assistant's; empty reasons are absent."""
    assert answer({"message": {"content": "Hi", "images": []}, "done_reason": "", "thinking": ""}) == {
        "message": {"role": "assistant", "content": "Hi"}
    }
    call = {"function": {"index": 0, "name": "go"}}
    assert answer({"response": "", "tool_calls": [call]}) == {
        "response": "",
        "tool_calls": [{"function": {"name": "go"}}],
    }


def test_counts() -> None:
    """A count of 0 is absent; durations are not counts."""
    assert counts({"eval_count": 0, "prompt_eval_count": 1, "eval_duration": 0}) == {
        "prompt_eval_count": 1,
        "eval_duration": 0,
    }


def test_the_rules_apply_to_every_kind_of_body() -> None:
    """And what is no object is itself."""
    assert DIALECT.normal_form("request", {"stream": True, "x": None}) == {}
    assert normal_form("response", {"eval_count": 0, "done": True}) == {"done": True}
    assert normal_form("chunk", {"done_reason": "", "done": False}) == {"done": False}
    assert normal_form("chunk", [None]) == [None]
